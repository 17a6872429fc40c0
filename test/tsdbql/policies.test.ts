// What other generations of the API see of retention policies, who may use them, and the scenes of policy-steps.ts with two starts between
// them (policies.long.test.ts: with all).
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { peerAt } from "./peer.ts";
import { expectScenes } from "./policy-scenes.ts";

const TIMEOUT_MS = 120_000;
/** Of POLICY_SCENES those that have written rows and changed policies, each before a scene that reads. */
const WRITING: readonly number[] = [1, 3];

test("what 1.6.7 answers step by step, with a start after writes", () => expectScenes((scene) => WRITING.includes(scene)), TIMEOUT_MS);

const form = (fields: Record<string, string>) => new URLSearchParams(fields);

async function rowsOf(server: TestServer, path: string, fields: Record<string, string>, token?: string): Promise<unknown> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(`${server.url}${path}?${form(fields)}`, { headers });
  const text = await response.text();
  return response.status === 200 ? JSON.parse(text) : response.status;
}

describe("without tokens", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.dispose());

  test("v3 and v2 calls mean the database itself", async () => {
    const peer = peerAt(server.url);
    await peer.query({ q: "CREATE DATABASE d WITH NAME y" });
    const post = (path: string, fields: Record<string, string>, body: string) =>
      fetch(`${server.url}${path}?${form(fields)}`, { method: "POST", body }).then(({ status }) => status);
    expect(await post("/write", { db: "d" }, "m v=1 1000")).toBe(204);
    const v3 = (db: string) => rowsOf(server, "/api/v3/query_sql", { db, q: "SELECT v FROM m ORDER BY v", format: "json" });
    expect(await v3("d/y")).toEqual([{ v: 1 }]);
    expect(await v3("d")).toBe(400);
    const policies = async () => (await peer.query({ q: "SHOW RETENTION POLICIES ON d" })).text.match(/\["[a-z]+","\d/g);
    expect(await policies()).toEqual(['["y","0']);
    expect(await post("/api/v3/write_lp", { db: "d", precision: "ns" }, "m v=2 2000")).toBe(204);
    expect(await post("/api/v2/write", { bucket: "d", precision: "ns" }, "m v=3 3000")).toBe(204);
    expect(await v3("d")).toEqual([{ v: 2 }, { v: 3 }]);
    expect(await v3("d/y")).toEqual([{ v: 1 }]);
    const tsdbql = { db: "d", q: "SELECT v FROM m", format: "json" };
    expect(((await rowsOf(server, "/api/v3/query_influxql", tsdbql)) as { v: number }[]).map(({ v }) => v)).toEqual([2, 3]);
    // what was written by the database's own name is its policy autogen
    expect(await policies()).toEqual(['["y","0', '["autogen","0']);
    const values = async (q: string) => (await peer.query({ q, db: "d", epoch: "ns" })).text.match(/\[\d+,\d+\]/g);
    expect(await values("SELECT v FROM m")).toEqual(["[1000,1]"]);
    expect(await values("SELECT v FROM autogen.m")).toEqual(["[2000,2]", "[3000,3]"]);
    const listed = await fetch(`${server.url}/api/v3/configure/database?format=json`).then((response) => response.json());
    expect(listed).toEqual(["_internal", "d", "d/y"].map((name) => ({ "iox::database": name })));
  });

  test("after its default policy was dropped, a write without one is refused in the words of 1.6.7, and makes no policy", async () => {
    const peer = peerAt(server.url);
    const write = async (fields: Record<string, string>) => {
      const response = await fetch(`${server.url}/write?${form(fields)}`, { method: "POST", body: "m v=1 1" });
      return [response.status, await response.text()];
    };
    const unknown = (policy: string) => [404, `{"error":"retention policy not found: ${policy}"}`];
    for (const q of ["CREATE DATABASE g", "CREATE RETENTION POLICY week ON g DURATION INF REPLICATION 1 DEFAULT"]) await peer.query({ q });
    expect(await write({ db: "g" })).toEqual([204, ""]);
    await peer.query({ q: "DROP RETENTION POLICY week ON g" });
    expect(await write({ db: "g" })).toEqual(unknown("week"));
    expect((await peer.query({ q: "SHOW RETENTION POLICIES ON g" })).text).not.toContain("week");
    expect(await write({ db: "g", rp: "autogen" })).toEqual([204, ""]);
    for (const q of ["ALTER RETENTION POLICY autogen ON g DEFAULT", "DROP RETENTION POLICY autogen ON g"]) await peer.query({ q });
    expect(await write({ db: "g" })).toEqual(unknown("autogen"));
    await peer.query({ q: "CREATE RETENTION POLICY again ON g DURATION INF REPLICATION 1 DEFAULT" });
    expect(await write({ db: "g" })).toEqual([204, ""]);
    expect(await write({ db: "made" })).toEqual([204, ""]);
  });

  test("a policy of an unknown database, and an unknown policy", async () => {
    const peer = peerAt(server.url);
    await peer.query({ q: "CREATE DATABASE h" });
    for (const q of ["SELECT v FROM nodb.week.m", "SHOW FIELD KEYS ON nodb FROM week.m", "SELECT v FROM nodb..m"]) {
      expect((await peer.query({ db: "h", q })).text).toContain('"error":"database not found: nodb"');
    }
    for (const q of ["SELECT v FROM h.week.m", "SELECT v FROM week.m"]) {
      expect((await peer.query({ db: "h", q })).text).toContain('"error":"retention policy not found: week"');
    }
  });

  test("a database that was deleted and restored has its default policy again", async () => {
    const peer = peerAt(server.url);
    await peer.query({ q: "CREATE DATABASE e WITH NAME y" });
    await peer.write("e", null, "m v=1 1");
    const deleted = await fetch(`${server.url}/api/v3/configure/database?db=e`, { method: "DELETE" });
    expect(deleted.status).toBe(200);
    expect((await peer.query({ db: "e", q: "SELECT v FROM m" })).text).toContain("database not found: e");
    const body = JSON.stringify({ db: "e" });
    const restored = await fetch(`${server.url}/api/v3/configure/database/restore`, {
      ...{ method: "POST", body, headers: { "content-type": "application/json" } },
    });
    expect(restored.status).toBe(200);
    expect((await peer.query({ db: "e", q: "SELECT v FROM m" })).text).toContain('"values":[["1970-01-01T00:00:00.000000001Z",1]]');
  });
});

test("a token for a database covers its default policy for v1 calls, and no other policy", async () => {
  const server = await TestServer.start({ withAuth: true, flags: ["--edition", "enterprise"] });
  try {
    const call = async (method: string, path: string, token: string | null, body?: string) => {
      const headers = {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(path.startsWith("/api/v3/") ? { "content-type": "application/json" } : {}),
      };
      const response = await fetch(server.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
      return { status: response.status, text: await response.text() };
    };
    const { token: admin } = JSON.parse((await call("POST", "/api/v3/configure/token/admin", null)).text) as { token: string };
    const permission = { resource_type: "db", resource_names: ["d"], actions: ["read", "write", "create", "delete"] };
    const made = await call(
      ...(["POST", "/api/v3/enterprise/configure/token", admin] as const),
      JSON.stringify({ token_name: "d", permissions: [permission] }),
    );
    const { token } = JSON.parse(made.text) as { token: string };
    const ask = async (q: string, rp = "", by = token) => (await call("POST", `/query?${form({ db: "d", q, rp, epoch: "ns" })}`, by)).text;
    const write = async (rp: string, body: string, by = token) => (await call("POST", `/write?${form({ db: "d", rp })}`, by, body)).status;
    const refusal = "unauthorized to perform requested action with the token";
    await ask("CREATE DATABASE d WITH NAME y; CREATE RETENTION POLICY z ON d DURATION INF REPLICATION 1", "", admin);
    expect(await write("z", "m,t=of_z v=9 9", admin)).toBe(204);

    expect(await write("", "m,t=of_y v=1 1")).toBe(204);
    expect(await write("y", "m,t=of_y v=2 2")).toBe(204);
    expect(await write("z", "m v=3 3")).toBe(403);
    for (const from of ["m", "y.m", "d..m", "d.y.m", "(SELECT v FROM m)"]) {
      expect(await ask(`SELECT v FROM ${from}`), from).toContain('"values":[[1,1],[2,2]]');
    }
    expect(await ask("SELECT v FROM m", "z")).toContain(refusal);
    expect(await ask("SELECT v FROM z.m")).toContain(refusal);
    for (const list of ["SERIES", "TAG VALUES WITH KEY = t", "RETENTION POLICIES"]) {
      const text = await ask(`SHOW ${list}`);
      expect(text, list).toContain(list === "RETENTION POLICIES" ? '"y"' : "of_y");
      expect(text, list).not.toMatch(/of_z|"z"/);
    }
    expect(await ask("SELECT v INTO copy FROM m")).toContain('"written"');
    expect(await ask("SELECT v INTO z.copy FROM m")).toContain(refusal);
    // not by making another policy the default one
    expect(await ask("ALTER RETENTION POLICY z ON d DEFAULT")).toContain(refusal);
    expect(await ask("CREATE RETENTION POLICY z ON d DURATION INF REPLICATION 1 DEFAULT")).toContain(refusal);
    // and only as a default policy
    expect((await call("GET", `/api/v3/query_sql?${form({ db: "d/y", q: "SELECT 1" })}`, token)).status).toBe(403);
    expect((await call("POST", `/api/v3/write_lp?${form({ db: "d/y" })}`, token, "m v=1")).status).toBe(403);
    const over3 = await call("GET", `/api/v3/query_influxql?${form({ db: "d", q: "SHOW SERIES" })}`, token);
    expect(over3.text).not.toContain("of_");
    await ask("ALTER RETENTION POLICY z ON d DEFAULT", "", admin);
    expect(await ask("SELECT v FROM m")).toContain('"values":[[9,9]]');
    expect(await ask("SELECT v FROM y.m")).toContain(refusal);
  } finally {
    await server.dispose();
  }
});
