// Limits of databases, tables and columns, for every way of creating them: what would be one too many is refused in the documented
// words, nothing of it is made, and what exists stays whatever the limit is at the next start.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { query, write } from "./client.ts";

setDefaultTimeout(60_000);

const CONFIGURE = "/api/v3/configure";
const NO_DATABASE = "Adding a new database would exceed limit of 3 databases";
const NO_COLUMN = "Update to schema would exceed number of columns per table limit of 4 columns";
const noTable = (count: number, limit = 4) =>
  `Update to schema would exceed number of tables limit: attempted to create table but already have ${count} table(s) (limit: ${limit})`;
const LIMITS = ["--num-database-limit", "3", "--num-table-limit", "4", "--num-total-columns-per-table-limit", "4"];

async function send(server: TestServer, method: string, path: string, body?: object): Promise<[status: number, text: string]> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body), headers }) });
  return [response.status, await response.text()];
}

const post = (server: TestServer, path: string, body: object) => send(server, "POST", `${CONFIGURE}/${path}`, body);
const remove = (server: TestServer, what: string, params: Record<string, string>) =>
  send(server, "DELETE", `${CONFIGURE}/${what}?${new URLSearchParams(params)}`);

/** The results of statements of the v1-style language. */
async function v1(server: TestServer, db: string, q: string): Promise<{ error?: string }[]> {
  const [, text] = await send(server, "POST", `/query?${new URLSearchParams({ db, q })}`);
  return (JSON.parse(text) as { results: { error?: string }[] }).results;
}

async function databases(server: TestServer): Promise<string[]> {
  const [, text] = await send(server, "GET", `${CONFIGURE}/database?format=json`);
  return (JSON.parse(text) as { "iox::database": string }[]).map((row) => row["iox::database"]).filter((name) => name !== "_internal");
}

async function columns(server: TestServer, database: string): Promise<string[]> {
  const rows = await server.sql<{ c: string }>(
    database,
    "SELECT concat(table_name, '.', column_name) AS c FROM information_schema.columns WHERE table_schema = 'iox' ORDER BY 1",
  );
  return rows.map(({ c }) => c);
}

const refusal = (message: string) => [422, JSON.stringify({ error: message })] as [number, string];
const error = (message: string, line: number, original: string) => ({ error_message: message, line_number: line, original_line: original });

describe("schema limits", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: [...LIMITS] });
  });
  afterAll(() => server.dispose());

  test("--num-database-limit refuses further databases", async () => {
    expect((await post(server, "database", { db: "a" }))[0]).toBe(200);
    expect((await write(server, "b", "t v=1 1")).status).toBe(204);
    expect(await v1(server, "", "CREATE RETENTION POLICY rp ON b DURATION 0s REPLICATION 1")).toEqual([{ statement_id: 0 } as object]);
    expect(await post(server, "database", { db: "c" })).toEqual(refusal(NO_DATABASE));
    for (const path of ["/api/v3/write_lp", "/api/v2/write", "/write"] as const) {
      const refused = await write(server, "c", "t v=1 1\nbad", { path });
      expect([refused.status, refused.text.includes(NO_DATABASE)]).toEqual([422, true]);
    }
    for (const statement of ["CREATE DATABASE c", "CREATE RETENTION POLICY other ON b DURATION 1d REPLICATION 1"]) {
      expect(await v1(server, "", `${statement}; SHOW DATABASES`)).toEqual([
        { statement_id: 0, error: NO_DATABASE },
        { statement_id: 1, error: "not executed" },
      ] as object[]);
    }
    expect(await databases(server)).toEqual(["a", "b", "b/rp"]);
    // those that exist take rows as ever, and a deleted one makes room, but not for itself
    expect((await write(server, "b", "t v=2 2")).status).toBe(204);
    expect((await remove(server, "database", { db: "a" }))[0]).toBe(200);
    expect((await post(server, "database", { db: "c" }))[0]).toBe(200);
    expect(await post(server, "database/restore", { db: "a" })).toEqual(refusal(NO_DATABASE));
    expect(await databases(server)).toEqual(["b", "b/rp", "c"]);
  });

  test("two bodies at once that each make the last database: one of them does", async () => {
    expect((await remove(server, "database", { db: "c", hard_delete_at: "now" }))[0]).toBe(200);
    const statuses = await Promise.all(Array.from({ length: 8 }, async (_, i) => (await write(server, `race${i}`, "t v=1 1")).status));
    expect(statuses.toSorted()).toEqual([204, 422, 422, 422, 422, 422, 422, 422]);
    expect(await databases(server)).toEqual(["b", "b/rp", `race${statuses.indexOf(204)}`]);
    expect((await remove(server, "database", { db: `race${statuses.indexOf(204)}`, hard_delete_at: "now" }))[0]).toBe(200);
  });

  test("tables of all databases together: a line over the limit is rejected, the others are stored", async () => {
    // there is one already
    expect((await post(server, "table", { db: "b", table: "made", tags: [], fields: [] }))[0]).toBe(200);
    const body = "t2 v=1 1\nt v=3 3\nt3 v=1i 1\nt4 v=1 1\nt v=4 4\nt3 v=2i 2";
    const mixed = await write(server, "b/rp", body);
    expect(mixed.status).toBe(422);
    expect(JSON.parse(mixed.text)).toEqual({
      error: "partial write of line protocol occurred",
      data: [error(noTable(4), 3, "t3 v=1i 1"), error(noTable(4), 4, "t4 v=1 1"), error(noTable(4), 6, "t3 v=2i 2")],
    });
    expect(await columns(server, "b/rp")).toEqual(["t.time", "t.v", "t2.time", "t2.v"]);
    const v2 = await write(server, "b", "t5 v=1 1", { path: "/api/v2/write" });
    expect(v2.status).toBe(422);
    expect(JSON.parse(v2.text)).toEqual({
      code: "unprocessable entity",
      message: `write buffer error: line protocol parse failed: ${noTable(4)} (line 1); rejected lines: 1, stored lines: 0`,
    });
    const whole = await write(server, "b", "t v=5 5\nt5 v=1 1", { path: "/write", params: { accept_partial: "false" } });
    expect([whole.status, whole.text.includes(noTable(4))]).toEqual([422, true]);
    expect((await query(server, "b", "SELECT v FROM t ORDER BY v", { format: "json" })).text).toBe('[{"v":1.0},{"v":2.0}]');
    expect(await post(server, "table", { db: "b", table: "t5", tags: [], fields: [] })).toEqual(refusal(noTable(4)));
    expect((await v1(server, "b", "SELECT v INTO t5 FROM t"))[0]!.error).toContain(noTable(4));
    expect((await v1(server, "b", "SELECT v INTO made FROM t"))[0]!.error).toBeUndefined();
    expect(await columns(server, "b")).toEqual(["made.time", "made.v", "t.time", "t.v"]);
  });

  test("a deleted table makes room, and is restored only if there is some", async () => {
    expect((await remove(server, "table", { db: "b", table: "t" }))[0]).toBe(200);
    expect((await write(server, "b", "t5 v=1 1")).status).toBe(204);
    expect(await post(server, "table/restore", { db: "b", table: "t" })).toEqual(refusal(noTable(4)));
    // a deleted database takes its two tables out of the count; one of the places is taken before it comes back
    expect((await remove(server, "database", { db: "b/rp" }))[0]).toBe(200);
    expect((await post(server, "table/restore", { db: "b", table: "t" }))[0]).toBe(200);
    expect(await post(server, "database/restore", { db: "b/rp" })).toEqual(refusal(noTable(3)));
    expect((await remove(server, "table", { db: "b", table: "t5", hard_delete_at: "now" }))[0]).toBe(200);
    expect((await post(server, "database/restore", { db: "b/rp" }))[0]).toBe(200);
    expect(await columns(server, "b/rp")).toEqual(["t.time", "t.v", "t2.time", "t2.v"]);
    expect(await columns(server, "b")).toEqual(["made.time", "made.v", "t.time", "t.v"]);
  });

  test("two bodies at once that each make the last table: one of them does", async () => {
    expect((await remove(server, "table", { db: "b/rp", table: "t2" }))[0]).toBe(200);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => write(server, i % 2 === 0 ? "b" : "b/rp", `race${i} v=1 1`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, 422, 422, 422, 422, 422, 422, 422]);
    const made = [...(await columns(server, "b")), ...(await columns(server, "b/rp"))].filter((name) => name.startsWith("race"));
    expect(made).toEqual(["time", "v"].map((name) => `race${answers.findIndex(({ status }) => status === 204)}.${name}`));
  });

  test("columns of a table: tags and fields count, time does not", async () => {
    expect((await write(server, "b", "t,h=1 x=1,y=1 1")).status).toBe(204);
    const lines = ["t,h=1,g=2 x=2 2", "t,h=1 x=3 3", "t z=1 4", `t ${Array.from({ length: 501 }, (_, i) => `c${i}=1`).join(",")} 5`];
    const mixed = await write(server, "b", lines.join("\n"));
    expect(mixed.status).toBe(422);
    const [first, second, third] = [lines[0]!, lines[2]!, lines[3]!];
    expect((JSON.parse(mixed.text) as { data: unknown }).data).toEqual([
      error(NO_COLUMN, 1, first),
      error(NO_COLUMN, 3, second),
      error(NO_COLUMN, 4, third),
    ]);
    expect((await query(server, "b", "SELECT x FROM t WHERE x > 1", { format: "json" })).text).toBe('[{"x":3.0}]');
    expect((await v1(server, "b", "SELECT v AS w, v AS w2, v AS w3, v AS w4 INTO made FROM t"))[0]!.error).toContain(NO_COLUMN);
    const fields = ["p", "q", "r"].map((name) => ({ name, type: "int64" }));
    const wide = { db: "b", table: "wide", tags: ["k", "l"], fields };
    expect((await remove(server, "table", { db: "b", table: "made" }))[0]).toBe(200);
    expect(await post(server, "table", wide)).toEqual(refusal(NO_COLUMN));
    expect((await post(server, "table", { ...wide, tags: ["k"] }))[0]).toBe(200);
    expect((await columns(server, "b")).filter((name) => /^(?:t|wide)\./.test(name))).toEqual([
      "t.h",
      "t.time",
      "t.v",
      "t.x",
      "t.y",
      "wide.k",
      "wide.p",
      "wide.q",
      "wide.r",
      "wide.time",
    ]);
  });

  test("with lower limits the server starts on what exists, and refuses only what is new", async () => {
    const before = [await databases(server), await columns(server, "b"), await columns(server, "b/rp")];
    await server.kill();
    writeFileSync(
      join(server.dataDir, "../tsdb.toml"),
      "num-database-limit = 1\nnum-table-limit = 1\nnum-total-columns-per-table-limit = 1\n",
    );
    await server.restart([]);
    expect([await databases(server), await columns(server, "b"), await columns(server, "b/rp")]).toEqual(before);
    expect((await write(server, "b", "t,h=1 v=9,x=9,y=9 9")).status).toBe(204);
    expect((await post(server, "database", { db: "new" }))[0]).toBe(422);
    const refused = await write(server, "b", "new v=1 1\nt,h=2 v=10 10\nt z=1 11");
    expect((JSON.parse(refused.text) as { data: { error_message: string }[] }).data.map((line) => line.error_message)).toEqual([
      noTable(4, 1),
      NO_COLUMN.replace("4 columns", "1 columns"),
    ]);
    await server.restart();
    expect([await databases(server), await columns(server, "b"), await columns(server, "b/rp")]).toEqual(before);
    expect((await query(server, "b", "SELECT v FROM t WHERE v >= 9 ORDER BY v", { format: "json" })).text).toBe('[{"v":9.0},{"v":10.0}]');
  });
});

test("databases of --permission-tokens-file that would be too many end the start with a line; those that exist do not", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-limits-"));
  try {
    const path = join(folder, "tokens.json");
    writeFileSync(path, JSON.stringify({ create_databases: ["a", "b"], tokens: [] }));
    const flags = ["--permission-tokens-file", path];
    const data = join(folder, "data");
    const text = `--permission-tokens-file: ${path}: create_databases[1]: Adding a new database would exceed limit of 1 databases`;
    await expect(TestServer.start({ dataDir: data, flags: [...flags, "--num-database-limit", "1"], withAuth: true })).rejects.toThrow(text);
    await using server = await TestServer.start({ dataDir: data, flags });
    expect(await databases(server)).toEqual(["a", "b"]);
    await server.restart([...flags, "--num-database-limit", "1"]);
    expect(await databases(server)).toEqual(["a", "b"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
