// How late do 1,000 tasks start that are due in the same second of each minute, and what do they cost writes at 100,000 rows a second? The
// lag is of the points of their runs: from the time a run is for to its start.
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, short } from "./support/bench.ts";

const TASKS = { smoke: 20, real: 1000 } as const;
const ROWS_PER_SECOND = 100_000;
const BODY_ROWS = 5000;
const BODY_MS = (BODY_ROWS * 1000) / ROWS_PER_SECOND;
const PERIOD_S = { smoke: 2, real: 15 } as const;
const ROUNDS = { smoke: 1, real: 4 } as const;
/** After the last write. */
const KEPT_WITHIN_MS = 60_000;
const HEADERS = { authorization: "Token tok", "content-type": "application/json" };

export const tasks: Bench = {
  name: "tasks",
  async run(size, say) {
    const [count, periodSeconds, rounds] = [TASKS[size], PERIOD_S[size], ROUNDS[size]];
    await using server = await TestServer.start({ withBuckets: true });
    const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
    const { org } = (await post(server, "/api/v2/setup", setup)) as { org: { id: string } };
    await write(server, 0);
    const idle = await load(server, periodSeconds * rounds);
    for (let i = 0; i < count; i++) {
      const flux = `option task = {name: "t${i}", every: ${periodSeconds}s}
from(bucket: "b") |> range(start: -1m) |> filter(fn: (r) => r._measurement == "cpu" and r.host == "h${i % 100}" and r._field == "usage")
  |> mean() |> set(key: "task", value: "t${i}") |> map(fn: (r) => ({r with _time: now(), _measurement: "means"})) |> to(bucket: "b")`;
      await post(server, "/api/v2/tasks", { orgID: org.id, flux });
    }
    const busy = await load(server, periodSeconds * rounds);
    const lags = await lagsOf(server, count * Math.max(1, rounds - 1));
    const failed = lags.filter(({ status }) => status !== "success").length;
    if (failed > 0) throw new Error(`${lags.length} runs of ${count} tasks, ${failed} failed`);
    const all = lags.toSorted((a, b) => a.dueMs - b.dueMs).map(({ ms }) => ms);
    // the first runs of a process take about twice the processor time of later ones
    const [first, later] = [all.slice(0, count), all.slice(count)];
    const of = (times: readonly number[]) => `${short(median(times))} ms, p99 ${short(p99Of(times))} ms`;
    // starts are kept in milliseconds: a lag of 0 is below one
    const startMs = Math.max(1, p99Of(all));
    const isReal = size === "real";
    const answers: Answer[] = [
      {
        ...{ what: `start of ${count} tasks due every ${periodSeconds} s while 100 k rows/s come in, p99`, value: startMs, unit: "ms" },
        ...(isReal ? { goal: { atMost: 1000 } } : {}),
        detail: `${lags.length} runs, median ${short(median(all))} ms; the first ${count} ${of(first)}${later.length > 0 ? `, later ones ${of(later)}` : ""}`,
      },
      {
        ...{ what: `ingest at 100 k rows/s with ${count} tasks ÷ without`, value: busy.rowsPerSecond / idle.rowsPerSecond, unit: "×" },
        ...(isReal ? { goal: { atLeast: 0.9 } } : {}),
        detail: `a write ${of(busy.writeMs)} ÷ ${of(idle.writeMs)}`,
      },
    ];
    for (const { what, value, unit, detail } of answers) say(`${what}: ${short(value)} ${unit}; ${detail}`);
    return answers;
  },
};

function p99Of(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

async function post(server: TestServer, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(server.bucketsUrl + path, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function write(server: TestServer, number: number): Promise<void> {
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const lines: string[] = [];
  for (let row = 0; row < BODY_ROWS; row++) {
    lines.push(`cpu,host=h${row % 100} usage=${(row % 1000) / 10},count=${number}i ${nowNs + BigInt(row)}`);
  }
  const url = `${server.bucketsUrl}/api/v2/write?org=o&bucket=b`;
  const response = await fetch(url, { method: "POST", headers: { authorization: "Token tok" }, body: lines.join("\n") });
  if (response.status !== 204) throw new Error(`write: ${response.status} ${await response.text()}`);
}

/** Bodies at their times: a delayed body does not move the next. */
async function load(server: TestServer, seconds: number): Promise<{ rowsPerSecond: number; writeMs: number[] }> {
  const count = Math.round((seconds * 1000) / BODY_MS);
  const startMs = performance.now();
  const writeMs = await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      await Bun.sleep(Math.max(0, startMs + i * BODY_MS - performance.now()));
      const beginMs = performance.now();
      await write(server, i);
      return performance.now() - beginMs;
    }),
  );
  return { rowsPerSecond: (count * BODY_ROWS * 1000) / (performance.now() - startMs), writeMs };
}

interface Lag {
  readonly dueMs: number;
  readonly ms: number;
  readonly status: string;
}

/** Of all runs that were kept, once there are as many: a busy server comes to them late. */
async function lagsOf(server: TestServer, count: number): Promise<Lag[]> {
  const deadlineMs = performance.now() + KEPT_WITHIN_MS;
  for (;;) {
    const lags = await keptLags(server);
    if (lags.length >= count) return lags;
    if (performance.now() > deadlineMs) throw new Error(`${lags.length} runs of ${count} are kept`);
    await Bun.sleep(100);
  }
}

async function keptLags(server: TestServer): Promise<Lag[]> {
  const script = `from(bucket: "_tasks") |> range(start: -1h) |> filter(fn: (r) => r._field == "scheduledFor") |> keep(columns: ["_time", "_value", "status"])`;
  const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, {
    ...{ method: "POST", headers: { ...HEADERS, "content-type": "application/vnd.flux" }, body: script },
  });
  const rows = (await response.text()).split("\r\n").filter((line) => /\d{4}-\d\d-\d\dT/.test(line));
  return rows.map((line) => {
    const times = [...line.matchAll(/\d{4}-\d\d-\d\dT[^,]*Z/g)].map(([text]) => Date.parse(text)).sort((a, b) => a - b);
    return { dueMs: times[0]!, ms: times[1]! - times[0]!, status: /success|failed|canceled/.exec(line)![0] };
  });
}
