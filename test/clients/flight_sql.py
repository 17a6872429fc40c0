"""Arrow Flight by the Arrow project's own client: tickets, Flight SQL's commands (written out as protobuf), prepared statements, errors.

Run by pyarrow.test.ts as: flight_sql.py PORT. The database `d` holds two rows of `cpu`. Prints one JSON object of findings.
"""

import json
import os
import sys
import threading

import pyarrow as pa
import pyarrow.flight as flight

SQL = "type.googleapis.com/arrow.flight.protocol.sql."
client = flight.connect("grpc://127.0.0.1:" + sys.argv[1])
IN_D = flight.FlightCallOptions(headers=[(b"database", b"d")])


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def member(number, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def command(name, body=b""):
    return member(1, SQL + name) + member(2, body)


def members(data):
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 2:
            length = number()
            found[tag >> 3] = data[at : at + length]
            at += length
        else:
            found[tag >> 3] = number()
    return found


def ticket(members_of_json):
    return flight.Ticket(json.dumps(members_of_json).encode())


def run(asks, options=IN_D):
    """Info, then rows; the promised schema equals that of the rows."""
    descriptor = flight.FlightDescriptor.for_command(asks)
    info = client.get_flight_info(descriptor, options)
    table = client.do_get(info.endpoints[0].ticket, options).read_all()
    table.validate(full=True)
    assert table.schema.equals(info.schema, check_metadata=True), (table.schema, info.schema)
    assert client.get_schema(descriptor, options).schema.equals(info.schema, check_metadata=True)
    return table


def statement(text):
    return command("CommandStatementQuery", member(1, text))


def error_of(call):
    try:
        call()
    except Exception as error:  # the classes are what is looked at
        return [type(error).__name__, str(error)]
    return None


def prepared(text):
    body = command("ActionCreatePreparedStatementRequest", member(1, text))
    [result] = client.do_action(flight.Action("CreatePreparedStatement", body), IN_D)
    found = members(members(result.body.to_pybytes())[2])
    return found[1], pa.ipc.read_schema(pa.py_buffer(found[2])), pa.ipc.read_schema(pa.py_buffer(found[3]))


def bind(handle, batch):
    descriptor = flight.FlightDescriptor.for_command(command("CommandPreparedStatementQuery", member(1, handle)))
    writer, reader = client.do_put(descriptor, batch.schema, IN_D)
    writer.write_batch(batch)
    writer.done_writing()
    result = reader.read()
    # says what was wrong, if anything was
    writer.close()
    return members(result.to_pybytes())[1]


def bound(text, **values):
    handle, _, _ = prepared(text)
    batch = pa.record_batch(list(values.values()), names=list(values))
    return run(command("CommandPreparedStatementQuery", member(1, bind(handle, batch)))).to_pylist()


def without_times(table):
    """Python has no nanoseconds: numbers in their place."""
    at = table.schema.get_field_index("time")
    return table.set_column(at, "time", table.column(at).cast(pa.int64()))


def one(value, kind):
    return pa.array([value], kind)


def read_some_and_leave():
    reader = client.do_get(ticket({"database": "d", "sql_query": "SELECT * FROM big"}))
    reader.read_chunk()
    reader.cancel()


JSON_TICKET = ticket({"database": "d", "sql_query": "SELECT * FROM cpu WHERE v > $v ORDER BY time", "params": {"v": 0}})
cpu = client.do_get(JSON_TICKET).read_all()
cpu.validate(full=True)
_, dataset, parameters = prepared("SELECT host FROM cpu WHERE host = $h AND v > $least AND time >= $from")
tables = run(command("CommandGetTables", member(2, "iox") + member(3, "cp%") + bytes([5 << 3, 1])))
many = [threading.Thread(target=read_some_and_leave) for _ in range(8)]
for thread in many:
    thread.start()
for thread in many:
    thread.join()

print(
    json.dumps(
        {
            "version": pa.__version__,
            "types": {field.name: str(field.type) for field in cpu.schema},
            "kinds": {field.name: field.metadata[b"iox::column::type"].decode() for field in cpu.schema},
            "rows": without_times(cpu).to_pylist(),
            "statement": run(statement("SELECT count(*) AS c, max(v) AS m FROM cpu")).to_pylist(),
            "big": client.do_get(ticket({"bucket": "d", "sql_query": "SELECT count(*) AS c FROM big"})).read_all().to_pylist(),
            "bigRows": client.do_get(ticket({"database": "d", "sql_query": "SELECT * FROM big"})).read_all().num_rows,
            "sqlInfo": run(command("CommandGetSqlInfo", member(1, bytes([0, 3])))).to_pylist(),
            "sqlInfoKinds": run(command("CommandGetSqlInfo")).column("value").type.num_fields,
            "conversions": len(run(command("CommandGetSqlInfo", member(1, varint(517)))).to_pylist()[0]["value"]),
            "catalogs": run(command("CommandGetCatalogs")).to_pylist(),
            "schemas": [row["db_schema_name"] for row in run(command("CommandGetDbSchemas")).to_pylist()],
            "tableTypes": [row["table_type"] for row in run(command("CommandGetTableTypes")).to_pylist()],
            "typeNames": [row["type_name"] for row in run(command("CommandGetXdbcTypeInfo")).to_pylist()],
            "keys": [
                run(command(name, member(3, "cpu"))).num_rows
                for name in ["CommandGetPrimaryKeys", "CommandGetExportedKeys", "CommandGetImportedKeys", "CommandGetCrossReference"]
            ],
            "tables": [row["table_name"] for row in tables.to_pylist()],
            "tableSchema": {
                field.name: str(field.type) for field in pa.ipc.read_schema(pa.py_buffer(tables.to_pylist()[0]["table_schema"]))
            },
            "dataset": {field.name: str(field.type) for field in dataset},
            "parameters": {field.name: str(field.type) for field in parameters},
            "bound": [
                bound("SELECT v FROM cpu WHERE host = $h", h=one("a", pa.string())),
                bound("SELECT v FROM cpu WHERE host = $h", h=one("a", pa.large_string())),
                bound("SELECT v FROM cpu WHERE host = $h", h=one("a", pa.string()).dictionary_encode()),
                bound("SELECT v FROM cpu WHERE v > $1 AND n < $2", x=one(1, pa.int8()), y=one(4, pa.uint64())),
                bound("SELECT v FROM cpu WHERE v > $1", x=one(1.5, pa.float32())),
                bound("SELECT v FROM cpu WHERE time > $t", t=one(1_000_000_000, pa.timestamp("ns"))),
                bound("SELECT v FROM cpu WHERE time > $t", t=one(1_000_000, pa.timestamp("us", "UTC"))),
                bound("SELECT v FROM cpu WHERE b = $b", b=one(True, pa.bool_())),
            ],
            "actions": [action.type for action in client.list_actions()],
            "closed": [
                result.body.to_pybytes().hex()
                for result in client.do_action(
                    flight.Action(
                        "ClosePreparedStatement",
                        command("ActionClosePreparedStatementRequest", member(1, prepared("SELECT 1")[0])),
                    ),
                    IN_D,
                )
            ],
            "token": [part.decode() for part in client.authenticate_basic_token("user", "secret")],
            "errors": {
                "table": error_of(lambda: run(statement("SELECT * FROM nothing"))),
                "database": error_of(lambda: client.do_get(ticket({"database": "nowhere", "sql_query": "SELECT 1"})).read_all()),
                "header": error_of(lambda: run(statement("SELECT 1"), flight.FlightCallOptions())),
                "ticket": error_of(lambda: client.do_get(flight.Ticket(os.urandom(100))).read_all()),
                "influxql": error_of(
                    lambda: client.do_get(
                        ticket({"database": "d", "sql_query": "DROP DATABASE d", "query_type": "influxql"})
                    ).read_all()
                ),
                "action": error_of(lambda: list(client.do_action(flight.Action("Nothing", b""), IN_D))),
                "path": error_of(lambda: client.get_flight_info(flight.FlightDescriptor.for_path("x"), IN_D)),
                "flights": error_of(lambda: list(client.list_flights())),
                "timeout": error_of(
                    lambda: client.do_get(
                        ticket({"database": "d", "sql_query": "SELECT count(*) FROM big a, big b, big c"}),
                        flight.FlightCallOptions(timeout=0.2),
                    ).read_all()
                ),
                "listOfParameters": error_of(lambda: bound("SELECT $1", x=pa.array([[1]]))),
            },
        }
    )
)
