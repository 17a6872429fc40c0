// Tasks of a real server that is killed again and again: each second has its row, whatever was on its way, and requested runs are made.
import { expect, test } from "bun:test";
import { prng } from "../support/prng.ts";
import { TestServer } from "../support/servers/server.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const KILLS = Number(process.env["KILLS"] ?? 6);
const HEADERS = { authorization: "Token tok", "content-type": "application/json" };
const TICK = `import "array"
option task = {name: "tick", every: 1s}
array.from(rows: [{_time: now(), _measurement: "tick", _field: "f", _value: 1}]) |> to(bucket: "b")`;
const REQUESTED = TICK.replace('"tick", every: 1s', '"requested", every: 1h').replace('_measurement: "tick"', '_measurement: "requested"');

async function post<T>(server: TestServer, path: string, body: unknown): Promise<T> {
  const response = await fetch(server.bucketsUrl + path, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
  const text = await response.text();
  if (response.status !== 201) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/** Seconds of the rows of a measurement, ascending. */
async function secondsOf(server: TestServer, table: string): Promise<number[]> {
  const known = await server.sql("b", `SELECT 1 FROM information_schema.tables WHERE table_name = '${table}'`);
  if (known.length === 0) return [];
  const rows = await server.sql<{ s: number }>("b", `SELECT extract(epoch FROM time) AS s FROM ${table} ORDER BY time`);
  return rows.map(({ s }) => s);
}

async function until(what: () => Promise<boolean>): Promise<void> {
  while (!(await what())) await Bun.sleep(50);
}

test(`no run is forgotten over ${KILLS} kills (seed ${SEED})`, async () => {
  const below = prng(SEED);
  await using server = await TestServer.start({ withBuckets: true });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  const { org } = await post<{ org: { id: string } }>(server, "/api/v2/setup", setup);
  await post(server, "/api/v2/tasks", { orgID: org.id, flux: TICK });
  const { id } = await post<{ id: string }>(server, "/api/v2/tasks", { orgID: org.id, flux: REQUESTED });
  const requested: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const wanted = (await secondsOf(server, "tick")).length + 1;
    await until(async () => (await secondsOf(server, "tick")).length >= wanted);
    const seconds = 1_600_000_000 + kill;
    await post(server, `/api/v2/tasks/${id}/runs`, { scheduledFor: new Date(seconds * 1000).toISOString() });
    requested.push(seconds);
    await Bun.sleep(below(1500));
    await server.kill("SIGKILL");
    await server.restart();
  }
  const killedAt = Math.floor(Date.now() / 1000);
  await until(async () => ((await secondsOf(server, "tick")).at(-1) ?? 0) >= killedAt);
  await until(async () => (await secondsOf(server, "requested")).length >= requested.length);
  expect(await secondsOf(server, "requested")).toEqual(requested);
  const seconds = await secondsOf(server, "tick");
  const all = Array.from({ length: seconds.at(-1)! - seconds[0]! + 1 }, (_, i) => seconds[0]! + i);
  expect(seconds).toEqual(all);
  // a kill repeats what was on its way: at most one run of this task each time, and the requested one
  const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, {
    ...{ method: "POST", headers: { ...HEADERS, "content-type": "application/vnd.flux", accept: "application/csv" } },
    body: 'from(bucket: "_tasks") |> range(start: -1h) |> filter(fn: (r) => r._field == "scheduledFor") |> group() |> count()',
  });
  const runs = Number(/(\d+)\r\n\r\n$/.exec(await response.text())![1]);
  const known = (await secondsOf(server, "tick")).length + requested.length;
  expect(runs).toBeGreaterThanOrEqual(seconds.length + requested.length);
  expect(runs).toBeLessThanOrEqual(known + 2 * KILLS);
}, 120_000);
