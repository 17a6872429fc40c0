// WHERE of the SHOW statements: conditions on the tags of series or, for SHOW MEASUREMENTS, on the tag values of a measurement. Time
// conditions have been removed. Unspecified cases follow 1.x: a comparison with a number is true for every series, and a comparison of two
// tags tests which of them a series has.
import { TsdbError } from "../../model/errors.ts";
import type { Binary, Expression } from "../parse/ast.ts";
import { printExpression } from "../parse/print.ts";
import { compileRegex } from "../regex/matcher.ts";

/** A condition on a text: a tag's value, "" if absent, or a measurement's name. */
export interface TextCondition {
  /** The text to compare with; null: a regular expression. */
  readonly text: string | null;
  /** True: `!=` or `!~`. */
  readonly isNegated: boolean;
  accepts(value: string): boolean;
}

export type SeriesCondition =
  | { readonly kind: "all" | "none" }
  | { readonly kind: "and" | "or"; readonly left: SeriesCondition; readonly right: SeriesCondition }
  | { readonly kind: "name"; readonly of: TextCondition }
  | { readonly kind: "tag"; readonly tag: string; readonly of: TextCondition }
  /** Series that have the first tag and, depending on `hasOther`, also or not the second. */
  | { readonly kind: "has"; readonly tag: string; readonly other: string; readonly hasOther: boolean };

const ALL: SeriesCondition = { kind: "all" };
const MEASUREMENT_NAME = "_name";
const TAG_KEY = "_tagKey";
const TAG_VALUE = "value";
/** Names of the server's own lists in 1.x: a comparison with one is true for every series. */
const SYSTEM_NAMES: ReadonlySet<string> = new Set([TAG_KEY, "_seriesKey", "_tagValue"]);
const COMPARISONS: ReadonlySet<string> = new Set(["=", "!=", "=~", "!~"]);

/** For SHOW TAG VALUES CARDINALITY: a comparison is false for series without the tag. @throws TsdbError as `seriesCondition` */
export function presentCondition(where: Expression | null): SeriesCondition {
  return withPresence(seriesCondition(where, { kind: "none" }));
}

const PRESENT: TextCondition = { text: "", isNegated: true, accepts: (value) => value !== "" };

function withPresence(condition: SeriesCondition): SeriesCondition {
  if (condition.kind === "tag") return { kind: "and", left: condition, right: { ...condition, of: PRESENT } };
  if (condition.kind !== "and" && condition.kind !== "or") return condition;
  return { ...condition, left: withPresence(condition.left), right: withPresence(condition.right) };
}

/** `other`: the result of comparing with anything but a text. @throws TsdbError bad_query in 1.x's words */
export function seriesCondition(where: Expression | null, other = ALL): SeriesCondition {
  if (where === null) return ALL;
  switch (where.kind) {
    case "paren":
      return seriesCondition(where.inner, other);
    case "boolean":
      return where.value ? ALL : { kind: "none" };
    case "binary":
      return where.operator === "AND" || where.operator === "OR" ? both(where, other) : comparison(where, other);
    default:
      throw new TsdbError("bad_query", `invalid condition expression: ${printExpression(where)}`);
  }
}

function both({ operator, left, right }: Binary, other: SeriesCondition): SeriesCondition {
  const [a, b] = [seriesCondition(left, other), seriesCondition(right, other)];
  const [neutral, final] = operator === "AND" ? (["all", "none"] as const) : (["none", "all"] as const);
  if (a.kind === final || b.kind === neutral) return a;
  if (b.kind === final || a.kind === neutral) return b;
  return { kind: operator === "AND" ? "and" : "or", left: a, right: b };
}

function comparison({ operator, left, right }: Binary, other: SeriesCondition): SeriesCondition {
  if (!COMPARISONS.has(operator)) throw new TsdbError("bad_query", "invalid tag comparison operator");
  const isNegated = operator === "!=" || operator === "!~";
  const [ref, value] = left.kind === "ref" ? [left, right] : [right, left];
  if (ref.kind !== "ref") return ALL;
  if (value.kind === "ref") return { kind: "has", tag: ref.name, other: value.name, hasOther: !isNegated };
  const of = textCondition(value, isNegated);
  if (of === null) return other;
  if (ref.name === MEASUREMENT_NAME) return { kind: "name", of };
  return SYSTEM_NAMES.has(ref.name) ? ALL : { kind: "tag", tag: ref.name, of };
}

/** Null: the comparison is not with a text. */
function textCondition(value: Expression, isNegated: boolean): TextCondition | null {
  if (value.kind === "string") {
    const text = value.value;
    return { text, isNegated, accepts: (other) => (other === text) !== isNegated };
  }
  if (value.kind !== "regex") return null;
  const regex = compileRegex(value.source);
  return { text: null, isNegated, accepts: (other) => regex.test(other) !== isNegated };
}

/** What lists of tags show: of keys and values that pass all of these. */
export interface TagFilter {
  readonly keys: readonly TextCondition[];
  readonly values: readonly TextCondition[];
}

export const EVERY_TAG: TagFilter = { keys: [], values: [] };

/** Splits the condition of a list of tags: comparisons of `_tagKey` and `value` with a text, as far as they are joined by AND, are about
 *  what is listed, as in 1.8; `rest` is about series. A value is never equal to a number. */
export function tagFilter(where: Expression | null): TagFilter & { readonly rest: Expression | null } {
  if (where === null) return { ...EVERY_TAG, rest: null };
  if (where.kind === "paren") return tagFilter(where.inner);
  if (where.kind !== "binary") return { ...EVERY_TAG, rest: where };
  const { operator, left, right } = where;
  if (operator === "AND") {
    const [a, b] = [tagFilter(left), tagFilter(right)];
    const rest = a.rest !== null && b.rest !== null ? { ...where, left: a.rest, right: b.rest } : (a.rest ?? b.rest);
    return { keys: [...a.keys, ...b.keys], values: [...a.values, ...b.values], rest };
  }
  if (!COMPARISONS.has(operator) || left.kind !== "ref" || right.kind === "ref") return { ...EVERY_TAG, rest: where };
  const isKey = left.name === TAG_KEY;
  if (!isKey && left.name !== TAG_VALUE) return { ...EVERY_TAG, rest: where };
  const of = textCondition(right, operator === "!=" || operator === "!~") ?? { text: null, isNegated: false, accepts: () => false };
  return { keys: isKey ? [of] : [], values: isKey ? [] : [of], rest: null };
}

/** Evaluates the part of a condition that concerns the measurement's name. */
export function ofMeasurement(condition: SeriesCondition, name: string): SeriesCondition {
  if (condition.kind === "name") return condition.of.accepts(name) ? ALL : { kind: "none" };
  if (condition.kind !== "and" && condition.kind !== "or") return condition;
  const [a, b] = [ofMeasurement(condition.left, name), ofMeasurement(condition.right, name)];
  const [neutral, final] = condition.kind === "and" ? (["all", "none"] as const) : (["none", "all"] as const);
  if (a.kind === final || b.kind === neutral) return a;
  if (b.kind === final || a.kind === neutral) return b;
  return { kind: condition.kind, left: a, right: b };
}

// SHOW MEASUREMENTS ------------------------------------------------------------------------------------------------------------------

/** A measurement passes a comparison of a tag if one of its series has such a value; it passes a negated one if none has, but some
 *  series has the tag. */
export interface MeasurementFilter {
  /** The tags whose values are needed. */
  readonly tags: readonly string[];
  accepts(name: string, valuesOf: (tag: string) => Iterable<string>): boolean;
}

export const EVERY_MEASUREMENT: MeasurementFilter = { tags: [], accepts: () => true };

/** @throws TsdbError bad_query in 1.x's words */
export function measurementFilter(where: Expression | null): MeasurementFilter {
  if (where === null) return EVERY_MEASUREMENT;
  switch (where.kind) {
    case "paren":
      return measurementFilter(where.inner);
    case "binary":
      return where.operator === "AND" || where.operator === "OR" ? bothFilters(where) : filterByTag(where);
    default:
      throw new TsdbError("bad_query", `invalid condition expression: ${printExpression(where)}`);
  }
}

function bothFilters({ operator, left, right }: Binary): MeasurementFilter {
  const [a, b] = [measurementFilter(left), measurementFilter(right)];
  const tags = [...a.tags, ...b.tags];
  if (operator === "AND") return { tags, accepts: (name, valuesOf) => a.accepts(name, valuesOf) && b.accepts(name, valuesOf) };
  return { tags, accepts: (name, valuesOf) => a.accepts(name, valuesOf) || b.accepts(name, valuesOf) };
}

function filterByTag({ operator, left, right }: Binary): MeasurementFilter {
  if (!COMPARISONS.has(operator)) throw new TsdbError("bad_query", "invalid tag comparison operator");
  if (left.kind !== "ref") throw new TsdbError("bad_query", `left side of '${operator}' must be a tag key`);
  const of = textCondition(right, false);
  if (of === null) throw new TsdbError("bad_query", `right side of '${operator}' must be a tag value string`);
  const isNegated = operator === "!=" || operator === "!~";
  const tag = left.name;
  if (tag === MEASUREMENT_NAME) return { tags: [], accepts: (name) => of.accepts(name) !== isNegated };
  const accepts: MeasurementFilter["accepts"] = (_name, valuesOf) => {
    let hasTag = false;
    for (const value of valuesOf(tag)) {
      hasTag = true;
      if (of.accepts(value)) return !isNegated;
    }
    return hasTag && isNegated;
  };
  return { tags: [tag], accepts };
}
