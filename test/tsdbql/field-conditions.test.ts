// Conditions over several fields are computed by the scan. The same condition with a test of a tag that is never true is computed row by
// row: both answer alike, in several states of the rows.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { parseQuery } from "../../src/tsdbql/parse/parser.ts";
import { fieldCondition } from "../../src/tsdbql/plan/field-condition.ts";
import type { Schema } from "../../src/tsdbql/plan/types.ts";
import { pick, prng } from "../support/prng.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { StoredRows } from "../support/rows/stored-rows.ts";

const STATES = ROW_STATES.filter((state) => ["in memory", "compacted", "half flushed and written again"].includes(state));
const kernel = Kernel.create();

/** Missing values, numbers at both ends of their types, and sums beyond those of floats. */
function steps(): RowStep[] {
  const below = prng(3);
  const lines = Array.from({ length: 400 }, (_, i) => {
    const fields = [
      ...(below(5) === 0 ? [] : [`f=${pick(below, [-1.5, 0, 0.25, 2, 3.5, 1e300, -1e300])}`]),
      ...(below(5) === 0 ? [] : [`g=${pick(below, [-1.5, 0, 0.25, 2, 3.5, 1e300])}`]),
      ...(below(5) === 0 ? [] : [`i=${pick(below, ["-2", "0", "2", "3", "9223372036854775807", "-9223372036854775808"])}i`]),
      ...(below(5) === 0 ? [] : [`j=${below(6) - 2}i`]),
      ...(below(3) === 0 ? [] : [`b=${below(2) === 1}`]),
      ...(below(3) === 0 ? [] : [`c=${below(2) === 1}`]),
      'x="text"',
    ];
    return `cpu,host=h${below(4)} ${fields.join(",")} ${1_000_000_000 * (i + below(2))}`;
  });
  return [lines.slice(0, 250), lines.slice(200)].map((part) => ({ database: "db", lines: part.join("\n") })) as RowStep[];
}

const stored: StoredRows[] = [];
beforeAll(async () => {
  for (const state of STATES) stored.push(await StoredRows.open(kernel, state, steps()));
});
afterAll(async () => {
  for (const rows of stored) await rows.close();
});

const SCHEMA: Schema = {
  fields: new Map([
    ["f", "float"],
    ["g", "float"],
    ["i", "integer"],
    ["j", "integer"],
    ["b", "boolean"],
    ["c", "boolean"],
    ["x", "string"],
  ]),
  tags: new Set(["host"]),
};

/** True if the scan computes a condition. */
function isComputed(condition: string): boolean {
  const [placed] = parseQuery(`SELECT f FROM cpu WHERE ${condition}`);
  const { statement } = placed!;
  if (statement.kind !== "select" || statement.where === null) throw new Error("it has a condition");
  return fieldCondition(statement.where, SCHEMA) !== null;
}

const FORMS: readonly ((condition: string) => string)[] = [
  (condition) => `SELECT f, g, i, j, b FROM cpu WHERE ${condition} GROUP BY host`,
  (condition) => `SELECT count(x), sum(j), max(g) FROM cpu WHERE ${condition}`,
  (condition) => `SELECT mean(g), count(b) FROM cpu WHERE ${condition} AND time >= 0 AND time < 400s GROUP BY time(1m), host fill(none)`,
  (condition) => `SELECT last(f) FROM cpu WHERE host != 'h2' AND (${condition}) GROUP BY host`,
  (condition) => `SELECT x FROM cpu WHERE ${condition} ORDER BY time DESC LIMIT 3`,
];

async function check(condition: string): Promise<void> {
  for (const form of FORMS) {
    for (const [at, rows] of stored.entries()) {
      const answers = await Promise.all([condition, `((${condition}) OR host = 'none')`].map((each) => rows.tsdbql(form(each))));
      expect([STATES[at], answers[0]], condition).toEqual([STATES[at], answers[1]!]);
    }
  }
}

describe("conditions", () => {
  test.each([
    "f > g",
    "f = g OR i = j",
    "i != j",
    "f != i",
    "i >= f",
    "f > 1 OR g < 0 OR j = 2",
    "(f > 1 OR g < 0) AND (i > 0 OR j > 0)",
    "b = true OR c = false",
    "b != true OR f > 3",
    "f + g > 2",
    "f * f - g <= j",
    "f / g > 1",
    "f / j < 1",
    "f / 0 = 0 OR f > 1",
    "f * 10 * f - f * f * f > 0 OR g - f * 10000000000.0 <= 0",
    "f::float > 1 OR g::field > 2",
    "1 < f OR 2.5 >= i",
  ])("%s", async (condition) => {
    await check(condition);
  });

  test.each([
    ["f > 1 OR g < 0 OR j = 2", true],
    ["f + g > 2", true],
    ["f / g > 1", true],
    ["b = true OR c = false", true],
    ["f > 1 OR host = 'h1'", false],
    ["f > 1 OR x = 'text'", false],
    // integers wrap around
    ["i + j > 2", false],
    ["i::float > 1 OR f > 1", false],
    ["f + g = 2", false],
    ["abs(f) > 1 OR g > 1", false],
    [Array.from({ length: 60 }, (_, k) => `f > ${k}`).join(" OR "), false],
    [`${"(".repeat(200)}f > g${")".repeat(200)}`, false],
  ])("%s is computed by the scan: %p", (condition, expected) => {
    expect(isComputed(condition)).toBe(expected);
  });

  test("in numbers", async () => {
    const rows = await StoredRows.open(kernel, "in memory", [{ database: "db", lines: "m a=1,b=2 1\nm a=3,b=2 2\nm a=4 3\nm b=9 4" }]);
    const answer = await rows.tsdbql("SELECT a FROM m WHERE a > b OR a = 1");
    expect(answer.map(({ values }) => values)).toEqual([
      [
        [1n, 1],
        [2n, 3],
      ],
    ]);
    await rows.close();
  });
});

function randomCondition(below: (n: number) => number, depth: number): string {
  const operand = (): string => {
    const leaf = () => pick(below, ["f", "g", "i", "j", "2", "0.25", "-1", "f", "g"]);
    return below(3) === 0 ? `(${leaf()} ${pick(below, ["+", "-", "*", "/"])} ${pick(below, ["f", "g", "1.5"])})` : leaf();
  };
  if (depth === 0 || below(4) === 0) {
    if (below(4) === 0) return `${pick(below, ["b", "c"])} ${pick(below, ["=", "!="])} ${below(2) === 0}`;
    return `${pick(below, ["f", "g", "i", "j"])} ${pick(below, ["<", "<=", ">", ">=", "=", "!="])} ${operand()}`;
  }
  return `(${randomCondition(below, depth - 1)} ${pick(below, ["AND", "OR", "OR"])} ${randomCondition(below, depth - 1)})`;
}

test.each(Array.from({ length: 25 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1))("random conditions, seed %i", async (seed) => {
  const below = prng(seed);
  await check(randomCondition(below, 1 + below(4)));
});
