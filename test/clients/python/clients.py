"""The vendor's Python client (rows, pandas, polars) and ADBC's Flight SQL driver, unmodified.

Run by native-clients.test.ts as: clients.py HOST:PORT. The database `big` holds a million rows. Prints one JSON object of findings.
"""

import datetime
import json
import sys

import adbc_driver_flightsql.dbapi as adbc
import pandas
import polars
import pyarrow as pa
from influxdb_client_3 import InfluxDBClient3, Point

ADDRESS = sys.argv[1]
TIME_NS = 1_700_000_000_123_456_789


def text_of(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (datetime.datetime, pandas.Timestamp)):
        return str(pandas.Timestamp(value).value)
    if isinstance(value, float):
        return format(value, "g")
    return None if value is None else str(value)


def texts(table):
    """Rows as texts; times as nanoseconds."""
    columns = []
    for column in table.columns:
        plain = column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        columns.append([text_of(value) for value in plain.to_pylist()])
    return [list(row) for row in zip(*columns)]


def error_of(call):
    try:
        call()
    except Exception as error:  # what it says is looked at
        return str(error)
    return None


def vendor():
    client = InfluxDBClient3(host="http://" + ADDRESS, token="any", database="python")
    point = Point("weather").tag("city", "Zürich, CH").field("temp", -3.25).field("humidity", 81).field("rain", True)
    client.write(point.field("note", 'a "quoted"\nnote').time(TIME_NS))
    client.write("weather,city=Oslo temp=1,station=18446744073709551615u 1")
    every = "SELECT city, humidity, note, rain, station, temp, time FROM weather ORDER BY time DESC"
    # pandas makes floats of integers beside NULL
    frame = client.query("SELECT city, humidity, rain, temp FROM weather WHERE humidity = 81", mode="pandas")
    million = client.query("SELECT host, n FROM million", database="big", mode="all")
    by_polars = client.query("SELECT host, n FROM million", database="big", mode="polars")
    return {
        "sql": texts(client.query(every)),
        "influxql": texts(client.query("SELECT temp FROM weather GROUP BY city", language="influxql")),
        "params": texts(client.query("SELECT temp FROM weather WHERE city = $c AND temp > $t", query_parameters={"c": "Oslo", "t": 0.5})),
        "pandas": [[text_of(value) for value in row] for row in frame.itertuples(index=False)],
        "polars": client.query("SELECT city, temp FROM weather ORDER BY time", mode="polars").rows(),
        "million": [million.num_rows, pa.compute.sum(million["n"]).as_py(), len(million["host"].unique())],
        "millionPolars": [by_polars.height, by_polars["n"].sum(), by_polars["host"].n_unique()],
        "errors": [
            error_of(lambda: client.query("SELECT * FROM nothing")),
            error_of(lambda: client.query("SELECT 1", database="nowhere")),
            error_of(lambda: client.query("SELEC 1")),
        ],
    }


def by_adbc():
    with adbc.connect("grpc://" + ADDRESS, db_kwargs={"adbc.flight.sql.rpc.call_header.database": "python"}) as connection:
        cursor = connection.cursor()

        def rows(statement, parameters=None):
            cursor.execute(statement, parameters=parameters)
            return texts(cursor.fetch_arrow_table())

        times = [datetime.datetime(2023, 11, 14, tzinfo=datetime.timezone.utc), datetime.date(2023, 11, 14)]
        batch = pa.record_batch({"c": pa.array(["Oslo", "nowhere", "Zürich, CH"]), "t": pa.array([0.5, 0.5, -10.0])})
        views = pa.record_batch({"c": pa.array(["Oslo", "Zürich, CH"], pa.string_view())})
        several = "SELECT city, temp FROM weather WHERE city = ? AND temp > ?"
        found = {
            "rows": rows("SELECT city, temp FROM weather ORDER BY time"),
            "mark": rows(several, ("Oslo", 0.5)),
            "again": rows(several, ("Zürich, CH", -4)),
            "numbered": rows("SELECT city FROM weather WHERE temp = $2 AND city = $1", ("Oslo", 1.0)),
            "times": [rows("SELECT city FROM weather WHERE time >= ?", (time,)) for time in times],
            "values": rows("SELECT ? AS a, ? AS b, ? AS c, ? AS d", (True, None, 2**40, "é")),
            "batch": rows(several, batch),
            "views": rows("SELECT temp FROM weather WHERE city = ?", views),
            "polars": rows("SELECT temp FROM weather WHERE city = ?", polars.DataFrame({"c": ["Oslo"]}).to_arrow().to_batches()[0]),
            "errors": [error_of(lambda: rows("SELECT * FROM nothing")), error_of(lambda: rows(several, ("Oslo",)))],
            "tables": [
                table["table_name"]
                for catalog in connection.adbc_get_objects(depth="tables", db_schema_filter="iox").read_all().to_pylist()
                for schema in catalog["catalog_db_schemas"]
                for table in schema["db_schema_tables"]
            ],
            "tableSchema": {field.name: str(field.type) for field in connection.adbc_get_table_schema("weather", db_schema_filter="iox")},
        }
        cursor.close()
    with adbc.connect("grpc://" + ADDRESS, db_kwargs={"adbc.flight.sql.rpc.call_header.database": "big"}) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT host, n FROM million WHERE n >= ?", parameters=(0,))
            million = cursor.fetch_arrow_table()
    return {**found, "million": [million.num_rows, pa.compute.sum(million["n"]).as_py(), len(million["host"].unique())]}


print(json.dumps({"influxdb3-python": vendor(), "adbc": by_adbc()}))
