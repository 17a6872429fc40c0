// Statements that are too long, too deep, too wide, or never end: an error that says why, or a cancel that works, and a server that is
// well.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { metric, query, residentBytes, scalar, store, untilMetric } from "./client.ts";

setDefaultTimeout(120_000);

const MIB = 1 << 20;
const QUERY_MEMORY = 128 * MIB;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--exec-mem-pool-bytes", String(QUERY_MEMORY)] });
  await store(server, "db", Array.from({ length: 20_000 }, (_, i) => `t,h=h${i % 50} v=${i},s="text of row ${i}" ${i}`).join("\n"));
});
afterAll(() => server.dispose());

let written = 0;
async function isWell(): Promise<void> {
  expect(await scalar(server, "db", "SELECT count(*) FROM t")).toBe(20_000);
  await store(server, "db", `other v=1 ${++written}`);
  expect(await scalar(server, "db", "SELECT count(*) FROM other")).toBe(written);
}

const repeat = (text: string, count: number, between = "") => Array.from({ length: count }, () => text).join(between);
const list = (count: number, item: (i: number) => string, between: string) =>
  Array.from({ length: count }, (_, i) => item(i)).join(between);

describe("answered or refused, with a reason", () => {
  const CASES: [why: string, statement: string, status: number, text: RegExp][] = [
    [
      "brackets 100,000 deep",
      `SELECT ${"(".repeat(100_000)}1${")".repeat(100_000)}`,
      400,
      /1001 brackets inside of each other, more than the 1000/,
    ],
    ["50,000 additions", `SELECT 1${"+1".repeat(50_000)}`, 400, /depth|deep/],
    ["50,000 NOTs", `SELECT ${repeat("NOT ", 50_000)}true`, 400, /nested too deeply/],
    ["5,000 functions", `SELECT ${"abs(".repeat(5000)}1${")".repeat(5000)}`, 400, /1001 brackets inside of each other, more than the 1000/],
    ["3,000 CASEs", `SELECT ${repeat("CASE WHEN true THEN ", 3000)}1${" END".repeat(3000)}`, 400, /SQL error|deep/],
    ["500 subqueries", `SELECT * FROM ${repeat("(SELECT * FROM ", 500)}t${")".repeat(500)}`, 400, /depth|deep/],
    [
      "2,000 common table expressions",
      `WITH ${list(2000, (i) => `c${i} AS (SELECT ${i})`, ",")} SELECT * FROM c0`,
      400,
      /501 WITH entries, more than the 500/,
    ],
    [
      "50,000 numbers in IN",
      `SELECT count(*) AS n FROM t WHERE v IN (${list(50_000, (i) => `${i * 2}`, ",")})`,
      200,
      /^\[\{"n":10000\}\]$/,
    ],
    [
      "20,000 texts in IN",
      `SELECT count(*) AS n FROM t WHERE h IN (${list(20_000, (i) => `'h${i * 2}'`, ",")})`,
      200,
      /^\[\{"n":10000\}\]$/,
    ],
    ["10,000 columns", `SELECT ${list(10_000, String, ",")}`, 400, /10000 columns/],
    ["100,000 columns", `SELECT ${list(100_000, String, ",")}`, 422, /^\{"error":"Resources exhausted: [^\n]*"\}$/],
    ["a statement of a megabyte", `SELECT length('${"x".repeat(MIB - 100)}') AS n`, 200, /^\[\{"n":1048476\}\]$/],
    ["more than a megabyte", `SELECT length('${"x".repeat(MIB)}')`, 400, /1048593 characters, more than the 1048576/],
    ["a quote that never closes", `SELECT '${"x".repeat(1000)}`, 400, /SQL error/],
    ["a comment that never closes", `SELECT /* ${"x".repeat(1000)}`, 400, /SQL error/],
    ["nothing but brackets", "(".repeat(10_000), 400, /1001 brackets inside of each other, more than the 1000/],
    ["a NUL in a text", "SELECT 'a\0b' AS t", 200, /^\[\{"t":"a\\u0000b"\}\]$/],
    ["a NUL behind a statement", "SELECT 1\0 garbage", 400, /unexpected \\0 at position 9/],
    ["half a character", "SELECT '\ud800'", 200, /./],
    [
      "a regular expression that others take for ever",
      `SELECT count(*) AS n FROM t WHERE (repeat('a', 40) || s) ~ '^(a+)+$'`,
      200,
      /^\[\{"n":0\}\]$/,
    ],
    ["a regular expression that is too large", "SELECT count(*) FROM t WHERE s ~ '((a{0,100}){0,100}){0,100}'", 400, /./],
    ["a text of 2 GB", "SELECT length(repeat('x', 2000000000))", 400, /Resources exhausted/],
    ["a text of 10 GB", "SELECT length(repeat(repeat('x', 1000000), 10000))", 400, /./],
    ["a list of a billion", "SELECT length(range(1, 1000000000))", 400, /Resources exhausted/],
    ["a number of 10,000 digits", `SELECT ${"9".repeat(10_000)} AS n`, 400, /out of the range of a 64-bit float/],
    ["a number with a large exponent", "SELECT -1e400", 400, /out of the range of a 64-bit float/],
    ["a text that is named like one", "SELECT 'Infinity' AS t, 1e308 AS n", 200, /^\[\{"t":"Infinity","n":1\.0e308\}\]$/],
  ];
  test.each(CASES)("%s", async (_, statement, status, text) => {
    const answer = await query(server, "db", statement, { format: "json" });
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.stringMatching(text)]);
    await isWell();
  });
});

describe("memory", () => {
  const PAIRS = "t a, (SELECT * FROM t LIMIT 2000) b";
  const CASES: [why: string, statement: string][] = [
    ["one text of everything", `SELECT length(string_agg(a.s || b.s, ',')) FROM ${PAIRS}`],
    ["one list of everything", `SELECT length(array_agg(a.s || b.s)) FROM ${PAIRS}`],
    ["a window over everything", `SELECT max(length(l)) FROM (SELECT array_agg(s) OVER (ORDER BY v) AS l FROM t)`],
  ];
  test.each(CASES)("%s: 422 that says so, and the server is well", async (_, statement) => {
    const answer = await query(server, "db", statement);
    expect(answer.status).toBe(422);
    expect(answer.text).toMatch(/Resources exhausted/);
    await isWell();
  });

  test("all memory-hungry statements at once are refused with 422", async () => {
    const statements = [...CASES, ...CASES].map(([, statement]) => statement);
    const answers = await Promise.all(statements.map((statement) => query(server, "db", statement)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 422));
    await isWell();
    expect(await residentBytes(server)).toBeLessThan(1200 * MIB);
  });
});

describe("statements that never end", () => {
  const ENDLESS: [why: string, statement: string][] = [
    ["a cross join", "SELECT count(*) FROM t a, t b, t c WHERE a.v + b.v + c.v < 0"],
    ["a recursion", "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"],
    ["a series", "SELECT count(*) FROM generate_series(1, 100000000000) AS g(i) WHERE i < 0"],
    ["a sort of a cross join", "SELECT a.s FROM t a, t b, t c ORDER BY a.s || b.s || c.s LIMIT 1"],
    ["a list of alternatives", `SELECT count(*) FROM t a, t b WHERE ${list(2000, (i) => `a.v + b.v = ${-i - 1}`, " OR ")}`],
  ];
  test.each(ENDLESS)("%s can be cancelled, and meanwhile others are answered", async (_, statement) => {
    const controller = new AbortController();
    const asked = query(server, "db", statement, { signal: controller.signal }).then(
      ({ status }) => status,
      (error: Error) => error.name,
    );
    await untilMetric(server, "tsdb_queries_running", (running) => running === 1);
    for (let i = 0; i < 5; i++) await isWell();
    controller.abort();
    expect(await asked).toBe("AbortError");
    await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
    await isWell();
  });

  test("twenty of them at once hold up neither writes, gzip, other queries nor their own end", async () => {
    const statement = ENDLESS[0]![1];
    const controllers = Array.from({ length: 20 }, () => new AbortController());
    const asked = controllers.map(({ signal }) => query(server, "db", statement, { signal }).catch((error: Error) => error.name));
    await untilMetric(server, "tsdb_queries_running", (running) => running === 20);
    for (let i = 0; i < 5; i++) await isWell();
    for (const controller of controllers) controller.abort();
    expect(await Promise.all(asked)).toEqual(controllers.map(() => "AbortError"));
    await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
    await isWell();
  });

  test("more of them than there are threads: each that is cancelled ends, though it waits for its turn", async () => {
    const controllers = Array.from({ length: 40 }, () => new AbortController());
    const asked = controllers.map(({ signal }) => query(server, "db", ENDLESS[0]![1], { signal }).catch((error: Error) => error.name));
    await untilMetric(server, "tsdb_queries_running", (running) => running === 40);
    await store(server, "db", `other v=1 ${++written}`);
    for (const controller of controllers.toReversed()) controller.abort();
    expect(await Promise.all(asked)).toEqual(controllers.map(() => "AbortError"));
    await untilMetric(server, "tsdb_queries_running", (running) => running === 0);
    await isWell();
    expect(await metric(server, "tsdb_queries_running")).toBe(0);
  });
});
