// Databases and tables of a real server through their whole life: made, listed, written, deleted, restored, dropped. With stops and kills
// in between: databases.long.test.ts, and states.long.test.ts for each transition.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { query, store, write } from "./client.ts";
import { CONFIGURE, create, databases, deletedNames, deletedTables, names, remove, restore, send, sum } from "./database-requests.ts";

setDefaultTimeout(60_000);

describe("databases and tables", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: ["--hard-delete-default-duration", "5h"] });
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
    const isRight = (name: string, dropMs: number) =>
      name === "late" ? dropMs === lateMs : Math.abs(dropMs - beforeMs - 5 * 3_600_000) < 60_000;
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

  test("rows alone are deleted from a database that stays, with its tables and their columns", async () => {
    await store(server, "emptied", "t,host=a v=1i 1\nu v=3i 3");
    expect((await remove(server, { db: "emptied", table: "u", data_only: "true" })).status).toBe(200);
    expect(await sum(server, "emptied", "u")).toBe('[{"n":0}]');
    expect(await sum(server, "emptied")).toBe('[{"n":1,"s":1}]');
    expect((await remove(server, { db: "emptied", data_only: "true" })).status).toBe(200);
    expect(await sum(server, "emptied")).toBe('[{"n":0}]');
    expect((await remove(server, { db: "emptied", data_only: "true", remove_tables: "true" })).status).toBe(200);
    expect(await sum(server, "emptied")).toBe('[{"n":0}]');
    expect(await names(server)).toContain("emptied");
    expect(await deletedTables(server, "emptied")).toEqual([]);
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
    ["a period beyond counting", "PUT", "/database", { db: "taken", retention_period: "1000000000000y" }, 400, /the number is too large/],
    ["a number for a period", "PUT", "/database", { db: "taken", retention_period: 7 }, 400, /^serde json error: `retention_period`/],
    ["an unknown database", "PUT", "/database", { db: "nowhere" }, 404, "database not found: nowhere"],
    ["the server's own", "DELETE", "/database?db=_internal", undefined, 400, "cannot delete internal database '_internal'"],
    ["an unknown database", "DELETE", "/database?db=nowhere", undefined, 404, "database not found: nowhere"],
    ["no database", "DELETE", "/database", undefined, 400, "serde error: missing field `db`"],
    ["an invalid flag", "DELETE", "/database?db=taken&data_only=maybe", undefined, 400, /provided string was not `true` or `false`/],
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
