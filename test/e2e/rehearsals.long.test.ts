// Once there are many tasks their scripts are run before they are due: nothing may come of it. The same tasks do have effects when they
// run.
import { expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const HEADERS = { authorization: "Token tok", "content-type": "application/json" };
const TASKS = 32;

async function post(server: TestServer, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(server.bucketsUrl + path, { method: "POST", headers: HEADERS, body: JSON.stringify(body) });
  expect([path, response.status]).toEqual([path, 201]);
  return response.json();
}

async function csv(server: TestServer, script: string): Promise<string> {
  const headers = { ...HEADERS, "content-type": "application/vnd.flux" };
  const response = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body: script });
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return text;
}

async function write(server: TestServer, line: string): Promise<void> {
  const response = await fetch(`${server.bucketsUrl}/api/v2/write?org=o&bucket=b`, { method: "POST", headers: HEADERS, body: line });
  expect(response.status).toBe(204);
}

async function listed(server: TestServer): Promise<string> {
  const query = new URLSearchParams({ db: "_internal", format: "jsonl", q: "SELECT query_text FROM system.queries" });
  const response = await fetch(`${server.url}/api/v3/query_sql?${query}`, { headers: { authorization: "Bearer tok" } });
  return response.text();
}

test("scripts are rehearsed without effects", async () => {
  const asked: string[] = [];
  using receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      asked.push(`${request.method} ${await request.text()}`);
      return new Response("ok");
    },
  });
  await using server = await TestServer.start({
    withBuckets: true,
    flags: ["--log-filter", "info,tasks=debug,query=debug", "--flux-allow-private-network"],
  });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  const { org } = (await post(server, "/api/v2/setup", setup)) as { org: { id: string } };
  await write(server, `cpu,host=a v=1 ${Date.now() - 60_000}000000`);
  const made: { id: string }[] = [];
  const scripts = [
    // the first kind reads and writes; the second asks another server; the third fails whenever it runs
    `from(bucket: "b") |> range(start: -1h) |> mean() |> map(fn: (r) => ({r with _time: now(), _measurement: "means"})) |> to(bucket: "b")`,
    `http.post(url: "${receiver.url}", data: bytes(v: "x"))\nfrom(bucket: "b") |> range(start: -1h) |> to(bucket: "b")`,
    `from(bucket: "nowhere") |> range(start: -1h)`,
  ];
  for (let i = 0; i < TASKS; i++) {
    const flux = `import "http"\noption task = {name: "t${i}", every: 100h}\n${scripts[i % scripts.length]}`;
    made.push((await post(server, "/api/v2/tasks", { orgID: org.id, flux })) as { id: string });
  }
  const [, count] = await server.untilOutput(/scripts of tasks were rehearsed count=(\d+)/);
  expect(Number(count)).toBe(3 * TASKS);
  expect(asked).toEqual([]);
  const measurements = () =>
    csv(server, `import "influxdata/influxdb/schema"\nschema.measurements(bucket: "b") |> keep(columns: ["_value"])`);
  expect((await measurements()).split("\r\n").filter((line) => line !== "")).toEqual([",result,table,_value", ",_result,0,cpu"]);
  expect(await csv(server, `from(bucket: "_tasks") |> range(start: 0)`)).toBe("\r\n");
  expect(server.output).not.toContain("a run failed");
  expect(await listed(server)).not.toContain("option task");
  // what they do when they run
  for (const { id } of made.slice(0, 3)) await post(server, `/api/v2/tasks/${id}/runs`, {});
  for (let runs = ""; runs.match(/success|failed/g)?.length !== 3; ) {
    await Bun.sleep(20);
    runs = await csv(
      server,
      `from(bucket: "_tasks") |> range(start: 0) |> filter(fn: (r) => r._field == "runID") |> keep(columns: ["status"])`,
    );
  }
  expect(asked).toEqual(["POST x"]);
  expect(await measurements()).toContain("means");
  expect(await listed(server)).toContain("option task");
});
