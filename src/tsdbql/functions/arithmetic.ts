// Operators between columns of rows and constants. Integers wrap around in 64 bits and stay exact; the quotient of two integers is a float.
// Division by zero gives 0; a remainder by 0 gives 0 for integers and NaN for floats. A row in which either operand is null is null.
import { assert } from "../../model/assert.ts";
import { inSteps, isPause, type Steps } from "../../model/steps.ts";
import type { BinaryOperator, FieldType, Literal } from "../parse/ast.ts";
import { cellsOf, newValues, numbersOf } from "./columns.ts";
import { areExact, floatsOf, type Integers, wordsOf } from "./int64.ts";
import type { Cells, CellsOf } from "./operator.ts";
import type { PointValues } from "./points.ts";
import { Texts } from "./texts.ts";
import { bothValid, type Validity } from "./validity.ts";

export type Arithmetic = Extract<BinaryOperator, "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^">;

const BITWISE: ReadonlySet<Arithmetic> = new Set(["&", "|", "^"]);
const WORD = 2 ** 32;
const EXACT = 2 ** 53;

const isInteger = (type: FieldType) => type === "integer" || type === "unsigned";
const isNumber = (type: FieldType) => type === "float" || isInteger(type);

/** The result type of an operator; null if it does not apply to these types. Of an integer and an unsigned operand the result is
 *  unsigned: the language allows this for constants only, which is checked when the statement is planned. */
export function arithmeticType(operator: Arithmetic, left: FieldType, right: FieldType): FieldType | null {
  if (left === "boolean" && right === "boolean") return BITWISE.has(operator) ? "boolean" : null;
  if (!isNumber(left) || !isNumber(right)) return null;
  if (left === "float" || right === "float") return BITWISE.has(operator) ? null : "float";
  if (left === "unsigned" || right === "unsigned") return "unsigned";
  return operator === "/" ? "float" : "integer";
}

/** @param left, right of types for which `arithmeticType` has a result */
export function* arithmetic(operator: Arithmetic, left: Cells | Literal, right: Cells | Literal, rowCount: number): Steps<Cells> {
  const [a, b] = [toCells(left, rowCount), toCells(right, rowCount)];
  const type = arithmeticType(operator, a.type, b.type);
  assert(type !== null, `${a.type} ${operator} ${b.type} was refused when it was planned`);
  const validity = bothValid(a.validity, b.validity);
  if (type === "boolean") return yield* booleans(operator, a as CellsOf<"boolean">, b as CellsOf<"boolean">, validity);
  if (type === "float") return cellsOf("float", yield* floatResults(operator, yield* numbersOf(a), yield* numbersOf(b)), validity);
  const values = newValues(type, rowCount) as Integers;
  yield* fillIntegers(operator, a.values as Integers, b.values as Integers, values);
  return cellsOf(type, values as PointValues[typeof type], validity);
}

/** A constant as a column. */
export function toCells(side: Cells | Literal, rowCount: number): Cells {
  if (!("kind" in side)) return side;
  switch (side.kind) {
    case "number":
      return cellsOf("float", new Float64Array(rowCount).fill(side.value), null);
    case "integer":
      if (side.unsigned) return cellsOf("unsigned", new BigUint64Array(rowCount).fill(side.value), null);
      return cellsOf("integer", new BigInt64Array(rowCount).fill(side.value), null);
    case "duration":
    case "time":
      return cellsOf("integer", new BigInt64Array(rowCount).fill(side.ns), null);
    case "boolean":
      return cellsOf("boolean", new Uint8Array(rowCount).fill(side.value ? 1 : 0), null);
    case "string":
      return cellsOf("string", Texts.constant(side.value, rowCount), null);
    case "regex":
      return cellsOf("string", Texts.constant(side.source, rowCount), null);
  }
}

function* booleans(operator: Arithmetic, a: CellsOf<"boolean">, b: CellsOf<"boolean">, validity: Validity): Steps<Cells> {
  const values = new Uint8Array(a.values.length);
  for (let i = 0; i < values.length; i++) {
    if (isPause(i)) yield;
    const x = a.values[i]!;
    const y = b.values[i]!;
    values[i] = operator === "&" ? x & y : operator === "|" ? x | y : x ^ y;
  }
  return cellsOf("boolean", values, validity);
}

function* floatResults(operator: Arithmetic, a: Float64Array, b: Float64Array): Steps<Float64Array> {
  const values = new Float64Array(a.length);
  yield* inSteps(values.length, (from, to) => {
    if (operator === "+") for (let i = from; i < to; i++) values[i] = a[i]! + b[i]!;
    else if (operator === "-") for (let i = from; i < to; i++) values[i] = a[i]! - b[i]!;
    else if (operator === "*") for (let i = from; i < to; i++) values[i] = a[i]! * b[i]!;
    else if (operator === "/") for (let i = from; i < to; i++) values[i] = b[i] === 0 ? 0 : a[i]! / b[i]!;
    else for (let i = from; i < to; i++) values[i] = a[i]! % b[i]!;
  });
  return values;
}

function* fillIntegers(operator: Arithmetic, a: Integers, b: Integers, values: Integers): Steps<void> {
  if (operator === "+" || operator === "-") yield* addInt64(wordsOf(a), wordsOf(b), wordsOf(values), operator === "-");
  else if (BITWISE.has(operator)) yield* combineBits(operator, wordsOf(a), wordsOf(b), wordsOf(values));
  else if ((yield* areExact(a)) && (yield* areExact(b))) yield* multiplyExact(operator, a, b, values);
  else {
    yield* inSteps(values.length, (from, to) => {
      for (let i = from; i < to; i++) values[i] = wide(operator, a[i]!, b[i]!);
    });
  }
}

function* addInt64(a: Int32Array, b: Int32Array, sums: Int32Array, isMinus: boolean): Steps<void> {
  yield* inSteps(sums.length / 2, (from, to) => {
    for (let i = 2 * from; i < 2 * to; i += 2) {
      const low = isMinus ? (a[i]! >>> 0) - (b[i]! >>> 0) : (a[i]! >>> 0) + (b[i]! >>> 0);
      const carry = Math.floor(low / WORD);
      sums[i] = low | 0;
      sums[i + 1] = isMinus ? a[i + 1]! - b[i + 1]! + carry : a[i + 1]! + b[i + 1]! + carry;
    }
  });
}

function* combineBits(operator: Arithmetic, a: Int32Array, b: Int32Array, bits: Int32Array): Steps<void> {
  yield* inSteps(bits.length, (from, to) => {
    if (operator === "&") for (let i = from; i < to; i++) bits[i] = a[i]! & b[i]!;
    else if (operator === "|") for (let i = from; i < to; i++) bits[i] = a[i]! | b[i]!;
    else for (let i = from; i < to; i++) bits[i] = a[i]! ^ b[i]!;
  });
}

/** Products, quotients and remainders of integers that are exact as floats: so are the results, unless a product is too large. */
function* multiplyExact(operator: Arithmetic, a: Integers, b: Integers, values: Integers): Steps<void> {
  const [x, y, words] = [yield* floatsOf(a), yield* floatsOf(b), wordsOf(values)];
  for (let i = 0; i < values.length; i++) {
    if (isPause(i)) yield;
    let result: number;
    if (operator === "*") result = x[i]! * y[i]!;
    else if (y[i] === 0) result = 0;
    // a float quotient below 2^53 is integral only if the exact quotient is
    else result = operator === "/" ? Math.trunc(x[i]! / y[i]!) : x[i]! % y[i]!;
    if (Math.abs(result) < EXACT) {
      words[2 * i] = (result % WORD) | 0;
      words[2 * i + 1] = Math.floor(result / WORD);
    } else values[i] = wide(operator, a[i]!, b[i]!);
  }
}

/** The result is wrapped when it is stored in the array. */
function wide(operator: Arithmetic, a: bigint, b: bigint): bigint {
  if (operator === "*") return a * b;
  if (b === 0n) return 0n;
  return operator === "/" ? a / b : a % b;
}
