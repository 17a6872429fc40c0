// Backups of a real server, restored into another one: the same answers to the same statements wherever the rows were, and the same
// buckets, users, organizations, labels, tokens and secrets.
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { backUp, restoreAll, send } from "../support/servers/v2-backup.ts";
import { isCompacted } from "../support/storage/data-files.ts";

setDefaultTimeout(120_000);

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const OTHER = { username: "other", password: "password34", org: "elsewhere", bucket: "x", token: "their-token" };
const AT_ONCE = [
  "--gen0-duration",
  "1s",
  "--compaction-check-interval",
  "100ms",
  "--compaction-delay",
  "0s",
  "--compaction-cleanup-wait",
  "0s",
];
const DAY_S = 86_400;
/** A Wednesday: weeks of shards begin two days before. */
const START_S = 1_577_836_800;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect, and fail where it is not
  readonly body: any;
}

async function ask(server: TestServer, method: string, path: string, body?: unknown, token = "tok"): Promise<Answer> {
  const headers = { authorization: `Token ${token}`, "content-type": "application/json" };
  const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
  const response = await fetch(`${server.bucketsUrl}${path}`, init);
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

async function startUp(setup: object, flags: readonly string[] = []): Promise<TestServer> {
  const server = await TestServer.start({ withBuckets: true, flags });
  expect((await ask(server, "POST", "/api/v2/setup", setup)).status).toBe(201);
  return server;
}

async function write(server: TestServer, bucket: string, lines: string, org = "o"): Promise<void> {
  const url = `${server.bucketsUrl}/api/v2/write?${new URLSearchParams({ org, bucket, precision: "s" })}`;
  const response = await fetch(url, { method: "POST", headers: { authorization: "Token tok" }, body: lines });
  expect([response.status, await response.text()]).toEqual([204, ""]);
}

const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => {
    const n = from + i;
    return `cpu,host=h${n % 5},env=e${n % 2} f=${n / 4},n=${n}i,u=${n}u,s="text ${n}",ok=${n % 3 === 0} ${START_S + n * 3600}`;
  }).join("\n");

const STATEMENTS = [
  "SELECT host, env, f, n, u, s, ok, time FROM cpu ORDER BY time, host",
  "SELECT host, count(*) AS n, sum(n) AS total FROM cpu GROUP BY host ORDER BY host",
  "SELECT * FROM mem ORDER BY time",
  "SELECT column_name, data_type FROM information_schema.columns WHERE table_name IN ('cpu', 'mem') ORDER BY table_name, column_name",
];

const answersOf = (server: TestServer) => Promise.all(STATEMENTS.map((statement) => server.sql("b", statement)));

/** What lists show of everything but rows. */
async function listsOf(server: TestServer, orgID: string): Promise<object> {
  const paths = [
    "/api/v2/buckets?limit=100",
    "/api/v2/orgs",
    "/api/v2/users",
    "/api/v2/labels",
    `/api/v2/orgs/${orgID}/secrets`,
    `/api/v2/orgs/${orgID}/owners`,
    ...["checks", "notificationEndpoints", "notificationRules", "sources"].map((name) => `/api/v2/${name}?orgID=${orgID}`),
    ...["notebooks", "annotations", "streams"].map((name) => `/api/v2private/${name}?orgID=${orgID}`),
    ...["dashboards?include=properties", "variables", "telegrafs"].map((name) => `/api/v2/${name}`),
  ];
  const { body } = await ask(server, "GET", "/api/v2/authorizations");
  return [body, ...(await Promise.all(paths.map(async (path) => (await ask(server, "GET", path)).body)))];
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`no ${what}`);
    await Bun.sleep(20);
  }
}

/** Rows over three weeks, in the state that the name says. */
const STATES: Readonly<Record<string, (server: TestServer) => Promise<void>>> = {
  "in memory": async (server) => {
    await write(server, "b", lines(0, 400));
    await write(server, "b", `mem,host=a v=1 ${START_S}`);
  },
  flushed: async (server) => {
    await write(server, "b", lines(0, 400));
    await server.restart();
    await write(server, "b", `mem,host=a v=1 ${START_S}`);
    await server.restart();
  },
  "compacted, with a deletion and later rows": async (server) => {
    await write(server, "b", lines(0, 400));
    await server.restart([...AT_ONCE]);
    await until("compacted file", () => isCompacted(server.dataDir));
    const deletion = new URLSearchParams({ db: "b", q: `DELETE FROM cpu WHERE host = 'h1' AND time < ${START_S + 10 * DAY_S}s` });
    expect((await fetch(`${server.url}/query?${deletion}`, { method: "POST" })).status).toBe(200);
    // an old point again, and a new column
    await write(server, "b", `cpu,host=h2,env=e0 f=1000,late="yes" ${START_S + 2 * 3600}\nmem,host=a v=1 ${START_S}`);
  },
};

test.each(Object.keys(STATES))("rows that are %s, restored into an empty server", async (state) => {
  await using source = await startUp(SETUP, state.startsWith("compacted") ? AT_ONCE : []);
  const orgID = (await ask(source, "GET", "/api/v2/orgs")).body.orgs[0].id as string;
  const label = (await ask(source, "POST", "/api/v2/labels", { orgID, name: "l", properties: { color: "red" } })).body.label;
  const rules = [{ type: "expire", everySeconds: 7200 * DAY_S, shardGroupDurationSeconds: 3 * 3600 }];
  const bucket = (await ask(source, "POST", "/api/v2/buckets", { orgID, name: "hours", description: "d", retentionRules: rules })).body;
  await ask(source, "POST", `/api/v2/buckets/${bucket.id}/labels`, { labelID: label.id });
  await ask(source, "PATCH", `/api/v2/orgs/${orgID}/secrets`, { k: "v" });
  const rest = { orgID, status: "inactive", every: "1m" };
  const query = { text: 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")' };
  await ask(source, "POST", "/api/v2/checks", { ...rest, name: "c", type: "threshold", query });
  const slack = { ...rest, type: "slack", url: "http://localhost/hook", token: "of the endpoint" };
  const endpoint = (await ask(source, "POST", "/api/v2/notificationEndpoints", { ...slack, name: "e" })).body;
  await ask(source, "POST", "/api/v2/notificationRules", {
    ...rest,
    name: "r",
    type: "slack",
    endpointID: endpoint.id,
    messageTemplate: "m",
  });
  const pages = {
    sources: { name: "s", type: "v2", url: "http://a.example", token: "of the source", password: "p" },
    dashboards: { name: "d", cells: [{ x: 1, y: 2, name: "c", properties: { type: "markdown", note: "n" } }] },
    variables: { name: "v", arguments: { type: "map", values: { a: "b" } } },
    telegrafs: { name: "t", config: "[agent]" },
  };
  for (const [name, members] of Object.entries(pages)) {
    expect((await ask(source, "POST", `/api/v2/${name}`, { orgID, ...members })).status).toBe(201);
  }
  await ask(source, "POST", "/api/v2private/notebooks", { orgID, name: "n", spec: { a: [1] } });
  await ask(source, "POST", `/api/v2private/annotations?orgID=${orgID}`, [{ summary: "a", stickers: { k: "v" } }]);
  const permissions = [{ action: "read", resource: { type: "buckets", id: bucket.id, orgID } }];
  const reader = (await ask(source, "POST", "/api/v2/authorizations", { orgID, permissions })).body.token as string;
  await ask(source, "POST", "/api/v2/users", { name: "ann" });
  await STATES[state]!(source);
  await write(source, "hours", Array.from({ length: 30 }, (_, i) => `m v=${i}i ${START_S + i * 1800}`).join("\n"));
  const answers = await answersOf(source);
  expect(answers[0]!.length).toBeGreaterThan(300);
  const hours = await source.sql("hours", "SELECT * FROM m ORDER BY time");
  const backup = await backUp(source.bucketsUrl, "tok");
  // 15 hours of shards of 3 hours; 400 hours from a Wednesday on are in 3 or 4 weeks
  expect(backup.shards.size).toBe(5 + 3);
  expect(await answersOf(source)).toEqual(answers);

  await using target = await startUp(OTHER);
  await write(target, "x", `cpu v="of another type" ${START_S}`, "elsewhere").catch(() => {});
  expect(await restoreAll(target.bucketsUrl, "their-token", backup)).toBe("tok");
  const check = async () => {
    expect(await answersOf(target)).toEqual(answers);
    expect(await target.sql("hours", "SELECT * FROM m ORDER BY time")).toEqual(hours);
    expect(await listsOf(target, orgID)).toEqual(await listsOf(source, orgID));
    // with another key at rest
    const key = `${endpoint.id}-token`;
    const secret = `import "influxdata/influxdb/secrets" import "array" array.from(rows: [{k: secrets.get(key: "${key}")}])`;
    const headers = { authorization: "Token tok", "content-type": "application/vnd.flux" };
    const answer = await fetch(`${target.bucketsUrl}/api/v2/query?org=o`, { method: "POST", headers, body: secret });
    expect(await answer.text()).toContain("of the endpoint");
    expect((await ask(target, "GET", "/api/v2/buckets", undefined, reader)).body.buckets).toHaveLength(1);
    expect((await ask(target, "GET", "/api/v2/me", undefined, "their-token")).status).toBe(401);
    const credentials = `Basic ${Buffer.from("admin:password12").toString("base64")}`;
    const signin = await fetch(`${target.bucketsUrl}/api/v2/signin`, { method: "POST", headers: { authorization: credentials } });
    expect(signin.status).toBe(204);
  };
  await check();
  await target.kill();
  await target.restart();
  await check();
  // and it goes on from there
  await write(target, "b", `cpu,host=h2,env=e0 f=2000 ${START_S + 2 * 3600}`);
  const [point] = await target.sql("b", `SELECT f, n FROM cpu WHERE host = 'h2' AND time = '2020-01-01T02:00:00Z'`);
  expect(point).toEqual({ f: 2000, n: 2 });
  expect((await ask(target, "POST", "/api/v2/buckets", { orgID, name: "new" })).status).toBe(201);
});

test("a bucket under another name, beside clients that already write to it", async () => {
  await using server = await startUp(SETUP);
  await write(server, "b", lines(0, 400));
  const backup = await backUp(server.bucketsUrl, "tok");
  const manifest = backup.buckets.find(({ bucketName }) => bucketName === "b")!;
  const all = await server.sql("b", STATEMENTS[0]!);
  const body = { ...manifest, bucketName: "again", retentionPolicies: manifest.retentionPolicies };
  const { body: made, status } = await ask(server, "POST", "/api/v2/restore/bucketMetadata", body);
  expect(status).toBe(201);
  // its columns come in another order: fields may, and tags that keep theirs
  await write(server, "again", `cpu,host=h0 ok=true,n=7i,new=1 ${START_S + 500 * 3600}`);
  for (const { oldId, newId } of made.shardMappings) {
    expect(await send(`${server.bucketsUrl}/api/v2/restore/shards/${newId}`, "tok", backup.shards.get(oldId)!)).toEqual({
      status: 200,
      text: "",
    });
  }
  const before = `WHERE time < '2020-01-20T00:00:00Z'`;
  expect(await server.sql("again", `SELECT host, env, f, n, u, s, ok, time FROM cpu ${before} ORDER BY time, host`)).toEqual(all);
  expect(await server.sql("again", `SELECT n, new FROM cpu WHERE time > '2020-01-20T00:00:00Z'`)).toEqual([{ n: 7, new: 1 }]);
  // a point of a restored series again: field by field the later write wins
  await write(server, "again", `cpu,host=h0,env=e0 f=99 ${START_S}`);
  expect(await server.sql("again", `SELECT f, s FROM cpu WHERE time = '2020-01-01T00:00:00Z'`)).toEqual([{ f: 99, s: "text 0" }]);
  // columns of another type, or tags in another order: refused as a whole
  for (const [name, line, reason] of [
    ["typed", `cpu f="text" ${START_S}`, "of another type"],
    ["turned", `cpu,env=e0 v=1 ${START_S}\ncpu,host=h v=1 ${START_S + 1}`, "in another order"],
  ] as const) {
    const { body: other } = await ask(server, "POST", "/api/v2/restore/bucketMetadata", { ...manifest, bucketName: name });
    await write(server, name, line);
    const [{ oldId, newId }] = other.shardMappings;
    const refused = await send(`${server.bucketsUrl}/api/v2/restore/shards/${newId}`, "tok", backup.shards.get(oldId)!);
    expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(reason)]);
    expect((await server.sql(name, "SELECT count(*) AS n FROM cpu"))[0]).toEqual({ n: line.split("\n").length });
  }
});

test("a shard replaces the rows of its time, and no others", async () => {
  await using server = await startUp(SETUP);
  const orgID = (await ask(server, "GET", "/api/v2/orgs")).body.orgs[0].id as string;
  const rules = [{ type: "expire", everySeconds: 0, shardGroupDurationSeconds: 3600 }];
  await ask(server, "POST", "/api/v2/buckets", { orgID, name: "h", retentionRules: rules });
  // a day of minutes: 24 shards, all in one block of a file
  await write(server, "h", Array.from({ length: 1440 }, (_, i) => `m v=${i}i ${START_S + i * 60}`).join("\n"));
  const backup = await backUp(server.bucketsUrl, "tok");
  expect(backup.shards.size).toBe(24);
  const third = [...backup.shards][2]!;
  await write(
    server,
    "h",
    Array.from({ length: 1440 }, (_, i) => `m v=${-i}i ${START_S + i * 60}\nother v=1i ${START_S + i * 60}`).join("\n"),
  );
  for (let round = 0; round < 2; round++) {
    expect(await send(`${server.bucketsUrl}/api/v2/restore/shards/${third[0]}`, "tok", third[1])).toEqual({ status: 200, text: "" });
    const rows = await server.sql<{ v: number; time: string }>("h", "SELECT v, time FROM m ORDER BY time");
    expect(rows.map(({ v }) => v)).toEqual(Array.from({ length: 1440 }, (_, i) => (i >= 120 && i < 180 ? i : -i || 0)));
    // that table had nothing then
    expect(await server.sql("h", "SELECT count(*) AS n FROM other")).toEqual([{ n: 1380 }]);
    await server.restart();
  }
});

test("a shard that is still being sent holds up no other restore", async () => {
  await using server = await startUp(SETUP);
  await write(server, "b", `m v=1i ${START_S}`);
  const { shards } = await backUp(server.bucketsUrl, "tok");
  const [[id, bytes]] = [...shards] as [[number, Uint8Array]];
  await write(server, "b", `m v=2i ${START_S}`);
  const url = `${server.bucketsUrl}/api/v2/restore/shards/${id}`;
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, 100);
    begin();
    await mayEnd;
    yield bytes.subarray(100);
  };
  const slow = fetch(url, { method: "POST", headers: { authorization: "Token tok" }, body: body() as unknown as BodyInit });
  await begun;
  expect((await send(url, "tok", bytes)).status).toBe(200);
  expect(await server.sql("b", "SELECT v FROM m")).toEqual([{ v: 1 }]);
  await write(server, "b", `m v=3i ${START_S}`);
  end();
  expect((await slow).status).toBe(200);
  expect(await server.sql("b", "SELECT v FROM m")).toEqual([{ v: 1 }]);
});

test("since: what was flushed later is added to what is there", async () => {
  await using server = await startUp(SETUP, AT_ONCE);
  await write(server, "b", `m,k=a v=1 ${START_S}`);
  await server.restart();
  const full = await backUp(server.bucketsUrl, "tok");
  const [[id]] = [...full.shards] as [[number, Uint8Array<ArrayBuffer>]];
  const since = new Date(Date.now() + 1).toISOString();
  while (Date.now() < Date.parse(since)) await Bun.sleep(1);
  const part = async () => {
    const url = `${server.bucketsUrl}/api/v2/backup/shards/${id}?since=${since}`;
    const response = await fetch(url, { headers: { authorization: "Token tok" } });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  expect((await part()).status).toBe(404);
  await write(server, "b", `m,k=b v=2 ${START_S + 60}`);
  const { bytes } = await part();
  await using target = await startUp(OTHER);
  await restoreAll(target.bucketsUrl, "their-token", full);
  expect(await target.sql("b", "SELECT v FROM m")).toEqual([{ v: 1 }]);
  expect((await send(`${target.bucketsUrl}/api/v2/restore/shards/${id}`, "tok", bytes)).status).toBe(200);
  expect(await target.sql("b", "SELECT k, v FROM m ORDER BY v")).toEqual([
    { k: "a", v: 1 },
    { k: "b", v: 2 },
  ]);
});

test("levels of compression; what tools can read of a backup", async () => {
  await using server = await startUp(SETUP);
  await write(server, "b", lines(0, 100));
  const { sql, shards } = await backUp(server.bucketsUrl, "tok");
  const folder = mkdtempSync(join(tmpdir(), "tsdb-backup-"));
  writeFileSync(join(folder, "sql"), sql);
  using view = new Database(join(folder, "sql"), { readonly: true });
  expect(view.query("select name from buckets order by name").all()).toEqual([{ name: "_monitoring" }, { name: "_tasks" }, { name: "b" }]);
  const [[id, shard]] = [...shards] as [[number, Uint8Array<ArrayBuffer>]];
  writeFileSync(join(folder, "shard.tar"), shard);
  const unpack = Bun.spawnSync(["sh", "-c", "tar xf shard.tar && sha256sum -c SHA256SUMS"], { cwd: folder });
  expect(unpack.stdout.toString()).toBe("shard.json: OK\n1.pt: OK\n");
  expect(JSON.parse(readFileSync(join(folder, "shard.json"), "utf8")).tables[0].name).toBe("cpu");
  const sizes = new Map<string, number>();
  for (const level of ["none", "speedy", "default", "full"]) {
    const headers = { authorization: "Token tok", "accept-encoding": "gzip", "gzip-compression-level": level };
    const response = await fetch(`${server.bucketsUrl}/api/v2/backup/shards/${id}`, { headers, decompress: false } as RequestInit);
    expect([response.headers.get("content-encoding"), response.headers.get("content-type")]).toEqual(["gzip", "application/octet-stream"]);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(Buffer.from(Bun.gunzipSync(bytes)).subarray(0, 10).toString()).toBe("shard.json");
    sizes.set(level, bytes.byteLength);
  }
  expect(sizes.get("none")).toBeGreaterThan(sizes.get("speedy")!);
});

test("tokens that are kept as hashes alone are in no backup, and work after it", async () => {
  await using source = await startUp(SETUP, ["--v2-use-hashed-tokens"]);
  const backup = await backUp(source.bucketsUrl, "tok");
  expect(Buffer.from(backup.kv).toString()).not.toContain('"tok"');
  await using target = await startUp(OTHER);
  const kv = await send(`${target.bucketsUrl}/api/v2/restore/kv`, "their-token", backup.kv);
  expect(kv).toEqual({ status: 200, text: '{"token":""}\n' });
  expect((await ask(target, "GET", "/api/v2/authorizations")).body.authorizations[0].token).toBe("");
  // a backup of the restored server restores it again; so does one into a server that keeps hashes
  const again = await backUp(target.bucketsUrl, "tok");
  expect(await restoreAll(source.bucketsUrl, "tok", again)).toBe("tok");
});

test("a measurement of 4,095 columns, more than the native API may make", async () => {
  const fields = (base: number) => Array.from({ length: 4094 }, (_, i) => `f${i}=${base + i}`).join(",");
  await using server = await startUp(SETUP);
  await write(server, "b", `wide,site=a ${fields(1)} ${START_S}\nwide,site=b ${fields(2)} ${START_S + DAY_S}`);
  const backup = await backUp(server.bucketsUrl, "tok");
  await using other = await startUp(OTHER);
  await restoreAll(other.bucketsUrl, "their-token", backup);
  for (const one of [server, other]) {
    expect(await one.sql<object>("b", "SELECT site, f0, f4093 FROM wide ORDER BY time")).toEqual([
      { site: "a", f0: 1, f4093: 4094 },
      { site: "b", f0: 2, f4093: 4095 },
    ]);
    const [row] = await one.sql<object>("b", "SELECT * FROM wide LIMIT 1");
    expect(Object.keys(row!)).toHaveLength(4096);
  }
});
