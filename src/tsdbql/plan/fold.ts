// Constant folding: `now() - 1h + 2m`, `'2024-01-01' + 90d`, `1 / 2`, `true AND x`. With the types and the 64-bit wrap-around of 1.x; all
// other expressions are unchanged.

import { I64_MAX } from "../../model/rows/int64.ts";
import type { TimeZone } from "../../model/time/time-zone.ts";
import type { BinaryOperator, Expression, IntegerLiteral } from "../parse/ast.ts";
import { looksLikeTime, parseTime } from "../parse/time-literals.ts";

export interface FoldContext {
  /** Value of `now()`; null leaves the call. */
  readonly nowNs: bigint | null;
  /** Zone of times without an offset; null is UTC. */
  readonly zone: TimeZone | null;
}

export const NO_CONTEXT: FoldContext = { nowNs: null, zone: null };

/** Folds the constants of an expression. */
export function fold(expression: Expression, context: FoldContext): Expression {
  switch (expression.kind) {
    case "binary":
      return foldBinary(expression.operator, fold(expression.left, context), fold(expression.right, context), context.zone);
    case "paren": {
      const inner = fold(expression.inner, context);
      return inner.kind === "binary" ? { kind: "paren", inner } : inner;
    }
    case "call":
      if (expression.name === "now" && expression.args.length === 0 && context.nowNs !== null) return { kind: "time", ns: context.nowNs };
      return { ...expression, args: expression.args.map((argument) => fold(argument, context)) };
    default:
      return expression;
  }
}

/** Folds an operator with already folded operands. */
export function foldBinary(operator: BinaryOperator, left: Expression, right: Expression, zone: TimeZone | null): Expression {
  if (operator === "AND" || operator === "OR") {
    // true decides an OR, false an AND; the other value leaves the other operand
    const decisive = operator === "OR";
    const values = [left, right].map((side) => (side.kind === "boolean" ? side.value : null));
    if (values.includes(decisive)) return { kind: "boolean", value: decisive };
    if (values[0] === !decisive) return right;
    if (values[1] === !decisive) return left;
  }
  return foldLiterals(operator, left, right, zone) ?? { kind: "binary", operator, left, right };
}

/** Null: the operator does not apply to these types. */
function foldLiterals(operator: BinaryOperator, left: Expression, right: Expression, zone: TimeZone | null): Expression | null {
  switch (left.kind) {
    case "boolean":
      return right.kind === "boolean" ? foldBooleans(operator, left.value, right.value) : null;
    case "number":
      return isNumeric(right) ? foldNumbers(operator, left.value, Number(right.value)) : null;
    case "integer":
      if (right.kind === "number") return foldNumbers(operator, Number(left.value), right.value);
      if (right.kind === "integer") return foldIntegers(operator, left, right);
      if (left.unsigned) return null;
      if (right.kind === "duration") return foldTimeAndDuration(operator, left.value, right.ns);
      return foldDuration(operator, left.value, timeOnly(right), zone);
    case "duration":
      return foldDuration(operator, left.ns, right, zone);
    case "string":
      return foldString(operator, left.value, right, zone);
    case "time":
      return foldTime(operator, left.ns, right, zone);
    default:
      return null;
  }
}

const isNumeric = (one: Expression) => one.kind === "number" || one.kind === "integer";

/** A number next to a time is a duration; otherwise it is not. */
const timeOnly = (one: Expression): Expression => (one.kind === "time" || one.kind === "string" ? one : { kind: "wildcard", of: null });

const boolean = (value: boolean): Expression => ({ kind: "boolean", value });
const number = (value: number): Expression => ({ kind: "number", value });
const duration = (ns: bigint): Expression => ({ kind: "duration", ns: BigInt.asIntN(64, ns) });

function compare<T extends number | bigint>(operator: BinaryOperator, left: T, right: T): Expression | null {
  switch (operator) {
    case "=":
      return boolean(left === right);
    case "!=":
      return boolean(left !== right);
    case "<":
      return boolean(left < right);
    case "<=":
      return boolean(left <= right);
    case ">":
      return boolean(left > right);
    case ">=":
      return boolean(left >= right);
    default:
      return null;
  }
}

function foldBooleans(operator: BinaryOperator, left: boolean, right: boolean): Expression | null {
  switch (operator) {
    case "=":
      return boolean(left === right);
    case "!=":
    case "^":
      return boolean(left !== right);
    case "&":
      return boolean(left && right);
    case "|":
      return boolean(left || right);
    default:
      return null;
  }
}

function foldNumbers(operator: BinaryOperator, left: number, right: number): Expression | null {
  switch (operator) {
    case "+":
      return number(left + right);
    case "-":
      return number(left - right);
    case "*":
      return number(left * right);
    case "/":
      return number(right === 0 ? 0 : left / right);
    case "%":
      return number(left % right);
    default:
      return compare(operator, left, right);
  }
}

/** A quotient of signed integers is a float. Next to an unsigned operand, a signed one is interpreted as unsigned, except in
 *  comparisons. */
function foldIntegers(operator: BinaryOperator, left: IntegerLiteral, right: IntegerLiteral): Expression | null {
  const unsigned = left.unsigned || right.unsigned;
  const wrap = unsigned ? BigInt.asUintN : BigInt.asIntN;
  const integer = (value: bigint): Expression => ({ kind: "integer", value: wrap(64, value), unsigned });
  const isNegative = left.value < 0n || right.value < 0n;
  const [a, b] = unsigned ? [wrap(64, left.value), wrap(64, right.value)] : [left.value, right.value];
  switch (operator) {
    case "+":
      return integer(a + b);
    case "-":
      return integer(a - b);
    case "*":
      return integer(a * b);
    case "/":
      if (unsigned) return integer(b === 0n ? 0n : a / b);
      return number(b === 0n ? 0 : Number(a) / Number(b));
    case "%":
      return integer(b === 0n ? 0n : a % b);
    case "&":
      return unsigned ? null : integer(a & b);
    case "|":
      return unsigned ? null : integer(a | b);
    case "^":
      return unsigned ? null : integer(a ^ b);
    case "=":
    case "!=":
      return compare(operator, a, b);
    default:
      return unsigned && isNegative ? compare(operator, left.value, right.value) : compare(operator, a, b);
  }
}

function foldDuration(operator: BinaryOperator, ns: bigint, right: Expression, zone: TimeZone | null): Expression | null {
  switch (right.kind) {
    case "duration":
      if (operator === "+") return duration(ns + right.ns);
      if (operator === "-") return duration(ns - right.ns);
      return compare(operator, ns, right.ns);
    case "number":
    case "integer": {
      if (right.kind === "integer" && right.unsigned) return null;
      const factor = truncated(right.value);
      if (operator === "*") return duration(ns * factor);
      return operator === "/" ? duration(factor === 0n ? 0n : ns / factor) : null;
    }
    case "time":
      return operator === "+" ? { kind: "time", ns: right.ns + ns } : null;
    case "string": {
      const time = parseTime(right.value, zone);
      return time !== null && operator === "+" ? { kind: "time", ns: time + ns } : null;
    }
    default:
      return null;
  }
}

function truncated(value: number | bigint): bigint {
  if (typeof value === "bigint") return value;
  return Number.isFinite(value) ? BigInt.asIntN(64, BigInt(Math.trunc(value))) : 0n;
}

function foldTimeAndDuration(operator: BinaryOperator, time: bigint, ns: bigint): Expression | null {
  if (operator === "+") return { kind: "time", ns: time + ns };
  return operator === "-" ? { kind: "time", ns: time - ns } : null;
}

function foldTime(operator: BinaryOperator, time: bigint, right: Expression, zone: TimeZone | null): Expression | null {
  switch (right.kind) {
    case "duration":
      return foldTimeAndDuration(operator, time, right.ns);
    case "integer":
      return right.unsigned ? null : foldTimeAndDuration(operator, time, right.value);
    case "time":
      return operator === "-" ? duration(saturated(time - right.ns)) : compare(operator, time, right.ns);
    case "string": {
      const other = parseTime(right.value, zone);
      return other === null ? null : foldTime(operator, time, { kind: "time", ns: other }, zone);
    }
    default:
      return null;
  }
}

/** The difference of two times saturates. */
function saturated(ns: bigint): bigint {
  const max = I64_MAX;
  return ns > max ? max : ns < -max - 1n ? -max - 1n : ns;
}

/** Two strings are compared as times if both are, otherwise as texts. */
function foldString(operator: BinaryOperator, value: string, right: Expression, zone: TimeZone | null): Expression | null {
  if (right.kind === "string") {
    if (operator === "+") return { kind: "string", value: value + right.value };
    if (operator === "=" || operator === "!=") {
      const areTimes = looksLikeTime(value) && looksLikeTime(right.value);
      const [a, b] = areTimes ? [parseTime(value, zone), parseTime(right.value, zone)] : [null, null];
      const isEqual = a !== null && b !== null ? a === b : value === right.value;
      return boolean(isEqual === (operator === "="));
    }
  }
  if (!["string", "duration", "time", "integer"].includes(right.kind)) return null;
  const time = parseTime(value, zone);
  return time === null ? null : foldTime(operator, time, right, zone);
}
