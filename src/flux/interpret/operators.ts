// Operators on values. A null makes the result null; integers wrap; numbers of different types compare, and nothing else does.

import { compareTexts } from "../../model/rows/text-order.ts";
import { negated } from "../values/duration.ts";
import { FluxError } from "../values/flux-error.ts";
import { checkLength } from "../values/text.ts";
import { Bytes, Duration, FluxArray, FluxRecord, isNull, kindOf, NULL, Null, Regexp, Time, UInt, type Value } from "../values/value.ts";

export type BinaryOperator = (left: Value, right: Value) => Value;

const NULL_BOOL = Null.computed("bool");

/** Operands of types that the operator does not take. */
export class OperandError extends FluxError {
  /** Whether it comes from a function that a function of rows has called. */
  isOfCall = false;
  /** Whether both operands are known before any row, in a function of whole columns. */
  isOfConstants = false;

  constructor(
    readonly left: string,
    readonly operator: string,
    readonly right: string,
  ) {
    super(`unsupported binary expression ${left} ${operator} ${right}`);
  }
}

function unsupported(left: Value, operator: string, right: Value): FluxError {
  return new OperandError(kindOf(left), operator, kindOf(right));
}

interface Arithmetic {
  readonly float: (a: number, b: number) => number;
  readonly int: (a: bigint, b: bigint) => bigint | number;
}

function nonZero(divisor: bigint, verb: string): bigint {
  if (divisor === 0n) throw new FluxError(`cannot ${verb} zero`);
  return divisor;
}

const ARITHMETIC: Readonly<Record<string, Arithmetic>> = {
  "+": { float: (a, b) => a + b, int: (a, b) => a + b },
  "-": { float: (a, b) => a - b, int: (a, b) => a - b },
  "*": { float: (a, b) => a * b, int: (a, b) => a * b },
  "/": { float: (a, b) => a / b, int: (a, b) => a / nonZero(b, "divide by") },
  "%": { float: (a, b) => a % b, int: (a, b) => a % nonZero(b, "mod") },
  "^": { float: (a, b) => a ** b, int: (a, b) => Number(a) ** Number(b) },
};

function arithmetic(operator: string): BinaryOperator {
  const { float, int } = ARITHMETIC[operator]!;
  const isSum = operator === "+";
  return (left, right) => {
    if (typeof left === "number" && typeof right === "number") return float(left, right);
    if (typeof left === "bigint" && typeof right === "bigint") {
      const value = int(left, right);
      return typeof value === "number" ? value : BigInt.asIntN(64, value);
    }
    if (isSum && typeof left === "string" && typeof right === "string") {
      checkLength(left.length + right.length);
      return left + right;
    }
    if (isNull(left) || isNull(right)) return nullOf(left, right);
    if (left instanceof UInt && right instanceof UInt) {
      const value = int(left.value, right.value);
      return typeof value === "number" ? value : new UInt(BigInt.asUintN(64, value));
    }
    throw unsupported(left, operator, right);
  };
}

const NUMBERS: readonly string[] = ["int", "uint", "float"];
const ORDERED: readonly string[] = ["string", "time"];

/** Whether the operator takes values of these kinds, whatever they are. */
export function takes(left: string, operator: string, right: string): boolean {
  const areNumbers = NUMBERS.includes(left) && NUMBERS.includes(right);
  if (operator in ARITHMETIC) return left === right && (areNumbers || (operator === "+" && left === "string"));
  if (operator.includes("~")) return left === "string" && right === "regexp";
  return areNumbers || (left === right && (ORDERED.includes(left) || (!(operator in ORDER) && left === "bool")));
}

/** What the operator makes of a null outside of rows: a null without a type. @throws FluxError */
export function ofNulls(left: Value, operator: string, right: Value): Null {
  if (!takes(kindOf(left), operator, kindOf(right))) throw unsupported(left, operator, right);
  return NULL;
}

function nullOf(left: Value, right: Value): Null {
  const known = isNull(left) && left.type === "invalid" ? right : left;
  const kind = kindOf(known);
  const isResult = isNull(known) || kind === "int" || kind === "uint" || kind === "float" || kind === "string";
  return isResult ? Null.computed(kind as Null["type"]) : NULL;
}

/** -1, 0, 1; NaN for numbers that do not compare; null for types that do not. */
export function compareValues(left: Value, right: Value): number | null {
  if (typeof left === "number" && typeof right === "number") return left < right ? -1 : left > right ? 1 : left === right ? 0 : Number.NaN;
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  if (left instanceof Time && right instanceof Time) return left.ns < right.ns ? -1 : left.ns > right.ns ? 1 : 0;
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a === null || b === null) return null;
  // JavaScript orders integers and floats exactly, but `===` tells them apart
  return a < b ? -1 : a > b ? 1 : a >= b ? 0 : Number.NaN;
}

function numberOf(value: Value): number | bigint | null {
  if (typeof value === "number" || typeof value === "bigint") return value;
  return value instanceof UInt ? value.value : null;
}

const ORDER: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

function ordering(operator: string): BinaryOperator {
  const holds = ORDER[operator]!;
  return (left, right) => {
    if (isNull(left) || isNull(right)) return NULL_BOOL;
    const order = compareValues(left, right);
    if (order === null) throw unsupported(left, operator, right);
    return holds(order);
  };
}

function equality(operator: "==" | "!="): BinaryOperator {
  const isEqual = operator === "==";
  return (left, right) => {
    if (typeof left === "string" && typeof right === "string") return (left === right) === isEqual;
    if (isNull(left) || isNull(right)) return NULL_BOOL;
    if (typeof left === "boolean" && typeof right === "boolean") return (left === right) === isEqual;
    const order = compareValues(left, right);
    if (order !== null) return (order === 0) === isEqual;
    if (isEqual && isCompound(left) && isCompound(right)) return valuesEqual(left, right);
    if (left instanceof Bytes && right instanceof Bytes) return Buffer.from(left.bytes).equals(right.bytes) === isEqual;
    throw unsupported(left, operator, right);
  };
}

function isCompound(value: Value): boolean {
  return value instanceof FluxArray || value instanceof FluxRecord;
}

/** Members of two values that are compared: a value may hold another one many times over. */
const MEMBERS_MAX = 10_000_000;

/** Whether two values are the same through and through. @throws FluxError: they have too many members */
export function valuesEqual(left: Value, right: Value, compared = { count: 0 }): boolean {
  if (left === right) return true;
  if (++compared.count > MEMBERS_MAX) throw new FluxError("the values are too large to be compared");
  if (left instanceof FluxArray && right instanceof FluxArray) {
    return left.items.length === right.items.length && left.items.every((item, i) => valuesEqual(item, right.items[i]!, compared));
  }
  if (left instanceof FluxRecord && right instanceof FluxRecord) {
    const [a, b] = [[...left.entries()], new Map(right.entries())];
    return a.length === b.size && a.every(([label, item]) => b.has(label) && valuesEqual(item, b.get(label)!, compared));
  }
  if (left instanceof Duration && right instanceof Duration) return left.months === right.months && left.ns === right.ns;
  if (left instanceof Bytes && right instanceof Bytes) return Buffer.from(left.bytes).equals(right.bytes);
  if (isNull(left) || isNull(right)) return isNull(left) && isNull(right);
  return kindOf(left) === kindOf(right) && compareValues(left, right) === 0;
}

function matching(isWanted: boolean): BinaryOperator {
  return (left, right) => {
    if (isNull(left) || isNull(right)) return NULL_BOOL;
    if (typeof left !== "string" || !(right instanceof Regexp)) throw unsupported(left, isWanted ? "=~" : "!~", right);
    return right.matcher.test(left) === isWanted;
  };
}

export const BINARY: ReadonlyMap<string, BinaryOperator> = new Map([
  ...Object.keys(ARITHMETIC).map((operator) => [operator, arithmetic(operator)] as const),
  ...Object.keys(ORDER).map((operator) => [operator, ordering(operator)] as const),
  ["==", equality("==")] as const,
  ["!=", equality("!=")] as const,
  ["=~", matching(true)] as const,
  ["!~", matching(false)] as const,
]);

/** What the storage of the reference finds: false where the operator does not take its operands. */
export function compared(apply: BinaryOperator, a: Value, b: Value): Value {
  try {
    return apply(a, b);
  } catch (error) {
    if (error instanceof OperandError) return false;
    throw error;
  }
}

/** The negated number or duration. @throws FluxError for other types */
export function minus(value: Value): Value {
  if (typeof value === "number") return -value;
  if (typeof value === "bigint") return BigInt.asIntN(64, -value);
  if (value instanceof Duration) return negated(value);
  if (isNull(value)) return value;
  throw new FluxError(`operand to unary expression is not a number value, got ${kindOf(value)}`);
}
