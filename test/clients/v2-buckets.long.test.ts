// The vendor's v2 client and its client of the management API, unmodified, against the bucket-based API of a real server.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HttpError, InfluxDB, Point } from "@influxdata/influxdb-client";
import {
  AuthorizationsAPI,
  BucketsAPI,
  ConfigAPI,
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
import { TestServer } from "../support/server.ts";

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
