// What triggers log, on a real server with real Python: stored rows that survive stops and kills, hidden from everything else.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bucketIdOf } from "../../src/metadata/store/ids.ts";
import { pluginPython } from "../support/plugins/plugins.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const PLUGINS: Readonly<Record<string, string>> = {
  // as many lines as the request says
  "say.py": `
def process_request(tsdb_local, query_parameters, request_headers, request_body, args=None):
    for i in range(int(query_parameters.get("lines", 1))):
        tsdb_local.info(query_parameters["text"], i)
    return {}
`,
  "each.py": `
def process_writes(tsdb_local, table_batches, args=None):
    tsdb_local.warn("called for", *[batch["table_name"] for batch in table_batches])
`,
};

if (pluginPython() !== null) {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-log-plugins-"));
  let server: TestServer;
  beforeAll(async () => {
    for (const [name, text] of Object.entries(PLUGINS)) writeFileSync(join(folder, name), text);
    server = await TestServer.start({ flags: ["--plugin-dir", folder], withBuckets: true });
    for (const db of ["one", "two"]) {
      await write(db, "m v=1i 1");
      await create(db, "say", `request:${db}`, "say.py");
    }
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true });
  });

  async function create(db: string, name: string, spec: string, plugin: string): Promise<number> {
    const trigger_settings = { run_async: false, error_behavior: "log" };
    const body = { db, trigger_name: name, trigger_specification: spec, plugin_filename: plugin, trigger_settings, disabled: false };
    const url = `${server.url}/api/v3/configure/processing_engine_trigger`;
    return (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).status;
  }

  async function write(db: string, lines: string): Promise<void> {
    const answer = await fetch(`${server.url}/api/v3/write_lp?db=${db}`, { method: "POST", body: lines });
    expect(answer.status).toBe(204);
  }

  const say = async (db: string, text: string, lines = 1) => {
    const answer = await fetch(`${server.url}/api/v3/engine/${db}?text=${text}&lines=${lines}`);
    expect(answer.status).toBe(200);
  };

  const logs = async (db: string, rest = "ORDER BY event_time") => {
    const rows = await server.sql<Record<string, string>>(
      db,
      `SELECT trigger_name, log_level, log_text FROM system.processing_engine_logs ${rest}`,
    );
    return rows.map(({ trigger_name, log_level, log_text }) => `${trigger_name} ${log_level}: ${log_text}`);
  };

  /** Asks until there are as many lines: they come with the answer's end, by another way. */
  const untilLogs = async (db: string, count: number) => {
    for (const endMs = performance.now() + 30_000; performance.now() < endMs; await Bun.sleep(5))
      if ((await logs(db)).length >= count) break;
    return logs(db);
  };

  describe("rows", () => {
    test("of one database each, with conditions, orders and aggregates", async () => {
      expect(await logs("one")).toEqual([]);
      await say("one", "hello", 3);
      await say("two", "other");
      expect(await untilLogs("one", 3)).toEqual(["say INFO: hello 0", "say INFO: hello 1", "say INFO: hello 2"]);
      expect(await untilLogs("two", 1)).toEqual(["say INFO: other 0"]);
      expect(await logs("one", "WHERE log_text = 'hello 1'")).toEqual(["say INFO: hello 1"]);
      expect(await logs("one", "WHERE event_time < now() - INTERVAL '1 hour'")).toEqual([]);
      expect(await logs("one", "WHERE event_time > now() - INTERVAL '1 hour' ORDER BY event_time DESC LIMIT 1")).toEqual([
        "say INFO: hello 2",
      ]);
      expect(await server.sql("one", "SELECT count(*) AS n, count(DISTINCT log_text) AS texts FROM system.processing_engine_logs")).toEqual(
        [{ n: 3, texts: 3 }],
      );
      expect(
        await server.sql(
          "one",
          "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'processing_engine_logs'",
        ),
      ).toEqual([
        { column_name: "event_time", data_type: "Timestamp(ns)" },
        { column_name: "trigger_name", data_type: "Utf8View" },
        { column_name: "log_level", data_type: "Utf8View" },
        { column_name: "log_text", data_type: "Utf8View" },
      ]);
      expect(await logs("_internal")).toEqual([]);
    });

    test("survive an orderly stop, and kill -9", async () => {
      const before = await logs("one");
      await server.stop();
      await server.restart();
      expect(await logs("one")).toEqual(before);
      await say("one", "again");
      const after = [...before, "say INFO: again 0"];
      expect(await untilLogs("one", after.length)).toEqual(after);
      await write("one", "m v=2i 2"); // its answer comes behind the sync of all that was logged before
      await server.kill("SIGKILL");
      await server.restart();
      expect(await logs("one")).toEqual(after);
      expect(await logs("two")).toEqual(["say INFO: other 0"]);
    });
  });

  test("no trigger is called for lines of the log, and none can be made for them", async () => {
    expect(await create("two", "each", "all_tables", "each.py")).toBe(200);
    await write("two", "a v=1i 1");
    expect(await untilLogs("two", 2)).toEqual(["say INFO: other 0", "each WARN: called for a"]);
    await write("two", "b v=1i 1");
    // a call for the line of the first would have come before this one
    expect(await untilLogs("two", 3)).toEqual(["say INFO: other 0", "each WARN: called for a", "each WARN: called for b"]);
    expect(await create("_internal", "each", "all_tables", "each.py")).toBe(404);
  });

  test("the table is hidden: from lists, statements, writes, counts and the bucket-based API", async () => {
    const text = async (path: string, init?: RequestInit) => (await fetch(server.url + path, init)).text();
    expect(JSON.parse(await text("/api/v3/configure/database?format=json"))).toEqual([
      ...[{ "iox::database": "_internal" }, { "iox::database": "one" }, { "iox::database": "two" }],
    ]);
    expect(await text("/query?q=SHOW%20MEASUREMENTS&db=_internal")).not.toContain("processing_engine_logs");
    expect(await text("/query?q=SHOW%20DATABASES")).not.toContain("4294967295");
    expect(await server.sql("_internal", "SELECT database_name, table_name FROM system.tables WHERE table_name <> 'm'")).toEqual([
      ...[
        { database_name: "two", table_name: "a" },
        { database_name: "two", table_name: "b" },
      ],
    ]);
    expect(await server.sql("_internal", "SELECT database_name FROM system.databases")).toEqual([
      ...[{ database_name: "_internal" }, { database_name: "one" }, { database_name: "two" }],
    ]);
    for (const db of ["_internal", "one"]) {
      const answer = await fetch(`${server.url}/api/v3/query_sql`, {
        ...{ method: "POST", headers: { "content-type": "application/json" } },
        body: JSON.stringify({ db, q: "SELECT * FROM processing_engine_logs" }),
      });
      expect(answer.status).toBe(400);
      // beside the system table too, whose snapshot has it
      const joined = await fetch(`${server.url}/api/v3/query_sql`, {
        ...{ method: "POST", headers: { "content-type": "application/json" } },
        body: JSON.stringify({ db, q: "SELECT * FROM system.processing_engine_logs AS a, processing_engine_logs AS b" }),
      });
      expect(joined.status).toBe(400);
    }
    expect((await fetch(`${server.url}/api/v3/write_lp?db=_internal`, { method: "POST", body: "processing_engine_logs v=1" })).status).toBe(
      400,
    );
    await fetch(`${server.bucketsUrl}/api/v2/setup`, {
      ...{ method: "POST", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ username: "u", password: "password", org: "o", bucket: "b", token: "t" }),
    });
    const buckets = async (query: string) => {
      const answer = await fetch(`${server.bucketsUrl}/api/v2/buckets${query}`, { headers: { authorization: "Token t" } });
      return { status: answer.status, names: ((await answer.json()).buckets ?? []).map(({ name }: { name: string }) => name) };
    };
    expect((await buckets("?limit=100")).names.sort()).toEqual(["_monitoring", "_tasks", "b", "one", "two"]);
    for (let id = 1; id < 10; id++) expect((await buckets(`?id=${bucketIdOf(id)}`)).names).not.toContain("_internal");
    expect(await text("/metrics")).toMatch(/^tsdb_tables 4$/m);
    // the three of users and the two of setup
    expect(await text("/metrics")).toMatch(/^tsdb_databases 5$/m);
  });

  test("a table of a user with the same name is another one", async () => {
    await write("one", 'processing_engine_logs log_text="mine" 1');
    expect(await server.sql("one", "SELECT log_text FROM processing_engine_logs")).toEqual([{ log_text: "mine" }]);
    expect(await logs("one", "WHERE log_text = 'mine'")).toEqual([]);
    expect(
      await server.sql(
        "one",
        "SELECT count(*) AS n FROM processing_engine_logs AS a, system.processing_engine_logs AS b WHERE b.log_text = 'again 0'",
      ),
    ).toEqual([{ n: 1 }]);
  });

  test("a flood is cut, its count is said, and another trigger's line is there", async () => {
    for (let i = 0; i < 4; i++) await say("one", "x".repeat(100), 10_000);
    await say("two", "heard");
    expect((await untilLogs("two", 4)).at(-1)).toBe("say INFO: heard 0");
    await server.stop(); // says what is left out so far
    await server.restart();
    const kept = (await logs("one", "WHERE log_text LIKE 'xx%'")).length;
    expect(kept).toBeGreaterThan(1000);
    expect(kept).toBeLessThan(10_000);
    const counts = await logs("one", "WHERE log_text LIKE '%lines were left out%'");
    const sum = counts.reduce((all, line) => all + Number(/(\d+) lines/.exec(line)![1]), 0);
    // 4 runs of 10 000, each ended by two lines about those that the run itself left out
    expect(sum + kept).toBeGreaterThan(39_000);
  });

  test("those of a deleted database are not those of a new one with its name", async () => {
    const before = await logs("two");
    expect((await fetch(`${server.url}/api/v3/configure/database?db=two`, { method: "DELETE" })).status).toBe(200);
    await write("two", "m v=1i 1");
    expect(await logs("two")).toEqual([]);
    expect(before.length).toBeGreaterThan(0);
  });
}
