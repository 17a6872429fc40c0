// Derives hints on single columns from conditions, by which scans skip rows. A constant is converted to the column's type only if the
// comparison stays equivalent for all values of that type.

import type { ComparisonOperator, TimeRange } from "../../../model/query/scan.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import { I64_MAX, I64_MIN, U64_MAX } from "../../../model/rows/int64.ts";
import type { Hint, Typed } from "../../bind/kind.ts";
import { deferredTime } from "../../bind/plan-clock.ts";

const OPERATORS: Readonly<Record<string, ComparisonOperator>> = {
  COMPARE_EQUAL: "=",
  COMPARE_NOTEQUAL: "!=",
  COMPARE_LESSTHAN: "<",
  COMPARE_GREATERTHAN: ">",
  COMPARE_LESSTHANOREQUALTO: "<=",
  COMPARE_GREATERTHANOREQUALTO: ">=",
};

/** The operator with its operands swapped. */
const MIRRORED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  "=": "=",
  "!=": "!=",
  "<": ">",
  ">": "<",
  "<=": ">=",
  ">=": "<=",
};

/** Up to this number all integers are exact as doubles, including their neighbours. */
const EXACT_MAX = 2 ** 52;

/** The hint of `left type right`; null if there is no exact one. */
export function comparisonHint(type: string, left: Typed, right: Typed): Hint | null {
  const operator = OPERATORS[type];
  if (operator === undefined) return null;
  return columnHint(left, operator, right) ?? columnHint(right, MIRRORED[operator], left);
}

/** The hints of `value BETWEEN low AND high`. */
export function betweenHints(value: Typed, low: Typed, high: Typed): (Hint | null)[] {
  // All three are compared as doubles if one of them is a double.
  const isWhole = [value, low, high].every(({ kind }) => kind === "integer");
  const [of, least, greatest] = isWhole ? [value, low, high] : ([value, low, high].map(asDouble) as [Typed, Typed, Typed]);
  return [comparisonHint("COMPARE_GREATERTHANOREQUALTO", of, least), comparisonHint("COMPARE_LESSTHANOREQUALTO", of, greatest)];
}

/** Without its number if that changes as a double. */
function asDouble(value: Typed): Typed {
  if (typeof value.number !== "bigint" || (value.number <= EXACT_MAX && value.number >= -EXACT_MAX)) return value;
  const { number: _, ...rest } = value;
  return rest;
}

function columnHint(column: Typed, operator: ComparisonOperator, constant: Typed): Hint | null {
  const { source } = column;
  const type = source?.scan.defs[source.index]?.type;
  if (source === undefined || type === undefined) return null;
  if (type === ColumnType.tag) return operator === "=" && constant.text !== undefined ? tagHint(column, [constant.text]) : null;
  if (type === ColumnType.time) {
    const range = operator === "!=" ? null : rangeOf(operator, constant);
    return range === null ? null : { kind: "time", scan: source.scan, range };
  }
  if (type === ColumnType.string) return operator === "=" && constant.text !== undefined ? textHint(column, [constant.text]) : null;
  return fieldHint(column, type, operator, constant);
}

/** A condition on a tag column: the row has one of `values`. */
export function tagHint(column: Typed, values: readonly (string | null)[]): Hint | null {
  const { source } = column;
  const def = source?.scan.defs[source.index];
  if (source === undefined || def === undefined || def.type !== ColumnType.tag) return null;
  return { kind: "tag", scan: source.scan, columnId: def.id, values };
}

/** A condition on a tag or a string field: its value is one of `values`. */
export function textHint(column: Typed, values: readonly string[]): Hint | null {
  const { source } = column;
  const def = source?.scan.defs[source.index];
  if (source === undefined || def?.type !== ColumnType.string) return tagHint(column, values);
  return { kind: "field", scan: source.scan, predicate: { columnId: def.id, operator: "in", values } };
}

/** The value is not NULL: a condition that every value of the type satisfies. */
export function presenceHint(column: Typed): Hint | null {
  const { source } = column;
  const def = source?.scan.defs[source.index];
  if (source === undefined || def === undefined) return null;
  const least: Partial<Record<ColumnType, number | bigint | boolean>> = {
    [ColumnType.float]: Number.NEGATIVE_INFINITY,
    [ColumnType.integer]: I64_MIN,
    [ColumnType.unsigned]: 0n,
    [ColumnType.boolean]: false,
  };
  const value = least[def.type];
  return value === undefined ? null : { kind: "field", scan: source.scan, predicate: { columnId: def.id, operator: ">=", value } };
}

/** A boolean column as a condition. */
export function truthHint(column: Typed, value: boolean): Hint | null {
  const { source } = column;
  const def = source?.scan.defs[source.index];
  if (source === undefined || def?.type !== ColumnType.boolean) return null;
  return { kind: "field", scan: source.scan, predicate: { columnId: def.id, operator: "=", value } };
}

/** An empty range. */
const NEVER: TimeRange = { minNs: I64_MAX, maxNs: I64_MIN };

type RangeOperator = Exclude<ComparisonOperator, "!=">;

/** The times in that order to a constant; null if it is no time. */
function rangeOf(operator: RangeOperator, constant: Typed): TimeRange | null {
  const deferred = deferredTime(constant);
  if (deferred !== undefined) return deferred.clock.range((nowNs) => timeRange(operator, deferred.at(nowNs)));
  return constant.timeNs === undefined ? null : timeRange(operator, constant.timeNs);
}

/** `at` may be outside of i64. */
function timeRange(operator: RangeOperator, at: bigint): TimeRange {
  const minNs = operator === "=" || operator === ">=" ? at : operator === ">" ? at + 1n : I64_MIN;
  const maxNs = operator === "=" || operator === "<=" ? at : operator === "<" ? at - 1n : I64_MAX;
  if (minNs > I64_MAX || maxNs < I64_MIN) return NEVER;
  return { minNs: minNs < I64_MIN ? I64_MIN : minNs, maxNs: maxNs > I64_MAX ? I64_MAX : maxNs };
}

function fieldHint(column: Typed, type: ColumnType, operator: ComparisonOperator, constant: Typed): Hint | null {
  const source = column.source!;
  const folded = fold(type, operator, constant);
  return folded === null
    ? null
    : { kind: "field", scan: source.scan, predicate: { columnId: source.scan.defs[source.index]!.id, ...folded } };
}

type Folded = { readonly operator: ComparisonOperator; readonly value: number | bigint | boolean };

function fold(type: ColumnType, operator: ComparisonOperator, constant: Typed): Folded | null {
  const { number, boolean } = constant;
  if (type === ColumnType.boolean) return boolean === undefined ? null : { operator, value: boolean };
  // A cast to another type may round, or fail.
  if (number === undefined || constant.node.class !== "CONSTANT") return null;
  if (type === ColumnType.float) {
    // An integer beyond i64 would be compared as a HUGEINT, which DuckDB converts to a double by its own rules.
    if (typeof number === "bigint") return number < I64_MIN || number > I64_MAX ? null : { operator, value: Number(number) };
    return Number.isNaN(number) ? null : { operator, value: number };
  }
  if (type !== ColumnType.integer && type !== ColumnType.unsigned) return null;
  const whole = typeof number === "bigint" ? { operator, value: number } : wholeNumber(operator, number);
  if (whole === null) return null;
  const [least, greatest] = type === ColumnType.integer ? [I64_MIN, I64_MAX] : [0n, U64_MAX];
  if (whole.value >= least && whole.value <= greatest) return whole;
  // Outside of the type's range a comparison is always true or never; only the former can be expressed.
  const isAlways = whole.value < least ? [">", ">=", "!="].includes(operator) : ["<", "<=", "!="].includes(operator);
  return isAlways ? { operator: ">=", value: least } : null;
}

/** Integers are compared with a double as doubles. The conversion preserves their order, and up to 2^52 their value: so integers stay on
 *  their side of the constant. */
function wholeNumber(operator: ComparisonOperator, value: number): { operator: ComparisonOperator; value: bigint } | null {
  if (!(Math.abs(value) <= EXACT_MAX)) return null;
  if (Number.isInteger(value)) return { operator, value: BigInt(value) };
  switch (operator) {
    case ">":
    case ">=":
      return { operator: ">=", value: BigInt(Math.ceil(value)) };
    case "<":
    case "<=":
      return { operator: "<=", value: BigInt(Math.floor(value)) };
    default:
      return null;
  }
}
