// Expressions over fields compared with their definition, row by row: as columns of a run, and as conditions on rows that are listed.
import { afterEach, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { evaluate, TooLarge } from "../../../test/support/rows/naive-expression.ts";
import { narrowedRun, withNearIntegers } from "../../../test/support/rows/narrow-run.ts";
import { randomExpression } from "../../../test/support/rows/random-expression.ts";
import { ALL_TYPES, randomRows } from "../../../test/support/rows/random-rows.ts";
import { Arena, isPresent, type TestRow, type TestValue, writeRun } from "../../../test/support/rows/rows.ts";
import { openOne } from "../../../test/support/rows/run-scan.ts";
import { drain } from "../../../test/support/rows/scan-rows.ts";
import { type ComputedColumn, columnTypeOf, type ExpressionOperator, type FieldExpression } from "../../model/query/field-expression.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import { Blocks } from "../memory/blocks.ts";
import { Kernel } from "../memory/kernel.ts";
import { computeColumn } from "./expression-program.ts";

const SEEDS = Array.from({ length: 60 * Number(process.env["ROUNDS"] ?? 1) }, (_, i) => i + 1);
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const kernel = Kernel.create();
const arena = new Arena(kernel);
afterEach(() => arena.free());

const idOf = (name: string) => ALL_TYPES.find((column) => column.name === name)!.id;
const F: FieldExpression = { kind: "column", type: "float", columnId: idOf("f") };
const I: FieldExpression = { kind: "column", type: "integer", columnId: idOf("i") };
const B: FieldExpression = { kind: "column", type: "boolean", columnId: idOf("b") };
const integer = (value: bigint | null): FieldExpression => ({ kind: "constant", type: "integer", value });
const float = (value: number | null): FieldExpression => ({ kind: "constant", type: "float", value });
const call = (operator: ExpressionOperator, type: FieldExpression["type"], ...operands: FieldExpression[]): FieldExpression => ({
  ...{ kind: "call", type, operator, operands },
});

const column = (expression: FieldExpression): ComputedColumn => ({
  ...{ id: -1, name: "computed", type: columnTypeOf(expression.type), expression },
});

/** The values of all rows; "failed": an integer leaves 64 bits in one of them. */
function computed(run: Run, expression: FieldExpression): (TestValue | null)[] | "failed" {
  const before = kernel.heap.usedBytes;
  const blocks = new Blocks(kernel);
  try {
    const values = computeColumn(kernel, run, column(expression), [{ first: 0, end: run.rowCount }], blocks);
    if (values === "failed") return "failed";
    const { type, dataPtr, validityPtr } = values;
    return Array.from({ length: run.rowCount }, (_, row) => {
      if (!isPresent(kernel, validityPtr, row)) return null;
      if (type === ColumnType.boolean) return kernel.u8[dataPtr + row] === 1;
      return type === ColumnType.float ? kernel.f64[dataPtr / 8 + row]! : kernel.i64[dataPtr / 8 + row]!;
    });
  } finally {
    blocks.release();
    expect(kernel.heap.usedBytes).toBe(before);
  }
}

/** The same by definition. */
function expected(rows: readonly TestRow[], expression: FieldExpression): (TestValue | null | TooLarge)[] {
  return rows.map((row) => {
    try {
      return evaluate(expression, (id) => row.fields[ALL_TYPES.find((each) => each.id === id)!.name] ?? null);
    } catch (error) {
      if (error instanceof TooLarge) return error;
      throw error;
    }
  });
}

const isTooLarge = (value: unknown) => value instanceof TooLarge;

/** Times of the rows of which a condition is true. */
function passing(run: Run, expression: FieldExpression, range = ALL_TIME): bigint[] {
  const fields = [{ operator: "true", expression } as const];
  return drain(kernel, openOne(kernel, run, { columns: [TIME_COLUMN], range, tags: [], fields }), [TIME_COLUMN]).map(
    ([time]) => time as bigint,
  );
}

/** Rows i = 0, 1, … at these times, of i, f and b. */
function rowsOf(...fields: TestRow["fields"][]): TestRow[] {
  return fields.map((values, i) => ({ timeNs: BigInt(i), tags: {}, fields: values }));
}

describe("computed columns", () => {
  test.each(SEEDS)("agree with the definition, seed %i", (seed) => {
    const below = prng(seed);
    // registers have 1,024 rows
    const count = [1, 3, 16, 1023, 1024, 1025, 3000][below(7)]!;
    const isNarrow = below(2) === 0;
    const wide = randomRows(below, { count, times: 1000, hosts: 3 });
    const rows = isNarrow ? withNearIntegers(below, wide) : wide;
    const run = isNarrow ? narrowedRun(kernel, arena, writeRun(arena, ALL_TYPES, rows)) : writeRun(arena, ALL_TYPES, rows);
    for (let i = 0; i < 8; i++) {
      const expression = randomExpression(below, (["float", "integer", "boolean"] as const)[below(3)]!, 1 + below(5), below(2) === 0);
      const wanted = expected(rows, expression);
      expect(computed(run, expression)).toEqual(wanted.some(isTooLarge) ? "failed" : (wanted as TestValue[]));
    }
  });

  test("integers have 64 bits", () => {
    const cases: [ExpressionOperator, bigint, bigint, bigint | "failed"][] = [
      ["+", I64_MAX, 0n, I64_MAX],
      ["+", I64_MAX, 1n, "failed"],
      ["+", I64_MIN, -1n, "failed"],
      ["+", I64_MIN, I64_MAX, -1n],
      ["-", I64_MIN, 1n, "failed"],
      ["-", 0n, I64_MIN, "failed"],
      ["-", -1n, I64_MIN, I64_MAX],
      ["*", 2n ** 31n, -(2n ** 32n), I64_MIN],
      ["*", 2n ** 31n, 2n ** 32n, "failed"],
      ["*", -1n, I64_MIN, "failed"],
      ["*", I64_MIN, -1n, "failed"],
      ["*", -1n, I64_MAX, -I64_MAX],
      ["*", 3037000500n, 3037000500n, "failed"],
      ["*", 3037000499n, 3037000499n, 9223372030926249001n],
      ["*", I64_MIN, 0n, 0n],
    ];
    for (const [operator, a, b, result] of cases) {
      const run = writeRun(arena, ALL_TYPES, rowsOf({ i: 1n }, { i: a }));
      const expression = call(
        operator,
        "integer",
        call("choose", "integer", call("=", "boolean", I, integer(a)), I, integer(0n)),
        integer(b),
      );
      const first = operator === "*" ? 0n : operator === "+" ? b : -b;
      const isFirstFine = first <= I64_MAX;
      expect([operator, a, b, computed(run, expression)]).toEqual([
        operator,
        a,
        b,
        result === "failed" || !isFirstFine ? "failed" : [a === 1n ? result : first, result],
      ]);
    }
  });

  test("what leaves 64 bits beside a NULL does not matter", () => {
    const run = writeRun(arena, ALL_TYPES, rowsOf({ i: I64_MAX, b: true }, { i: 1n }));
    const whenTrue = call("choose", "integer", call("is null", "boolean", B), I, integer(null));
    expect(computed(run, call("+", "integer", whenTrue, integer(5n)))).toEqual([null, 6n]);
    // a column that no row has is NULL
    expect(computed(run, call("+", "float", F, float(1)))).toEqual([null, null]);
    expect(computed(run, call("is null", "boolean", F))).toEqual([true, true]);
  });

  test("truth values are three, and NaN is the greatest number", () => {
    const [no, unknown, yes] = [false, null, true].map((value): FieldExpression => ({ kind: "constant", type: "boolean", value }));
    const run = writeRun(arena, ALL_TYPES, rowsOf({ f: Number.NaN }));
    const value = (expression: FieldExpression) => (computed(run, expression) as (TestValue | null)[])[0];
    const all = [no!, unknown!, yes!];
    expect(all.map((a) => all.map((b) => value(call("and", "boolean", a, b))))).toEqual([
      [false, false, false],
      [false, null, null],
      [false, null, true],
    ]);
    expect(all.map((a) => all.map((b) => value(call("or", "boolean", a, b))))).toEqual([
      [false, null, true],
      [null, null, true],
      [true, true, true],
    ]);
    expect(all.map((a) => value(call("not", "boolean", a)))).toEqual([true, null, false]);
    expect(value(call("=", "boolean", F, F))).toBe(true);
    expect(value(call("<", "boolean", float(Number.POSITIVE_INFINITY), F))).toBe(true);
    expect(value(call("<", "boolean", F, float(1)))).toBe(false);
    expect(value(call("=", "boolean", float(-0), float(0)))).toBe(true);
  });
});

describe("integers in fewer bytes", () => {
  const J: FieldExpression = { kind: "column", type: "integer", columnId: 90 };
  const COLUMNS = [TIME_COLUMN, ALL_TYPES.find(({ name }) => name === "i")!, { id: 90, name: "j", type: ColumnType.integer }];
  const BASES = [
    -5n,
    I64_MIN,
    I64_MAX - 2n ** 41n,
    ...[29n, 30n, 31n, 32n].flatMap((bits) => [2n ** bits - 1n, 2n ** bits, -(2n ** bits)]),
  ];
  const COMPARISONS = { "<": (a: bigint, b: bigint) => a < b, "=": (a: bigint, b: bigint) => a === b };
  const ARITHMETIC = {
    "+": (a: bigint, b: bigint) => a + b,
    "-": (a: bigint, b: bigint) => a - b,
    "*": (a: bigint, b: bigint) => a * b,
  };
  const RANGES = [0n, 1n, 255n, 256n, 65_535n, 65_536n];
  const DISTANCES = [0n, 1n, -1n, 254n, 255n, 256n, 257n, -255n, -256n, -257n, 65_535n, 65_536n, 65_537n, -65_536n, -65_537n, 2n ** 40n];

  test.each(RANGES)("the first within %i", (range) => {
    const below = prng(Number(range) + 1);
    const within = (base: bigint, width: bigint, i: number) =>
      i === 0 ? base : i === 1 ? base + width : base + BigInt(below(Number(width) + 1));
    for (const otherRange of RANGES) {
      for (const distance of DISTANCES) {
        for (const base of BASES) {
          const otherBase = base + distance < I64_MIN ? I64_MIN : base + distance;
          const rows = Array.from({ length: 37 }, (_, i): TestRow => {
            const [a, b] = [within(base, range, i), within(otherBase, otherRange, i)];
            return { timeNs: BigInt(i), tags: {}, fields: { i: a, j: below(4) === 0 ? a : b } };
          });
          expectSame(rows, [base + range, otherBase, base - 1n < I64_MIN ? I64_MAX : base - 1n]);
        }
      }
    }
  });

  test("that go on at the other end of 64 bits", () => {
    const ends = [I64_MAX, I64_MIN, I64_MAX - 3n, I64_MIN + 200n];
    expectSame(
      Array.from({ length: 32 }, (_, i) => ({ timeNs: BigInt(i), tags: {}, fields: { i: ends[i % 4]!, j: ends[(i >> 2) % 4]! } })),
      [I64_MAX, I64_MIN, 0n],
    );
  });

  /** Compares and computes both columns, and each with constants. */
  function expectSame(rows: readonly TestRow[], constants: readonly bigint[]): void {
    for (const count of [rows.length & ~15, rows.length]) {
      const some = rows.slice(0, count);
      const run = narrowedRun(kernel, arena, writeRun(arena, COLUMNS, some));
      const operands: [FieldExpression, FieldExpression][] = [
        [I, J],
        ...constants.flatMap((value): [FieldExpression, FieldExpression][] => [
          [I, integer(value)],
          [integer(value), J],
        ]),
      ];
      for (const [a, b] of operands) {
        const operandOf = (operand: FieldExpression, row: TestRow) =>
          (operand.kind === "constant" ? operand.value! : row.fields[operand === I ? "i" : "j"]!) as bigint;
        const pairs = some.map((row) => [operandOf(a, row), operandOf(b, row)] as const);
        for (const [operator, compute] of Object.entries(COMPARISONS)) {
          const found = computed(run, call(operator as ExpressionOperator, "boolean", a, b));
          expect([operator, a, b, found]).toEqual([operator, a, b, pairs.map(([x, y]) => compute(x, y))]);
        }
        for (const [operator, compute] of Object.entries(ARITHMETIC)) {
          const results = pairs.map(([x, y]) => compute(x, y));
          const fits = results.every((result) => result >= I64_MIN && result <= I64_MAX);
          const found = computed(run, call(operator as ExpressionOperator, "integer", a, b));
          expect([operator, a, b, found]).toEqual([operator, a, b, fits ? results : "failed"]);
        }
      }
    }
    arena.free();
  }
});

describe("conditions", () => {
  test.each(SEEDS)("keep the rows of which they are true, seed %i", (seed) => {
    const below = prng(seed + 1000);
    const count = [1, 5, 1024, 1030, 2500][below(5)]!;
    const isNarrow = below(2) === 0;
    const wide = randomRows(below, { count, times: 3000, hosts: 2 }).map((row, i) => ({ ...row, timeNs: BigInt(i) }));
    const rows = isNarrow ? withNearIntegers(below, wide) : wide;
    const run = isNarrow ? narrowedRun(kernel, arena, writeRun(arena, ALL_TYPES, rows)) : writeRun(arena, ALL_TYPES, rows);
    for (let i = 0; i < 6; i++) {
      const expression = randomExpression(below, "boolean", 1 + below(4), below(2) === 0);
      const range = below(2) === 0 ? ALL_TIME : { minNs: BigInt(below(count)), maxNs: BigInt(below(count)) };
      const within = rows.filter(({ timeNs }) => timeNs >= range.minNs && timeNs <= range.maxNs);
      const wanted = expected(within, expression);
      const found = () => passing(run, expression, range);
      if (wanted.some(isTooLarge)) expect(found).toThrow("64-bit");
      else expect(found()).toEqual(within.filter((_, row) => wanted[row] === true).map(({ timeNs }) => timeNs));
    }
  });

  test("a row that is not selected cannot fail", () => {
    const run = writeRun(arena, ALL_TYPES, rowsOf({ i: 1n }, { i: I64_MAX }, { i: 5n }));
    const expression = call("<", "boolean", integer(2n), call("+", "integer", I, integer(2n)));
    expect(() => passing(run, expression)).toThrow("64-bit");
    expect(passing(run, expression, { minNs: 2n, maxNs: 2n })).toEqual([2n]);
    expect(passing(run, expression, { minNs: 0n, maxNs: 0n })).toEqual([0n]);
  });
});
