# The community's v1 client for Python: connects, makes a database, writes, asks, in MessagePack as it does by default. Prints what it got.
import json
import sys
import time

from influxdb import InfluxDBClient, __version__
from influxdb.exceptions import InfluxDBClientError

client = InfluxDBClient(host="127.0.0.1", port=int(sys.argv[1]), database="py")


def error_of(call):
    try:
        call()
    except InfluxDBClientError as error:
        return str(error)
    return None


found = {"version": __version__, "ping": client.ping()}
client.create_database("py")
client.create_database("py")
found["databases"] = sorted(each["name"] for each in client.get_list_database())
client.create_retention_policy("weekly", "7d", "1", database="py")
client.alter_retention_policy("weekly", database="py", duration="14d")
found["policies"] = client.get_list_retention_policies("py")
found["written"] = client.write_points(
    [
        {"measurement": "cpu", "tags": {"host": "a, b"}, "time": "2023-11-14T22:13:20Z", "fields": {"v": 1.5, "n": 3, "s": 'x"y', "b": True}},
        {"measurement": "cpu", "tags": {"host": "c"}, "time": "2023-11-14T22:13:21.25Z", "fields": {"v": 2.5, "n": -70000}},
        {"measurement": "mem", "tags": {"host": "c"}, "time": "2023-11-14T22:13:22Z", "fields": {"free": 10**15}},
    ]
)
found["rows"] = list(client.query("SELECT * FROM cpu").get_points())
found["epoch"] = list(client.query("SELECT v FROM cpu", epoch="ms").get_points())
found["groups"] = [[dict(tags or {}), list(rows)] for (_name, tags), rows in client.query("SELECT max(v) FROM cpu GROUP BY host").items()]
found["bound"] = list(client.query("SELECT n FROM cpu WHERE host = $h", bind_params={"h": "c"}).get_points())
found["several"] = [list(each.get_points()) for each in client.query("SELECT free FROM mem; SELECT count(n) FROM cpu")]
found["measurements"] = [each["name"] for each in client.get_list_measurements()]
found["series"] = client.get_list_series()
client.write([f"cpu,host=w v=9 {int(time.time())}"], {"db": "py", "rp": "weekly", "precision": "s"}, 204, "line")
found["policy"] = [each["v"] for each in client.query("SELECT v FROM weekly.cpu").get_points()]
# it reads chunks of JSON only
in_json = InfluxDBClient(host="127.0.0.1", port=int(sys.argv[1]), database="py", headers={"Accept": "application/json"})
rows = in_json.query("SELECT v, n FROM cpu", chunked=True, chunk_size=1)
found["chunks"] = sum(len(list(each.get_points())) for each in rows)
found["json"] = list(in_json.query("SELECT n FROM cpu").get_points())
# it says gzip in every request, also in those without a body
zipped = InfluxDBClient(host="127.0.0.1", port=int(sys.argv[1]), database="py", gzip=True)
zipped.write_points([{"measurement": "zip", "time": "2023-11-14T22:13:20Z", "fields": {"v": 1.5}}])
zipped.query("SELECT v INTO zipped FROM zip")
found["zipped"] = [each["v"] for each in zipped.query("SELECT v FROM zipped").get_points()]
zipped.drop_measurement("zip")
zipped.drop_measurement("zipped")
found["errors"] = {
    "parse": error_of(lambda: client.query("SELEC v")),
    "database": error_of(lambda: client.query("SELECT v FROM cpu", database="nowhere")),
    "statement": error_of(lambda: client.query("SELECT v FROM cpu; SELECT v FROM nowhere..cpu")),
}
client.delete_series(measurement="cpu", tags={"host": "c"})
found["left"] = list(client.query("SELECT v FROM cpu").get_points())
client.drop_measurement("mem")
found["dropped"] = [each["name"] for each in client.get_list_measurements()]
client.drop_retention_policy("weekly", "py")
client.drop_database("py")
found["gone"] = [each["name"] for each in client.get_list_database()]
print(json.dumps(found))
