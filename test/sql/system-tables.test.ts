// Schema `system` of a real server: files, statements and their phases, databases, tables and nodes, as they are at the moment of asking.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { query, store, untilMetric, write } from "../e2e/client.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const DAY = 86_400_000_000_000;
/** Runs until it is stopped. */
const ENDLESS = "SELECT count(*) FROM range(100000000000) AS r(i) WHERE i < 0";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--node-id", "alpha", "--query-log-size", "300"] });
  await store(server, "db", `cpu,host=a,Region=x usage=1,n=1i 0\ncpu,host=b usage=2,u=3u,s="t",ok=true ${DAY + 5}\nCpu v=1 7`);
  await store(server, "other", "mem,host=a used=1 1\nmem used=2 2");
  // a stop writes everything to files
  await server.restart();
});
afterAll(() => server.dispose());

const rows = (statement: string, database = "db") => server.sql(database, statement);

describe("influxdb_schema", () => {
  test("keys and their types in the words of line protocol", async () => {
    expect(await rows("SELECT key, data_type FROM system.influxdb_schema WHERE measurement = 'cpu' ORDER BY key")).toEqual(
      [
        ["Region", "tag"],
        ["host", "tag"],
        ["n", "integer"],
        ["ok", "boolean"],
        ["s", "string"],
        ["time", "time"],
        ["u", "uinteger"],
        ["usage", "float"],
      ].map(([key, data_type]) => ({ key, data_type })),
    );
    expect(await rows("SELECT DISTINCT measurement FROM system.influxdb_schema ORDER BY 1")).toEqual([
      { measurement: "Cpu" },
      { measurement: "cpu" },
    ]);
  });
});

describe("parquet_files", () => {
  test("a row for each file of a table, with the size that the file has", async () => {
    const found = await rows("SELECT * FROM system.parquet_files ORDER BY table_name");
    expect(found).toMatchObject([
      { table_name: "Cpu", row_count: 1, min_time: 7, max_time: 7 },
      { table_name: "cpu", row_count: 2, min_time: 0, max_time: DAY + 5 },
    ]);
    for (const { path, size_bytes } of found) {
      expect(String(path)).toStartWith("alpha/data/");
      expect(size_bytes).toBe(statSync(join(server.dataDir, "objects", String(path))).size);
    }
  });

  test("composes with others, and other databases' files are not to be seen", async () => {
    const statement = `SELECT t.column_count, sum(f.row_count) AS n FROM system.parquet_files AS f JOIN system.tables AS t USING (table_name)
      WHERE f.table_name = 'cpu' GROUP BY 1`;
    expect(await rows(statement)).toEqual([{ column_count: 8, n: 2 }]);
    expect(await rows("SELECT count(*) AS n FROM system.parquet_files WHERE table_name = 'mem'")).toEqual([{ n: 0 }]);
    expect(await rows("SELECT table_name FROM system.parquet_files", "other")).toEqual([{ table_name: "mem" }]);
  });
});

describe("tables, databases and nodes", () => {
  const CPU = {
    database_name: "db",
    table_name: "cpu",
    column_count: 8,
    series_key_columns: "host, Region",
    last_cache_count: 0,
    distinct_cache_count: 0,
    deleted: false,
  };
  const MEM = { ...CPU, database_name: "other", table_name: "mem", column_count: 3, series_key_columns: "host" };

  test("tables of this database, and of all in _internal", async () => {
    expect(await rows("SELECT * FROM system.tables WHERE table_name <> 'Cpu'")).toEqual([CPU]);
    expect(await rows("SELECT * FROM system.tables WHERE table_name <> 'Cpu' ORDER BY table_name", "_internal")).toEqual([CPU, MEM]);
  });

  test("system.databases lists databases with their retention", async () => {
    expect(await rows("SELECT * FROM system.databases ORDER BY database_name", "_internal")).toEqual(
      // rows of the server's own are kept for a week, as the vendor says
      ["_internal", "db", "other"].map((database_name) => ({
        ...{ database_name, deleted: false },
        ...(database_name === "_internal" ? { retention_period_ns: 7 * 86_400e9 } : {}),
      })),
    );
    const joined =
      "SELECT d.database_name FROM system.databases AS d LEFT JOIN system.tables AS t USING (database_name) GROUP BY 1 HAVING count(t.table_name) = 1";
    expect(await rows(joined, "_internal")).toEqual([{ database_name: "other" }]);
  });

  test("system.nodes lists this server", async () => {
    const { process_id } = (await (await fetch(`${server.url}/ping`)).json()) as { process_id: string };
    const wanted = { node_id: "alpha", node_catalog_id: 0, instance_id: process_id, mode: ["all"], core_count: availableParallelism() };
    const [node] = await rows("SELECT * FROM system.nodes", "_internal");
    expect(node).toEqual({ ...wanted, state: "running", updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  });

  test("_internal has no tables of users and takes no writes", async () => {
    expect((await query(server, "_internal", "SELECT * FROM cpu")).status).toBe(400);
    expect((await write(server, "_internal", "cpu v=1")).status).toBe(400);
    expect(await rows("SELECT count(*) AS n FROM information_schema.tables WHERE table_schema = 'iox'", "_internal")).toEqual([{ n: 0 }]);
  });
});

describe("queries", () => {
  const last = async (text: string, columns = "*") => {
    const [row] = await server.sql<Record<string, unknown>>(
      "db",
      `SELECT ${columns} FROM system.queries WHERE query_text LIKE '${text}%' ORDER BY issue_time DESC LIMIT 1`,
    );
    return row;
  };

  test("system.queries lists a statement that succeeded", async () => {
    const statement = "SELECT host AS answered FROM cpu WHERE usage > 0";
    await rows(statement);
    const row = await last("SELECT host AS answered");
    expect(row).toMatchObject({
      phase: "success",
      query_type: "sql",
      query_text: statement,
      parquet_files: 1,
      success: true,
      running: false,
      cancelled: false,
    });
    expect(row!["id"]).toMatch(/^[0-9a-f-]{36}$/);
    for (const name of ["plan", "permit", "execute", "end2end", "compute"]) {
      expect([name, row![`${name}_duration`]]).toEqual([name, expect.stringMatching(/^PT\d+(\.\d+)?S$/)]);
    }
    // the parts fit into the whole
    const sums = "SELECT plan_duration + permit_duration + execute_duration <= end2end_duration AS fits FROM system.queries WHERE id = $id";
    const answer = await query(server, "db", sums, { format: "json", params: { id: row!["id"] } });
    expect(JSON.parse(answer.text)).toEqual([{ fits: true }]);
  });

  test("statements that failed: in planning, and in execution", async () => {
    expect((await query(server, "db", "SELECT nothing AS wrong FROM cpu")).status).toBe(400);
    expect(await last("SELECT nothing AS wrong", "phase, success, running, cancelled")).toEqual({
      phase: "fail",
      success: false,
      running: false,
      cancelled: false,
    });
    expect((await query(server, "db", "SELECT CAST(s AS BIGINT) AS wrong FROM cpu ORDER BY host DESC")).status).toBe(400);
    expect(await last("SELECT CAST(s AS BIGINT) AS wrong", "phase, success")).toEqual({ phase: "fail", success: false });
  });

  test("the asking statement is running", async () => {
    const row = await last("SELECT phase AS self", "phase, running");
    expect(row).toBeUndefined();
    expect(await rows("SELECT running, success FROM system.queries WHERE query_text LIKE 'SELECT running, success%'")).toEqual([
      { running: true, success: false },
    ]);
  });

  test("system.queries lists a running and then cancelled statement", async () => {
    const controller = new AbortController();
    const asked = query(server, "db", ENDLESS, { signal: controller.signal }).catch((error: Error) => error.name);
    while ((await last("SELECT count(*) FROM range", "phase"))?.["phase"] !== "planned") await Bun.sleep(20);
    expect(await last("SELECT count(*) FROM range", "running, success, execute_duration, end2end_duration")).toEqual({
      running: true,
      success: false,
    });
    controller.abort();
    expect(await asked).toBe("AbortError");
    await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
    expect(await last("SELECT count(*) FROM range", "phase, running, success, cancelled")).toEqual({
      phase: "cancel",
      running: false,
      success: false,
      cancelled: true,
    });
  });

  test("a database sees its own statements, _internal all", async () => {
    await rows("SELECT used AS elsewhere FROM mem", "other");
    const count = "SELECT count(*) AS n FROM system.queries WHERE query_text LIKE 'SELECT used AS elsewhere%'";
    expect([await rows(count), await rows(count, "other"), await rows(count, "_internal")]).toEqual([[{ n: 0 }], [{ n: 1 }], [{ n: 1 }]]);
  });

  test("durations compare with intervals", async () => {
    const [row] = await server.sql<{ n: number; m: number }>(
      "db",
      "SELECT count(*) FILTER (WHERE end2end_duration < INTERVAL '1 hour') AS n, count(end2end_duration) AS m FROM system.queries",
    );
    expect(row!.n).toBe(row!.m);
    expect(row!.n).toBeGreaterThan(0);
  });

  test("as many as --query-log-size are remembered, and long texts are cut", async () => {
    for (let i = 0; i < 310; i++) await rows(`SELECT ${i} AS many`);
    expect(await rows("SELECT count(*) AS n FROM system.queries", "_internal")).toEqual([{ n: 300 }]);
    // 310 and these two are 312
    expect(await rows("SELECT query_text FROM system.queries ORDER BY issue_time LIMIT 1")).toEqual([{ query_text: "SELECT 12 AS many" }]);
    await query(server, "db", `SELECT '${"x".repeat(100_000)}' AS long`);
    expect(await last("SELECT ''xxx", "length(query_text) AS n")).toEqual({ n: 16 * 1024 + 1 });
  });
});
