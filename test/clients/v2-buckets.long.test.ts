// The vendor's v2 client and its client of the management API, unmodified, against the bucket-based API of a real server.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { flux, HttpError, InfluxDB, Point } from "@influxdata/influxdb-client";
import {
  AuthorizationsAPI,
  BackupAPI,
  BucketsAPI,
  ConfigAPI,
  DbrpsAPI,
  DeleteAPI,
  FlagsAPI,
  HealthAPI,
  LabelsAPI,
  MeAPI,
  OrgsAPI,
  PingAPI,
  ReadyAPI,
  ResourcesAPI,
  RootAPI,
  SetupAPI,
  SigninAPI,
  SignoutAPI,
  UsersAPI,
} from "@influxdata/influxdb-client-apis";
import { TestServer } from "../support/servers/server.ts";

let server: TestServer;
let influx: InfluxDB;
let orgID: string;

const status = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error) => (error as HttpError).statusCode,
  );

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  const setup = new SetupAPI(new InfluxDB({ url: server.bucketsUrl }));
  expect(await setup.getSetup()).toEqual({ allowed: true });
  const body = { username: "admin", password: "password12", org: "o", bucket: "b", token: "operator" };
  const made = await setup.postSetup({ body });
  expect(made.auth!.token).toBe("operator");
  orgID = made.org!.id!;
  influx = new InfluxDB({ url: server.bucketsUrl, token: "operator" });
}, 60_000);
afterAll(() => server.dispose());

test("system calls", async () => {
  expect((await new HealthAPI(influx).getHealth()).status).toBe("pass");
  expect((await new ReadyAPI(influx).getReady()).status).toBe("ready");
  await new PingAPI(influx).getPing();
  expect(await new RootAPI(influx).getRoutes()).toMatchObject({ buckets: "/api/v2/buckets" });
  expect(await new ResourcesAPI(influx).getResources()).toContain("buckets");
  expect(await new ConfigAPI(influx).getConfig()).toMatchObject({ config: { store: "disk" } });
  expect(await new FlagsAPI(influx).getFlags()).toBeObject();
});

test("users, organizations, members and secrets", async () => {
  const [users, orgs] = [new UsersAPI(influx), new OrgsAPI(influx)];
  const ann = await users.postUsers({ body: { name: "ann" } });
  await users.postUsersIDPassword({ userID: ann.id!, body: { password: "password34" } });
  expect((await users.getUsers()).users!.map(({ name }) => name)).toEqual(["admin", "ann"]);
  const org = await orgs.postOrgs({ body: { name: "o2", description: "d" } });
  await orgs.postOrgsIDMembers({ orgID: org.id!, body: { id: ann.id! } });
  expect((await orgs.getOrgsIDMembers({ orgID: org.id! })).users!.map(({ name, role }) => [name, role])).toEqual([["ann", "member"]]);
  await orgs.patchOrgsIDSecrets({ orgID: org.id!, body: { key: "value" } });
  expect((await orgs.getOrgsIDSecrets({ orgID: org.id! })).secrets).toEqual(["key"]);
  expect((await orgs.patchOrgsID({ orgID: org.id!, body: { description: "e" } })).description).toBe("e");
  await orgs.deleteOrgsID({ orgID: org.id! });
  expect(await status(orgs.getOrgsID({ orgID: org.id! }))).toBe(404);
  await users.deleteUsersID({ userID: ann.id! });
  expect((await new MeAPI(influx).getMe()).name).toBe("admin");
});

test("signing in and out by name and password", async () => {
  const plain = new InfluxDB({ url: server.bucketsUrl });
  let cookie = "";
  await new SigninAPI(plain).postSignin(
    { auth: { user: "admin", password: "password12" } },
    {
      responseStarted: (headers) => {
        cookie = [headers["set-cookie"]].flat()[0]!.split(";")[0]!;
      },
    },
  );
  const signedIn = { headers: { cookie } };
  expect((await new MeAPI(plain).getMe(undefined, signedIn)).name).toBe("admin");
  await new SignoutAPI(plain).postSignout(undefined, signedIn);
  expect(await status(new MeAPI(plain).getMe(undefined, signedIn))).toBe(401);
});

test("buckets, labels and authorizations", async () => {
  const [buckets, labels, authorizations] = [new BucketsAPI(influx), new LabelsAPI(influx), new AuthorizationsAPI(influx)];
  const bucket = await buckets.postBuckets({ body: { orgID, name: "made", retentionRules: [{ type: "expire", everySeconds: 7200 }] } });
  const { label } = await labels.postLabels({ body: { orgID, name: "l", properties: { color: "#fff" } } });
  await buckets.postBucketsIDLabels({ bucketID: bucket.id!, body: { labelID: label!.id! } });
  const [found] = (await buckets.getBuckets({ orgID, name: "made" })).buckets!;
  expect(found!.labels).toEqual([{ id: label!.id!, orgID, name: "l", properties: { color: "#fff" } }]);
  const permissions = ["read", "write"].map((action) => {
    return { action: action as "read", resource: { type: "buckets" as const, id: bucket.id!, orgID } };
  });
  const auth = await authorizations.postAuthorizations({ body: { orgID, permissions } });
  // it writes where it may, and nowhere else
  const own = new InfluxDB({ url: server.bucketsUrl, token: auth.token! });
  const once = { maxRetries: 0 };
  const writer = own.getWriteApi("o", "made", "ms", once);
  writer.writePoint(new Point("m").tag("t", "x").floatField("v", 1.5).timestamp(Date.now()));
  await writer.close();
  expect(await server.sql("made", "SELECT t, v FROM m")).toEqual([{ t: "x", v: 1.5 }]);
  const other = own.getWriteApi("o", "b", "ms", once);
  other.writeRecord("m v=1");
  const refused = await other.close().catch((error) => error);
  expect(refused).toBeInstanceOf(HttpError);
  expect([refused.statusCode, refused.json]).toEqual([403, { code: "forbidden", message: "insufficient permissions for write" }]);
  await authorizations.patchAuthorizationsID({ authID: auth.id!, body: { status: "inactive" } });
  expect(await status(new BucketsAPI(own).getBucketsID({ bucketID: bucket.id! }))).toBe(403);
  await authorizations.deleteAuthorizationsID({ authID: auth.id! });
  await buckets.deleteBucketsID({ bucketID: bucket.id! });
  expect(await status(buckets.getBucketsID({ bucketID: bucket.id! }))).toBe(404);
});

const at = (seconds: number) => new Date(1_700_000_000_000 + seconds * 1000);
const weather = (city: string, temperature: number, seconds: number) =>
  new Point("weather").tag("city", city).floatField("temperature", temperature).timestamp(at(seconds));

async function writtenTo(bucket: string, points: readonly Point[]): Promise<void> {
  const api = influx.getWriteApi("o", bucket, "ns", { maxRetries: 0 });
  api.writePoints([...points]);
  await api.close();
}

/** What the script finds, by the client's own reader of annotated CSV. */
async function cities(bucket: string): Promise<[city: string, temperature: number, time: string][]> {
  const query = flux`from(bucket: ${bucket}) |> range(start: 2023-11-01T00:00:00Z) |> filter(fn: (r) => r._measurement == "weather")
    |> group() |> sort(columns: ["_time"])`;
  const rows = await influx.getQueryApi("o").collectRows<{ city: string; _value: number; _time: string }>(query);
  return rows.map(({ city, _value, _time }) => [city, _value, _time]);
}

test("what is written is read by a script, and gone when deleted", async () => {
  const bucket = await new BucketsAPI(influx).postBuckets({ body: { orgID, name: "weather", retentionRules: [] } });
  expect(bucket.retentionRules).toHaveLength(1);
  await new BucketsAPI(influx).patchBucketsID({ bucketID: bucket.id!, body: { retentionRules: [{ type: "expire", everySeconds: 0 }] } });
  await writtenTo("weather", [weather("Zürich, CH", -3.25, 0), weather("Oslo", 1, 1), weather('a "b"', 1e21, 2)]);
  const all = await cities("weather");
  expect(all).toEqual([
    ["Zürich, CH", -3.25, "2023-11-14T22:13:20Z"],
    ["Oslo", 1, "2023-11-14T22:13:21Z"],
    ['a "b"', 1e21, "2023-11-14T22:13:22Z"],
  ]);
  const range = { start: at(0).toISOString(), stop: at(10).toISOString() };
  const body = { ...range, predicate: '_measurement="weather" AND city="Oslo"' };
  await new DeleteAPI(influx).postDelete({ org: "o", bucket: "weather", body });
  expect(await cities("weather")).toEqual([all[0]!, all[2]!]);
  await new DeleteAPI(influx).postDelete({ orgID, bucketID: bucket.id!, body: range });
  expect(await cities("weather")).toEqual([]);
  expect(await status(new DeleteAPI(influx).postDelete({ org: "o", bucket: "nowhere", body }))).toBe(404);
});

test("invalid scripts, and scripts that read what does not exist, are errors in the server's words", async () => {
  const failed = await influx
    .getQueryApi("o")
    .collectRows("from(bucket: ")
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(HttpError);
  expect((failed as HttpError).statusCode).toBe(400);
  expect((failed as HttpError).json).toMatchObject({ code: "invalid", message: expect.stringContaining("compilation failed") });
  const missing = await influx
    .getQueryApi("o")
    .collectRows('from(bucket: "nowhere") |> range(start: 0)')
    .catch((error: unknown) => error);
  expect((missing as HttpError).statusCode).toBe(404);
});

test("mappings lead v1 statements to a bucket", async () => {
  const dbrps = new DbrpsAPI(influx);
  const bucket = await new BucketsAPI(influx).postBuckets({ body: { orgID, name: "mapped", retentionRules: [] } });
  const virtual = (await dbrps.getDBRPs({ orgID, db: "mapped" })).content!;
  expect(virtual.map(({ database, retention_policy: policy, bucketID }) => [database, policy, bucketID])).toEqual([
    ["mapped", "autogen", bucket.id!],
  ]);
  const made = await dbrps.postDBRP({ body: { orgID, bucketID: bucket.id!, database: "d", retention_policy: "rp", default: true } });
  const found = await dbrps.getDBRPsID({ dbrpID: made.id!, orgID });
  expect(found.content).toMatchObject({ database: "d", default: true, virtual: false });
  await dbrps.patchDBRPID({ dbrpID: made.id!, orgID, body: { retention_policy: "other" } });
  expect((await dbrps.getDBRPs({ orgID, bucketID: bucket.id!, db: "d" })).content![0]!.retention_policy).toBe("other");
  await writtenTo("mapped", [new Point("m").intField("v", 7).timestamp(new Date())]);
  const query = `${server.bucketsUrl}/query?${new URLSearchParams({ db: "d", q: "SELECT v FROM m" })}`;
  const answer = await (await fetch(query, { headers: { authorization: "Token operator" } })).json();
  expect(answer.results[0].series[0].values[0][1]).toBe(7);
  await dbrps.deleteDBRPID({ dbrpID: made.id!, orgID });
  expect(await status(dbrps.getDBRPsID({ dbrpID: made.id!, orgID }))).toBe(404);
});

test("metadata and shards are downloaded", async () => {
  await writtenTo("b", [weather("Oslo", 1, Date.now() / 1000 - 1_700_000_000)]);
  const backup = new BackupAPI(influx);
  const kv = await backup.getBackupKV(undefined, {
    responseStarted: (headers) => expect(headers["content-type"]).toContain("octet-stream"),
  });
  expect(kv).toBeDefined();
  const metadata = String(await backup.getBackupMetadata());
  const shardID = Number(/"shards":\[\{"id":(\d+)/.exec(metadata)![1]);
  expect(await status(backup.getBackupShardId({ shardID }))).toBe(200);
  expect(await status(backup.getBackupShardId({ shardID: 7 }))).toBe(404);
  const plain = new InfluxDB({ url: server.bucketsUrl, token: "nobody" });
  expect(await status(new BackupAPI(plain).getBackupKV())).toBe(401);
});
