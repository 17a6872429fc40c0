"""Marks values that are far from the running mean of their series: rows of the table `anomalies` with the z-score.

    tsdb create trigger odd -d home --trigger-spec table:room --path zscore.py --trigger-arguments field=temp,tag=name,limit=3
"""

import math


def process_writes(local, table_batches, args=None):
    field, tag, limit = args["field"], args["tag"], float(args.get("limit", "3"))
    least = int(args.get("least", "10"))
    for batch in table_batches:
        for row in batch["rows"]:
            value = row.get(field)
            if value is None:
                continue
            key = f"{batch['table_name']}/{row.get(tag)}"
            # Welford: count, mean, sum of squared differences
            count, mean, squares = local.cache.get(key, (0, 0.0, 0.0))
            deviation = math.sqrt(squares / count) if count >= least else 0.0
            if deviation > 0 and abs(value - mean) / deviation > limit:
                line = LineBuilder("anomalies").tag("table", batch["table_name"]).tag(tag, row.get(tag) or "none")
                line.float64_field("value", value).float64_field("z", (value - mean) / deviation)
                local.write(line.time_ns(row["time"]))
                continue  # what is odd does not move the mean
            count += 1
            difference = value - mean
            mean += difference / count
            local.cache.put(key, (count, mean, squares + difference * (value - mean)))
