// Operators and functions of rows: integers against BigInt, the rest against the language's rules.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { finish } from "../../model/steps.ts";
import type { FieldType, Literal } from "../parse/ast.ts";
import { type Arithmetic, arithmetic, arithmeticType, toCells } from "./arithmetic.ts";
import { cellsOf, valueAt } from "./columns.ts";
import { ROW_FUNCTIONS } from "./functions.ts";
import type { Cells } from "./operator.ts";
import { Texts } from "./texts.ts";

const OPERATORS: readonly Arithmetic[] = ["+", "-", "*", "/", "%", "&", "|", "^"];

function model(operator: Arithmetic, a: bigint, b: bigint): bigint {
  if (operator === "+") return a + b;
  if (operator === "-") return a - b;
  if (operator === "*") return a * b;
  if (operator === "&") return a & b;
  if (operator === "|") return a | b;
  if (operator === "^") return a ^ b;
  if (b === 0n) return 0n;
  return operator === "/" ? a / b : a % b;
}

const EDGES = [0n, 1n, -1n, 2n ** 31n, -(2n ** 31n), 2n ** 32n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)];

function integers(seed: number, bits: number): bigint[] {
  const below = prng(seed);
  const random = () => BigInt.asIntN(bits, (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32)));
  return [...EDGES.filter((edge) => BigInt.asIntN(bits, edge) === edge), ...Array.from({ length: 200 }, random)];
}

for (const bits of [8, 30, 53, 64]) {
  test(`integers of ${bits} bits are exact and wrap, seed ${bits}`, () => {
    const values = integers(bits, bits);
    const pairs = values.flatMap((a, i) =>
      [values[(i * 7 + 3) % values.length]!, values[(i + 1) % values.length]!, 0n].map((b) => [a, b] as const),
    );
    for (const type of ["integer", "unsigned"] as const) {
      const wrap = (value: bigint) => (type === "integer" ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
      const column = (of: bigint[]) =>
        type === "integer" ? cellsOf("integer", BigInt64Array.from(of), null) : cellsOf("unsigned", BigUint64Array.from(of), null);
      for (const operator of OPERATORS) {
        if (arithmeticType(operator, type, type) === "float") continue;
        const got = finish(arithmetic(operator, column(pairs.map(([a]) => a)), column(pairs.map(([, b]) => b)), pairs.length));
        const want = pairs.map(([a, b]) => wrap(model(operator, wrap(a), wrap(b))));
        expect({ operator, type: got.type, values: [...(got.values as BigInt64Array)] }).toEqual({ operator, type, values: want });
      }
    }
  });
}

const float = (...values: number[]) => cellsOf("float", Float64Array.from(values), null);
const integer = (...values: bigint[]) => cellsOf("integer", BigInt64Array.from(values), null);
const boolean = (...values: number[]) => cellsOf("boolean", Uint8Array.from(values), null);
const literal = (value: number): Literal => ({ kind: "number", value });

// as InfluxDB 1.6.7 answers them
const FLOATS: [name: string, got: Cells, want: number[]][] = [
  ["10 / 2, 9 / 2, 1 / 0 of integers", finish(arithmetic("/", integer(10n, 9n, 1n), integer(2n, 2n, 0n), 3)), [5, 4.5, 0]],
  ["1.5 / 0 and 0.0 / 0", finish(arithmetic("/", float(1.5, 0), literal(0), 2)), [0, 0]],
  ["1.5 % 0, 3.5 % 1.5, -3.5 % 1.5", finish(arithmetic("%", float(1.5, 3.5, -3.5), float(0, 1.5, 1.5), 3)), [Number.NaN, 0.5, -0.5]],
  ["an integer less 0.5", finish(arithmetic("-", integer(10n), literal(0.5), 1)), [9.5]],
  ["2 ^ 53 + 1 as a float", finish(arithmetic("+", integer(2n ** 53n + 1n), literal(0), 1)), [2 ** 53]],
];
test.each(FLOATS)("arithmetic that gives floats: %s", (_, got, want) =>
  expect([got.type, [...(got.values as Float64Array)]]).toEqual(["float", want]),
);

test("booleans have & | ^ and nothing else", () => {
  const [a, b] = [boolean(0, 0, 1, 1), boolean(0, 1, 0, 1)];
  for (const [operator, want] of [
    ["&", [0, 0, 0, 1]],
    ["|", [0, 1, 1, 1]],
    ["^", [0, 1, 1, 0]],
  ] as const) {
    expect([...(finish(arithmetic(operator, a, b, 4)).values as Uint8Array)]).toEqual([...want]);
  }
  for (const operator of ["+", "-", "*", "/", "%"] as const) expect(arithmeticType(operator, "boolean", "boolean")).toBeNull();
});

const NO_MEANING: [Arithmetic, FieldType, FieldType][] = [
  ["+", "string", "string"],
  ["+", "string", "integer"],
  ["&", "float", "integer"],
  ["|", "float", "float"],
  ["+", "boolean", "integer"],
  ["&", "boolean", "integer"],
];
test.each(NO_MEANING)("%s means nothing between %s and %s", (operator, a, b) => expect(arithmeticType(operator, a, b)).toBeNull());

test("a row in which either side is null is null", () => {
  const a = cellsOf("float", Float64Array.of(1, 2, 3, 4), Uint8Array.of(0b0011));
  const b = cellsOf("integer", BigInt64Array.of(1n, 2n, 3n, 4n), Uint8Array.of(0b0101));
  expect(finish(arithmetic("+", a, b, 4)).validity![0]! & 0b1111).toBe(0b0001);
});

test("constants of every kind are columns", () => {
  expect(toCells({ kind: "integer", value: 2n ** 64n - 1n, unsigned: true }, 2)).toEqual(
    cellsOf("unsigned", BigUint64Array.of(2n ** 64n - 1n, 2n ** 64n - 1n), null),
  );
  expect(toCells({ kind: "string", value: "x" }, 1)).toEqual(cellsOf("string", Texts.of(["x"]), null));
});

const apply = (name: string, ...args: (Cells | Literal)[]) => finish(ROW_FUNCTIONS.get(name)!.apply(args, 1));
// the languages' documentation, and mathematics
const FUNCTIONS: [name: string, args: (Cells | Literal)[], want: number | bigint | null][] = [
  ["abs", [float(-1.5)], 1.5],
  ["abs", [integer(-5n)], 5n],
  ["abs", [integer(-(2n ** 63n))], -(2n ** 63n)],
  ["abs", [integer(-(2n ** 53n) - 1n)], 2n ** 53n + 1n],
  ["ceil", [float(1.2)], 2],
  ["ceil", [integer(7n)], 7],
  ["floor", [float(-1.2)], -2],
  ["round", [float(2.5)], 3],
  ["round", [float(-2.5)], -3],
  ["round", [float(0.49999999999999994)], 0],
  ["round", [integer(9n)], 9],
  ["sqrt", [integer(9n)], 3],
  ["ln", [float(Math.E)], 1],
  ["log", [integer(8n), literal(2)], 3],
  ["log2", [integer(1024n)], 10],
  ["log10", [float(0.001)], -3],
  ["pow", [integer(2n), integer(10n)], 1024],
  ["pow", [float(1), literal(Number.NaN)], 1],
  ["pow", [float(-1), literal(Number.POSITIVE_INFINITY)], 1],
  ["exp", [float(0)], 1],
  ["atan2", [float(1.5), integer(10n)], 0.14888994760949725],
  ["asin", [integer(10n)], Number.NaN],
  ["acos", [float(-1)], Math.PI],
  ["sin", [float(0)], 0],
  ["cos", [float(0)], 1],
  ["tan", [float(0)], 0],
  ["atan", [float(0)], 0],
  ["abs", [boolean(1)], null],
  ["pow", [float(1), cellsOf("string", Texts.of(["x"]), null)], null],
];
test.each(FUNCTIONS.map((row, i) => [i, ...row] as const))("function %d: %s", (_, name, args, want) => {
  const { values, validity } = apply(name, ...args);
  if (want === null) expect(validity![0]! & 1).toBe(0);
  else if (typeof want === "bigint") expect(valueAt(values, 0)).toBe(want);
  else if (Number.isNaN(want)) expect(valueAt(values, 0)).toBeNaN();
  else expect(valueAt(values, 0) as number).toBeCloseTo(want, 14);
});
