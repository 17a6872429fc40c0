"""Kills the process groups of plugins when the server has died: reads "+pid" and "-pid", a line each, until the pipe ends. A process that
a plugin has started would outlive a SIGKILL of the server, which no process of the group itself is sure to notice."""
import os, signal, sys

signal.signal(signal.SIGINT, signal.SIG_IGN)
os.setsid()
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
