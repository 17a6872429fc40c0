// File indexes of a real server: made, replaced, listed and deleted over HTTP, with what is refused; as before after a kill and a
// restart; gone and back with their table and database.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import type { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

const PATH = "/api/v3/enterprise/configure/file_index";

let server: TestServer;
beforeAll(async () => {
  server = await startDataServer();
  await store(server, "db", 'log,host=a,zone=x request="r1",level="info",n=1i,ok=true 1\ncpu,host=a usage=1 1');
  await store(server, "other", 'log request="r1" 1');
  expect((await send("POST", "/api/v3/configure/database", { db: "empty" })).status).toBe(200);
});
afterAll(() => server.dispose());

async function send(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method, ...(body === undefined ? {} : { body: text, headers }) });
  return { status: response.status, text: await response.text() };
}

const create = (body: unknown) => send("POST", PATH, body);
const remove = (body: unknown) => send("DELETE", PATH, body);

async function list(database = "db"): Promise<string[]> {
  const rows = await server.sql<{ database_name: string; table_name?: string; index_columns: string }>(
    database,
    "SELECT * FROM system.file_index ORDER BY database_name, table_name",
  );
  return rows.map(({ database_name, table_name, index_columns }) => `${database_name}.${table_name ?? "*"}: ${index_columns}`).sort();
}

const OK = { status: 200, text: "" };

const REFUSED: [what: string, method: string, body: unknown, status: number, text: string | RegExp][] = [
  ["no body", "POST", "", 400, /^serde json error: /],
  ["no database", "POST", { columns: ["host"] }, 400, "serde json error: missing field `db`"],
  ["no columns", "POST", { db: "db", table: "log" }, 400, "serde json error: missing field `columns`"],
  ["an empty list", "POST", { db: "db", table: "log", columns: [] }, 400, "a file index needs a column: `columns` is empty"],
  ["a text for a list", "POST", { db: "db", table: "log", columns: "host" }, 400, /^serde json error: `columns`/],
  ["a column twice", "POST", { db: "db", table: "log", columns: ["host", "host"] }, 400, "duplicate column 'host' in a file index"],
  ["no such column", "POST", { db: "db", table: "log", columns: ["host", "nope"] }, 400, "table 'db.log' has no column 'nope'"],
  ["no table has it", "POST", { db: "db", columns: ["nope"] }, 400, "no table of database 'db' has a column 'nope'"],
  ["there is no table", "POST", { db: "empty", columns: ["host"] }, 400, "no table of database 'empty' has a column 'host'"],
  [
    "an integer",
    "POST",
    { db: "db", table: "log", columns: ["n"] },
    400,
    "column 'n' of table 'db.log' is neither a tag nor a string field",
  ],
  [
    "a boolean",
    "POST",
    { db: "db", table: "log", columns: ["ok"] },
    400,
    "column 'ok' of table 'db.log' is neither a tag nor a string field",
  ],
  ["the time", "POST", { db: "db", table: "log", columns: ["time"] }, 400, /^column 'time' of table 'db.log' is neither/],
  [
    "a float of all tables",
    "POST",
    { db: "db", columns: ["usage"] },
    400,
    "column 'usage' of database 'db' is neither a tag nor a string field",
  ],
  ["33 columns", "POST", { db: "db", columns: Array.from({ length: 33 }, (_, i) => `c${i}`) }, 400, /has 32 columns at most, got 33/],
  ["no such database", "POST", { db: "nowhere", columns: ["host"] }, 404, "database not found: nowhere"],
  ["the server's own", "POST", { db: "_internal", columns: ["host"] }, 404, "database not found: _internal"],
  ["no such table", "POST", { db: "db", table: "nowhere", columns: ["host"] }, 404, "table not found: db.nowhere"],
  ["no such database", "DELETE", { db: "nowhere" }, 404, "database not found: nowhere"],
  ["no such table", "DELETE", { db: "db", table: "nowhere" }, 404, "table not found: db.nowhere"],
  ["a table without", "DELETE", { db: "db", table: "cpu" }, 404, "table 'db.cpu' has no file index"],
  ["a database without", "DELETE", { db: "other" }, 404, "database 'other' has no file index"],
  ["no database", "DELETE", {}, 400, "serde json error: missing field `db`"],
];

describe("what is refused changes nothing", () => {
  test.each(REFUSED)("%s: %s", async (_, method, body, status, text) => {
    const before = await list("_internal");
    const answer = await send(method, PATH, body);
    expect(answer).toEqual({ status, text: typeof text === "string" ? text : expect.stringMatching(text) });
    expect(await list("_internal")).toEqual(before);
  });
});

test("made, replaced, deleted; after a kill and a restart as before", async () => {
  expect(await create({ db: "db", table: "log", columns: ["request"] })).toEqual(OK);
  expect(await create({ db: "db", table: null, columns: ["host"] })).toEqual(OK);
  expect(await create({ db: "other", columns: ["request"] })).toEqual(OK);
  await server.kill();
  await server.restart();
  expect(await list()).toEqual(["db.*: host", "db.log: request"]);
  expect(await list("_internal")).toEqual(["db.*: host", "db.log: request", "other.*: request"]);
  expect(await create({ db: "db", table: "log", columns: ["zone", "request"] })).toEqual(OK);
  expect(await remove({ db: "db" })).toEqual(OK);
  await server.restart();
  expect(await list()).toEqual(["db.log: zone, request"]);
  expect((await remove({ db: "db" })).status).toBe(404);
  expect(await remove({ db: "db", table: "log" })).toEqual(OK);
  expect(await remove({ db: "other" })).toEqual(OK);
  expect(await list("_internal")).toEqual([]);
});

test("a deleted table and its database take theirs along and bring them back", async () => {
  expect(await create({ db: "db", table: "log", columns: ["request"] })).toEqual(OK);
  expect(await create({ db: "db", columns: ["host"] })).toEqual(OK);
  expect((await send("DELETE", "/api/v3/configure/table?db=db&table=log")).status).toBe(200);
  expect(await list()).toEqual(["db.*: host"]);
  expect((await send("POST", "/api/v3/configure/table/restore", { db: "db", table: "log" })).status).toBe(200);
  expect((await send("DELETE", "/api/v3/configure/database?db=db")).status).toBe(200);
  expect(await list("_internal")).toEqual([]);
  expect((await send("POST", "/api/v3/configure/database/restore", { db: "db" })).status).toBe(200);
  expect(await list()).toEqual(["db.*: host", "db.log: request"]);
  expect(await remove({ db: "db" })).toEqual(OK);
  expect(await remove({ db: "db", table: "log" })).toEqual(OK);
});

const FILES = 4;
const ROWS = 2000;
const requestOf = (row: number) => `request ${row} of many, ${row * 7919}`;

interface Progress {
  readonly file_count: number;
  readonly indexed_file_count: number;
  readonly size_bytes: number;
}

const progress = async () => (await server.sql<Progress & Record<string, unknown>>("big", "SELECT * FROM system.file_index"))[0];

/** Polls until `look` finds something. @throws Error after 30 s */
async function until<T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> {
  const deadlineMs = performance.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadlineMs) throw new Error(`not within 30 s: ${what}`);
    await Bun.sleep(5);
  }
}

function indexObjects(): string[] {
  const folder = join(server.dataDir, "objects/node0/indexes");
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Of the table as the rows were written: which row has the request, if one does. */
async function checkAnswers(): Promise<void> {
  for (const row of [0, 1999, 2000, 4321, FILES * ROWS - 1, FILES * ROWS]) {
    const request = requestOf(row);
    const expected = row < FILES * ROWS ? [{ n: row, host: `h${row % 5}` }] : [];
    const rows = await server.sql("big", `SELECT n, host FROM log WHERE request = '${request}'`);
    expect(rows).toEqual(expected);
    const q = `SELECT n FROM log WHERE request = '${request}' OR request = 'nothing'`;
    const v1 = await fetch(`${server.url}/query?${new URLSearchParams({ db: "big", q, epoch: "ns" })}`);
    const series = row < FILES * ROWS ? [{ name: "log", columns: ["time", "n"], values: [[row + 1, row]] }] : undefined;
    expect(await v1.json()).toEqual({ results: [{ statement_id: 0, ...(series === undefined ? {} : { series }) }] });
  }
}

async function ruledOut(statement: string): Promise<string> {
  const lines = await server.sql<{ plan: string }>("big", `EXPLAIN ANALYZE ${statement}`);
  return /ruled out by file indexes: \S+ \S+/.exec(lines.map(({ plan }) => plan).join("\n"))?.[0] ?? "nothing";
}

test("files get their indexes whenever the server is killed meanwhile, statements use them, and a deleted one leaves nothing", async () => {
  for (let file = 0; file < FILES; file++) {
    const rows = Array.from({ length: ROWS }, (_, i) => file * ROWS + i);
    await store(server, "big", rows.map((row) => `log,host=h${row % 5} request="${requestOf(row)}",n=${row}i ${row + 1}`).join("\n"));
    await dataOf(server).flush();
  }
  const statement = `SELECT n FROM log WHERE request = '${requestOf(4321)}'`;
  expect(await ruledOut(statement)).toBe("nothing");
  expect(await create({ db: "big", table: "log", columns: ["request", "host"] })).toEqual(OK);
  for (const milliseconds of [0, 5, 20, 60]) {
    await Bun.sleep(milliseconds);
    await server.kill();
    await server.restart();
    await checkAnswers();
  }
  const done = await until(async () => {
    const now = (await progress())!;
    return now.indexed_file_count === now.file_count ? now : undefined;
  }, "all files are indexed");
  expect([done.file_count, indexObjects().length]).toEqual([FILES, FILES]);
  expect(done.size_bytes).toBeGreaterThan(FILES * ROWS);
  await checkAnswers();
  expect(await ruledOut(statement)).toBe(`ruled out by file indexes: blocks=${FILES - 1}, pages=0`);
  expect(await ruledOut("SELECT count(*) FROM log WHERE host = 'h9'")).toBe(`ruled out by file indexes: blocks=${FILES}, pages=0`);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toContain(`\ntsdb_file_indexes ${FILES}\n`);
  expect(Number(/\ntsdb_file_index_blocks_ruled_out_total (\d+)/.exec(metrics)![1])).toBeGreaterThanOrEqual(2 * FILES - 1);
  await server.kill();
  await server.restart();
  expect(await ruledOut(statement)).toBe(`ruled out by file indexes: blocks=${FILES - 1}, pages=0`);
  expect(await remove({ db: "big", table: "log" })).toEqual(OK);
  await until(() => (indexObjects().length === 0 ? true : undefined), "all indexes are gone");
  await checkAnswers();
  expect(await ruledOut(statement)).toBe("nothing");
});

test("the base edition has no file indexes", async () => {
  await server.restart(["--edition", "core"]);
  expect((await create({ db: "db", columns: ["host"] })).status).toBe(404);
});
