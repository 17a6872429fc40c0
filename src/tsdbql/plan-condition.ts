// WHERE taken apart: the range of time it allows, and what is left to be asked of each row.
import { TsdbError } from "../model/errors.ts";
import type { BinaryOperator, Expression } from "./ast.ts";
import { type ReduceContext, reduce } from "./plan-reduce.ts";
import { toTimeNs } from "./plan-time-text.ts";
import { printExpression } from "./print.ts";

/** The least and the greatest time that a point may have; times one beyond them stand for "not said". */
export const MIN_TIME_NS = -(2n ** 63n) + 2n;
export const MAX_TIME_NS = 2n ** 63n - 2n;

/** Inclusive; null: not said. */
export interface TimeBounds {
  readonly minNs: bigint | null;
  readonly maxNs: bigint | null;
}

export interface Condition {
  readonly bounds: TimeBounds;
  /** Without times; null: every row satisfies it. */
  readonly rest: Expression | null;
}

const NO_BOUNDS: TimeBounds = { minNs: null, maxNs: null };
const MIRRORED: Partial<Record<BinaryOperator, BinaryOperator>> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** @throws TsdbError bad_query */
export function splitCondition(where: Expression | null, context: ReduceContext): Condition {
  if (where === null) return { bounds: NO_BOUNDS, rest: null };
  if (where.kind === "paren") {
    const { bounds, rest } = splitCondition(where.inner, context);
    return { bounds, rest: rest === null ? null : reduce({ kind: "paren", inner: rest }, { ...context, nowNs: null }) };
  }
  if (where.kind === "boolean") return { bounds: NO_BOUNDS, rest: where };
  if (where.kind !== "binary") throw new TsdbError("bad_query", `invalid condition expression: ${printExpression(where)}`);
  const { operator, left, right } = where;
  if (operator === "AND" || operator === "OR") return both(operator, splitCondition(left, context), splitCondition(right, context));
  if (isTime(left)) return { bounds: timeBounds(operator, right, context), rest: null };
  if (isTime(right)) return { bounds: timeBounds(MIRRORED[operator] ?? operator, left, context), rest: null };
  return { bounds: NO_BOUNDS, rest: reduce(where, { ...context, nowNs: null }) };
}

/** Ranges of time are always cut with each other: OR has no meaning for them. */
function both(operator: "AND" | "OR", a: Condition, b: Condition): Condition {
  const bounds = intersect(a.bounds, b.bounds);
  if (a.rest === null || b.rest === null) return { bounds, rest: a.rest ?? b.rest };
  return { bounds, rest: reduce({ kind: "binary", operator, left: a.rest, right: b.rest }, { nowNs: null, timeZone: null }) };
}

export function intersect(a: TimeBounds, b: TimeBounds): TimeBounds {
  return {
    minNs: a.minNs === null || (b.minNs !== null && b.minNs > a.minNs) ? b.minNs : a.minNs,
    maxNs: a.maxNs === null || (b.maxNs !== null && b.maxNs < a.maxNs) ? b.maxNs : a.maxNs,
  };
}

function isTime(expression: Expression): boolean {
  return expression.kind === "ref" && expression.name.toLowerCase() === "time";
}

/** As the errors of 1.x name them. */
const NODE_NAMES: Readonly<Record<Expression["kind"], string>> = {
  ref: "VarRef",
  call: "Call",
  binary: "BinaryExpr",
  paren: "ParenExpr",
  number: "NumberLiteral",
  integer: "IntegerLiteral",
  string: "StringLiteral",
  boolean: "BooleanLiteral",
  duration: "DurationLiteral",
  time: "TimeLiteral",
  regex: "RegexLiteral",
  wildcard: "Wildcard",
  distinct: "Distinct",
};

export function nodeName(expression: Expression): string {
  return `*influxql.${NODE_NAMES[expression.kind]}`;
}

function timeBounds(operator: BinaryOperator, value: Expression, context: ReduceContext): TimeBounds {
  const ns = toTime(value, context);
  switch (operator) {
    case ">":
      return { minNs: ns + 1n, maxNs: null };
    case ">=":
      return { minNs: ns, maxNs: null };
    case "<":
      return { minNs: null, maxNs: ns - 1n };
    case "<=":
      return { minNs: null, maxNs: ns };
    case "=":
      return { minNs: ns, maxNs: ns };
    default:
      throw new TsdbError("bad_query", `invalid time comparison operator: ${operator}`);
  }
}

function toTime(value: Expression, context: ReduceContext): bigint {
  const read = value.kind === "string" ? toTimeNs(value.value, context.timeZone) : null;
  const known: Expression = reduce(read === null ? value : { kind: "time", ns: read }, context);
  switch (known.kind) {
    case "time":
      if (known.ns > MAX_TIME_NS) throw new TsdbError("bad_query", `time ${seconds(known.ns)} overflows time literal`);
      if (known.ns < MIN_TIME_NS + 1n) throw new TsdbError("bad_query", `time ${seconds(known.ns)} underflows time literal`);
      return known.ns;
    case "duration":
      return known.ns;
    case "integer":
      return BigInt.asIntN(64, known.value);
    case "number":
      return BigInt.asIntN(64, BigInt(Math.trunc(known.value)));
    default:
      throw new TsdbError("bad_query", `invalid operation: time and ${nodeName(known)} are not compatible`);
  }
}

/** RFC 3339, to the second. */
function seconds(ns: bigint): string {
  const floor = ns / 1_000_000_000n - (ns % 1_000_000_000n < 0n ? 1n : 0n);
  return new Date(Number(floor) * 1000).toISOString().replace(".000Z", "Z");
}
