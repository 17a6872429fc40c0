"""The vendor's Python client of the v2 line, unmodified.

Run by v2-native-clients.long.test.ts as: v2_clients.py URL TOKEN ORG. Prints one JSON object of findings.
"""

import datetime
import json
import sys

from influxdb_client import BucketRetentionRules, InfluxDBClient, Permission, PermissionResource, Point, WritePrecision
from influxdb_client.client.exceptions import InfluxDBError
from influxdb_client.client.write_api import SYNCHRONOUS
from influxdb_client.rest import ApiException

URL, TOKEN, ORG = sys.argv[1:4]
TIME_NS = 1_700_000_000_123_456_789
RANGE = "range(start: 2023-11-14T00:00:00Z, stop: 2023-11-15T00:00:00Z)"


def text_of(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return format(value, "g")
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return None if value is None else str(value)


def error_of(call):
    try:
        call()
    except ApiException as error:
        return [error.status, json.loads(error.body)["code"]]
    except InfluxDBError as error:
        return [error.response.status, "InfluxDBError"]
    return None


def main():
    client = InfluxDBClient(url=URL, token=TOKEN, org=ORG)
    org_id = client.organizations_api().find_organizations(org=ORG)[0].id
    buckets = client.buckets_api()
    bucket = buckets.create_bucket(bucket_name="python", retention_rules=BucketRetentionRules(type="expire", every_seconds=0), org_id=org_id)
    writes = client.write_api(write_options=SYNCHRONOUS)
    point = Point("weather").tag("city", "Zürich, CH").field("temp", -3.25).field("humidity", 81).field("rain", True)
    writes.write("python", record=point.field("note", 'a "quoted"\nnote').time(TIME_NS, WritePrecision.NS))
    writes.write("python", record={"measurement": "weather", "tags": {"city": "Oslo"}, "fields": {"temp": 1.0}, "time": 1_700_000_001}, write_precision="s")
    with client.write_api() as batching:
        for i in range(10_000):
            batching.write("python", record=f"many,n={i % 7} i={i}i {1_700_000_000_000 + i}", write_precision="ms")
    queries = client.query_api()

    def cells(script, *columns):
        return [[text_of(record.values.get(column)) for column in columns] for table in queries.query(script) for record in table.records]

    pivot = f'from(bucket: "python") |> {RANGE} |> filter(fn: (r) => r._measurement == "weather")'
    pivot += ' |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value") |> group() |> sort(columns: ["_time"])'
    found = {
        "health": client.health().status,
        "version": client.version(),
        "ping": client.ping(),
        "rows": cells(pivot, "city", "temp", "humidity", "rain", "note", "_time"),
        "sums": cells(f'from(bucket: "python") |> {RANGE} |> filter(fn: (r) => r._measurement == "many") |> sum()', "n", "_value"),
        "params": [
            [record.get_value()]
            for table in queries.query('from(bucket: b) |> range(start: 0) |> filter(fn: (r) => r.city == c and r._field == "temp")', params={"b": "python", "c": "Oslo"})
            for record in table.records
        ],
        "csv": [row[1:] for row in queries.query_csv('import "array" array.from(rows: [{a: 1, b: "é,\\"x\\""}])', dialect={"annotations": [], "header": True, "delimiter": ","})],
        "dataframe": queries.query_data_frame(pivot)[["city", "temp"]].values.tolist(),
    }
    client.delete_api().delete("2023-11-14T00:00:00Z", "2023-11-15T00:00:00Z", 'city="Oslo"', bucket="python", org=ORG)
    found["deleted"] = cells(pivot, "city", "temp")
    reader = Permission(action="read", resource=PermissionResource(type="buckets", id=bucket.id, org_id=org_id))
    authorization = client.authorizations_api().create_authorization(org_id=org_id, permissions=[reader])
    label = client.labels_api().create_label("l", org_id, {"color": "ffb3b3"})
    user = client.users_api().create_user(name="python user")
    limited = InfluxDBClient(url=URL, token=authorization.token, org=ORG)
    stranger = InfluxDBClient(url=URL, token="nobody", org=ORG)
    found["resources"] = [
        [bucket.retention_rules[0].every_seconds, buckets.find_bucket_by_name("python").id == bucket.id],
        [authorization.status, len(limited.query_api().query(pivot))],
        [label.name, user.status, client.users_api().me().name],
    ]
    found["errors"] = [
        error_of(lambda: limited.write_api(write_options=SYNCHRONOUS).write("python", record="m v=1")),
        error_of(lambda: stranger.write_api(write_options=SYNCHRONOUS).write("python", record="m v=1")),
        error_of(lambda: stranger.buckets_api().find_buckets()),
        error_of(lambda: writes.write("nowhere", record="m v=1")),
        error_of(lambda: writes.write("python", record="m v=1i2")),
        error_of(lambda: queries.query("from(")),
    ]
    client.users_api().delete_user(user)
    client.labels_api().delete_label(label)
    client.authorizations_api().delete_authorization(authorization)
    buckets.delete_bucket(bucket)
    found["gone"] = [buckets.find_bucket_by_name("python"), error_of(lambda: limited.buckets_api().find_buckets())]
    return found


print(json.dumps({"influxdb-client": main()}))
