"""Writes load, processors and disk space of the server's machine, with Python's own library alone.

    tsdb create trigger system -d home --trigger-spec every:10s --path system_metrics.py --trigger-arguments disk=/
"""

import os
import shutil
import socket


def process_scheduled_call(local, schedule_time, args=None):
    host = socket.gethostname()
    one, five, fifteen = os.getloadavg()
    load = LineBuilder("system_load").tag("host", host).float64_field("load1", one).float64_field("load5", five)
    local.write(load.float64_field("load15", fifteen).int64_field("processors", os.cpu_count() or 1))
    path = (args or {}).get("disk", "/")
    total, used, free = shutil.disk_usage(path)
    disk = LineBuilder("system_disk").tag("host", host).tag("path", path)
    local.write(disk.uint64_field("total", total).uint64_field("used", used).uint64_field("free", free))
