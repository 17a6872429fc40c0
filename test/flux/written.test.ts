// Recorded scripts that write, over HTTP: what `to` stores is read back through the server's own path of writes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { bucketLines, type FluxCase, fluxCases } from "./cases.ts";
import { csvDifference } from "./compare-csv.ts";

const JSON_TYPE = { "content-type": "application/json" };
const CASES = fluxCases().filter(({ fresh }) => fresh !== undefined);
const DAY_NS = 86_400_000_000_000n;

let server: TestServer;
let orgID: string;
let ids: Map<string, string>;

async function ask(path: string, method: string, body?: unknown, token = "tok"): Promise<Response> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { authorization: `Token ${token}`, ...JSON_TYPE } };
  return fetch(`${server.bucketsUrl}${path}`, { method, headers: { authorization: `Token ${token}` }, ...init });
}

async function made<T>(path: string, body: unknown): Promise<T> {
  const response = await ask(path, "POST", body);
  expect(response.status).toBe(201);
  return (await response.json()) as T;
}

async function addBucket(name: string, seconds = 0): Promise<void> {
  const retentionRules = seconds === 0 ? [] : [{ type: "expire", everySeconds: seconds }];
  ids.set(name, (await made<{ id: string }>("/api/v2/buckets", { orgID, name, retentionRules })).id);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function query(script: string, members: Readonly<Record<string, unknown>> = {}, token = "tok"): Promise<Answer> {
  const response = await ask("/api/v2/query?org=o", "POST", { query: script, ...members }, token);
  return { status: response.status, text: await response.text() };
}

/** With a script's placeholders filled in. */
function filled(script: string): string {
  return script.replaceAll("{{orgID}}", orgID).replace(/\{\{bucketID:(\w+)\}\}/g, (_, name: string) => ids.get(name)!);
}

beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true, flags: ["--v2-default-bucket-retention", "0"] });
  const setup = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
  const { org, bucket } = (await (await ask("/api/v2/setup", "POST", setup)).json()) as Record<string, { id: string }>;
  orgID = org!.id;
  ids = new Map([["b", bucket!.id]]);
  for (const name of new Set(CASES.flatMap(({ data, fresh }) => [...data, ...fresh!]))) {
    if (name.startsWith("_")) continue;
    await addBucket(name);
    const lines = CASES.some(({ data }) => data.includes(name)) ? bucketLines(name) : "";
    if (lines === "") continue;
    const url = `${server.bucketsUrl}/api/v2/write?org=o&bucket=${name}`;
    expect((await fetch(url, { method: "POST", headers: { authorization: "Token tok" }, body: lines })).status).toBe(204);
  }
});
afterAll(() => server.dispose());

async function difference(each: FluxCase): Promise<string | null> {
  for (const name of each.fresh!) {
    if (name.startsWith("_")) continue;
    await ask(`/api/v2/buckets/${ids.get(name)!}`, "DELETE");
    await addBucket(name);
  }
  const members = { now: each.now, dialect: each.dialect ?? { annotations: each.raw === true ? [] : ["datatype", "group", "default"] } };
  for (const script of each.setup ?? []) {
    const { status, text } = await query(filled(script), members);
    if (status !== 200) return `setup: ${status} ${text}`;
  }
  const { status, text } = await query(filled(each.script), members);
  if (status !== each.status) return `status ${status}, want ${each.status}: ${text}`;
  if (status >= 400) return text === each.body.trim() ? null : `${text}, want ${each.body}`;
  return csvDifference(text, each.body, each);
}

test("recorded scripts that write answer as recorded", async () => {
  expect(CASES.length).toBeGreaterThan(60);
  const differences: string[] = [];
  for (const each of CASES) {
    const found = await difference(each);
    if (found !== null) differences.push(`${each.id}: ${found}`);
  }
  expect(differences).toEqual([]);
});

const NOW = { now: "2024-03-05T12:00:00Z" };
const ROW = `import "array"
array.from(rows: [{_time: 2024-03-05T10:00:00Z, _measurement: "m", _field: "f", host: "a", _value: 1.5}])`;

describe("to", () => {
  test("writes rows that SQL on the other port reads, in batches larger than one", async () => {
    await addBucket("many");
    const rows = 60_000;
    const script = `import "generate"
generate.from(count: ${rows}, fn: (n) => n, start: 2024-03-05T00:00:00Z, stop: 2024-03-06T00:00:00Z)
  |> map(fn: (r) => ({r with _measurement: "m", _field: "f", host: "a"})) |> to(bucket: "many") |> count()`;
    const { status, text } = await query(script, NOW);
    expect([status, text.includes(`,${rows},`) || text.includes(`,${rows}\r\n`)]).toEqual([200, true]);
    const sum = (rows * (rows - 1)) / 2;
    expect(await server.sql("many", "SELECT count(*) AS n, sum(f) AS s, count(distinct host) AS h FROM m")).toEqual([
      { n: rows, s: sum, h: 1 },
    ]);
  }, 30_000);

  test("stores nothing with a token that may only read, and tells why", async () => {
    await addBucket("closed");
    const permissions = ["b", "closed"].map((name) => ({ action: "read", resource: { type: "buckets", id: ids.get(name), orgID } }));
    const { token } = await made<{ token: string }>("/api/v2/authorizations", { orgID, permissions });
    const { status, text } = await query(`${ROW} |> to(bucket: "closed")`, NOW, token);
    const message = "failed to initialize execute state: user not authorized to write";
    expect([status, JSON.parse(text)]).toEqual([403, { code: "forbidden", message }]);
    expect(await server.sql("closed", "SELECT count(*) AS n FROM information_schema.tables WHERE table_name = 'm'")).toEqual([{ n: 0 }]);
  });

  test("writes to its own organization, and tells others that the sender sees from none", async () => {
    await addBucket("own");
    await made("/api/v2/orgs", { name: "other" });
    const permissions = ["read", "write"].map((action) => ({ action, resource: { type: "buckets", orgID } }));
    const { token } = await made<{ token: string }>("/api/v2/authorizations", { orgID, permissions });
    const answer = async (organization: string, sender: string) => {
      const { status, text } = await query(`${ROW} |> to(bucket: "own", ${organization})`, NOW, sender);
      return status < 400 ? [status] : [status, (JSON.parse(text) as { message: string }).message.replace(/^.*state: /, "")];
    };
    const otherOne = "host must be specified when writing points to another org";
    expect(await answer('org: "other"', "tok")).toEqual([400, otherOne]);
    expect(await answer('orgID: "00000000000000aa"', "tok")).toEqual([400, otherOne]);
    expect(await answer('org: "other"', token)).toEqual([404, 'could not find org "other"']);
    expect(await answer('org: "none"', "tok")).toEqual([404, 'could not find org "none"']);
    for (const own of ['org: "o"', `orgID: "${orgID}"`, 'org: ""']) expect(await answer(own, token)).toEqual([200]);
  });

  test("tells of points past the retention and of conflicting types", async () => {
    await addBucket("day", Number(DAY_NS / 1_000_000_000n));
    const old = await query(`${ROW} |> to(bucket: "day")`, NOW);
    expect(old).toEqual({ status: 200, text: expect.stringContaining("dropped 1 points outside retention policy of duration 24h0m0s") });
    await addBucket("kinds");
    await query(`${ROW} |> to(bucket: "kinds")`, NOW);
    const other = await query(`${ROW.replace("1.5", '"text"')} |> to(bucket: "kinds")`, NOW);
    expect(other).toEqual({
      status: 200,
      text: expect.stringContaining('field ""f"" on measurement ""m"" is type string, already exists as type float'),
    });
  });
});

describe("secrets", () => {
  const script = 'import "influxdata/influxdb/secrets"\nimport "array"\narray.from(rows: [{v: secrets.get(key: "KEY")}])';

  test("are read by scripts of who may read them", async () => {
    expect((await ask(`/api/v2/orgs/${orgID}/secrets`, "PATCH", { KEY: "s3cret" })).status).toBe(204);
    expect(await query(script)).toEqual({ status: 200, text: expect.stringContaining("s3cret") });
    const missing = await query(script.replace('"KEY"', '"OTHER"'));
    expect([missing.status, missing.text.includes("s3cret")]).toEqual([404, false]);
  });

  test("are refused to others", async () => {
    const permissions = [{ action: "read", resource: { type: "buckets", orgID } }];
    const { token } = await made<{ token: string }>("/api/v2/authorizations", { orgID, permissions });
    const { status, text } = await query(script, {}, token);
    expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([403, "forbidden"]);
    expect(text).toContain(`read:orgs/${orgID}/secrets is unauthorized`);
  });
});
