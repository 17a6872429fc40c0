// Several times as many series as there is memory for, in a real server: every row is there, memory stays where it was, also after a kill.
import { expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { write } from "./client.ts";

setDefaultTimeout(120_000);

const MIB = 1024 * 1024;
const LIMIT_BYTES = 32 * MIB;
const BODIES = 32;
const BODY_LINES = 10_000;

/** Lines of series that no other body has, at its own time; every hundredth line repeats a point of body 0 with another value. */
function bodyText(body: number, value: number): string {
  const lines: string[] = [];
  for (let i = 0; i < BODY_LINES; i++) {
    const [series, time] = body > 0 && i % 100 === 0 ? [i, 0] : [body * BODY_LINES + i, body];
    lines.push(`churn,host=host_number_${series},rack=r${series % 100},pod=pod-${series} v=${value}i ${time + 1}`);
  }
  return lines.join("\n");
}

async function send(server: TestServer, text: string): Promise<void> {
  for (;;) {
    const { status, headers, text: answer } = await write(server, "db", text, { params: { precision: "ns" } });
    if (status === 204) return;
    // there is no room at the moment: what a client would do
    if (status !== 503) throw new Error(`${status} ${answer}`);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    await Bun.sleep(100);
  }
}

async function metric(server: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)![1]);
}

test("series come and go", async () => {
  await using server = await TestServer.start({ flags: ["--series-mem-limit", `${LIMIT_BYTES}`] });
  let mostBytes = 0;
  for (let body = 0; body < BODIES; body += 2) {
    await Promise.all([send(server, bodyText(body, body)), send(server, bodyText(body + 1, body))]);
    mostBytes = Math.max(mostBytes, await metric(server, "tsdb_series_bytes"));
  }
  // what repeats body 0 counts once, with the last value
  const repeated = BODY_LINES / 100;
  const own = BODY_LINES - repeated;
  let sum = own * 0 + (BODIES - 2) * repeated;
  for (let body = 1; body < BODIES; body++) sum += own * (body - (body % 2));
  const expected = [{ n: BODY_LINES + (BODIES - 1) * own, s: sum }];
  const counts = "SELECT count(*) AS n, sum(v) AS s FROM churn";
  expect(await server.sql<{ n: number; s: number }>("db", counts)).toEqual(expected);
  expect(await metric(server, "tsdb_series_evictions_total")).toBeGreaterThanOrEqual(2);
  // at most what 256 series of a body add before it is looked at again, and their gaps
  expect(mostBytes).toBeLessThan(LIMIT_BYTES + 2 * MIB);
  expect(await server.sql("db", "SELECT host, v FROM churn WHERE host IN ('host_number_0', 'host_number_200') ORDER BY host")).toEqual([
    { host: "host_number_0", v: BODIES - 2 },
    { host: "host_number_200", v: BODIES - 2 },
  ]);
  await server.kill();
  await server.restart();
  expect(await server.sql<{ n: number; s: number }>("db", counts)).toEqual(expected);
  // after the restart nothing is known of the series either
  await send(server, bodyText(0, 1_000_000));
  const now = [{ n: expected[0]!.n, s: sum - (BODIES - 2) * repeated + BODY_LINES * 1_000_000 }];
  expect(await server.sql<{ n: number; s: number }>("db", counts)).toEqual(now);
});
