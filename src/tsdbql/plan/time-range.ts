// Separates the time conditions of WHERE from the others. As in 1.x, every comparison with `time` narrows the statement's single range,
// even next to an OR.
import { TsdbError } from "../../model/errors.ts";
import { I64_MIN } from "../../model/rows/int64.ts";
import type { Binary, BinaryOperator, Expression } from "../parse/ast.ts";
import { nodeName, printExpression } from "../parse/print.ts";
import { expectTime } from "../parse/time-literals.ts";
import { type FoldContext, fold, foldBinary } from "./fold.ts";

/** Inclusive nanoseconds; null = unbounded. May be empty, and may slightly exceed 64 bits. */
export interface TimeBounds {
  readonly minNs: bigint | null;
  readonly maxNs: bigint | null;
}

export interface SplitCondition {
  readonly bounds: TimeBounds;
  /** The condition without time comparisons, with constants folded; null: every row. `false` is kept. */
  readonly rest: Expression | null;
}

/** The time range of 1.x, which reserves the extremes of 64 bits. */
export const TIME_MIN_NS = I64_MIN + 2n;
export const TIME_MAX_NS = 2n ** 63n - 2n;

const UNBOUND: TimeBounds = { minNs: null, maxNs: null };

/** @throws TsdbError bad_query: `time` compared with a non-time, or something that is no condition */
export function splitCondition(where: Expression | null, context: SplitContext): SplitCondition {
  if (where === null) return { bounds: UNBOUND, rest: null };
  const { bounds, rest } = split(where, context);
  const bare = rest?.kind === "paren" ? rest.inner : rest;
  return { bounds, rest: bare?.kind === "boolean" && bare.value ? null : bare };
}

interface SplitContext extends FoldContext {
  /** In v3 a column can be a condition: a boolean field. */
  readonly isTable?: boolean;
}

function split(condition: Expression, context: SplitContext): SplitCondition {
  switch (condition.kind) {
    case "binary":
      return splitBinary(condition, context);
    case "paren": {
      const { bounds, rest } = split(condition.inner, context);
      return { bounds, rest: rest?.kind === "binary" ? { kind: "paren", inner: rest } : rest };
    }
    case "boolean":
      return { bounds: UNBOUND, rest: condition };
    default:
      if (condition.kind === "ref" && context.isTable && !isTime(condition)) return { bounds: UNBOUND, rest: condition };
      throw new TsdbError("bad_query", `invalid condition expression: ${printExpression(condition)}`);
  }
}

function splitBinary(condition: Binary, context: SplitContext): SplitCondition {
  const { operator, left, right } = condition;
  if (operator === "AND" || operator === "OR") {
    const [a, b] = [split(left, context), split(right, context)];
    const bounds = intersect(a.bounds, b.bounds);
    if (a.rest === null || b.rest === null) return { bounds, rest: a.rest ?? b.rest };
    return { bounds, rest: foldBinary(operator, a.rest, b.rest, null) };
  }
  if (isTime(left)) return { bounds: boundsOf(operator, right, context), rest: null };
  if (isTime(right)) return { bounds: boundsOf(MIRRORED[operator] ?? operator, left, context), rest: null };
  return { bounds: UNBOUND, rest: fold(condition, context) };
}

const isTime = (one: Expression) => one.kind === "ref" && one.name.toLowerCase() === "time";

const MIRRORED: Readonly<Partial<Record<BinaryOperator, BinaryOperator>>> = { "<": ">", ">": "<", "<=": ">=", ">=": "<=" };

/** The intersection of two ranges. */
export function intersect(a: TimeBounds, b: TimeBounds): TimeBounds {
  const pick = (x: bigint | null, y: bigint | null, isTighter: (x: bigint, y: bigint) => boolean) =>
    x === null || y === null ? (x ?? y) : isTighter(x, y) ? x : y;
  return { minNs: pick(a.minNs, b.minNs, (x, y) => x > y), maxNs: pick(a.maxNs, b.maxNs, (x, y) => x < y) };
}

function boundsOf(operator: BinaryOperator, value: Expression, context: FoldContext): TimeBounds {
  const ns = instantOf(value, context);
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

function instantOf(value: Expression, context: FoldContext): bigint {
  const time = value.kind === "string" ? expectTime(value.value, context.zone) : null;
  const folded = fold(time === null ? value : { kind: "time", ns: time }, context);
  const one = folded.kind === "paren" ? folded.inner : folded;
  switch (one.kind) {
    case "time":
      if (one.ns > TIME_MAX_NS) throw new TsdbError("bad_query", `time ${formatSeconds(one.ns)} overflows time literal`);
      if (one.ns <= TIME_MIN_NS) throw new TsdbError("bad_query", `time ${formatSeconds(one.ns)} underflows time literal`);
      return one.ns;
    case "duration":
      return one.ns;
    case "number":
      return Number.isFinite(one.value) ? BigInt.asIntN(64, BigInt(Math.trunc(one.value))) : I64_MIN;
    case "integer":
      if (!one.unsigned) return one.value;
  }
  throw new TsdbError("bad_query", `invalid operation: time and ${nodeName(one)} are not compatible`);
}

/** Supports years of four and more digits. */
function formatSeconds(ns: bigint): string {
  const seconds = ns / 1_000_000_000n - (ns % 1_000_000_000n < 0n ? 1n : 0n);
  const text = new Date(Number(seconds) * 1000).toISOString();
  return `${text.replace(/\.\d+Z$/, "").replace(/^\+0*/, "")}Z`;
}
