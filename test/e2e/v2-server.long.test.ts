// The bucket-based API of a real server: its listener, its state over restarts, and what both ports see of one database.
import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { TestServer } from "../support/servers/server.ts";

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const TOKEN = { authorization: "Token tok" };
const JSON_TYPE = { "content-type": "application/json" };

async function answered(url: string, init: RequestInit = {}): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

const setUp = (server: TestServer) => answered(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(SETUP) });

async function bucketNames(server: TestServer): Promise<string[]> {
  const { body } = await answered(`${server.bucketsUrl}/api/v2/buckets?org=o`, { headers: TOKEN });
  return (body["buckets"] as { name: string }[]).map(({ name }) => name);
}

async function databaseNames(server: TestServer): Promise<string[]> {
  const rows = (await (await fetch(`${server.url}/api/v3/configure/database?format=json`)).json()) as Record<string, string>[];
  return rows.map((row) => row["iox::database"]!);
}

test("what setup makes is there after a stop and after kill -9", async () => {
  await using server = await TestServer.start({ withBuckets: true });
  expect((await setUp(server)).status).toBe(201);
  expect(server.output).toContain("listening");
  await server.stop();
  await server.restart();
  expect(await bucketNames(server)).toEqual(["_monitoring", "_tasks", "b"]);
  const headers = { ...TOKEN, "content-type": "application/json" };
  const made = await answered(`${server.bucketsUrl}/api/v2/users`, { method: "POST", headers, body: '{"name":"ann"}' });
  expect(made.status).toBe(201);
  await server.kill();
  await server.restart();
  const users = await answered(`${server.bucketsUrl}/api/v2/users`, { headers: TOKEN });
  expect((users.body["users"] as { name: string }[]).map(({ name }) => name)).toEqual(["admin", "ann"]);
  // tokens are kept encrypted: with its key the server shows them again
  const { body } = await answered(`${server.bucketsUrl}/api/v2/authorizations`, { headers: TOKEN });
  expect((body["authorizations"] as { token: string }[]).map(({ token }) => token)).toEqual(["tok"]);
  expect((await setUp(server)).status).toBe(422);
});

test("a bucket is a database, made in either place", async () => {
  await using server = await TestServer.start({ withBuckets: true });
  await answered(`${server.url}/api/v3/configure/database`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ db: "before", retention_period: "2d" }),
  });
  const { body } = await setUp(server);
  const orgID = (body["org"] as { id: string }).id;
  const headers = { ...TOKEN, "content-type": "application/json" };
  const rules = [{ type: "expire", everySeconds: 7200 }];
  await answered(`${server.bucketsUrl}/api/v2/buckets`, {
    method: "POST",
    headers,
    body: JSON.stringify({ orgID, name: "made", retentionRules: rules }),
  });
  expect(await bucketNames(server)).toEqual(["_monitoring", "_tasks", "b", "before", "made"]);
  expect(await databaseNames(server)).toEqual(["_internal", "b", "before", "made"]);
  const found = await answered(`${server.bucketsUrl}/api/v2/buckets?org=o&name=before`, { headers: TOKEN });
  const [before] = found.body["buckets"] as { id: string; retentionRules: unknown }[];
  expect(before!.retentionRules).toEqual([{ type: "expire", everySeconds: 172_800, shardGroupDurationSeconds: 86_400 }]);
  const deleted = await answered(`${server.bucketsUrl}/api/v2/buckets/${before!.id}`, { method: "DELETE", headers: TOKEN });
  expect(deleted.status).toBe(204);
  expect(await databaseNames(server)).not.toContain("before");
  await fetch(`${server.url}/api/v3/configure/database?db=made`, { method: "DELETE" });
  expect(await bucketNames(server)).toEqual(["_monitoring", "_tasks", "b"]);
  // another organization's buckets are no databases of port 8181
  const other = await answered(`${server.bucketsUrl}/api/v2/orgs`, { method: "POST", headers, body: '{"name":"o2"}' });
  const otherID = (other.body as { id: string }).id;
  const twin = await answered(`${server.bucketsUrl}/api/v2/buckets`, {
    method: "POST",
    headers,
    body: JSON.stringify({ orgID: otherID, name: "b" }),
  });
  expect(twin.status).toBe(201);
  // without rules: 30 days
  expect(twin.body["retentionRules"]).toMatchObject([{ everySeconds: 2_592_000 }]);
  for (const [name, retentionRules] of [
    ["for ever", []],
    ["null, as a command line says it", null],
  ] as const) {
    const init = { method: "POST", headers, body: JSON.stringify({ orgID: otherID, name, retentionRules }) };
    const forEver = await answered(`${server.bucketsUrl}/api/v2/buckets`, init);
    expect(forEver.body["retentionRules"]).toMatchObject([{ everySeconds: 0 }]);
  }
  expect((await databaseNames(server)).filter((name) => name === "b")).toHaveLength(1);
});

test("ids of buckets have 16 hexadecimal digits, and stay over names, restarts and kills", async () => {
  await using server = await TestServer.start({ withBuckets: true });
  await setUp(server);
  const ids = async () => {
    const { body } = await answered(`${server.bucketsUrl}/api/v2/buckets?org=o`, { headers: TOKEN });
    return Object.fromEntries((body["buckets"] as { name: string; id: string }[]).map(({ name, id }) => [name, id]));
  };
  await fetch(`${server.url}/api/v3/write_lp?db=native`, { method: "POST", body: "m v=1" });
  const first = await ids();
  expect(Object.keys(first)).toEqual(["_monitoring", "_tasks", "b", "native"]);
  for (const id of Object.values(first)) expect(id).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set(Object.values(first)).size).toBe(4);
  await server.restart();
  expect(await ids()).toEqual(first);
  const rename = { method: "PATCH", headers: { ...TOKEN, ...JSON_TYPE }, body: '{"name":"named"}' };
  expect((await answered(`${server.bucketsUrl}/api/v2/buckets/${first["native"]}`, rename)).status).toBe(200);
  await server.kill();
  await server.restart();
  const { native, ...others } = first;
  expect(await ids()).toEqual({ ...others, named: native! });
  expect(await server.sql("named", "SELECT v FROM m")).toEqual([{ v: 1 }]);
});

test("the retention of a bucket is its database's, changed in either place", async () => {
  await using server = await TestServer.start({ withBuckets: true });
  const { body } = await setUp(server);
  const { id } = body["bucket"] as { id: string };
  const HOUR_S = 3600;
  const bucketSeconds = async () => {
    const found = await answered(`${server.bucketsUrl}/api/v2/buckets/${id}`, { headers: TOKEN });
    return (found.body["retentionRules"] as { everySeconds: number }[])[0]!.everySeconds;
  };
  const databaseSeconds = async () => {
    const statement = "SELECT CAST(retention_period_ns / 1000000000 AS BIGINT) AS s FROM system.databases WHERE database_name = 'b'";
    return (await server.sql<{ s?: number }>("_internal", statement))[0]?.s ?? 0;
  };
  const change = async (everySeconds: number) => {
    const rules = JSON.stringify({ retentionRules: [{ type: "expire", everySeconds, shardGroupDurationSeconds: HOUR_S }] });
    const init = { method: "PATCH", headers: { ...TOKEN, ...JSON_TYPE }, body: rules };
    expect((await answered(`${server.bucketsUrl}/api/v2/buckets/${id}`, init)).status).toBe(200);
  };
  const nowS = Math.floor(Date.now() / 1000);
  const write = async (value: number, ageS: number) => {
    const url = `${server.bucketsUrl}/api/v2/write?org=o&bucket=b&precision=s`;
    return (await fetch(url, { method: "POST", headers: TOKEN, body: `m v=${value}i ${nowS - ageS}` })).status;
  };
  const values = async () => (await server.sql<{ v: number }>("b", "SELECT v FROM m ORDER BY time")).map(({ v }) => v);
  expect([await bucketSeconds(), await databaseSeconds()]).toEqual([0, 0]);
  expect([await write(1, 12 * HOUR_S), await write(2, 3 * HOUR_S), await write(3, 0), await values()]).toEqual([204, 204, 204, [1, 2, 3]]);
  await change(6 * HOUR_S);
  expect([await bucketSeconds(), await databaseSeconds(), await values()]).toEqual([6 * HOUR_S, 6 * HOUR_S, [2, 3]]);
  expect(await write(4, 7 * HOUR_S)).toBe(422);
  const set = `${server.url}/api/v3/configure/database/retention_period?db=b&duration=2h`;
  expect((await fetch(set, { method: "POST" })).status).toBe(204);
  expect([await bucketSeconds(), await databaseSeconds(), await values()]).toEqual([2 * HOUR_S, 2 * HOUR_S, [3]]);
  expect(await write(5, 3 * HOUR_S)).toBe(422);
  await server.restart();
  expect([await bucketSeconds(), await databaseSeconds(), await values()]).toEqual([2 * HOUR_S, 2 * HOUR_S, [3]]);
  await change(0);
  expect([await bucketSeconds(), await databaseSeconds(), await write(6, 12 * HOUR_S)]).toEqual([0, 0, 204]);
  expect(await values()).toContain(6);
});

test("system buckets are known to port 8086 alone", async () => {
  await using server = await TestServer.start({ withBuckets: true });
  await setUp(server);
  const lines = (bucket: string) =>
    fetch(`${server.bucketsUrl}/api/v2/write?org=o&bucket=${bucket}`, { method: "POST", headers: TOKEN, body: "runs n=1i" });
  const script = { method: "POST", headers: { ...TOKEN, "content-type": "application/vnd.flux" } };
  const onPort8181 = {
    write: () => fetch(`${server.url}/api/v3/write_lp?db=_tasks`, { method: "POST", body: "runs n=2i" }),
    writeV1: () => fetch(`${server.url}/write?db=_tasks`, { method: "POST", body: "runs n=2i" }),
    create: () => fetch(`${server.url}/api/v3/configure/database`, { method: "POST", headers: JSON_TYPE, body: '{"db":"_tasks"}' }),
    query: () => fetch(`${server.url}/api/v3/query_sql?db=_tasks&q=${encodeURIComponent("SELECT * FROM runs")}`),
    drop: () => fetch(`${server.url}/api/v3/configure/database?db=_tasks`, { method: "DELETE" }),
  };
  for (const when of ["at first", "after a restart"]) {
    expect((await lines("_tasks")).status).toBe(204);
    expect((await lines("_monitoring")).status).toBe(204);
    expect(await databaseNames(server)).toEqual(["_internal", "b"]);
    const statuses = Object.entries(onPort8181).map(async ([name, ask]) => [name, (await ask()).status] as const);
    expect([when, Object.fromEntries(await Promise.all(statuses))]).toEqual([
      when,
      { write: 400, writeV1: 400, create: 400, query: 404, drop: 404 },
    ]);
    const shown = await (await fetch(`${server.url}/query?q=${encodeURIComponent("SHOW DATABASES")}`)).text();
    expect(shown).not.toContain("_tasks");
    const body = 'from(bucket: "_tasks") |> range(start: -1h) |> last() |> keep(columns: ["_value"])';
    const answer = await fetch(`${server.bucketsUrl}/api/v2/query?org=o`, { ...script, body });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching(/,_result,0,1\r\n/)]);
    await server.restart();
  }
});

test("a taken port is one warning, and the rest of the server is there", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = taken.address() as { port: number };
    await using server = await TestServer.start({ flags: ["--v2-http-bind", `127.0.0.1:${port}`] });
    expect(server.output.match(/bucket-based API is off/g)).toHaveLength(1);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  } finally {
    taken.close();
  }
});
