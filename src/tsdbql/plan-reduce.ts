// Constant parts of an expression worked out before anything is read: `now() - 1h`, `2 * 3`, `'2020-01-01' + 1d`. What stays is as it was.
import type { Binary, BinaryOperator, Expression, Literal } from "./ast.ts";
import { toTimeNs } from "./plan-time-text.ts";

export interface ReduceContext {
  /** What `now()` is; null leaves the call as it is. */
  readonly nowNs: bigint | null;
  /** Of `tz()`: texts of times without an offset are of this zone. */
  readonly timeZone: string | null;
}

/** @throws TsdbError bad_query for a text that only looks like a time */
export function reduce(expression: Expression, context: ReduceContext): Expression {
  switch (expression.kind) {
    case "paren": {
      const inner = reduce(expression.inner, context);
      return inner.kind === "binary" ? { kind: "paren", inner } : inner;
    }
    case "call": {
      if (expression.name === "now" && expression.args.length === 0 && context.nowNs !== null) return { kind: "time", ns: context.nowNs };
      return { ...expression, args: expression.args.map((arg) => reduce(arg, context)) };
    }
    case "binary":
      return reduceBinary(expression, context);
    default:
      return expression;
  }
}

function reduceBinary(expression: Binary, context: ReduceContext): Expression {
  const { operator } = expression;
  const left = reduce(expression.left, context);
  const right = reduce(expression.right, context);
  return fold(operator, left, right, context) ?? { kind: "binary", operator, left, right };
}

/** Null: it is no constant. */
function fold(operator: BinaryOperator, left: Expression, right: Expression, context: ReduceContext): Expression | null {
  switch (left.kind) {
    case "boolean":
      return foldBooleans(operator, left.value, right);
    case "integer":
      if (right.kind === "integer") return foldIntegers(operator, left.value, right.value, left.unsigned || right.unsigned);
      if (right.kind === "number") return foldNumbers(operator, Number(left.value), right.value);
      if (right.kind === "duration" || right.kind === "time") return foldTimes(operator, { kind: "time", ns: left.value }, right);
      return null;
    case "number":
      if (right.kind === "number") return foldNumbers(operator, left.value, right.value);
      if (right.kind === "integer") return foldNumbers(operator, left.value, Number(right.value));
      return null;
    case "duration":
    case "time":
      return foldTimes(operator, left, right);
    case "string":
      return foldTexts(operator, left.value, right, context);
    default:
      return null;
  }
}

function foldBooleans(operator: BinaryOperator, left: boolean, right: Expression): Expression | null {
  if (right.kind !== "boolean") return null;
  switch (operator) {
    case "AND":
    case "&":
      return truth(left && right.value);
    case "OR":
    case "|":
      return truth(left || right.value);
    case "^":
    case "!=":
      return truth(left !== right.value);
    case "=":
      return truth(left === right.value);
    default:
      return null;
  }
}

function foldIntegers(operator: BinaryOperator, a: bigint, b: bigint, unsigned: boolean): Expression | null {
  const whole = (value: bigint): Literal => {
    return { kind: "integer", unsigned, value: unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value) };
  };
  switch (operator) {
    case "+":
      return whole(a + b);
    case "-":
      return whole(a - b);
    case "*":
      return whole(a * b);
    case "/":
      return { kind: "number", value: b === 0n ? 0 : Number(a) / Number(b) };
    case "%":
      return whole(b === 0n ? 0n : a % b);
    case "&":
      return whole(a & b);
    case "|":
      return whole(a | b);
    case "^":
      return whole(a ^ b);
    default:
      return compare(operator, a < b, a === b);
  }
}

function foldNumbers(operator: BinaryOperator, a: number, b: number): Expression | null {
  switch (operator) {
    case "+":
      return { kind: "number", value: a + b };
    case "-":
      return { kind: "number", value: a - b };
    case "*":
      return { kind: "number", value: a * b };
    case "/":
      return { kind: "number", value: b === 0 ? 0 : a / b };
    case "%":
      return { kind: "number", value: a % b };
    default:
      return compare(operator, a < b, a === b);
  }
}

type Moment = { readonly kind: "time" | "duration"; readonly ns: bigint };

function foldTimes(operator: BinaryOperator, left: Moment, right: Expression): Expression | null {
  if (left.kind === "duration" && (right.kind === "integer" || right.kind === "number")) return scale(operator, left.ns, right);
  const other: Moment | null =
    right.kind === "time" || right.kind === "duration"
      ? right
      : right.kind === "integer"
        ? { kind: "duration", ns: right.value }
        : right.kind === "number"
          ? { kind: "duration", ns: BigInt(Math.trunc(right.value)) }
          : null;
  if (other === null) return null;
  if (operator === "+") {
    if (left.kind === "time" && other.kind === "time") return null;
    return { kind: left.kind === "time" || other.kind === "time" ? "time" : "duration", ns: left.ns + other.ns };
  }
  if (operator === "-") {
    if (left.kind === "duration" && other.kind === "time") return null;
    return { kind: left.kind === "time" && other.kind === "duration" ? "time" : "duration", ns: left.ns - other.ns };
  }
  return left.kind === other.kind ? compare(operator, left.ns < other.ns, left.ns === other.ns) : null;
}

function scale(operator: BinaryOperator, ns: bigint, by: Expression & { readonly kind: "integer" | "number" }): Expression | null {
  if (operator === "*") {
    return { kind: "duration", ns: by.kind === "integer" ? ns * by.value : BigInt(Math.trunc(Number(ns) * by.value)) };
  }
  if (operator === "/") {
    const isZero = Number(by.value) === 0;
    return { kind: "duration", ns: isZero ? 0n : by.kind === "integer" ? ns / by.value : BigInt(Math.trunc(Number(ns) / by.value)) };
  }
  // a bare number beside a duration counts nanoseconds
  const other = by.kind === "integer" ? by.value : BigInt(Math.trunc(by.value));
  if (operator === "+") return { kind: "duration", ns: ns + other };
  return operator === "-" ? { kind: "duration", ns: ns - other } : null;
}

function foldTexts(operator: BinaryOperator, text: string, right: Expression, context: ReduceContext): Expression | null {
  if (right.kind === "string") {
    if (operator === "=") return truth(text === right.value);
    if (operator === "!=") return truth(text !== right.value);
    return operator === "+" ? { kind: "string", value: text + right.value } : null;
  }
  if (right.kind !== "duration" && right.kind !== "time" && right.kind !== "integer") return null;
  const ns = toTimeNs(text, context.timeZone);
  return ns === null ? null : foldTimes(operator, { kind: "time", ns }, right);
}

function compare(operator: BinaryOperator, isLess: boolean, isEqual: boolean): Expression | null {
  switch (operator) {
    case "=":
      return truth(isEqual);
    case "!=":
      return truth(!isEqual);
    case "<":
      return truth(isLess);
    case "<=":
      return truth(isLess || isEqual);
    case ">":
      return truth(!isLess && !isEqual);
    case ">=":
      return truth(!isLess);
    default:
      return null;
  }
}

function truth(value: boolean): Expression {
  return { kind: "boolean", value };
}
