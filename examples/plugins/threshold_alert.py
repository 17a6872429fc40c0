"""Posts JSON to a webhook when a field goes above a limit, and again when it comes back. The last state is in the trigger's cache.

    tsdb create trigger hot -d home --trigger-spec table:room --path threshold_alert.py \
        --trigger-arguments field=temp,tag=name,limit=30,url=http://127.0.0.1:9000/alert
"""

import json
import urllib.request


def process_writes(local, table_batches, args=None):
    field, tag, limit = args["field"], args["tag"], float(args["limit"])
    for batch in table_batches:
        for row in batch["rows"]:
            value = row.get(field)
            if value is None:
                continue
            key = f"{batch['table_name']}/{row.get(tag)}"
            is_high = value > limit
            if local.cache.get(key, False) == is_high:
                continue
            alert = {"table": batch["table_name"], tag: row.get(tag), field: value, "limit": limit, "state": "high" if is_high else "ok"}
            request = urllib.request.Request(args["url"], json.dumps(alert).encode(), {"content-type": "application/json"})
            with urllib.request.urlopen(request, timeout=10):
                local.cache.put(key, is_high)
            local.warn("alert", key, alert["state"])
