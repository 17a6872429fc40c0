// Bodies of POST /api/v2/query over a real server: InfluxQL, the names of v1 clients, and whose buckets a script sees.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";

const JSON_TYPE = { "content-type": "application/json" };
const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };

let server: TestServer;
const ids: Record<string, string> = {};
const tokens: Record<string, string> = { operator: "tok" };

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

async function ask(path: string, body: unknown, token = "operator"): Promise<Answer> {
  const headers = { ...JSON_TYPE, authorization: `Token ${tokens[token]}` };
  const given = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${server.bucketsUrl}/api/v2/${path}`, { method: "POST", headers, body: given });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

async function made(path: string, body: unknown): Promise<Record<string, string>> {
  const { status, text } = await ask(path, body);
  expect([status, text]).toEqual([201, text]);
  return JSON.parse(text) as Record<string, string>;
}

async function tokenFor(name: string, orgID: string, ...permissions: (readonly [action: string, bucketId: string])[]): Promise<void> {
  const listed = permissions.map(([action, id]) => ({ action, resource: { type: "buckets", orgID, id } }));
  tokens[name] = (await made("authorizations", { orgID, permissions: listed }))["token"]!;
}

const script = async (query: string, token = "operator", org = "o"): Promise<Answer> => ask(`query?org=${org}`, { query }, token);
const influxql = (query: string, members: Readonly<Record<string, unknown>> = { bucket: "b" }, token = "operator"): Promise<Answer> =>
  ask("query?org=o", { query, type: "influxql", ...members }, token);

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true, flags: ["--v2-default-bucket-retention", "0"] });
  const { org, bucket } = JSON.parse((await ask("setup", SETUP)).text) as Record<string, { id: string }>;
  ids["o"] = org!.id;
  ids["b"] = bucket!.id;
  ids["o2"] = (await made("orgs", { name: "o2" }))["id"]!;
  ids["theirs"] = (await made("buckets", { orgID: ids["o2"], name: "theirs", retentionRules: [] }))["id"]!;
  ids["other"] = (await made("buckets", { orgID: ids["o"], name: "other", retentionRules: [{ type: "expire", everySeconds: 7200 }] }))[
    "id"
  ]!;
  await made("dbrps", { orgID: ids["o"], bucketID: ids["other"], database: "old", retention_policy: "short", default: true });
  await tokenFor("reads b", ids["o"]!, ["read", ids["b"]!]);
  await tokenFor("writes b", ids["o"]!, ["write", ids["b"]!]);
  await tokenFor("of o2", ids["o2"]!, ["read", ids["theirs"]!]);
  for (const [org, name] of [
    ["o", "b"],
    ["o2", "theirs"],
  ] as const) {
    expect(
      (
        await ask(
          `write?org=${org}&bucket=${name}`,
          `cpu,host=${name} usage=1.5,count=2i 1709596800000000000\ncpu,host=x usage=2.5 1709596860000000000`,
        )
      ).status,
    ).toBe(204);
  }
});
afterAll(() => server.dispose());

const INFLUXQL: [statement: string, csv: string][] = [
  ["SELECT usage FROM cpu", "name,tags,time,usage\ncpu,,1709596800000000000,1.5\ncpu,,1709596860000000000,2.5\n"],
  ["SELECT mean(usage) FROM cpu GROUP BY host", "name,tags,time,mean\ncpu,host=b,0,1.5\ncpu,host=x,0,2.5\n"],
  [
    "SELECT usage FROM cpu LIMIT 1; SELECT count(usage) FROM cpu",
    "name,tags,time,usage\ncpu,,1709596800000000000,1.5\n\nname,tags,time,count\ncpu,,0,2\n",
  ],
  ["SHOW MEASUREMENTS", "name,tags,name\nmeasurements,,cpu\n"],
  ["SHOW DATABASES", "name,tags,name\ndatabases,,old\ndatabases,,_monitoring\ndatabases,,_tasks\ndatabases,,b\ndatabases,,other\n"],
  ["SELECT count(usage) FROM b.autogen.cpu", "name,tags,time,count\ncpu,,0,2\n"],
  ["SELECT usage FROM none", ""],
];

test.each(INFLUXQL)("InfluxQL as CSV: %s", async (statement, csv) => {
  expect(await influxql(statement)).toEqual({ status: 200, type: "text/csv; charset=utf-8", text: csv });
});

test("InfluxQL names its bucket by id, by a database of its own, or by a mapping", async () => {
  const want = "name,tags,time,count\ncpu,,0,2\n";
  expect((await influxql("SELECT count(usage) FROM cpu", { bucket: ids["b"] })).text).toBe(want);
  expect((await influxql("SELECT count(usage) FROM b..cpu", {})).text).toBe(want);
  expect((await influxql("SHOW RETENTION POLICIES", { bucket: "other" })).text).toContain(",,short,2h0m0s,");
  const minute = "SELECT count(usage) FROM cpu WHERE time > now() - 1m";
  expect((await influxql(minute, { bucket: "b", now: "2024-03-05T00:01:30Z" })).text).toContain("cpu,,1709596830000000001,1");
});

const REFUSED: [statement: string, members: Readonly<Record<string, unknown>>, status: number, message: string][] = [
  ["SELECT FROM", { bucket: "b" }, 400, "error parsing query: found FROM"],
  ["SELECT * INTO x FROM cpu", { bucket: "b" }, 400, "not implemented: SELECT INTO"],
  ["CREATE DATABASE x", { bucket: "b" }, 400, "not implemented: CREATE DATABASE"],
  ["DROP DATABASE b", { bucket: "b" }, 400, "not implemented"],
  ["SELECT * FROM cpu", { bucket: "nope" }, 404, 'bucket \\"nope\\" not found'],
  ["SELECT * FROM cpu", { bucket: 5 }, 400, "json: cannot unmarshal number"],
  ["SELECT * FROM cpu", {}, 400, "database name required"],
  ["SELECT * FROM theirs..cpu", { bucket: "b" }, 404, "database not found: theirs"],
  ["", { bucket: "b" }, 400, "request body requires either query or AST"],
];

test.each(REFUSED)("InfluxQL is refused: %s %j", async (statement, members, status, message) => {
  const answer = await influxql(statement, members);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(message);
});

test("an organization's buckets are nobody else's, by name or id, in either language", async () => {
  const rows = "|> range(start: 2024-03-05T00:00:00Z, stop: 2024-03-06T00:00:00Z)";
  const unknown = (named: string) => ({
    code: "not found",
    message: `failed to initialize execute state: could not find bucket "${named}"`,
  });
  const asked: [token: string, org: string, argument: string, named: string][] = [
    ["reads b", "o", `bucket: "theirs"`, "theirs"],
    ["reads b", "o", `bucketID: "${ids["theirs"]}"`, ids["theirs"]!],
    ["reads b", "o2", `bucketID: "${ids["theirs"]}"`, ids["theirs"]!],
    ["reads b", "o2", `bucketID: "${ids["b"]}"`, ids["b"]!],
    ["reads b", "o", `bucket: "other"`, "other"],
    ["writes b", "o", `bucket: "b"`, "b"],
    ["of o2", "o2", `bucketID: "${ids["b"]}"`, ids["b"]!],
    ["of o2", "o", `bucket: "b"`, "b"],
    ["operator", "o", `bucketID: "${ids["theirs"]}"`, ids["theirs"]!],
  ];
  for (const [token, org, argument, named] of asked) {
    const { status, text } = await script(`from(${argument}) ${rows}`, token, org);
    expect([token, org, argument, status, JSON.parse(text)]).toEqual([token, org, argument, 404, unknown(named)]);
  }
  expect((await script(`from(bucket: "b") ${rows} |> count()`, "reads b")).status).toBe(200);
  expect((await script(`from(bucket: "theirs") ${rows} |> count()`, "of o2", "o2")).status).toBe(200);
  for (const [token, bucket] of [
    ["reads b", ids["theirs"]],
    ["reads b", "other"],
    ["writes b", "b"],
    ["of o2", ids["b"]],
  ] as const) {
    expect((await influxql("SELECT * FROM cpu", { bucket }, token)).status).toBe(404);
  }
  for (const token of ["reads b", "of o2"]) {
    for (const statement of ["SELECT * FROM theirs..cpu", "SELECT * FROM old..cpu", "SELECT * FROM other..cpu"]) {
      expect((await influxql(statement, {}, token)).status).toBe(404);
    }
  }
  // what may be read is not what may be changed
  expect((await influxql("DROP MEASUREMENT cpu", { bucket: "b" }, "reads b")).text).toContain("insufficient permissions");
  expect((await influxql("DELETE FROM cpu", { bucket: "b" }, "reads b")).text).toContain("insufficient permissions");
  expect((await influxql("SELECT count(usage) FROM cpu")).text).toContain("cpu,,0,2");
});

test("v1.databases lists mappings of buckets that the sender may read", async () => {
  const databases = 'import "influxdata/influxdb/v1"\nv1.databases() |> drop(columns: ["organizationID", "bucketID"])';
  const all = [
    ",result,table,databaseName,retentionPolicy,retentionPeriod,default",
    ",_result,0,old,short,7200000000000,true",
    ",_result,0,_monitoring,autogen,604800000000000,true",
    ",_result,0,_tasks,autogen,259200000000000,true",
    ",_result,0,b,autogen,0,true",
    ",_result,0,other,autogen,7200000000000,true",
  ];
  expect((await script(databases)).text).toBe([...all, "", ""].join("\r\n"));
  expect((await script(databases, "reads b")).text).toBe([all[0], all[4], "", ""].join("\r\n"));
  expect(await script(databases, "writes b")).toMatchObject({ status: 404 });
  expect((await script('import "influxdata/influxdb/v1"\nv1.databases(org: "o")')).text).toContain("separate organization");
});

const NO_JSON =
  "failed to decode request body: failed parsing request body as JSON; if sending a raw Flux script, set 'Content-Type: application/vnd.flux' in your request headers: ";
const AT = (now: string) => JSON.stringify({ query: "x = 1", now });
const LAYOUT = "2006-01-02T15:04:05Z07:00";

// as release 2.8.0 answers
test.each([
  ['from(bucket: "b")', "invalid character 'r' in literal false (expecting 'a')"],
  ["tru", "unexpected EOF"],
  ["x = 1", "invalid character 'x' looking for beginning of value"],
  ['{"query": "x = 1"', "unexpected EOF"],
  ['{"query": "x = 1",}', "invalid character '}' looking for beginning of object key string"],
  ['{"query" "x"}', "invalid character '\"' after object key"],
  [AT(""), `parsing time "" as "${LAYOUT}": cannot parse "" as "2006"`],
  [AT("2024-03-05"), `parsing time "2024-03-05" as "${LAYOUT}": cannot parse "" as "T"`],
  [AT("2024-3-05T10:00:00Z"), `parsing time "2024-3-05T10:00:00Z" as "${LAYOUT}": cannot parse "3-05T10:00:00Z" as "01"`],
  [AT("2024-03-05T10:00:00"), `parsing time "2024-03-05T10:00:00" as "${LAYOUT}": cannot parse "" as "Z07:00"`],
  [AT("2024-03-05T10:00:00Z "), 'parsing time "2024-03-05T10:00:00Z ": extra text: " "'],
  [AT("2024-13-05T10:00:00Z"), 'parsing time "2024-13-05T10:00:00Z": month out of range'],
  [AT("2024-02-30T10:00:00Z"), 'parsing time "2024-02-30T10:00:00Z": day out of range'],
  [AT("2024-03-05T24:00:00Z"), 'parsing time "2024-03-05T24:00:00Z": hour out of range'],
  ['{"query": "x = 1", "dialect": []}', "json: cannot unmarshal array into Go struct field QueryRequest.dialect of type http.QueryDialect"],
])("what is wrong with the body %s", async (body, problem) => {
  const { status, text } = await ask("query?org=o", body);
  expect([status, JSON.parse(text)]).toEqual([400, { code: "invalid", message: NO_JSON + problem }]);
});

test("an error behind a whole result comes behind an empty line", async () => {
  const query =
    'import "array"\narray.from(rows: [{a: 1}])\narray.from(rows: [{a: 1}]) |> map(fn: (r) => ({a: die(msg: "no")})) |> yield(name: "b")';
  const { status, text } = await ask("query?org=o", { query });
  const failure = "runtime error @3:31-3:68: map: failed to evaluate map function: no";
  expect([status, text]).toEqual([200, `,result,table,a\r\n,_result,0,1\r\n\r\n\r\n,error,reference\r\n,${failure},\r\n`]);
});
