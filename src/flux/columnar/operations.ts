// What operators do with two cells of known types, as the interpreter does it with values (`interpret/operators.ts`).
import { compareTexts } from "../../model/rows/text-order.ts";
import { type Cell, type LaneType, NOT_COMPILED, SAFE_MAX } from "./lanes.ts";

export interface Operation {
  readonly type: LaneType;
  /** Both cells are values; null: the result is null whatever they are.  @throws NotCompiled */
  readonly apply: ((left: Cell, right: Cell) => Cell) | null;
  /** Of floats or exact integers: a loop of its own does it. */
  readonly isNumeric: boolean;
}

/** A result that is no integer below 2^53 is another one in 64 bits. */
export function exactOrNot(value: number): number {
  if (value > SAFE_MAX || value < -SAFE_MAX) throw NOT_COMPILED;
  // there is no negative zero among integers
  return value + 0;
}

function nonZero(divisor: number): number {
  if (divisor === 0) throw NOT_COMPILED;
  return divisor;
}

type Numeric = (left: number, right: number) => number;

const FLOAT: Readonly<Record<string, Numeric>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "^": (a, b) => a ** b,
};
const INT: Readonly<Record<string, Numeric>> = {
  "+": (a, b) => exactOrNot(a + b),
  "-": (a, b) => exactOrNot(a - b),
  "*": (a, b) => exactOrNot(a * b),
  // the remainder is exact, and so is the division of what is left
  "/": (a, b) => exactOrNot((a - (a % nonZero(b))) / b),
  "%": (a, b) => exactOrNot(a % nonZero(b)),
};
const COMPARED: Readonly<Record<string, (left: Cell, right: Cell) => number>> = {
  "==": (a, b) => (a === b ? 1 : 0),
  "!=": (a, b) => (a === b ? 0 : 1),
  "<": (a, b) => (a < b ? 1 : 0),
  "<=": (a, b) => (a <= b ? 1 : 0),
  ">": (a, b) => (a > b ? 1 : 0),
  ">=": (a, b) => (a >= b ? 1 : 0),
};
const TEXTS: Readonly<Record<string, (order: number) => number>> = {
  "<": (order) => (order < 0 ? 1 : 0),
  "<=": (order) => (order <= 0 ? 1 : 0),
  ">": (order) => (order > 0 ? 1 : 0),
  ">=": (order) => (order >= 0 ? 1 : 0),
};

/** Null: the interpreter does it, or says what is wrong. */
export function operationOf(operator: string, left: LaneType, right: LaneType): Operation | null {
  return operator in FLOAT ? arithmetic(operator, left, right) : comparison(operator, left, right);
}

function arithmetic(operator: string, left: LaneType, right: LaneType): Operation | null {
  if (left === "invalid" || right === "invalid") {
    const known = left === "invalid" ? right : left;
    return known === "bool" || known === "time" ? null : { type: known, apply: null, isNumeric: false };
  }
  if (left !== right) return null;
  if (left === "string") return operator === "+" ? { type: "string", apply: joined, isNumeric: false } : null;
  if (left === "float") return { type: "float", apply: FLOAT[operator] as Operation["apply"], isNumeric: true };
  if (left !== "int" && left !== "uint") return null;
  const apply = INT[operator];
  // a power of integers is a float, and a null of it an integer
  if (apply === undefined) return null;
  if (left === "int") return { type: left, apply: apply as Operation["apply"], isNumeric: true };
  // below zero an unsigned integer wraps
  const unsigned: Numeric = (a, b) => {
    const value = apply(a, b);
    if (value < 0) throw NOT_COMPILED;
    return value;
  };
  return { type: left, apply: unsigned as Operation["apply"], isNumeric: false };
}

function comparison(operator: string, left: LaneType, right: LaneType): Operation | null {
  if (!(operator in COMPARED)) return null;
  if (left === "invalid" || right === "invalid") return { type: "bool", apply: null, isNumeric: false };
  const isNumeric = isNumber(left) && isNumber(right);
  const isEquality = operator === "==" || operator === "!=";
  if (!isNumeric && left !== right) return null;
  if (left === "bool" && !isEquality) return null;
  if (left !== "string" || isEquality) return { type: "bool", apply: COMPARED[operator]!, isNumeric };
  const holds = TEXTS[operator]!;
  return { type: "bool", apply: (a, b) => holds(compareTexts(a as string, b as string)), isNumeric: false };
}

function isNumber(type: LaneType): boolean {
  return type === "float" || type === "int" || type === "uint";
}

/** A longer text is an error, which the interpreter words. */
const TEXT_MAX = 1 << 20;

/** Both texts, one after the other. @throws NotCompiled if the result is longer than a text may be */
export function joined(left: Cell, right: Cell): string {
  const text = `${left}${right}`;
  if (text.length > TEXT_MAX) throw NOT_COMPILED;
  return text;
}
