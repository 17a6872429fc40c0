"""A small JSON API: GET the newest rows of a table, POST a measurement.

    tsdb create trigger api -d home --trigger-spec request:rooms --path json_api.py --trigger-arguments table=room
    curl 'http://127.0.0.1:8181/api/v3/engine/rooms?limit=5'
    curl http://127.0.0.1:8181/api/v3/engine/rooms --json '{"name":"hall","temp":21.5}'
"""

import json


def process_request(local, query_parameters, request_headers, request_body, args=None):
    table = (args or {}).get("table", "room")
    if not request_body:
        limit = query_parameters.get("limit", "10")
        if not limit.isdigit():
            return {"error": "limit is a number"}, 400
        return {"rows": local.query(f'SELECT * FROM "{table}" ORDER BY time DESC LIMIT {int(limit)}')}
    try:
        given = json.loads(request_body)
        line = LineBuilder(table).tag("name", given["name"]).float64_field("temp", given["temp"])
    except (ValueError, KeyError, TypeError, InfluxDBError) as error:
        return {"error": f"{type(error).__name__}: {error}"}, 400
    local.write_sync(line, False)
    return {"stored": given}, 201
