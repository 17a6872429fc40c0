// Databases and tables of a real server through their whole life: made, listed, written, deleted, restored, dropped; with a restart or a
// kill in the middle of every transition.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/server.ts";
import { query, store, write } from "./client.ts";

setDefaultTimeout(60_000);

const CONFIGURE = "/api/v3/configure";

interface Reply {
  readonly status: number;
  readonly text: string;
}

async function send(server: TestServer, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: typeof body === "string" ? body : JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  return { status: response.status, text: await response.text() };
}

const create = (server: TestServer, body: unknown) => send(server, "POST", `${CONFIGURE}/database`, body);
const remove = (server: TestServer, params: Record<string, string>) =>
  send(server, "DELETE", `${CONFIGURE}/${"table" in params ? "table" : "database"}?${new URLSearchParams(params)}`);
const restore = (server: TestServer, body: Record<string, string>) =>
  send(server, "POST", `${CONFIGURE}/${"table" in body ? "table" : "database"}/restore`, body);

async function databases(server: TestServer, showDeleted = false): Promise<{ "iox::database": string; deleted?: boolean }[]> {
  const { status, text } = await send(server, "GET", `${CONFIGURE}/database?format=json${showDeleted ? "&show_deleted=true" : ""}`);
  expect(status).toBe(200);
  return JSON.parse(text) as { "iox::database": string }[];
}

const names = async (server: TestServer) => (await databases(server)).map((row) => row["iox::database"]);

/** What the deleted ones are called now. */
async function deletedNames(server: TestServer, former: string): Promise<string[]> {
  const rows = await databases(server, true);
  return rows.filter((row) => row.deleted === true && row["iox::database"].startsWith(`${former}-`)).map((row) => row["iox::database"]);
}

async function deletedTables(server: TestServer, database: string): Promise<string[]> {
  const rows = await server.sql<{ table_name: string }>(database, "SELECT table_name FROM system.tables WHERE deleted ORDER BY 1");
  return rows.map((row) => row.table_name);
}

const sum = async (server: TestServer, database: string, table = "t") =>
  (await query(server, database, `SELECT count(*) AS n, sum(v) AS s FROM ${table}`, { format: "json" })).text;

describe("databases", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: ["--compaction-cleanup-wait", "0s"] });
  });
  afterAll(() => server.dispose());

  test("a table that is deleted is gone for queries and writes under its old name make another one, at once", async () => {
    await store(server, "tables", "t,host=a v=1i,w=1i 1\nt,host=b v=2i 2\nother,host=a v=5i 1");
    expect((await remove(server, { db: "tables", table: "t" })).status).toBe(200);
    expect((await query(server, "tables", "SELECT * FROM t", { format: "json" })).status).toBe(400);
    // another type and fewer columns: it is another table
    await store(server, "tables", 't,host=a v="text" 9\nother,host=a v=6i 2');
    expect((await query(server, "tables", "SELECT * FROM t", { format: "json" })).text).toBe(
      '[{"host":"a","time":"1970-01-01T00:00:00.000000009","v":"text"}]',
    );
    const [renamed, ...more] = await deletedTables(server, "tables");
    expect(more).toEqual([]);
    expect(renamed).toMatch(/^t-\d{8}T\d{6}$/);
    // deleted: neither queries nor writes reach it
    expect((await query(server, "tables", `SELECT * FROM "${renamed}"`, { format: "json" })).status).toBe(400);
    const refused = await write(server, "tables", `${renamed},host=a v=3i 3\nother,host=a v=7i 3`);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(`cannot write to soft-deleted table '${renamed}' - it is marked for deletion`);
    // its old name is taken now
    expect(await restore(server, { db: "tables", table: renamed! })).toEqual({
      status: 409,
      text: "attempted to create a resource that already exists",
    });
    expect((await restore(server, { db: "tables", table: "t", new_name: "back" })).status).toBe(200);
    expect(await sum(server, "tables", "back")).toBe('[{"n":2,"s":3}]');
    // it takes rows again, of its own columns
    await store(server, "tables", "back,host=a v=10i 5");
    expect(await sum(server, "tables", "back")).toBe('[{"n":3,"s":13}]');
    expect(await sum(server, "tables", "other")).toBe('[{"n":3,"s":18}]');
    for (const how of ["kill", "stop"] as const) {
      await server[how]();
      await server.restart();
      expect(await sum(server, "tables", "back")).toBe('[{"n":3,"s":13}]');
      expect((await query(server, "tables", "SELECT v FROM t", { format: "json" })).text).toBe('[{"v":"text"}]');
    }
  });

  test("a database that is deleted takes its tables along and brings them back", async () => {
    await store(server, "whole", "t,host=a v=1i 1");
    await server.restart();
    await store(server, "whole", "t,host=b v=2i 2\nu v=3i 3");
    expect((await remove(server, { db: "whole" })).status).toBe(200);
    expect(await names(server)).not.toContain("whole");
    expect((await query(server, "whole", "SELECT * FROM t", { format: "json" })).status).toBe(404);
    const [renamed] = await deletedNames(server, "whole");
    const refused = await write(server, renamed!.replace("whole", "whole"), "t v=1i 1");
    expect([refused.status, refused.text]).toEqual([
      400,
      JSON.stringify({ error: `cannot write to soft-deleted database '${renamed}' - it is marked for deletion` }),
    ]);
    await store(server, "whole", "t,host=z v=100i 1");
    expect(await sum(server, "whole")).toBe('[{"n":1,"s":100}]');
    await server.kill();
    await server.restart();
    expect(await sum(server, "whole")).toBe('[{"n":1,"s":100}]');
    expect((await restore(server, { db: "whole" })).status).toBe(409);
    expect((await restore(server, { db: renamed!, new_name: "again" })).status).toBe(200);
    expect(await sum(server, "again")).toBe('[{"n":2,"s":3}]');
    await store(server, "again", "t,host=a v=7i 9");
    expect(await sum(server, "again")).toBe('[{"n":3,"s":10}]');
    expect(await sum(server, "whole")).toBe('[{"n":1,"s":100}]');
    await server.restart();
    expect(await sum(server, "again")).toBe('[{"n":3,"s":10}]');
    expect(await sum(server, "again", "u")).toBe('[{"n":1,"s":3}]');
  });

  test("with hard_delete_at=now it is dropped: rows in files and in memory, and what waits in the log", async () => {
    await store(server, "dropped", "t,host=a v=1i 1\nu v=1i 1");
    await server.restart(); // to a file
    await store(server, "dropped", "t,host=b v=2i 2");
    const files = async (database: string) => (await server.sql(database, "SELECT count(*) AS n FROM system.parquet_files"))[0];
    expect(await files("dropped")).toEqual({ n: 2 });
    expect((await remove(server, { db: "dropped", table: "t", hard_delete_at: "now" })).status).toBe(200);
    expect(await deletedTables(server, "dropped")).toEqual([]);
    await store(server, "dropped", "t,host=c v=4i 4");
    expect(await sum(server, "dropped")).toBe('[{"n":1,"s":4}]');
    await server.kill();
    await server.restart();
    expect(await sum(server, "dropped")).toBe('[{"n":1,"s":4}]');
    expect((await remove(server, { db: "dropped", hard_delete_at: "now" })).status).toBe(200);
    expect(await deletedNames(server, "dropped")).toEqual([]);
    await server.restart();
    expect((await query(server, "dropped", "SELECT 1", { format: "json" })).status).toBe(404);
    expect(await deletedNames(server, "dropped")).toEqual([]);
  });
});

describe("a server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.dispose());

  test("a database to be dropped later is listed with its time, dropped at the next start after it, and kept with never", async () => {
    for (const name of ["soon", "late", "kept", "default_"]) await store(server, name, "t v=1i 1");
    const lateMs = Date.now() + 3_600_000;
    expect((await remove(server, { db: "late", hard_delete_at: new Date(lateMs).toISOString() })).status).toBe(200);
    expect((await remove(server, { db: "kept" })).status).toBe(200);
    const beforeMs = Date.now();
    expect((await remove(server, { db: "default_", hard_delete_at: "default" })).status).toBe(200);
    const rows = await server.sql<{ name: string; at?: string }>(
      "_internal",
      "SELECT split_part(database_name, '-', 1) AS name, hard_deletion_time AS at FROM system.databases WHERE deleted ORDER BY 1",
    );
    const isRight = (name: string, dropMs: number) => (name === "late" ? dropMs === lateMs : dropMs >= beforeMs + 72 * 3_600_000);
    expect(rows.map(({ name, at }) => [name, at === undefined ? null : isRight(name, Date.parse(at))])).toEqual([
      ["default_", true],
      ["kept", null],
      ["late", true],
    ]);
    const atMs = Date.now() + 500;
    expect((await remove(server, { db: "soon", hard_delete_at: new Date(atMs).toISOString() })).status).toBe(200);
    await server.kill();
    while (Date.now() <= atMs) await new Promise((resolve) => setImmediate(resolve));
    await server.restart();
    expect(await deletedNames(server, "soon")).toEqual([]);
    expect(await deletedNames(server, "late")).toHaveLength(1);
    expect(await deletedNames(server, "kept")).toHaveLength(1);
    // another time for what is deleted; the same one is a conflict
    const [kept] = await deletedNames(server, "kept");
    expect((await remove(server, { db: kept! })).status).toBe(409);
    expect((await remove(server, { db: kept!, hard_delete_at: "now" })).status).toBe(200);
    expect(await deletedNames(server, "kept")).toEqual([]);
  });

  test("a database that comes due while the server runs is dropped then, unless it was restored", async () => {
    const at = (ms: number) => new Date(ms).toISOString();
    /** Undefined: it was not done before the time had come. */
    const prepare = async (delayMs: number) => {
      const names = { due: `due${delayMs}`, takenBack: `back${delayMs}`, restored: `restored${delayMs}`, last: `last${delayMs}` };
      for (const name of Object.values(names)) await store(server, name, "t v=1i 1");
      const atMs = Date.now() + delayMs;
      for (const name of Object.values(names)) {
        await remove(server, { db: name, hard_delete_at: at(name === names.last ? atMs + 100 : atMs) });
      }
      const [renamed] = await deletedNames(server, names.takenBack);
      await remove(server, { db: renamed ?? "", hard_delete_at: "never" });
      await restore(server, { db: names.restored });
      return Date.now() < atMs ? { ...names, atMs } : undefined;
    };
    let prepared = await prepare(700);
    for (let delayMs = 1400; prepared === undefined; delayMs *= 2) prepared = await prepare(delayMs);
    const { atMs, ...names } = prepared;
    const count = async (name: string) => (await deletedNames(server, name)).length;
    for (;;) {
      const askedMs = Date.now();
      const [due, last] = [await count(names.due), await count(names.last)];
      if (askedMs < atMs && Date.now() < atMs) expect([due, last]).toEqual([1, 1]);
      if (last === 0) break;
      await Bun.sleep(10);
    }
    expect(Date.now()).toBeGreaterThanOrEqual(atMs + 100);
    expect([await count(names.due), await count(names.takenBack), await count(names.restored)]).toEqual([0, 1, 0]);
    expect(await sum(server, names.restored)).toBe('[{"n":1,"s":1}]');
    expect((await restore(server, { db: names.due })).status).toBe(404);
    expect((await restore(server, { db: names.takenBack })).status).toBe(200);
  });

  test("rows alone, or the tables with them, are deleted from a database that stays", async () => {
    await store(server, "emptied", "t,host=a v=1i 1\nu v=3i 3");
    expect((await remove(server, { db: "emptied", table: "u", data_only: "true" })).status).toBe(200);
    expect(await sum(server, "emptied", "u")).toBe('[{"n":0}]');
    expect(await sum(server, "emptied")).toBe('[{"n":1,"s":1}]');
    expect((await remove(server, { db: "emptied", data_only: "true" })).status).toBe(200);
    expect(await sum(server, "emptied")).toBe('[{"n":0}]');
    expect((await remove(server, { db: "emptied", data_only: "true", remove_tables: "true" })).status).toBe(200);
    expect((await query(server, "emptied", "SELECT * FROM t", { format: "json" })).status).toBe(400);
    expect(await names(server)).toContain("emptied");
    expect(await deletedTables(server, "emptied")).toHaveLength(2);
  });

  test("a table is made with its columns before it has rows", async () => {
    await create(server, { db: "made" });
    const fields = [
      { name: "f", type: "float64" },
      { name: "i", type: "int64" },
      { name: "u", type: "uint64" },
      { name: "s", type: "utf8" },
      { name: "b", type: "bool" },
    ];
    expect(await send(server, "POST", `${CONFIGURE}/table`, { db: "made", table: "x", tags: ["t2", "t1"], fields })).toEqual({
      status: 200,
      text: "",
    });
    await server.kill();
    await server.restart();
    expect(
      await server.sql("made", "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'x' ORDER BY column_name"),
    ).toEqual([
      { column_name: "b", data_type: "Boolean" },
      { column_name: "f", data_type: "Float64" },
      { column_name: "i", data_type: "Int64" },
      { column_name: "s", data_type: "Utf8" },
      { column_name: "t1", data_type: "Dictionary(Int32, Utf8)" },
      { column_name: "t2", data_type: "Dictionary(Int32, Utf8)" },
      { column_name: "time", data_type: "Timestamp(ns)" },
      { column_name: "u", data_type: "UInt64" },
    ]);
    await store(server, "made", 'x,t1=a,t2=b f=1,i=2i,u=3u,s="x",b=true 1');
    expect((await write(server, "made", "x,t1=a f=2i 2")).status).toBe(400);
    expect((await query(server, "made", "SELECT i, u FROM x", { format: "json" })).text).toBe('[{"i":2,"u":3}]');
  });

  test("retention periods are set, changed and cleared by every route that has them", async () => {
    const period = async (name: string) =>
      (
        await server.sql<{ p?: number }>(
          "_internal",
          `SELECT retention_period_ns AS p FROM system.databases WHERE database_name = '${name}'`,
        )
      )[0]?.p;
    expect((await create(server, { db: "kept1", retention_period: "1h 30m" })).status).toBe(200);
    expect(await period("kept1")).toBe(5400e9);
    expect((await send(server, "PUT", `${CONFIGURE}/database`, { db: "kept1", retention_period: "7d" })).status).toBe(200);
    expect(await period("kept1")).toBe(7 * 86_400e9);
    expect((await send(server, "PUT", `${CONFIGURE}/database`, { db: "kept1" })).status).toBe(200);
    expect(await period("kept1")).toBeUndefined();
    expect((await send(server, "POST", `${CONFIGURE}/database/retention_period?db=kept1&duration=1year`)).status).toBe(204);
    expect(await period("kept1")).toBe(31_557_600e9);
    expect((await send(server, "DELETE", `${CONFIGURE}/database/retention_period?db=kept1`)).status).toBe(204);
    expect(await period("kept1")).toBeUndefined();
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    await store(server, "kept1", `t v=1i ${nowNs - 7_200_000_000_000n}\nt v=2i ${nowNs}`);
    const path = "/api/v3/enterprise/configure/table/retention_period?db=kept1&table=t";
    expect((await send(server, "POST", `${path}&duration=1h`)).status).toBe(204);
    expect(await sum(server, "kept1")).toBe('[{"n":1,"s":2}]');
    expect((await send(server, "PUT", `${CONFIGURE}/table`, { db: "kept1", table: "t", retention_period: "1d" })).status).toBe(200);
    expect(await sum(server, "kept1")).toBe('[{"n":2,"s":3}]');
    expect((await send(server, "PUT", `${CONFIGURE}/database`, { db: "kept1", retention_period: "1h" })).status).toBe(200);
    expect((await send(server, "DELETE", path)).status).toBe(204);
    expect(await sum(server, "kept1")).toBe('[{"n":1,"s":2}]');
  });

  test("a server that is marked as stopped says so until it starts again, and goes on serving", async () => {
    const stop = (node_id: string) => send(server, "POST", "/api/v3/enterprise/configure/node/stop", { node_id });
    const state = async () => (await server.sql("_internal", "SELECT node_id, state FROM system.nodes"))[0];
    expect(await stop("elsewhere")).toEqual({ status: 404, text: "node not found: elsewhere" });
    expect([(await stop("node0")).status, (await stop("node0")).status]).toEqual([200, 200]);
    expect(await state()).toEqual({ node_id: "node0", state: "stopped" });
    expect((await send(server, "GET", "/ready")).status).toBe(200);
    await server.kill();
    await server.restart();
    expect(await state()).toEqual({ node_id: "node0", state: "running" });
    await server.restart();
    expect(await state()).toEqual({ node_id: "node0", state: "running" });
  });

  const MALFORMED: [what: string, method: string, path: string, body: unknown, status: number, text: string | RegExp][] = [
    ["no body", "POST", "/database", "", 400, /^serde json error: /],
    ["a list", "POST", "/database", [], 400, /^serde json error: the body must be an object/],
    ["no name", "POST", "/database", {}, 400, "serde json error: missing field `db`"],
    ["a name that is a number", "POST", "/database", { db: 5 }, 400, "serde json error: `db`: expected string, got 5"],
    ["an empty name", "POST", "/database", { db: "" }, 400, '{"error":"db name cannot be empty"}'],
    ["a name with a blank", "POST", "/database", { db: "a b" }, 400, /invalid character in database or rp name/],
    ["a name of 512 bytes", "POST", "/database", { db: "a".repeat(512) }, 400, '{"error":"db name too long: max 511"}'],
    ["a name that is taken", "POST", "/database", { db: "taken" }, 409, "attempted to create a resource that already exists"],
    ["the server's own", "POST", "/database", { db: "_internal" }, 400, /did not start with a number or letter/],
    ["a bad duration", "POST", "/database", { db: "x", retention_period: "7" }, 400, /^invalid duration '7'/],
    ["an unknown unit", "POST", "/database", { db: "x", retention_period: "7 fortnights" }, 400, /unknown time unit "fortnights"/],
    ["a period of 300 years", "PUT", "/database", { db: "taken", retention_period: "300y" }, 400, /longer than 292 years/],
    ["a number for a period", "PUT", "/database", { db: "taken", retention_period: 7 }, 400, /^serde json error: `retention_period`/],
    ["an unknown database", "PUT", "/database", { db: "nowhere" }, 404, "database not found: nowhere"],
    ["the server's own", "DELETE", "/database?db=_internal", undefined, 400, "cannot delete internal database '_internal'"],
    ["an unknown database", "DELETE", "/database?db=nowhere", undefined, 404, "database not found: nowhere"],
    ["no database", "DELETE", "/database", undefined, 400, "serde error: missing field `db`"],
    ["a flag that is none", "DELETE", "/database?db=taken&data_only=maybe", undefined, 400, /must be true or false/],
    ["tables without data_only", "DELETE", "/database?db=taken&remove_tables=true", undefined, 400, /only with data_only=true/],
    ["no time", "DELETE", "/database?db=taken&hard_delete_at=tomorrow", undefined, 400, /^Cannot parse the timestamp: 'tomorrow'/],
    ["a day without a time", "DELETE", "/database?db=taken&hard_delete_at=2030-01-01", undefined, 400, /^Cannot parse the timestamp/],
    ["no format", "GET", "/database", undefined, 400, "serde error: missing field `format`"],
    ["an unknown format", "GET", "/database?format=xml", undefined, 400, /unknown format `xml`/],
    ["what is not deleted", "POST", "/database/restore", { db: "taken" }, 409, "database 'taken' is not deleted"],
    ["what never was", "POST", "/database/restore", { db: "nowhere" }, 404, "database not found: nowhere"],
    ["no fields", "POST", "/table", { db: "taken", table: "n", tags: [] }, 400, "serde json error: missing field `fields`"],
    [
      "an unknown type",
      "POST",
      "/table",
      { db: "taken", table: "n", tags: [], fields: [{ name: "a", type: "int" }] },
      400,
      'serde json error: `fields.0.type`: expected "utf8" or "int64" or "uint64" or "float64" or "bool", got "int"',
    ],
    ["time as a tag", "POST", "/table", { db: "taken", table: "n", tags: ["time"], fields: [] }, 400, "'time' is a reserved column"],
    [
      "a column twice",
      "POST",
      "/table",
      { db: "taken", table: "n", tags: ["a"], fields: [{ name: "a", type: "bool" }] },
      400,
      "duplicate column 'a' in table 'n'",
    ],
    ["a column without a name", "POST", "/table", { db: "taken", table: "n", tags: [""], fields: [] }, 400, /empty name/],
    [
      "a table without a name",
      "POST",
      "/table",
      { db: "taken", table: "", tags: [], fields: [] },
      400,
      '{"error":"table name cannot be empty"}',
    ],
    ["a table in no database", "POST", "/table", { db: "nowhere", table: "n", tags: [], fields: [] }, 404, "database not found: nowhere"],
    ["a table that exists", "POST", "/table", { db: "taken", table: "t", tags: [], fields: [] }, 409, /already exists/],
    [
      "501 columns",
      "POST",
      "/table",
      { db: "taken", table: "n", tags: Array.from({ length: 501 }, (_, i) => `c${i}`), fields: [] },
      422,
      '{"error":"Update to schema would exceed number of columns per table limit of 500 columns"}',
    ],
    ["an unknown table", "DELETE", "/table?db=taken&table=nothing", undefined, 404, "table not found: taken.nothing"],
    ["an unknown table", "PUT", "/table", { db: "taken", table: "nothing", retention_period: "1d" }, 404, "table not found: taken.nothing"],
    ["a table that is not deleted", "POST", "/table/restore", { db: "taken", table: "t" }, 409, "table 'taken.t' is not deleted"],
  ];

  test.each(MALFORMED)("%s: %s %s is answered and changes nothing", async (_, method, path, body, status, text) => {
    await store(server, "taken", "t v=1i 1");
    const before = [await databases(server, true), await server.sql("taken", "SELECT * FROM system.tables")];
    const reply = await send(server, method, `${CONFIGURE}${path}`, body);
    expect([reply.status, reply.text]).toEqual([status, typeof text === "string" ? text : expect.stringMatching(text)]);
    expect([await databases(server, true), await server.sql("taken", "SELECT * FROM system.tables")]).toEqual(before);
  });

  test("a body of another type is 415", async () => {
    const response = await fetch(`${server.url}${CONFIGURE}/database`, {
      method: "POST",
      body: '{"db":"x"}',
      headers: { "content-type": "text/plain" },
    });
    expect([response.status, await response.text()]).toEqual([415, "unacceptable content-type, expected: application/json"]);
  });

  test("the list comes in every format", async () => {
    const text = async (format: string) => (await send(server, "GET", `${CONFIGURE}/database?format=${format}`)).text;
    expect((await text("csv")).split("\n")[0]).toBe("iox::database");
    expect((await text("jsonl")).split("\n")[0]).toBe('{"iox::database":"_internal"}');
    expect((await text("pretty")).split("\n")[1]).toContain("iox::database");
    expect((await text("parquet")).slice(0, 4)).toBe("PAR1");
  });
});
