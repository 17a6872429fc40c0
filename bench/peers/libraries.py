"""DuckDB or ClickHouse in this process: `libraries.py NAME FOLDER`. Reads one request a line, and writes one answer a line, as JSON:
{"load": [PATH, ...]} reads Parquet files into table `cpu`; {"ask": [STATEMENT, ...], "warm": N, "patience": SECONDS, "shown": N} runs statements one by one, and stops after so
many seconds."""

import json
import sys
import time

import pyarrow as pa

TAGS = "hostname region datacenter rack os arch team service service_version service_environment".split()
THREADS = 2


class DuckDb:
    def __init__(self, folder):
        import duckdb

        self.connection = duckdb.connect(f"{folder}/cpu.duckdb", config={"threads": THREADS})

    def load(self, paths):
        self.connection.execute("CREATE TABLE cpu AS SELECT * FROM read_parquet(?)", [paths])
        self.connection.execute("CHECKPOINT")

    def ask(self, statement):
        return self.connection.execute(statement).to_arrow_table()


class ClickHouse:
    def __init__(self, folder):
        from chdb import session

        self.session = session.Session(f"{folder}/clickhouse")
        self.session.query(f"SET max_threads = {THREADS}")
        self.session.query("CREATE DATABASE IF NOT EXISTS bench ENGINE = Atomic")
        self.session.query("USE bench")

    def load(self, paths):
        tags = ", ".join(f"toLowCardinality({tag}) AS {tag}" for tag in TAGS)
        source = f"SELECT * EXCEPT ({', '.join(TAGS)}), {tags} FROM file('%s') SETTINGS schema_inference_make_columns_nullable = 0"
        for number, path in enumerate(paths):
            if number == 0:
                self.session.query(f"CREATE TABLE cpu ENGINE = MergeTree ORDER BY (hostname, time) AS {source % path}")
            else:
                self.session.query(f"INSERT INTO cpu {source % path}")
        self.session.query("OPTIMIZE TABLE cpu FINAL")

    def ask(self, statement):
        with pa.ipc.open_stream(self.session.query(statement, "ArrowStream").bytes()) as batches:
            return batches.read_all()


def measure(engine, statements, warm, patience, shown):
    took_ms = []
    end = time.perf_counter() + patience
    for execution, statement in enumerate(statements):
        start = time.perf_counter()
        table = engine.ask(statement)
        now = time.perf_counter()
        if execution >= warm or now > end:
            took_ms.append((now - start) * 1000)
        if now > end:
            break
    rows = [list(row.values()) for row in table.to_pylist()] if len(table) <= shown else []
    return {"tookMs": took_ms, "rowCount": len(table), "rows": rows}


def main():
    engine = {"DuckDB": DuckDb, "ClickHouse": ClickHouse}[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "load" in request:
                answer = engine.load(request["load"]) or {}
            else:
                answer = measure(engine, request["ask"], request["warm"], request["patience"], request["shown"])
        except Exception as error:  # whatever a statement raises is its answer
            answer = {"error": str(error)}
        print(json.dumps(answer, default=str), flush=True)


main()
