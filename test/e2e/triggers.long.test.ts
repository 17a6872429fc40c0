// Triggers on a real server with real Python: writes, schedules, requests, failures, and what is left after kills.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "tsdb-trigger-plugins-"));
const PLUGINS: Readonly<Record<string, string>> = {
  // a row for each batch and table, with what came
  "count.py": `
def process_writes(tsdb_local, table_batches, args=None):
    for batch in table_batches:
        rows = batch["rows"]
        line = LineBuilder("counts").tag("of", batch["table_name"]).int64_field("rows", len(rows))
        line.int64_field("sum", sum(row.get("v", 0) for row in rows)).string_field("args", str(args))
        tsdb_local.write(line)
`,
  // each row again, so that what comes twice is the same row
  "copy.py": `
def process_writes(tsdb_local, table_batches, args=None):
    for batch in table_batches:
        for row in batch["rows"]:
            tsdb_local.write(LineBuilder("copy").tag("k", row["k"]).int64_field("v", row["v"]).time_ns(row["time"]))
`,
  "tick.py": `
def process_scheduled_call(tsdb_local, schedule_time, args=None):
    tsdb_local.info("tick", schedule_time.isoformat(), schedule_time.tzinfo)
    tsdb_local.write(LineBuilder("ticks").int64_field("n", 1))
`,
  "hello.py": `
import json
def process_request(tsdb_local, query_parameters, request_headers, request_body, args=None):
    if query_parameters.get("fail"):
        raise ValueError("no " + query_parameters["fail"])
    names = tsdb_local.query("SELECT count(*) AS n FROM m")
    answer = {"query": query_parameters, "type": request_headers.get("content-type"), "auth": request_headers.get("authorization")}
    answer.update({"body": request_body.decode(), "args": args, "n": names[0]["n"]})
    return answer, 201, {"x-plugin": "yes"}
`,
  "fail.py": `
def process_writes(tsdb_local, table_batches, args=None):
    raise KeyError("missing")
`,
  "wait.py": `
import time
def process_writes(tsdb_local, table_batches, args=None):
    try:
        tsdb_local.warn("waits")
        time.sleep(60)
    except KeyboardInterrupt:
        print("was interrupted")
        tsdb_local.cache.put("undone", len(table_batches), use_global=True)
        tsdb_local.warn("leaves", tsdb_local.cache.get("undone", use_global=True))
        try:
            tsdb_local.query("SELECT 1")
        except KeyboardInterrupt as error:
            tsdb_local.error(error)
        raise
`,
  "sparse.py": `
def process_writes(tsdb_local, table_batches, args=None):
    for row in table_batches[0]["rows"]:
        tsdb_local.info(sorted(row), row["a"], row["b"], row["t"], row["time"])
`,
  "own.py": `
def process_writes(tsdb_local, table_batches, args=None):
    tsdb_local.write(LineBuilder("loop").int64_field("v", 1))
`,
};

let server: TestServer;
beforeAll(async () => {
  for (const [name, text] of Object.entries(PLUGINS)) writeFileSync(join(folder, name), text);
  server = await TestServer.start({ flags: ["--plugin-dir", folder] });
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

const TRIGGER = "/api/v3/configure/processing_engine_trigger";
const SETTINGS = { run_async: false, error_behavior: "log" };

async function create(db: string, name: string, spec: string, plugin: string, over: Readonly<Record<string, unknown>> = {}) {
  const body = {
    db,
    trigger_name: name,
    trigger_specification: spec,
    plugin_filename: plugin,
    trigger_settings: SETTINGS,
    disabled: false,
  };
  const response = await fetch(server.url + TRIGGER, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ...body, ...over }) },
  });
  return { status: response.status, text: await response.text() };
}

async function change(method: string, path: string, db: string, name: string): Promise<number> {
  return (await fetch(`${server.url}${TRIGGER}${path}?db=${db}&trigger_name=${name}`, { method })).status;
}

/** Also while it runs. */
const remove = async (db: string, name: string) =>
  (await fetch(`${server.url}${TRIGGER}?db=${db}&trigger_name=${name}&force=true`, { method: "DELETE" })).status;

async function write(db: string, lines: string): Promise<void> {
  const response = await fetch(`${server.url}/api/v3/write_lp?db=${db}&precision=nanosecond`, { method: "POST", body: lines });
  if (response.status !== 204) throw new Error(await response.text());
}

/** Asks until the answer is as wanted: triggers run behind the writes. */
async function until<T>(ask: () => Promise<T>, isWanted: (found: T) => boolean): Promise<T> {
  for (const endMs = performance.now() + 30_000; ; ) {
    const found = await ask();
    if (isWanted(found)) return found;
    if (performance.now() > endMs) throw new Error(`it stayed ${JSON.stringify(found)}`);
    await Bun.sleep(20);
  }
}

const rows = <Row = Record<string, unknown>>(db: string, sql: string) => server.sql<Row>(db, sql).catch(() => []);
const logs = (db: string, name: string) =>
  rows<{ log_level: string; log_text: string }>(
    db,
    `SELECT log_level, log_text FROM system.processing_engine_logs WHERE trigger_name = '${name}'`,
  );

describe("writes", () => {
  test("all tables, one table, with arguments; system tables show them", async () => {
    await write("w", "m v=1i 1");
    expect(await create("w", "all", "all_tables", "count.py", { trigger_arguments: { a: "1", b: 2 } })).toEqual({ status: 200, text: "" });
    await write("w", "m v=2i 2\nm v=3i 3\nn v=4i 4");
    const counted = await until(
      () => rows("w", "SELECT of, rows, sum, args FROM counts ORDER BY of"),
      (found) => found.length === 2,
    );
    expect(counted).toEqual([
      { of: "m", rows: 2, sum: 5, args: "{'a': '1', 'b': '2'}" },
      { of: "n", rows: 1, sum: 4, args: "{'a': '1', 'b': '2'}" },
    ]);
    expect(await server.sql("w", "SELECT * FROM system.processing_engine_triggers")).toEqual([
      { trigger_name: "all", plugin_filename: "count.py", trigger_specification: "all_tables", disabled: false, error_behavior: "log" },
    ]);
    expect(await server.sql("w", "SELECT * FROM system.processing_engine_trigger_arguments")).toEqual([
      { trigger_name: "all", argument_key: "a", argument_value: "1" },
      { trigger_name: "all", argument_key: "b", argument_value: "2" },
    ]);
    expect(await remove("w", "all")).toBe(200);
  });

  test("a column of the table that no row has is None", async () => {
    await write("s", "m,t=x a=1,b=2 1");
    await create("s", "sparse", "table:m", "sparse.py");
    for (const line of ["m,t=x a=1 2", "m b=3 3"]) {
      await write("s", line);
      await until(
        () => logs("s", "sparse"),
        (found) => found.length === (line.startsWith("m b") ? 2 : 1),
      );
    }
    expect((await logs("s", "sparse")).map(({ log_text }) => log_text)).toEqual([
      "['a', 't', 'time'] 1.0 None x 2",
      "['b', 'time'] None 3.0 None 3",
    ]);
    expect(await remove("s", "sparse")).toBe(200);
  });

  test("a trigger that writes into its own source is called once per write, and the log says so", async () => {
    await write("o", "m v=1i 1");
    await create("o", "own", "all_tables", "own.py");
    await write("o", "m v=2i 2");
    await until(
      () => rows<{ n: number }>("o", "SELECT count(*) AS n FROM loop"),
      ([found]) => found?.n === 1,
    );
    await write("o", "m v=3i 3");
    await until(
      () => rows<{ n: number }>("o", "SELECT count(*) AS n FROM loop"),
      ([found]) => found?.n === 2,
    );
    expect((await logs("o", "own")).map(({ log_text }) => log_text)).toEqual([expect.stringContaining("does not see its own rows")]);
    expect(await remove("o", "own")).toBe(200);
  });

  test("an error with its traceback is in the log; with disable the trigger is off", async () => {
    await write("f", "m v=1i 1");
    await create("f", "off", "all_tables", "fail.py", { trigger_settings: { run_async: false, error_behavior: "Disable" } });
    await write("f", "m v=2i 2");
    await until(
      () => rows<{ disabled: boolean }>("f", "SELECT disabled FROM system.processing_engine_triggers"),
      ([found]) => found?.disabled === true,
    );
    const [first] = await logs("f", "off");
    expect(first!.log_level).toBe("ERROR");
    expect(first!.log_text).toContain("KeyError: 'missing'");
    expect(first!.log_text).toContain('fail.py", line 3, in process_writes');
  });

  test("disabling interrupts a run", async () => {
    await write("i", "m v=1i 1");
    await create("i", "wait", "all_tables", "wait.py");
    await write("i", "m v=2i 2");
    await until(
      () => logs("i", "wait"),
      (found) => found.length > 0,
    );
    // it runs: only force deletes it
    const refused = await fetch(`${server.url}${TRIGGER}?db=i&trigger_name=wait`, { method: "DELETE" });
    expect([refused.status, await refused.text()]).toEqual([400, "Cannot delete running plugin wait. Disable it first or use --force."]);
    // as the vendor's command line sends it
    const inBody = await fetch(`${server.url}${TRIGGER}`, {
      ...{ method: "DELETE", headers: { "content-type": "application/json" } },
      body: JSON.stringify({ db: "i", trigger_name: "wait", force: false }),
    });
    expect([inBody.status, await inBody.text()]).toEqual([400, "Cannot delete running plugin wait. Disable it first or use --force."]);
    expect(await change("POST", "/disable", "i", "wait")).toBe(200);
    await server.untilOutput(/was interrupted/);
    const whole = ["waits", "leaves 1", "influxdb3 is shutting down; aborting plugin execution"];
    const texts = async () => (await logs("i", "wait")).map(({ log_text }) => log_text);
    expect(await until(texts, ({ length }) => length === 3)).toEqual(whole);
    // a stop of the server does the same, and the rows of the run come again
    expect(await change("POST", "/enable", "i", "wait")).toBe(200);
    await write("i", "m v=3i 3");
    await until(texts, ({ length }) => length === 4);
    expect(await server.stop()).toBe(0);
    await server.restart();
    expect(await until(texts, ({ length }) => length === 7)).toEqual([...whole, ...whole, "waits"]);
    expect(await remove("i", "wait")).toBe(200);
  });
});

describe("schedules", () => {
  test("every second, with a naive time in UTC", async () => {
    await write("s", "m v=1i 1");
    expect((await create("s", "tick", "every:1s", "tick.py")).status).toBe(200);
    const ticks = async () => (await logs("s", "tick")).filter(({ log_level }) => log_level === "INFO").map(({ log_text }) => log_text);
    const texts = await until(ticks, ({ length }) => length >= 2);
    for (const text of texts) expect(text).toMatch(/^tick \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d None$/);
    // a busy machine passes times over, and says so
    for (const { log_level, log_text } of await logs("s", "tick")) if (log_level !== "INFO") expect(log_text).toContain("were passed over");
    const times = texts.map((text) => Date.parse(`${text.split(" ")[1]}Z`));
    for (const [i, time] of times.slice(1).entries()) expect((time - times[i]!) % 1000).toBe(0);
    expect(await change("POST", "/disable", "s", "tick")).toBe(200);
  });
});

describe("requests", () => {
  test("query, headers, body and arguments go in; body, status and headers come out", async () => {
    await write("r", "m v=1i 1");
    await create("r", "hello", "request:hello/you", "hello.py", { trigger_arguments: { who: "me" } });
    const response = await fetch(`${server.url}/api/v3/engine/hello/you?x=1&y=%C3%A9`, {
      ...{ method: "POST", headers: { "content-type": "application/json", authorization: "Bearer secret" }, body: '{"a":1}' },
    });
    expect([response.status, response.headers.get("x-plugin"), await response.json()]).toEqual([
      ...[201, "yes"],
      { query: { x: "1", y: "é" }, type: "application/json", auth: null, body: '{"a":1}', args: { who: "me" }, n: 1 },
    ]);
    expect((await fetch(`${server.url}/api/v3/engine/hello/you`)).status).toBe(201);
    const failed = await fetch(`${server.url}/api/v3/engine/hello/you?fail=way`);
    expect([failed.status, await failed.json()]).toEqual([500, { error: expect.stringContaining("no way") }]);
    const none = await fetch(`${server.url}/api/v3/engine/hello`);
    expect([none.status, await none.text()]).toEqual([404, '{error: "not found"}']);
  });
});

describe("rejected requests", () => {
  const CASES: [what: string, spec: string, plugin: string, status: number, text: string][] = [
    ["no such file", "all_tables", "none.py", 500, "none.py"],
    ["a path that leads out", "all_tables", "../x.py", 400, "not a path below the plugin directory"],
    ["no such function", "every:1s", "count.py", 500, "process_scheduled_call"],
    ["no specification", "sometimes", "count.py", 400, "failed to parse trigger from sometimes: expect one of the following prefixes"],
  ];
  test.each(CASES)("%s", async (_, spec, plugin, status, text) => {
    await write("c", "m v=1i 1");
    expect(await create("c", "t", spec, plugin)).toEqual({ status, text: expect.stringContaining(text) });
    expect(await rows("c", "SELECT * FROM system.processing_engine_triggers")).toEqual([]);
  });
});

test("rejected kinds of triggers; triggers with data in memory", async () => {
  const flags = ["--plugin-dir", folder, "--object-store", "memory", "--restrict-plugin-triggers-to", "wal,request"];
  await using other = await TestServer.start({ flags });
  const before = server;
  server = other;
  try {
    await write("x", "m v=1i 1");
    expect(await create("x", "t", "every:1s", "tick.py")).toEqual({
      ...{ status: 400, text: "invalid request: server is configured to reject schedule plugin triggers" },
    });
    expect((await create("x", "all", "table:m", "count.py")).status).toBe(200);
    await write("x", "m v=2i 2");
    const counted = await until(
      () => rows("x", "SELECT of, rows FROM counts"),
      (found) => found.length > 0,
    );
    expect(counted).toEqual([{ of: "m", rows: 1 }]);
  } finally {
    server = before;
  }
});

test("repeated kill -9 of the server loses no row", async () => {
  await write("k", "m,k=a v=0i 1");
  await create("k", "copy", "table:m", "copy.py");
  let sent = 1;
  for (let round = 0; round < 4; round++) {
    const end = Date.now() + 300 + round * 100;
    while (Date.now() < end) {
      sent += 1;
      await write("k", `m,k=a v=${sent}i ${sent}`);
    }
    await server.kill();
    await server.restart();
  }
  const [last] = await until(
    () => rows<{ n: number; last: number }>("k", "SELECT count(*) AS n, max(v) AS last FROM copy"),
    ([found]) => found?.n === sent - 1,
  );
  expect(last).toEqual({ n: sent - 1, last: sent });
  // in order: what is stored is what was written
  expect(await server.sql("k", "SELECT count(*) AS n FROM copy JOIN m ON copy.time = m.time AND copy.v = m.v")).toEqual([{ n: sent - 1 }]);
});
