// Query workers stick one after the other, in ways chosen at random, while rows are written, flushed, cached and read: every answer is
// exact or a refusal, nothing written is lost, and neither memory nor threads grow. `npm run sticks` does it 1,000 times.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { LIMITS } from "../../src/model/limits.ts";
import { prng } from "../support/prng.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { threadsOf } from "../support/threads.ts";

const ROUNDS = Number(process.env["STICKS"] ?? 6);
const SEED = Number(process.env["SEED"] ?? 1);
/** What a worker may keep from its event loop: long enough for a busy machine. */
const LOOP_MS = Number(process.env["STICK_MS"] ?? 1000);
const GRACE_MS = 300;
const BODY_ROWS = 100;
const BODY_EVERY_MS = 100;
/** Rounds after which the process has all the threads and memory that it needs. */
const WARM_ROUNDS = 5;
/** Threads come and go: those of a worker that starts, or has not ended, and of its engine. */
const THREADS_MORE_MAX = 12;

type Fault = readonly [statement: string, leaves: boolean];

const FAULTS: readonly Fault[] = [
  ["SELECT max(v) FROM cpu -- fault:loop", false],
  ["SELECT max(v) FROM cpu -- fault:slowend", false],
  ["SELECT max(v) FROM cpu -- fault:allocate", false],
  ["SELECT sum(sqrt(v)) FROM cpu -- fault:scan", false],
  ["SELECT sum(sqrt(v)) FROM cpu -- fault:native", false],
  ["SELECT max(v) FROM cpu -- fault:throw", false],
  ["SELECT * FROM cpu, generate_series(1, 200) -- fault:stream", false],
  ["SELECT max(v) FROM cpu -- fault:loop", true],
  ["SELECT max(v) FROM cpu -- fault:kernel:1200", true],
];

class Load {
  acknowledged = 0;
  answered = 0;
  refused = 0;
  private isOver = false;

  constructor(private readonly server: TestServer) {}

  async run(work: () => Promise<void>): Promise<void> {
    const load = [this.write(), this.read(0), this.read(1), this.read(2)];
    try {
      await Promise.race([work(), Promise.all(load)]);
    } finally {
      this.isOver = true;
    }
    await Promise.all(load);
  }

  /** The row i is `v=i` at time i, so that every prefix has a known sum. */
  private async write(): Promise<void> {
    while (!this.isOver) {
      const from = this.acknowledged;
      const lines = Array.from({ length: BODY_ROWS }, (_, i) => `cpu,host=h${(from + i) % 7} v=${from + i}i ${from + i + 1}`);
      const url = `${this.server.url}/api/v3/write_lp?db=d&precision=nanosecond`;
      const response = await fetch(url, { method: "POST", body: lines.join("\n") });
      expect(response.status).toBe(204);
      this.acknowledged += BODY_ROWS;
      await Bun.sleep(BODY_EVERY_MS);
    }
  }

  private async read(kind: number): Promise<void> {
    while (!this.isOver) {
      await this.readOnce(kind);
      await Bun.sleep(20);
    }
  }

  async readOnce(kind: number): Promise<void> {
    const rows = this.acknowledged;
    const sum = (rows * (rows - 1)) / 2;
    // of the storage, through DuckDB, from a cache
    const statement = [
      `SELECT count(*) AS n, sum(v) AS s FROM cpu WHERE v < ${rows}`,
      `SELECT count(sqrt(v)) AS n, sum(v + 0) AS s FROM cpu WHERE v < ${rows}`,
      "SELECT max(v) + 1 AS n FROM last_cache('cpu', 'l')",
    ][kind]!;
    const { status, text } = await ask(this.server, statement);
    if (status === 503 || (status === 422 && text.includes("a single step")) || (status === 500 && text.includes("internal error"))) {
      this.refused++;
      return;
    }
    if (status !== 200) throw new Error(`${statement}: ${status} ${text}`);
    const [row] = JSON.parse(text) as [{ n: number; s?: number }];
    if (kind === 2) expect(row.n).toBeGreaterThanOrEqual(rows);
    else if (rows > 0) expect(row).toEqual({ n: rows, s: sum });
    this.answered++;
  }
}

async function ask(server: TestServer, statement: string, signal?: AbortSignal): Promise<{ status: number; text: string }> {
  const response = await fetch(`${server.url}/api/v3/query_sql`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ db: "d", q: statement, format: statement.includes("stream") ? "jsonl" : "json" }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, text: await response.text().catch(() => "broken") };
}

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)![1]);
}

async function stick(server: TestServer, [statement, leaves]: Fault): Promise<void> {
  const before = await metric(server, "tsdb_query_workers_replaced_total");
  const isReplaced = async () => (await metric(server, "tsdb_query_workers_replaced_total")) > before;
  // one whose client leaves before it has begun is asked again
  do {
    const leaving = new AbortController();
    const fault = ask(server, statement, leaving.signal).catch(() => null);
    if (leaves) {
      await Bun.sleep(50);
      leaving.abort();
    }
    const outcome = await fault;
    if (outcome?.status === 400) throw new Error(`${statement}: ${outcome.text}`);
    // a worker that is silent is noticed a little later
    for (let i = 0; i < 20 && !(await isReplaced()); i++) await Bun.sleep(50);
  } while (!(await isReplaced()));
  while ((await metric(server, "tsdb_query_workers_stuck")) > 0) await Bun.sleep(10);
}

const residentMb = ({ pid }: TestServer) =>
  Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024);

test.if(process.platform === "linux")(`workers stick ${ROUNDS} times under load, seed ${SEED}`, async () => {
  const below = prng(SEED);
  await using server = await TestServer.start({
    flags: ["--query-workers", "2", "--query-threads", "2", "--query-stuck-grace", `${GRACE_MS}ms`, "--gen0-duration", "1s"],
    env: { ...plainEnvironment(), TSDB_FAULTS: String(LOOP_MS) },
  });
  const write = await fetch(`${server.url}/api/v3/write_lp?db=d&precision=nanosecond`, { method: "POST", body: "cpu,host=h0 v=0i 1" });
  expect(write.status).toBe(204);
  const made = await fetch(`${server.url}/api/v3/configure/last_cache`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ db: "d", table: "cpu", name: "l" }),
  });
  expect(made.status).toBe(201);
  const load = new Load(server);
  let threads: number | null = null;
  const work = async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await stick(server, FAULTS[below(FAULTS.length)]!);
      if (round === WARM_ROUNDS) threads = threadsOf(server.pid).others;
      if ((round + 1) % Math.min(50, ROUNDS) === 0) {
        const { acknowledged, answered, refused } = load;
        const state = { acknowledged, answered, refused, threads: threadsOf(server.pid), residentMb: residentMb(server) };
        console.log(`${round + 1} workers stuck`, state);
      }
    }
  };
  await load.run(work).catch((error: Error) => {
    throw new Error(`${error.message}\n${server.output.slice(-4000)}`, { cause: error });
  });
  for (const kind of [0, 1, 2]) await load.readOnce(kind);
  while ((await metric(server, "tsdb_pins")) > 0) await Bun.sleep(10);
  const { pool, others } = threadsOf(server.pid);
  expect(pool).toBeLessThanOrEqual(LIMITS.poolThreads);
  if (threads !== null) expect(others).toBeLessThanOrEqual(threads + THREADS_MORE_MAX);
  expect(load.answered).toBeGreaterThan(0);
  expect(await server.stop()).toBe(0);
  await server.restart();
  for (const kind of [0, 1, 2]) await load.readOnce(kind);
});
