// Plans from templates: a tree filled with literals must equal DuckDB's tree of the whole text, for any literals.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { Connection, Statement } from "../../duckdb/connection.ts";
import { Database } from "../../duckdb/database.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ItemNames } from "../column-name/select-items.ts";
import type { SqlValue } from "../parse/sql-value.ts";
import { parseStatement } from "../parse/statement.ts";
import { Template } from "../parse/template.ts";
import { queryOf } from "./plan.ts";
import { PlanCache } from "./plan-cache.ts";

let connection: Connection;
let parser: Statement;
let serializedCount = 0;

beforeAll(async () => {
  const database = await Database.open({ memoryBytes: 64 << 20, threads: 1, tempDir: null });
  connection = await database.connect();
  parser = await connection.prepare("SELECT json_serialize_sql(CAST($1 AS VARCHAR))");
});
afterAll(() => connection.close());

async function serialize(sql: string): Promise<string> {
  serializedCount += 1;
  parser.bindVarchar(1, sql);
  const batch = await (await parser.execute()).next();
  return new TextDecoder().decode(batch!.columns[0]!.data!);
}

/** What nothing was lifted from, or the error that it is. */
async function freshTree(sql: string): Promise<unknown> {
  const { text, names } = parseStatement(sql);
  const tree = Template.from(queryOf(await serialize(text.sql), text), text, []).fill([]);
  return { tree: withPositions(tree, (location) => text.placeOf(location).position), names: namesIn(names) };
}

async function keptTree(cache: PlanCache, sql: string): Promise<unknown> {
  const plan = await cache.plan(sql);
  const tree = withPositions(plan.tree(), (location) => plan.placeOf(location).position);
  return { tree, names: namesIn(plan.statement.names) };
}

/** Names of columns, with those that queries in them have by the order of their SELECTs: lists move tokens. */
function namesIn({ nodes, firsts }: ItemNames): unknown {
  const selects = [...firsts.keys()];
  const text = JSON.stringify(nodes, (key, value) => (key === "query" && value !== null ? selects.indexOf(value as number) : value));
  return { text, firsts: [...firsts.values()] };
}

/** Locations as characters of the statement; the literals that IN looks in have that of the first, or none. */
function withPositions(value: unknown, positionOf: (location: number) => number): unknown {
  if (Array.isArray(value)) return value.map((item) => withPositions(item, positionOf));
  if (value === null || typeof value !== "object") return value;
  const node: Record<string, unknown> = { ...value };
  const isIn = node["type"] === "COMPARE_IN" || node["type"] === "COMPARE_NOT_IN";
  if (isIn) node["children"] = (node["children"] as object[]).flatMap((child, i) => (i === 0 ? [child] : listed(child)));
  for (const key in node) {
    const isLocation = key === "query_location" && typeof node[key] === "number";
    node[key] = isLocation ? positionOf(node[key] as number) : withPositions(node[key], positionOf);
  }
  return node;
}

/** The literals of a list as the parser has them, one by one. */
function listed(node: object): object[] {
  const { query_location: _, ...rest } = node as Record<string, unknown>;
  if (rest["class"] !== "LITERALS") return [rest["class"] === "CONSTANT" ? rest : node];
  return (rest["values"] as SqlValue[]).map((value) => ({ class: "CONSTANT", type: "VALUE_CONSTANT", alias: "", value }));
}

async function orError(tree: Promise<unknown>): Promise<unknown> {
  try {
    return await tree;
  } catch (error) {
    if (error instanceof TsdbError) return error.message;
    throw error;
  }
}

async function expectSame(cache: PlanCache, sql: string): Promise<void> {
  const [kept, fresh] = [await orError(keptTree(cache, sql)), await orError(freshTree(sql))];
  // what check.ts refuses has a tree all the same
  if (typeof kept === "string" && typeof fresh !== "string")
    expect(kept).toMatch(/not implemented|not found|Invalid function|nested too deeply|a percentage/);
  else expect({ sql, tree: kept }).toEqual({ sql, tree: fresh });
}

const ROUNDS = Number(process.env["ROUNDS"] ?? 120);

/** `?` is any literal. */
const SKELETONS: string[] = [
  "SELECT ?",
  "SELECT ?, -?, - ?, +?, - -?, -(?), ? - ?, ?-?, a-?, a - - ?",
  "SELECT date_bin(INTERVAL ?, time) AS m, max(u) FROM cpu WHERE host = ? AND time >= ? AND time < ? GROUP BY m ORDER BY m",
  "SELECT a IN (?, ?), b NOT IN (?, ?, ?, ?), [x FOR x IN (?, ?)], (a, b) IN (?, ?), count(*) FROM t GROUP BY a IN (?, ?), b IN (?, ?)",
  "SELECT * FROM cpu WHERE host IN (?, ?, ?) AND u > ? AND v NOT IN (?) ORDER BY ? LIMIT ? OFFSET ?",
  "SELECT a FROM t WHERE time >= TIMESTAMP ? AND d = DATE ? AND i = CAST(? AS INTEGER) AND v = ?::DOUBLE AND w = TRY_CAST(? AS DATE)",
  "SELECT ? + ?, ? * (? - a), ? || ?, a || ?, ?::VARCHAR(?), CAST(a AS DECIMAL(?, ?))",
  "SELECT count(*) FROM t GROUP BY ?, ?, a + ?, a + ?",
  "SELECT count(*) FROM t GROUP BY GROUPING SETS ((a, ?), (b, ?))",
  "SELECT a FROM t ORDER BY ? DESC, ?",
  "SELECT DISTINCT ON (?) a FROM t LIMIT ? %",
  "SELECT CASE a + ? WHEN ? THEN ? WHEN ? THEN ? ELSE ? END, CASE WHEN a > ? THEN ? END",
  "SELECT a BETWEEN ? AND ?, a NOT BETWEEN ? AND -?, a LIKE ?, a LIKE ? ESCAPE ?, a SIMILAR TO ?, a ~ ?",
  "SELECT INTERVAL ? DAY, INTERVAL (?) HOUR, INTERVAL ?, now() - INTERVAL ?",
  "SELECT [?, ?, ?], {'k': ?}, x[?], x[?:?], MAP {?: ?}, row(?, ?), struct_pack(a := ?)",
  "SELECT extract(? FROM time), extract(year FROM time), time AT TIME ZONE ?, substring(a FROM ? FOR ?), position(? IN a), trim(BOTH ? FROM a)",
  "SELECT sum(a) OVER (ORDER BY t ROWS BETWEEN ? PRECEDING AND ? FOLLOWING), lag(a, ?, ?) OVER w FROM t WINDOW w AS (PARTITION BY b + ?)",
  "SELECT percentile_cont(?) WITHIN GROUP (ORDER BY a), approx_percentile_cont(a, ?), quantile_cont(a, [?, ?]) FROM t",
  "SELECT a FROM t USING SAMPLE ?",
  "SELECT a FROM t TABLESAMPLE reservoir(? ROWS) REPEATABLE (?)",
  "SELECT a FROM t FETCH FIRST ? ROWS ONLY",
  "VALUES (?, ?), (?, ?)",
  "SELECT * FROM (VALUES (?, ?)) AS v(x, y) JOIN range(?, ?) AS r(n) ON x = n + ?",
  "SELECT ? AS 'name', ? AS \"N?\", ? x FROM t",
  "SELECT 'a' ? FROM t",
  "SELECT ?\n? FROM t",
  "SELECT ?/* c */? FROM t",
  "SELECT COLUMNS(?), * EXCLUDE (a), * REPLACE (? AS a) FROM t WHERE #1 > ?",
  "SELECT a FROM t UNION SELECT ? EXCEPT SELECT ? ORDER BY ? LIMIT ?",
  "WITH c AS (SELECT ? AS x LIMIT ?) SELECT (SELECT max(x) + ? FROM c), EXISTS (SELECT ?), ? = ANY (SELECT x FROM c) FROM c",
  "SELECT list_transform([?, ?], x -> x + ?), [x * ? FOR x IN [?] IF x > ?]",
  "SELECT a COLLATE NOCASE = ?, ? IS NOT DISTINCT FROM a, a IS NULL OR NOT a = ?, coalesce(a, ?), grouping(a)",
  "EXPLAIN SELECT ? FROM t WHERE a = ?",
  "SHOW COLUMNS FROM t",
  "SELECT $1, $name, $2 + ?",
  "SELECT e?, x?, u&?, ?x?, ?.?, ?e?, t.?, ?.a",
  "SELECT ?,?,(?),-?,?;",
  "SELECT * FROM ? WHERE a = ?",
  'SELECT \'ä\', ?, "Ö" FROM "Ü" WHERE "ß" = ? AND x = ?',
];

const STRINGS = [
  "'a'",
  "'b'",
  "''",
  "'it''s'",
  "'1 minute'",
  "'2016-01-01T00:00:00Z'",
  "'ä€😀'",
  "'x\ny'",
  "'year'",
  "'%'",
  "'1'",
  "'a\\b'",
];
const STRANGE = [
  "E'a\\n'",
  "$$d$$",
  "x'AB'",
  "x'0'",
  "u&'a'",
  "'\ud800'",
  "1e5",
  "1E-3",
  "0x1F",
  "1_000",
  "007",
  "1e999",
  "NULL",
  "true",
  "a",
];
const NUMBERS = ["0", "1", "2", "10", "999999999", "2147483646", "2147483647"];
const LONG_NUMBERS = ["2147483648", "123456789012345", "1234567890123456", "9007199254740993", "999999999999999999"];
const HUGE_NUMBERS = ["9223372036854775807", "9223372036854775808", "12345678901234567890", "340282366920938463463374607431768211456"];
const DECIMALS = ["0.5", ".5", "5.", "0.0", "1.50", "90.0", "00.5", "123456789.012345", "1234567890.123456", "0.1234567890123456789"];

const KINDS = [STRINGS, STRINGS, STRINGS, NUMBERS, NUMBERS, LONG_NUMBERS, HUGE_NUMBERS, DECIMALS, STRANGE];

describe("a tree from a template is the parser's own", () => {
  for (const seed of [1, 2]) {
    test(`seed ${seed}`, async () => {
      const below = prng(seed);
      const cache = new PlanCache(serialize, 1 << 20);
      const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
      const literal = (): string => {
        const list = KINDS[below(KINDS.length)]!;
        if (list === STRINGS && below(4) === 0) return `'${String.fromCharCode(97 + below(26))}${below(100)}'`;
        if (list === NUMBERS && below(2) === 0) return String(below(2 ** 31));
        return pick(list);
      };
      for (let round = 0; round < ROUNDS; round++) {
        const skeleton = pick(SKELETONS);
        // first every place with literals of its own, then of the same kinds, so that templates are met again
        const first = skeleton.split("?").map(literal);
        const variants = [first, first.map((text) => sameKind(text, below)), first.map((text) => sameKind(text, below))];
        for (const literals of variants) {
          const sql = skeleton.split("?").reduce((text, part, i) => text + literals[i]! + part);
          await expectSame(cache, below(6) === 0 ? damage(sql, below) : sql);
        }
      }
    });
  }
});

/** Another literal that looks alike. */
function sameKind(text: string, below: (bound: number) => number): string {
  if (text.startsWith("'")) return below(2) === 0 ? STRINGS[below(STRINGS.length)]! : `'${below(1000)}'`;
  if (/^\d{1,9}$/.test(text)) return String(below(12));
  if (/^\d+$/.test(text)) return LONG_NUMBERS[below(LONG_NUMBERS.length)]!;
  if (/^\d*\.\d*$/.test(text)) return below(3) === 0 ? DECIMALS[below(DECIMALS.length)]! : `${below(100)}.${below(100)}`;
  return text;
}

/** One character more, less, or another. */
function damage(sql: string, below: (bound: number) => number): string {
  const at = below(sql.length);
  const char = [...`'"-x1. \n$#&()e`][below(14)]!;
  return sql.slice(0, at) + (below(3) === 0 ? "" : char) + sql.slice(at + below(2));
}

/** How often DuckDB's parser is asked for these statements. */
const SHARED: [name: string, statements: string[], parsed: number][] = [
  ["values of strings and numbers", ["SELECT a FROM t WHERE b = 'x' AND c > 1", "SELECT  a FROM T /* */ WHERE b = 'it''s' AND c > 2"], 1],
  ["hosts and times", [1, 2, 3].map((n) => `SELECT max(u) FROM cpu WHERE host = 'h${n}' AND time > '2024-01-0${n}' LIMIT ${n}`), 1],
  ["signs", ["SELECT -1", "SELECT -2", "SELECT 1"], 2],
  ["widths of integers", ["SELECT 1", "SELECT 2147483647", "SELECT 2147483648"], 2],
  ["scales of decimals", ["SELECT 1.5", "SELECT 22.75", "SELECT .5"], 1],
  ["places in ORDER BY", ["SELECT a, b FROM t ORDER BY 1", "SELECT a, b FROM t ORDER BY 2"], 1],
  ["equal expressions in GROUP BY", ["SELECT 1 FROM t GROUP BY a + 1, a + 2", "SELECT 1 FROM t GROUP BY a + 2, a + 2"], 2],
  ["types", ["SELECT a::DECIMAL(5, 2)", "SELECT a::DECIMAL(6, 2)", "SELECT a::DECIMAL(5, 2)"], 2],
  [
    "lists of several lengths",
    ["SELECT a IN (1, 2)", "SELECT a IN (3, 4, 5)", "SELECT a NOT IN ('a', 'b')", "SELECT a NOT IN ('c', '', 'd')"],
    2,
  ],
  [
    "a list of one, of two kinds, of more than literals",
    ["SELECT a IN (1)", "SELECT a IN (1, 'a')", "SELECT a IN (1, b)", "SELECT a IN (1, -2)"],
    4,
  ],
  // once to see that it is no list that IN looks in
  ["lists that are rows", ["SELECT [x FOR x IN (1, 2)]", "SELECT [x FOR x IN (3, 4)]", "SELECT [x FOR x IN (1, 2, 3)]"], 3],
  ["lists in GROUP BY", ["SELECT 1 FROM t GROUP BY a IN (1, 2), a IN (1, 3)", "SELECT 1 FROM t GROUP BY a IN (1, 2), a IN (1, 2)"], 3],
  ["numbers and names that touch", ["SELECT 1x1F", "SELECT 0x1F"], 1],
];

describe("shapes are parsed once", () => {
  for (const [name, statements, parsed] of SHARED) {
    test(name, async () => {
      const cache = new PlanCache(serialize, 1 << 20);
      const before = serializedCount;
      for (const sql of statements) await cache.plan(sql);
      expect(serializedCount - before).toBe(parsed);
    });
  }

  test("lists side by side, of the same values and of other lengths, have names of their own", async () => {
    const cache = new PlanCache(serialize, 1 << 20);
    for (const lists of [
      ["('z', 'b')", "('a', 'd', 'e')"],
      ["('z', 'b', 'a')", "('d', 'e')"],
    ]) {
      for (let again = 0; again < 3; again++) await expectSame(cache, `SELECT h IN ${lists[0]}, h IN ${lists[1]} FROM t`);
    }
  });

  test("a plan's trees are its own", async () => {
    const cache = new PlanCache(serialize, 1 << 20);
    const plan = await cache.plan("SELECT a FROM t WHERE b = 'x'");
    const spoilt = plan.tree();
    spoilt.modifiers.push({ type: "DISTINCT_MODIFIER", distinct_on_targets: [] });
    if (spoilt.type === "SELECT_NODE") spoilt.select_list.length = 0;
    expect(await keptTree(cache, "SELECT a FROM t WHERE b = 'x'")).toEqual(await freshTree("SELECT a FROM t WHERE b = 'x'"));
  });

  test("the least recently used go, and nothing grows beyond the bound", async () => {
    const bytesMax = 256 << 10;
    const cache = new PlanCache(serialize, bytesMax);
    const parsedFor = async (sql: string) => {
      const before = serializedCount;
      await cache.plan(sql);
      expect(cache.keptBytes).toBeLessThanOrEqual(bytesMax);
      return serializedCount - before;
    };
    await parsedFor("SELECT kept, 1");
    for (let i = 0; i < 200; i++) {
      await parsedFor(`SELECT column_${"x".repeat(i)}, 1`);
      expect(await parsedFor(`SELECT kept, ${i}`)).toBe(0);
    }
    expect(await parsedFor("SELECT column_, 1")).toBe(1);
  });

  test("types in brackets that do not close", async () => {
    const cache = new PlanCache(serialize, 1 << 20);
    for (const sql of ["SELECT a::VARCHAR(5", "SELECT CAST(a AS DECIMAL(5, 2 FROM t", "SELECT a::VARCHAR(5 AS b"]) {
      expect(await orError(keptTree(cache, sql))).toContain("SQL error: syntax error");
    }
  });

  test("errors say where, whether the plan is kept or not", async () => {
    const cache = new PlanCache(serialize, 1 << 20);
    for (const host of ["a", "a long one"]) {
      const plan = await cache.plan(`SELECT a\n  FROM t WHERE host = '${host}' AND missing > 1`);
      const tree = plan.tree();
      const where = tree.type === "SELECT_NODE" && tree.where_clause?.class === "CONJUNCTION" ? tree.where_clause.children[1]! : null;
      const column = "  FROM t WHERE host = '' AND ".length + host.length + 1;
      const left = where?.class === "COMPARISON" ? where.left : null;
      expect(plan.placeOf(left!.query_location!)).toMatchObject({ line: 2, column });
    }
  });

  test("errors of syntax count characters, whatever comes before them", async () => {
    const cache = new PlanCache(serialize, 1 << 20);
    for (const text of ["abc", "ä€😀"])
      expect(await orError(cache.plan(`SELECT 'x' IN ('y', '${text}'), '${text}',\n'${text}' FROM t WHERE )`))).toBe(
        'SQL error: syntax error at or near ")" at Line: 2, Column: 20',
      );
  });
});
