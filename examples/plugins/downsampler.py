"""Writes the mean of a field per bucket of time and host into another table.

    tsdb create trigger hourly -d home --trigger-spec every:1h --path downsampler.py \
        --trigger-arguments source=cpu,target=cpu_hourly,field=usage,tag=host,bucket=3600
"""

import datetime

SECOND_NS = 1_000_000_000


def process_scheduled_call(local, schedule_time, args=None):
    args = args or {}
    source, field, tag = args["source"], args["field"], args["tag"]
    bucket = int(args.get("bucket", "3600"))
    # the time is in UTC and names no zone
    end = int(schedule_time.replace(tzinfo=datetime.timezone.utc).timestamp()) // bucket * bucket
    start = end - bucket
    rows = local.query(
        f'SELECT "{tag}" AS tag, avg("{field}") AS mean, count("{field}") AS n FROM "{source}"'
        f" WHERE time >= to_timestamp_seconds({start}) AND time < to_timestamp_seconds({end}) AND \"{field}\" IS NOT NULL GROUP BY \"{tag}\""
    )
    for row in rows:
        line = LineBuilder(args["target"]).float64_field(field, row["mean"]).int64_field("count", row["n"])
        if row["tag"] is not None:
            line.tag(tag, row["tag"])
        local.write(line.time_ns(start * SECOND_NS))
    local.info(f"{len(rows)} rows of {source} from {start} to {end}")
