// sql.from and sql.to: SQLite below a folder and in memory, and a PostgreSQL server where one is installed.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { Time } from "../../src/flux/values/value.ts";
import { SQL_LIMITS, type SqlLimits, sqlService } from "../../src/outgoing/sql/sql-service.ts";
import { MemorySource } from "./memory-source.ts";

const ROOT = mkdtempSync(join(tmpdir(), "flux-sql-"));
const FOLDER = join(ROOT, "open");
afterAll(() => rmSync(ROOT, { recursive: true, force: true }));

async function answer(script: string, limits: Partial<SqlLimits> = {}): Promise<string> {
  const services = { sql: sqlService({ ...SQL_LIMITS, sqliteFolder: FOLDER, ...limits }) };
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  const query = { text: `import "sql"\nimport "array"\n${script}`, now: new Time(0n), dialect, services };
  let text = "";
  try {
    for (const piece of answerQuery(query, fluxLibrary(), new MemorySource())) {
      if (piece instanceof Promise) await piece;
      else text += piece ?? "";
    }
  } catch (error) {
    return `error: ${(error as Error).message}`;
  }
  return text;
}

/** Types, labels and rows of the only table. */
function tableIn(csv: string): string[] {
  const lines = csv.trimEnd().split("\r\n");
  return [lines[0]!, ...lines.slice(3)].map((line) => line.split(",").slice(3).join(","));
}

const literal = (text: string): string => JSON.stringify(text).replaceAll("${", "\\${").replaceAll("\\u0000", "\\x00");
const from = (driver: string, source: string, query: string) =>
  `sql.from(driverName: ${literal(driver)}, dataSourceName: ${literal(source)}, query: ${literal(query)})`;
const sqlite = (source: string, query: string) => answer(from("sqlite3", source, query));

beforeAll(() => {
  mkdirSync(FOLDER);
  const database = new Database(join(FOLDER, "a.db"), { create: true });
  database.run("CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BOOLEAN, at DATETIME, x BLOB)");
  database.run(
    `INSERT INTO t VALUES (9007199254740993, 1.5, 'a, "b"', 1, '2024-03-05 10:00:00.25', x'7a'), (NULL, NULL, NULL, NULL, NULL, NULL)`,
  );
  database.close();
  new Database(join(ROOT, "outside.db"), { create: true }).run("CREATE TABLE secret (v TEXT)");
  symlinkSync(join(ROOT, "outside.db"), join(FOLDER, "link.db"));
  symlinkSync(ROOT, join(FOLDER, "up"));
  writeFileSync(join(FOLDER, "text.db"), "no database at all, but long enough to be read as its header");
});

describe("sqlite", () => {
  test("types, nulls and integers beyond 2^53", async () => {
    expect(tableIn(await sqlite("a.db", "SELECT * FROM t"))).toEqual([
      "long,double,string,boolean,dateTime:RFC3339,string",
      "i,f,s,b,at,x",
      '9007199254740993,1.5,"a, ""b""",true,2024-03-05T10:00:00.25Z,z',
      ",,,,,",
    ]);
  });

  test("expressions have the types of their values, an empty answer those of its columns", async () => {
    const query = "WITH n(v) AS (VALUES (1), (2)) SELECT v, v * 0.5 AS half, 'x' || v AS s FROM n -- a comment";
    expect(tableIn(await sqlite(":memory:", query))).toEqual(["long,double,string", "v,half,s", "1,0.5,x1", "2,1,x2"]);
    expect(tableIn(await sqlite("a.db", "SELECT i, f FROM t WHERE i = 0"))).toEqual(["long,double", "i,f"]);
  });

  test("written rows come back", async () => {
    const rows =
      'array.from(rows: [{s: "ż\'\\"", n: 1, f: 0.1, b: true, t: 2024-03-05T10:00:00.000000001Z, u: uint(v: "18446744073709551615")}])';
    const to = `${rows} |> sql.to(driverName: "sqlite3", dataSourceName: "file:new.db?mode=rwc", table: "my \\"t\\"", batchSize: 1)`;
    expect(tableIn(await answer(to))[2]).toBe('"ż\'""",1,0.1,true,2024-03-05T10:00:00.000000001Z,18446744073709551615');
    expect(await answer(to)).not.toContain("error");
    expect(tableIn(await sqlite("new.db", 'SELECT * FROM "my ""t"""'))).toEqual([
      "string,long,double,boolean,dateTime:RFC3339,string",
      "s,n,f,b,t,u",
      ...Array(2).fill('"ż\'""",1,0.1,true,2024-03-05T10:00:00.000000001Z,18446744073709551615'),
    ]);
  });

  test("all rows of a table or none", async () => {
    const database = new Database(join(FOLDER, "strict.db"), { create: true });
    database.run("CREATE TABLE t (v INTEGER CHECK (v < 3))");
    const to =
      'array.from(rows: [{v: 1}, {v: 2}, {v: 5}]) |> sql.to(driverName: "sqlite3", dataSourceName: "strict.db", table: "t", batchSize: 1)';
    expect(await answer(to)).toContain("CHECK constraint failed");
    expect(database.query("SELECT count(*) n FROM t").get()).toEqual({ n: 0 });
    database.close();
  });

  const REFUSED: readonly (readonly [source: string, query: string, why: RegExp])[] = [
    ["../outside.db", "SELECT 1", /not below the folder/],
    [join(ROOT, "outside.db"), "SELECT * FROM secret", /not below the folder/],
    [`file:${join(ROOT, "outside.db")}?mode=ro`, "SELECT * FROM secret", /not below the folder/],
    ["link.db", "SELECT * FROM secret", /not below the folder/],
    ["up/outside.db", "SELECT * FROM secret", /not below the folder/],
    ["nowhere/a.db", "SELECT 1", /no such folder/],
    [".", "SELECT 1", /not below the folder/],
    ["absent.db", "SELECT 1", /unable to open database file/],
    ["text.db", "SELECT * FROM t", /not a database/],
    ["a.db", `ATTACH '${join(ROOT, "outside.db")}' AS o`, /begins with SELECT/],
    ["a.db", `VACUUM INTO '${join(ROOT, "copy.db")}'`, /begins with SELECT/],
    ["a.db", "PRAGMA writable_schema = 1", /begins with SELECT/],
    ["a.db", "DELETE FROM t", /begins with SELECT/],
    ["a.db", "WITH d AS (SELECT 1) DELETE FROM t", /syntax error/],
    ["a.db", "/* select */ DROP TABLE t", /begins with SELECT/],
    ["a.db", "SELECT load_extension('/tmp/x.so')", /not authorized|no such function/],
    ["a.db", "SELECT writefile('/tmp/flux-sql-written', 'x')", /no such function/],
    ["a.db", "SELECT * FROM absent", /no such table/],
    ["a.db", "", /query is empty/],
    ["\0", "SELECT 1", /not below the folder/],
  ];
  test.each(REFUSED)("refused: %p %p", async (source, query, why) => {
    expect(await sqlite(source, query)).toMatch(why);
  });

  const COUNTING = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)";
  test("ended by its process: computes for ever", async () => {
    const query = from("sqlite3", ":memory:", `${COUNTING} SELECT x FROM c WHERE x < 0`);
    expect(await answer(query, { timeoutMs: 1000 })).toMatch(/no answer within 1000 ms/);
  });

  const HUGE: readonly (readonly [what: string, query: string, why: RegExp])[] = [
    ["one value of a gigabyte", "SELECT zeroblob(900000000), hex(zeroblob(400000000))", /out of memory|too much memory|longer than/],
    ["values of gigabytes", `${COUNTING} SELECT zeroblob(100000000) FROM c LIMIT 100`, /memory|longer than/],
    [
      "a sort of gigabytes",
      `${COUNTING} SELECT count(*) FROM (SELECT hex(zeroblob(20000000)) || x AS b FROM c LIMIT 300) GROUP BY b`,
      /memory/,
    ],
  ];
  test.each(HUGE)("ended by its process: %s", async (_, query, why) => {
    const before = process.memoryUsage.rss();
    // so long that memory is what ends it, on a busy machine too
    expect(await answer(from("sqlite3", ":memory:", query), { timeoutMs: 30_000 })).toMatch(why);
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 << 20);
    // others go on
    expect(tableIn(await sqlite(":memory:", "SELECT 1 AS v"))).toEqual(["long", "v", "1"]);
  });

  test("a statement behind another is never run", async () => {
    const query = `SELECT 1) AS a; ATTACH '${join(ROOT, "made.db")}' AS o; CREATE TABLE o.t (v); SELECT * FROM (SELECT 1`;
    await sqlite("a.db", query);
    expect(existsSync(join(ROOT, "made.db"))).toBe(false);
  });

  test("an answer has at most so many rows and bytes", async () => {
    const rows = from("sqlite3", ":memory:", "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n) SELECT v FROM n");
    expect(await answer(rows, { rowsMax: 1000 })).toMatch(/more than 1000 rows/);
    expect(await answer(from("sqlite3", ":memory:", "SELECT hex(zeroblob(100000)) AS v"), { bytesMax: 1000 })).toMatch(
      /longer than 1000 bytes/,
    );
  });

  test("without a folder no file is open, what is in memory is", async () => {
    expect(await answer(from("sqlite3", "a.db", "SELECT 1"), { sqliteFolder: null })).toMatch(/without --flux-sqlite-dir/);
    expect(tableIn(await answer(from("sqlite3", ":memory:", "SELECT 1 AS v"), { sqliteFolder: null }))[2]).toBe("1");
  });
});

test.each(["oracle9", "__proto__", "", "SQLITE3"])("no such driver: %p", async (driver) => {
  expect(await answer(from(driver, "x", "SELECT 1"))).toBe(`error: failed to initialize execute state: sql driver ${driver} not supported`);
});

const BINARIES = ["/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin"].find((path) =>
  existsSync(path),
);
/** A server of the database refuses to run as root. */
const USER = process.getuid?.() === 0 ? Number(spawnSync("id", ["-u", "postgres"]).stdout.toString()) || null : process.getuid!();
if (BINARIES === undefined || USER === null) console.log("PostgreSQL is not installed: its part of sql.test.ts is not run");

describe.if(BINARIES !== undefined && USER !== null)("postgres", () => {
  const data = join(ROOT, "postgres");
  let port = 0;
  const run = (command: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(join(BINARIES!, command), args, { uid: USER!, stdio: ["ignore", "ignore", "pipe"] });
    expect([status, stderr.toString()].join(" ").slice(0, 2)).toBe("0 ");
  };
  const source = (more = "") => `postgres://postgres:p%40ss@127.0.0.1:${port}/postgres?sslmode=disable${more}`;
  const postgres = (query: string, at = source()) => answer(from("postgres", at, query), { allowsPrivate: true });

  beforeAll(async () => {
    port = await freePort();
    mkdirSync(data);
    chownSync(data, USER!, -1);
    chownSync(ROOT, USER!, -1);
    const password = join(ROOT, "password");
    writeFileSync(password, "p@ss");
    chownSync(password, USER!, -1);
    run("initdb", "-D", data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile", password, "--no-sync");
    run(
      "pg_ctl",
      "-D",
      data,
      "-o",
      `-p ${port} -k ${ROOT} -c listen_addresses=127.0.0.1 -c fsync=off`,
      "-l",
      join(ROOT, "log"),
      "-w",
      "start",
    );
  }, 60_000);
  afterAll(() => run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop"), 30_000);

  test("types, nulls, times with microseconds", async () => {
    const query =
      "SELECT 9007199254740993::bigint i, 1.5::float8 f, 'x,y'::text s, true b, timestamptz '2024-03-05 12:00:00.123456+02' t, " +
      "timestamp '2024-03-05 10:00:00' w, 1.25::numeric n, NULL::int z, '{\"a\": 1}'::jsonb j;";
    expect(tableIn(await postgres(query))).toEqual([
      "long,double,string,boolean,dateTime:RFC3339,dateTime:RFC3339,double,long,string",
      "i,f,s,b,t,w,n,z,j",
      '9007199254740993,1.5,"x,y",true,2024-03-05T10:00:00.123456Z,2024-03-05T10:00:00Z,1.25,,"{""a"": 1}"',
    ]);
  });

  test("columns of one name", async () => {
    expect(await postgres("SELECT 1 AS v, 2 AS v")).toMatch(/two columns of the answer have the name "v"/);
  });

  test("many rows, an empty answer, and pairs of keywords", async () => {
    const rows = tableIn(await postgres("SELECT v FROM generate_series(1, 12000) v"));
    expect([rows.length, rows.at(-1)]).toEqual([12_002, "12000"]);
    const pairs = `host=127.0.0.1 port=${port} user='postgres' password='p@ss' dbname=postgres sslmode=disable`;
    expect(tableIn(await postgres("SELECT 1 AS v WHERE false", pairs))).toEqual(["long", "v"]);
  });

  test("written rows come back", async () => {
    const rows = 'array.from(rows: [{s: "ż\'", n: -1, f: 0.1, b: false, t: 2024-03-05T10:00:00.000001Z, u: uint(v: 7)}])';
    const to = `${rows} |> sql.to(driverName: "postgres", dataSourceName: ${literal(source())}, table: "public.my t")`;
    expect(tableIn(await answer(to, { allowsPrivate: true }))[2]).toBe("ż',-1,0.1,false,2024-03-05T10:00:00.000001Z,7");
    expect(tableIn(await postgres('SELECT * FROM "my t"'))).toEqual([
      "string,long,double,boolean,dateTime:RFC3339,double",
      "s,n,f,b,t,u",
      "ż',-1,0.1,false,2024-03-05T10:00:00.000001Z,7",
    ]);
  });

  test("a statement that changes data gives its rows", async () => {
    await postgres("CREATE TABLE c (v int)");
    expect(tableIn(await postgres("WITH i AS (INSERT INTO c VALUES (4) RETURNING v) SELECT v FROM i"))[2]).toBe("4");
    expect(tableIn(await postgres("SELECT v FROM c"))[2]).toBe("4");
  });

  test("errors and limits", async () => {
    expect(await postgres("SELECT * FROM absent")).toMatch(/relation "absent" does not exist/);
    expect(await postgres("SELECT 1", source().replace("p%40ss", "wrong"))).toMatch(/password authentication failed/);
    expect(await postgres("SELECT 1", "nonsense")).toMatch(/keyword=value/);
    expect(await postgres("SELECT 1", source("&sslmode=odd"))).toMatch(/unsupported sslmode/);
    const limited = (query: string, limits: Partial<SqlLimits>) =>
      answer(from("postgres", source(), query), { allowsPrivate: true, ...limits });
    expect(await limited("SELECT pg_sleep(60)", { timeoutMs: 300 })).toMatch(/no answer within 300 ms|statement timeout/);
    expect(await limited("SELECT v FROM generate_series(1, 30000) v, generate_series(1, 30000) w", { rowsMax: 9000 })).toMatch(
      /more than 9000 rows/,
    );
    expect(await limited("SELECT repeat('x', 100000) v", { bytesMax: 5000 })).toMatch(/longer than 5000 bytes/);
  });

  test("private addresses are refused unless the server allows them", async () => {
    for (const host of ["127.0.0.1", "localhost", "[::1]"]) {
      expect(await answer(from("postgres", source().replace("127.0.0.1", host), "SELECT 1"))).toMatch(
        /requests to private networks are off/,
      );
    }
  });
});

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, "127.0.0.1", () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}
