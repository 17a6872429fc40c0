// Requests to plugins and plugins themselves that misuse a real server: raw bytes, invalid answers, plugins that remove what they
// belong to, hundreds of triggers. The server serves others meanwhile, and afterwards as before.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RawClient } from "../api/sockets.ts";
import { pluginPython } from "../support/plugins/plugins.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(180_000);

const PLUGINS: Readonly<Record<string, string>> = {
  "echo.py": `
import time
def process_request(local, query, headers, body, args=None):
    time.sleep(float(query.get("sleep", 0)))
    return {"query": query, "bytes": len(body)}
`,
  "answer.py": `
import datetime, json
def forever():
    while True: yield "x" * 100000
def broken():
    yield "a"
    raise ValueError("in the midst")
class Liar:
    def __len__(self): return -1
    def __str__(self): raise RuntimeError("no text")
def process_request(local, query, headers, body, args=None):
    return eval(query["answer"])
`,
  "remove.py": `
import json, urllib.request
def ask(method, url, timeout=20):
    with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=timeout) as answer: return answer.status
def process_request(local, query, headers, body, args=None):
    return str(ask(query["method"], query["url"], float(query.get("timeout", 20))))
def process_writes(local, batches, args=None):
    local.info("called")
    ask(args["method"], args["url"])
    local.info("removed")
`,
  "circle.py": `
def process_writes(local, batches, args=None):
    for batch in batches:
        for row in batch["rows"]:
            local.write(LineBuilder(args["to"]).int64_field("n", row["n"] + 1))
`,
  // each delivery of a row is a row; one call in twenty ends the process before or after its writes
  "shaky.py": `
import os, random, signal
def process_writes(local, batches, args=None):
    fate = random.random() if args["shaky"] == "yes" else 1
    if fate < 0.025: os.kill(os.getpid(), signal.SIGKILL)
    for batch in batches:
        lines = [LineBuilder("seen").tag("trigger", args["name"]).tag("id", f'{batch["table_name"]}{row["v"]}').int64_field("n", 1).build() for row in batch["rows"]]
        local.write_sync_to_db("seen", "\\n".join(lines), False)
    if fate < 0.05: os.kill(os.getpid(), signal.SIGKILL)
`,
  "count.py": `
def process_writes(local, batches, args=None):
    local.write(LineBuilder("counted").tag("trigger", args["name"]).int64_field("rows", sum(len(b["rows"]) for b in batches)))
`,
};

if (pluginPython() !== null) {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-attack-plugins-"));
  let server: TestServer;
  beforeAll(async () => {
    for (const [name, text] of Object.entries(PLUGINS)) writeFileSync(join(folder, name), text);
    server = await TestServer.start({ flags: ["--plugin-dir", folder, "--plugin-time-limit", "20s"] });
    await write("d", "m v=1i 1");
    await create("d", "echo", "request:echo", "echo.py");
    await create("d", "answer", "request:answer", "answer.py");
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true });
  });

  const TRIGGER = "/api/v3/configure/processing_engine_trigger";

  type Arguments = Record<string, string> | null;
  const SETTINGS = { run_async: false, error_behavior: "log" };

  async function create(db: string, name: string, spec: string, plugin: string, args: Arguments = null, trigger_settings = SETTINGS) {
    const body = { db, trigger_name: name, trigger_specification: spec, plugin_filename: plugin, trigger_settings, disabled: false };
    const response = await fetch(server.url + TRIGGER, {
      ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ...body, trigger_arguments: args }) },
    });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  }

  async function write(db: string, lines: string): Promise<void> {
    expect((await fetch(`${server.url}/api/v3/write_lp?db=${db}`, { method: "POST", body: lines })).status).toBe(204);
  }

  const wellAgain = async () => {
    const answer = await fetch(`${server.url}/api/v3/engine/echo?a=1`, { method: "POST", body: "hello" });
    expect([answer.status, await answer.json()]).toEqual([200, { query: { a: "1" }, bytes: 5 }]);
  };

  const residentMiB = () => (Number(readFileSync(`/proc/${server.pid}/statm`, "latin1").split(" ")[1]) * 4096) / 2 ** 20;

  describe("raw requests", () => {
    const HEAD = "host: x\r\n";
    const RAW: [what: string, bytes: string, answer: RegExp][] = [
      ["no such path", `GET /api/v3/engine/none HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 404 /],
      ["dots", `GET /api/v3/engine/../../health HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 [24]/],
      ["encoded dots", `GET /api/v3/engine/%2e%2e/echo HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 [24]/],
      ["bytes above 127", `GET /api/v3/engine/\xff\xfe?\xff=\xff HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 4/],
      ["a long path", `GET /api/v3/engine/${"a".repeat(7000)} HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 4/],
      ["a query string that ends within a character", `GET /api/v3/engine/echo?x=%f HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 400 /],
      [
        "an invalid chunk size",
        `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`,
        /^HTTP\/1.1 400 |^$/,
      ],
      ["a negative length", `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}content-length: -1\r\n\r\n`, /^HTTP\/1.1 400 |^$/],
      ["two lengths", `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`, /^HTTP\/1.1 400 |^$/],
      [
        "a body that is no gzip",
        `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}content-encoding: gzip\r\ncontent-length: 2\r\n\r\nab`,
        /^HTTP\/1.1 400 /,
      ],
      [
        "a length beyond the limit",
        `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}content-length: 99999999999\r\n\r\n`,
        /^HTTP\/1.1 413 |^$/,
      ],
      [
        "an unknown encoding",
        `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}content-encoding: br\r\ncontent-length: 1\r\n\r\na`,
        /^HTTP\/1.1 400 /,
      ],
      [
        "chunks",
        `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
        /^HTTP\/1.1 200 [\s\S]*"bytes": 3/,
      ],
      [
        "a wait for permission",
        `POST /api/v3/engine/echo HTTP/1.1\r\n${HEAD}expect: 100-continue\r\ncontent-length: 2\r\n\r\nab`,
        /"bytes": 2/,
      ],
    ];
    test.each(RAW)("%s", async (_, bytes, answer) => {
      const client = await RawClient.open(Number(new URL(server.url).port));
      client.send(Buffer.from(bytes, "latin1"));
      await client.until("\r\n\r\n");
      for (let i = 0; i < 500 && !answer.test(client.received) && !client.closed; i++) await Bun.sleep(10);
      expect(client.received).toMatch(answer);
      client.destroy();
      await wellAgain();
    });

    test("a client that leaves ends the run, and the next one does not wait for it", async () => {
      const client = await RawClient.open(Number(new URL(server.url).port));
      client.send(`GET /api/v3/engine/echo?sleep=60 HTTP/1.1\r\nhost: x\r\n\r\n`);
      await Bun.sleep(300);
      client.destroy();
      const startMs = performance.now();
      await wellAgain();
      expect(performance.now() - startMs).toBeLessThan(10_000);
    });

    test("many large bodies at once are refused before they fill the memory", async () => {
      const before = residentMiB();
      const body = new Uint8Array(8 << 20);
      const statuses = await Promise.all(
        Array.from({ length: 180 }, async () => {
          const answer = await fetch(`${server.url}/api/v3/engine/echo?sleep=0.05`, { method: "POST", body });
          await answer.text();
          return answer.status;
        }),
      );
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
      // 1440 MiB were sent, 256 are held, in at most two copies; a busy runtime frees late
      expect(residentMiB() - before).toBeLessThan(1000);
      await wellAgain();
    });
  });

  describe("answers of plugins", () => {
    const ANSWERS: [answer: string, status: number, text: string | RegExp][] = [
      ["'text'", 200, "text"],
      ["b'\\x00\\xff'", 200, "\0\ufffd"],
      ["['list']", 200, '["list"]'],
      ["('a', 204)", 204, ""],
      ["('', 304)", 304, ""],
      ["(x for x in ['a', b'b', 3])", 200, "ab3"],
      ["('a', 99)", 500, /status is a number from 200 to 599, got 99/],
      ["('a', 1000)", 500, /got 1000/],
      ["('a', 101)", 500, /got 101/],
      ["('a', True)", 500, /got True/],
      ["('a', '200')", 500, /./],
      ["('a', 200, {}, 1)", 500, /a tuple of an answer/],
      ["()", 500, /got 0 members/],
      ["None", 500, /Unsupported return type from Python function/],
      ["5", 500, /Unsupported return type/],
      ["Liar()", 500, /Unsupported return type/],
      ["[Liar()]", 500, /not JSON serializable/],
      ["(Liar() for _ in range(2))", 500, /no text/],
      ["{'when': datetime.datetime.now()}", 500, /not JSON serializable/],
      ["forever()", 500, /at most 67108864 bytes/],
      ["broken()", 500, /in the midst/],
      ["'x' * (70 << 20)", 500, /at most 67108864 bytes/],
      ["('a', 200, {'x': 'y' * (1 << 20)})", 500, /its headers have 1048621 bytes, max 65536/],
      ["('a', 200, {'x\\r\\nset-cookie': 'a'})", 500, /line break/],
      ["('a', 200, {'x': 'a\\r\\n\\r\\nHTTP/1.1 200 OK'})", 500, /line break/],
      ["('a', 200, {'sp ace': 'a'})", 500, /the plugin's answer cannot be sent/],
      ["('a', 200, {'': 'a'})", 500, /the plugin's answer cannot be sent/],
      ["('a', 200, {'x': '\\ud800'})", 500, /./],
      ["'\\ud800'", 200, "?"],
      ["('a', 200, {'content-length': '99', 'transfer-encoding': 'chunked', 'connection': 'close'})", 200, "a"],
      ["('a', 200, [('a', 'b', 'c')])", 500, /./],
      ["('a', 200, 5)", 500, /./],
      ["json.loads('[' * 900 + ']' * 900)", 200, "[".repeat(900) + "]".repeat(900)],
    ];
    test.each(ANSWERS)("%s: %d", async (answer, status, text) => {
      const found = await fetch(`${server.url}/api/v3/engine/answer?${new URLSearchParams({ answer })}`);
      const body = await found.text();
      expect({ status: found.status, body: body.slice(0, 4000) }).toEqual({
        status,
        body: typeof text === "string" ? text : expect.stringMatching(text),
      });
      await wellAgain();
    });
  });

  describe("a plugin that removes", () => {
    const url = (path: string) => server.url + path;

    test("its own trigger during a write: refused without force, done with it, and others run", async () => {
      await create("e1", "count", "all_tables", "count.py", { name: "count" }).catch(() => {});
      await write("e1", "m v=1i 1");
      await create("e1", "other", "all_tables", "count.py", { name: "other" });
      await create("e1", "self", "all_tables", "remove.py", {
        ...{ method: "DELETE", url: url(`${TRIGGER}?db=e1&trigger_name=self&force=true`) },
      });
      await write("e1", "m v=2i 2");
      const left = async () =>
        (await server.sql<{ trigger_name: string }>("e1", "SELECT trigger_name FROM system.processing_engine_triggers")).map(
          (row) => row.trigger_name,
        );
      while ((await left()).includes("self")) await Bun.sleep(10);
      await write("e1", "m v=3i 3");
      const rows = () =>
        server.sql<{ rows: number }>("e1", "SELECT sum(rows) AS rows FROM counted WHERE trigger = 'other'").catch(() => []);
      while (((await rows())[0]?.rows ?? 0) < 2) await Bun.sleep(10);
      await wellAgain();
    });

    test("its own database during a request", async () => {
      await write("e2", "m v=1i 1");
      await create("e2", "self", "request:e2", "remove.py");
      const query = new URLSearchParams({ method: "DELETE", url: url("/api/v3/configure/database?db=e2") });
      const answer = await fetch(`${server.url}/api/v3/engine/e2?${query}`);
      await answer.text();
      // the trigger was stopped while it ran
      expect([200, 503]).toContain(answer.status);
      expect((await fetch(`${server.url}/api/v3/engine/e2`)).status).toBe(404);
      expect(
        (await server.sql<{ n: number }>("_internal", "SELECT count(*) AS n FROM system.databases WHERE database_name = 'e2'"))[0]?.n,
      ).toBe(0);
      await wellAgain();
    });

    test("and disables itself during a request: it is off until it is enabled", async () => {
      await create("d", "off", "request:off", "remove.py");
      const query = new URLSearchParams({ method: "POST", url: url(`${TRIGGER}/disable?db=d&trigger_name=off`) });
      const answer = await fetch(`${server.url}/api/v3/engine/off?${query}`);
      await answer.text();
      // the trigger was stopped while it ran
      expect([200, 503]).toContain(answer.status);
      expect((await fetch(`${server.url}/api/v3/engine/off`)).status).toBe(404);
      expect((await fetch(url(`${TRIGGER}/enable?db=d&trigger_name=off`), { method: "POST" })).status).toBe(200);
      const ping = new URLSearchParams({ method: "GET", url: url("/ping") });
      expect(await (await fetch(`${server.url}/api/v3/engine/off?${ping}`)).text()).toBe("200");
    });

    test("and asks itself: a request to its own path waits for its own end", async () => {
      await create("d", "loop", "request:loop", "remove.py");
      const query = new URLSearchParams({ method: "GET", url: url("/api/v3/engine/loop"), timeout: "1" });
      const answer = await fetch(`${server.url}/api/v3/engine/loop?${query}`);
      expect([answer.status, await answer.text()]).toEqual([500, expect.stringMatching(/timed out/)]);
      await wellAgain();
    });
  });

  test("two triggers that write to each other's tables: a chain of 17 rows, and the log says so", async () => {
    await write("circle", "x n=0i 1");
    await create("circle", "xy", "table:x", "circle.py", { to: "y" });
    await create("circle", "yx", "table:y", "circle.py", { to: "x" });
    await write("circle", "x n=0i 2");
    const told = "SELECT trigger_name FROM system.processing_engine_logs WHERE log_text LIKE '%call each other in a circle%'";
    while ((await server.sql("circle", told)).length === 0) await Bun.sleep(20);
    await write("circle", "z n=0i 1");
    const numbers = await server.sql<{ n: number }>("circle", "SELECT n FROM x WHERE n > 0 UNION ALL SELECT n FROM y ORDER BY n");
    // rows behind sixteen triggers call none
    expect(numbers.map(({ n }) => n)).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
    await wellAgain();
  });

  test("kill -9 of the server and of plugins: each trigger has seen each row", async () => {
    await write("k", "a v=0i 1\nb v=0i 1");
    await write("seen", "other v=0i 1");
    const shaky = (name: string) => ({ name, shaky: "yes" });
    await create("k", "all", "all_tables", "shaky.py", shaky("all"), { run_async: false, error_behavior: "retry" });
    await create("k", "async", "all_tables", "shaky.py", shaky("async"), { run_async: true, error_behavior: "retry" });
    await create("k", "b", "table:b", "shaky.py", { name: "b", shaky: "no" });
    const sent = { a: 0, b: 0 };
    let isOver = false;
    // a row that was not acknowledged may have been stored: it is sent until it is, also after the end
    const writer = async (table: "a" | "b") => {
      for (let v = 1, isPending = false; !isOver || isPending; ) {
        const answer = await fetch(`${server.url}/api/v3/write_lp?db=k`, { method: "POST", body: `${table} v=${v}i ${v + 1}` }).catch(
          () => null,
        );
        isPending = answer?.status !== 204;
        if (isPending) await Bun.sleep(5);
        else sent[table] = v++;
      }
    };
    const writers = [writer("a"), writer("b")];
    const called = async () =>
      (await server.sql<{ n: number }>("seen", "SELECT count(*) AS n FROM seen GROUP BY trigger ORDER BY trigger").catch(() => [])).map(
        ({ n }) => n,
      );
    for (let round = 0; round < Number(process.env["ROUNDS"] ?? 2); round++) {
      // while each trigger is being called
      const before = await called();
      while ((await called()).length < 3 || (await called()).some((count, i) => count <= (before[i] ?? 0))) await Bun.sleep(20);
      await Bun.sleep(round * 100);
      await server.kill("SIGKILL");
      await server.restart();
    }
    isOver = true;
    await Promise.all(writers);
    interface Seen {
      readonly trigger: string;
      readonly deliveries: number;
      readonly written: number;
    }
    const sql = `SELECT trigger, count(*) AS deliveries, count(DISTINCT id) AS written FROM seen GROUP BY trigger ORDER BY trigger`;
    const wanted = [sent.a + sent.b, sent.a + sent.b, sent.b];
    for (const endMs = performance.now() + 60_000; ; await Bun.sleep(50)) {
      const found = await server.sql<Seen>("seen", sql).catch(() => []);
      const isWhole = Bun.deepEquals(
        found.map(({ written }) => written),
        wanted,
      );
      if (!isWhole && performance.now() < endMs) continue;
      expect(found).toEqual(["all", "async", "b"].map((trigger, i) => ({ trigger, written: wanted[i]!, deliveries: expect.any(Number) })));
      console.log(found.map(({ trigger, deliveries, written }) => `${trigger}: ${deliveries} deliveries of ${written} rows`).join(", "));
      break;
    }
    await wellAgain();
  });

  test("hundreds of triggers: writes stay fast, those of their tables are called, and a restart has them all", async () => {
    await server.dispose();
    server = await TestServer.start({ flags: ["--plugin-dir", folder] });
    const count = Number(process.env["TRIGGERS"] ?? 400);
    // each that is called starts a Python of its own
    const [ofAll, written] = [count / 100, count / 40];
    await write("many", "m v=0i 1");
    const startMs = performance.now();
    const spec = (number: number) => (number < ofAll ? "all_tables" : `table:t${number}`);
    for (let from = 0; from < count; from += 20) {
      const numbers = Array.from({ length: 20 }, (_, i) => from + i);
      await Promise.all(numbers.map((number) => create("many", `t${number}`, spec(number), "count.py", { name: `t${number}` })));
    }
    const createMs = (performance.now() - startMs) / count;
    const times: number[] = [];
    for (let i = 0; i < written; i++) {
      const beginMs = performance.now();
      await write("many", `t${count - written + i} v=${i}i ${i + 1}`);
      times.push(performance.now() - beginMs);
    }
    const [median, most] = [times.sort((a, b) => a - b)[times.length >> 1]!, times.at(-1)!].map((ms) => ms.toFixed(1));
    console.log(
      `a trigger is made in ${createMs.toFixed(1)} ms; a write takes ${median} ms, at most ${most}; ${residentMiB().toFixed(0)} MiB`,
    );
    const called = async () =>
      (await server.sql<{ n: number }>("many", "SELECT count(DISTINCT trigger) AS n FROM counted").catch(() => []))[0]?.n;
    while ((await called()) !== ofAll + written) await Bun.sleep(50);
    await server.kill("SIGKILL");
    await server.restart();
    expect((await server.sql("many", "SELECT trigger_name FROM system.processing_engine_triggers")).length).toBe(count);
  });
}
