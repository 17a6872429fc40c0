"""Run with -c: reads the host's modules, which are part of the server's program, and starts it."""
import json, os, sys, threading, time, types


def lower_priority(niceness):
    """So that writes and statements do not wait for plugins. Systems whose scheduler groups sessions (Linux: autogroup) weigh the group,
    and accept a change of an ordinary user every 100 ms."""
    try:
        os.nice(niceness)
    except (AttributeError, OSError):
        return
    if sys.platform.startswith("linux") and not lower_group(niceness):
        threading.Thread(target=lower_group_later, args=(niceness,), daemon=True).start()


def lower_group(niceness):
    """False: try again."""
    try:
        with open("/proc/self/autogroup", "w") as file:
            file.write(str(niceness))
    except BlockingIOError:
        return False
    except OSError:
        pass  # no such groups
    return True


def lower_group_later(niceness):
    for _ in range(100):
        time.sleep(0.1)
        if lower_group(niceness):
            return


if hasattr(os, "setsid") and os.getpgrp() != os.getpid():
    os.setsid()
size = int.from_bytes(os.read(0, 4), "little")
data = b""
while len(data) < size:
    part = os.read(0, size - len(data))
    if not part:
        sys.exit(1)
    data += part
options = json.loads(data)
lower_priority(options["niceness"])
for name, source in options["modules"]:
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, "<tsdb %s>" % name, "exec"), module.__dict__)
host = sys.modules["host"]
for name, _ in options["modules"]:
    del sys.modules[name]
host.Host(options).serve()
