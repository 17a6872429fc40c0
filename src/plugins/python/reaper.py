"""Kills the process groups of plugins when the server has died: reads "+pid" and "-pid", a line each, until the pipe ends. A process that
a plugin has started would outlive a SIGKILL of the server, which no process of the group itself is sure to notice. Those that have left
their group have the variable that is the first argument in their environment, with a value that begins as the second one (Linux)."""
import os, signal, sys, time

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
mark = os.fsencode(f"{sys.argv[1]}={sys.argv[2]}")
for _ in range(100):
    found = 0
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else ():
        try:
            with open(f"/proc/{int(name)}/environ", "rb") as file:
                is_marked = any(one.startswith(mark) for one in file.read().split(b"\0"))
            if is_marked:
                found += 1
                os.kill(int(name), signal.SIGKILL)
        except (OSError, ValueError):
            pass
    if found == 0:
        break
    time.sleep(0.01)
