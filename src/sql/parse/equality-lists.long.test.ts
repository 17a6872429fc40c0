// A long chain of equalities answers as the same chain does whose terms nobody sees as such, because each stands in parentheses.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FakeTable } from "../../../test/support/rows/fake-table.ts";
import { askRows } from "../../../test/support/sql/sql-rows.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { describeError } from "../../model/errors.ts";
import { ColumnType } from "../../model/rows/column.ts";
import { SqlEngine } from "../execute/engine.ts";
import { equalityLists } from "./equality-lists.ts";
import { tokenize } from "./tokens.ts";

let engine: SqlEngine;
let table: FakeTable;

beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  const { time, tag, integer, unsigned, float, string, boolean } = ColumnType;
  const columns = { time, Host: tag, host: tag, i: integer, u: unsigned, f: float, s: string, b: boolean };
  const rows = Array.from({ length: 60 }, (_, n) => {
    const isNull = n % 7 === 0;
    const value = BigInt(n);
    return {
      time: value * 1_000_000_000n,
      Host: `H${n}`,
      host: isNull ? null : `h${n}`,
      i: isNull ? null : value - 30n,
      u: isNull ? null : value,
      f: isNull ? null : n / 2,
      s: isNull ? null : `s${n}`,
      b: isNull ? null : n % 2 === 0,
    };
  });
  table = new FakeTable(kernel, "t", columns, rows);
});
afterAll(() => engine.close());

const TERMS = 20;
/** `x = 1 OR x = 2 …`; `hidden`: each in parentheses. */
const chain = (name: string, sign: string, literal: (i: number) => string, joint: string, hidden: boolean) =>
  Array.from({ length: TERMS }, (_, i) => `${name} ${sign} ${literal(i)}`)
    .map((term) => (hidden ? `(${term})` : term))
    .join(` ${joint} `);

const textOf = (sql: string) =>
  equalityLists(tokenize(sql))
    .map(({ text }) => text)
    .join(" ");

async function answer(condition: string): Promise<unknown> {
  const sql = `SELECT time FROM t WHERE ${condition} ORDER BY time`;
  try {
    return await askRows(engine, sql, { tables: [table], databaseTables: [table], params: {} });
  } catch (error) {
    return describeError(error).kind;
  }
}

const LITERALS: readonly (readonly [name: string, literal: (i: number) => string])[] = [
  ["host", (i) => `'h${i * 2}'`],
  ['"Host"', (i) => `'H${i}'`],
  ["t.host", (i) => `'h${i}'`],
  ["iox.t.host", (i) => `'h${i}'`],
  ["host", (i) => `'it''s ${i}'`],
  ["host", (i) => String(i)],
  ["i", String],
  ["i", (i) => `-${i}`],
  ["i", (i) => `${i}.5`],
  ["i", (i) => `${i}.0`],
  ["i", (i) => `'${i}'`],
  ["i", (i) => `30000000000${i}`],
  ["u", String],
  ["u", (i) => `-${i}`],
  ["f", String],
  ["f", (i) => `${i}.5`],
  ["f", (i) => `${i}e0`],
  ["f", (i) => `'${i}.5'`],
  ["s", (i) => `'s${i}'`],
  ["s", String],
  ["b", () => "'true'"],
  ["b", () => "1"],
  ["time", (i) => `'1970-01-01T00:00:${String(i + 10)}Z'`],
  ["time", (i) => `'${i} o''clock'`],
  ["time", (i) => String(i)],
  ["nothing", String],
];

describe.each(LITERALS)("%s beside literals", (name, literal) => {
  test.each([
    ["=", "OR"],
    ["<>", "AND"],
    ["!=", "AND"],
    ["=", "AND"],
    ["<>", "OR"],
  ])("%s %s", async (sign, joint) => {
    const isList = (sign === "=") === (joint === "OR");
    const isKnown = !literal(1).includes("e0");
    const shown = textOf(`SELECT 1 FROM t WHERE ${chain(name, sign, literal, joint, false)}`);
    expect(shown.includes(sign === "=" ? " in ( " : " not in ( ")).toBe(isList && isKnown);
    const [seen, hidden] = [false, true].map((isHidden) => chain(name, sign, literal, joint, isHidden));
    expect(await answer(seen!)).toEqual(await answer(hidden!));
    expect(await answer(`NOT (${seen})`)).toEqual(await answer(`NOT (${hidden})`));
    expect(await answer(`(${seen}) IS NULL`)).toEqual(await answer(`(${hidden}) IS NULL`));
  });
});

/** What stands around a chain, for which `$` is. */
const AROUND = [
  "$ AND u > 5",
  "u > 5 AND $",
  "u > 5 OR $",
  "$ OR u > 50",
  "NOT $",
  "u BETWEEN 3 AND $",
  "u BETWEEN 3 AND 40 AND $",
  "($) = true",
  "$ = true",
  "$ IS NULL",
  "CASE WHEN $ THEN true ELSE u > 55 END",
  "u IN (SELECT u FROM t WHERE $ GROUP BY u)",
  "i = 3 OR $ AND i = 4",
  "i = 3 AND $ OR i = 4 AND u = 2",
];

describe.each([
  ["=", "OR"],
  ["<>", "AND"],
])("chains of %s and %s bind as they did", (sign, joint) => {
  test.each(AROUND)("%s", async (around) => {
    // a plus hides a literal and binds as nothing does
    const [seen, hidden] = ["", "+"].map((plus) =>
      around.replace(
        "$",
        chain("i", sign, (i) => `${plus}${i}`, joint, false),
      ),
    );
    expect(await answer(seen!)).toEqual(await answer(hidden!));
  });
});

test("columns of an answer are named by how they are written", () => {
  const equal = chain("i", "=", String, "OR", false);
  for (const sql of [`SELECT ${equal} FROM t`, `SELECT (${equal}) FROM t`, `SELECT sum(i) FILTER (WHERE ${equal}) FROM t`])
    expect(textOf(sql)).not.toContain(" in ");
});

test("other names and kinds of literals end a chain", () => {
  const [numbers, texts] = [chain("i", "=", String, "OR", false), chain("i", "=", (i) => `'${i}'`, "OR", false)];
  expect(textOf(`SELECT 1 FROM t WHERE ${numbers} OR ${texts} OR u = 3`).match(/ in /g)).toHaveLength(2);
});
