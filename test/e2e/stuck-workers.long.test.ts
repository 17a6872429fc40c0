// Query workers that stick, in each way there is: the statement at fault ends, the others are answered or told to try again, another worker
// takes over, memory comes back to its level, and what was written is all there. The faults are asked for by a comment of the statement
// (src/workers/query/faults.ts). STICKS makes more rounds of them.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { threadsOf } from "../support/threads.ts";

/** What a worker may keep from its event loop, in milliseconds: long enough for a busy machine. */
const LOOP_MS = 1000;
const WORKERS = 2;
/** Of each worker's engine: so many that one engine too many shows. */
const ENGINE_THREADS = 8;
const ROWS = 20_000;
const ROUNDS = Number(process.env["STICKS"] ?? 1);
/** Sums that must be exact in every answer: 0 + 1 + … */
const SUM = (ROWS * (ROWS - 1)) / 2;

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({
    flags: [
      "--query-workers",
      String(WORKERS),
      "--query-threads",
      String(ENGINE_THREADS),
      "--query-stuck-grace",
      "300ms",
      "--gen0-duration",
      "1s",
    ],
    env: { ...plainEnvironment(), TSDB_FAULTS: String(LOOP_MS) },
  });
  const lines = Array.from({ length: ROWS }, (_, i) => `cpu,host=h${i % 10} v=${i}i ${i + 1}`);
  await write("d", lines.join("\n"));
});
afterAll(async () => {
  if (process.env["SHOW"]) console.log(server.output);
  await server.dispose();
});

async function write(database: string, lines: string): Promise<void> {
  const response = await fetch(`${server.url}/api/v3/write_lp?db=${database}&precision=nanosecond`, { method: "POST", body: lines });
  if (response.status !== 204) throw new Error(`${response.status} ${await response.text()}`);
}

interface Asked {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

/** `text` of a stream that breaks off is "broken". */
async function ask(statement: string, options: { signal?: AbortSignal; format?: string } = {}): Promise<Asked> {
  const { signal, format = "json" } = options;
  const response = await fetch(`${server.url}/api/v3/query_sql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ db: "d", q: statement, format }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text().catch(() => "broken");
  return { status: response.status, text, retryAfter: response.headers.get("retry-after") };
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)![1]);
}

/** Waits for workers to be replaced, and for the old ones to end. */
async function replaced(count: number): Promise<void> {
  while ((await metric("tsdb_query_workers_replaced_total")) < count || (await metric("tsdb_query_workers_stuck")) > 0) await Bun.sleep(10);
}

const PLAIN = "SELECT sum(v) AS s FROM cpu";
// through DuckDB, which asks the worker for rows
const SCAN = "SELECT sum(v + 0) AS s, count(sqrt(v)) AS n FROM cpu";
const LONG = "SELECT sum((a.v * b.v) % 7) AS s FROM cpu a, cpu b";

/** What the client of the statement at fault may be told. Where it is done for several statements at once, or in a call that belongs to
 *  another, that one is ended, and this one is run again. */
const FAULTS: readonly (readonly [where: string, statement: string, statuses: readonly number[]])[] = [
  ["in a loop of JavaScript", `${PLAIN} -- fault:loop`, [422]],
  ["in a loop, and then takes longer to end than any step may", `${PLAIN} -- fault:slowend`, [422]],
  ["taking and giving back memory", `${PLAIN} -- fault:allocate`, [422]],
  ["in a scan that DuckDB calls, with its leases", `${SCAN} -- fault:scan`, [200, 422, 503]],
  ["behind a call of DuckDB's, with others under way", `${SCAN} -- fault:native`, [200, 422, 503]],
  ["with an error that nobody catches", `${PLAIN} -- fault:throw`, [200, 500]],
];

/** The statement with what must come of it when it is not refused. */
const OTHERS: readonly (readonly [statement: string, answer: unknown])[] = [
  [PLAIN, [{ s: SUM }]],
  [SCAN, [{ s: SUM, n: ROWS }]],
  ["SELECT count(*) AS n FROM cpu WHERE host = 'h3'", [{ n: ROWS / 10 }]],
];

async function others(): Promise<void> {
  for (const [statement, answer] of OTHERS) {
    const { status, text, retryAfter } = await ask(statement);
    if (status === 503) expect(retryAfter).toBe("1");
    // in the scan of this one another statement's fault may have come about
    else if (status === 422) expect(text).toContain("a single step of the statement took longer");
    else expect([status, JSON.parse(text)]).toEqual([200, answer]);
  }
}

/** All that there is of a worker that was replaced is gone. */
async function level(): Promise<void> {
  for (const [statement, answer] of OTHERS) expect(JSON.parse((await ask(statement)).text)).toEqual(answer);
  while ((await metric("tsdb_pins")) > 0) await Bun.sleep(5);
  const folders = readdirSync(join(server.dataDir, readdirSync(server.dataDir).find((name) => name.startsWith("node"))!, "tmp"));
  expect(folders.filter((name) => name.startsWith("engine-")).length).toBeLessThanOrEqual(WORKERS);
}

test.each(FAULTS)("a worker that sticks %s is replaced, and others are answered", async (_, statement, statuses) => {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await metric("tsdb_query_workers_replaced_total");
    const leaving = new AbortController();
    const long = ask(LONG, { signal: leaving.signal }).catch(() => null);
    const asked = Promise.all([others(), others()]);
    const fault = await ask(statement);
    await asked;
    await replaced(before + 1);
    leaving.abort();
    await long;
    expect(statuses).toContain(fault.status);
    await level();
  }
});

test("a worker that sticks in the midst of an answer: the stream breaks off", async () => {
  const before = await metric("tsdb_query_workers_replaced_total");
  const asked = Promise.all([others(), others()]);
  const fault = await ask("SELECT * FROM cpu -- fault:stream", { format: "jsonl" });
  expect([fault.status, fault.text]).toEqual([200, "broken"]);
  await asked;
  await replaced(before + 1);
  await level();
});

test.if(process.platform === "linux")("the engine of a worker that is replaced in the midst of answers goes with it", async () => {
  const before = threadsOf(server.pid).others;
  for (let round = 0; round < 4; round++) {
    const count = await metric("tsdb_query_workers_replaced_total");
    // through DuckDB, whose result is open then
    await ask("SELECT * FROM cpu, generate_series(1, 20) -- fault:stream", { format: "jsonl" });
    await replaced(count + 1);
  }
  await level();
  while (threadsOf(server.pid).others > before + ENGINE_THREADS) await Bun.sleep(20);
});

test("a loop that looks at its statement's signal ends with it, and its worker goes on", async () => {
  const before = await metric("tsdb_query_workers_replaced_total");
  for (let round = 0; round < 4; round++) {
    const leaving = new AbortController();
    const fault = ask(`${PLAIN} -- fault:heedful`, { signal: leaving.signal }).catch(() => null);
    while ((await metric("tsdb_queries_running")) === 0) await Bun.sleep(1);
    leaving.abort();
    await fault;
    await level();
  }
  expect(await metric("tsdb_query_workers_replaced_total")).toBe(before);
});

test("a worker that sticks in the kernel is replaced once its client has left, and ends by itself", async () => {
  const before = await metric("tsdb_query_workers_replaced_total");
  const leaving = new AbortController();
  const fault = ask(`${PLAIN} -- fault:kernel:5000`, { signal: leaving.signal }).catch(() => null);
  // small ones are not behind it, on whichever worker they were to be
  let isOver = false;
  void fault.then(() => {
    isOver = true;
  });
  // until well before the watch ends the statement
  const untilMs = performance.now() + LOOP_MS / 4;
  do await others();
  while (performance.now() < untilMs);
  expect(isOver).toBe(false);
  leaving.abort();
  await fault;
  while ((await metric("tsdb_query_workers_replaced_total")) < before + 1) await Bun.sleep(5);
  await others();
  await replaced(before + 1);
  await level();
});

test("a worker that sticks while it feeds caches is replaced by a worker that fills them again", async () => {
  const before = await metric("tsdb_query_workers_replaced_total");
  await write("d", "fault_feed,host=a v=1i 1\nfault_feed,host=b v=2i 2");
  const made = await fetch(`${server.url}/api/v3/configure/last_cache`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ db: "d", table: "fault_feed", name: "l" }),
  });
  expect(made.status).toBe(201);
  await replaced(before + 1);
  await write("d", "fault_feed,host=b v=3i 3");
  const { text } = await ask("SELECT host, v FROM last_cache('fault_feed', 'l')");
  expect(JSON.parse(text)).toEqual([
    { host: "a", v: 1 },
    { host: "b", v: 3 },
  ]);
  await level();
});

test("system.queries and the log tell of it", async () => {
  const { text } = await ask("SELECT phase, count(*) AS n FROM system.queries WHERE query_text LIKE '%fault_loop%' GROUP BY phase");
  expect(text).toContain('"phase":"fail"');
  expect(server.output).toMatch(/a query worker was replaced.*"database":"d"/);
  expect(server.output).not.toContain("fault:");
});

test("the server stops while a worker sticks", async () => {
  void ask(`${PLAIN} -- fault:kernel:3000`).catch(() => null);
  while ((await metric("tsdb_queries_running")) === 0) await Bun.sleep(1);
  expect(await server.stop()).toBe(0);
  await server.restart();
  expect(JSON.parse((await ask(PLAIN)).text)).toEqual([{ s: SUM }]);
});
