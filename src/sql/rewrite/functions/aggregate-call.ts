// Determines which aggregate calls the scan can compute, and their arguments.
import { type AggregateFunction, aggregateType } from "../../../model/query/aggregate.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { RENAMED_FUNCTIONS } from "../../bind/dialect.ts";
import { isAggregate } from "../../bind/functions.ts";
import { call, castTo, type Expression, type FunctionCall, integerConstant, operator } from "../../parse/tree.ts";
import { isNotNull, whenThen } from "../rule.ts";
import { someNode } from "../walk.ts";
import type { CallParts } from "./call-parts.ts";
import { storageQuantile } from "./quantile-call.ts";
import { isSelector } from "./selector.ts";

/** Aggregates that rewrite/ renames or composes from others. */
const DIALECT_AGGREGATES: ReadonlySet<string> = new Set([
  "approx_distinct",
  "approx_median",
  "approx_percentile_cont",
  "approx_percentile_cont_with_weight",
  "first_value",
  "last_value",
  "nth_value",
  "percentile_cont",
]);

/** True for an aggregate call without OVER. */
export function isAggregateCall(node: Expression): boolean {
  if (node.class !== "FUNCTION") return false;
  const name = RENAMED_FUNCTIONS[node.function_name] ?? node.function_name;
  return isAggregate(name) || DIALECT_AGGREGATES.has(name) || isSelector(name);
}

/** True if `node` contains an aggregate call. */
export function hasAggregate(node: Expression): boolean {
  return someNode(node, isAggregateCall);
}

const SIMPLE: Readonly<Record<string, AggregateFunction>> = { sum: "sum", avg: "mean", mean: "mean", min: "min", max: "max" };

/** The value of x at the least or greatest time, ignoring rows without x. */
const BY_TIME: Readonly<Record<string, "first" | "last">> = {
  arg_min: "first",
  argmin: "first",
  min_by: "first",
  arg_max: "last",
  argmax: "last",
  max_by: "last",
};

/** `name(x ORDER BY time)`: x in the first or last row, possibly NULL. */
const ORDERED: Readonly<Record<string, "first" | "last">> = { first: "first", first_value: "first", last: "last", last_value: "last" };

/** A call in terms of the scan's aggregates; null if they cannot express it. */
export function storageAggregate(node: FunctionCall, parts: CallParts): Expression | null {
  if (node.distinct) return null;
  if (node.filter !== null) return filtered(node, node.filter, parts);
  const { function_name: name, children } = node;
  const { orders } = node.order_bys;
  const [first, second] = children;
  const quantile = storageQuantile(node, parts);
  if (quantile !== null) return quantile;
  if (orders.length === 1 && children.length === 1) return orderedAggregate(node, parts);
  if (orders.length > 0) return null;
  if (name === "count_star" || name === "count") return count(node, parts);
  const deviation = DEVIATIONS[RENAMED_FUNCTIONS[name] ?? name];
  if (deviation !== undefined) return children.length === 1 ? deviationOf(valueColumn(first!, "squares", parts), deviation, parts) : null;
  const fn = SIMPLE[name];
  if (fn !== undefined) return children.length === 1 ? of(fn, valueColumn(first!, fn, parts), parts) : null;
  if (children.length !== 2 || parts.column(second!)?.type !== ColumnType.time) return null;
  const byTime = BY_TIME[name];
  if (byTime !== undefined) return of(byTime, parts.column(first!), parts);
  return isSelector(name) ? selector(name, parts.column(first!), parts) : null;
}

function valueColumn(argument: Expression, fn: AggregateFunction, parts: CallParts): ColumnDef | null {
  return parts.column(argument) ?? parts.computedColumn(argument, fn);
}

/** Of rows that pass a filter: of values that others do not have. */
function filtered(node: FunctionCall, filter: Expression, parts: CallParts): Expression | null {
  const { function_name: name, children } = node;
  const fn = name === "count_star" || name === "count" ? "count" : SIMPLE[name];
  if (fn === undefined || children.length > 1 || node.order_bys.orders.length > 0) return null;
  const column = parts.computedColumn(whenThen([[filter, children[0] ?? TRUE]]), fn);
  return of(fn, column, parts);
}

const TRUE: Expression = {
  ...{ class: "CONSTANT", type: "VALUE_CONSTANT", alias: "" },
  value: { type: { id: "BOOLEAN", type_info: null }, is_null: false, value: true },
};

interface Deviation {
  /** Squares are divided by the number of values less one. */
  readonly isOfSample: boolean;
  readonly isRoot: boolean;
}

const DEVIATIONS: Readonly<Record<string, Deviation>> = {
  stddev: { isOfSample: true, isRoot: true },
  stddev_samp: { isOfSample: true, isRoot: true },
  stddev_pop: { isOfSample: false, isRoot: true },
  var_samp: { isOfSample: true, isRoot: false },
  var_pop: { isOfSample: false, isRoot: false },
};

/** NULL of too few values; NaN where squares leave the range of floats. */
function deviationOf(column: ColumnDef | null, { isOfSample, isRoot }: Deviation, parts: CallParts): Expression | null {
  const squares = of("squares", column, parts);
  if (squares === null) return null;
  const count = parts.value({ fn: "count", column });
  const divisor = isOfSample ? call("nullif", [operator("-", count, integerConstant(1)), integerConstant(0)]) : count;
  const variance = call("__finite", [operator("/", squares, castTo(divisor, "DOUBLE"))]);
  return isRoot ? call("sqrt", [variance]) : variance;
}

function of(fn: AggregateFunction, column: ColumnDef | null, parts: CallParts): Expression | null {
  if (column === null || column.type === ColumnType.string) return null;
  return aggregateType({ fn, column }) === null ? null : parts.value({ fn, column });
}

function count({ children }: FunctionCall, parts: CallParts): Expression | null {
  const [argument] = children;
  const isRows = argument === undefined || (argument.class === "CONSTANT" && !argument.value.is_null);
  if (children.length > 1) return null;
  const column = isRows ? null : valueColumn(argument, "count", parts);
  // every row has a time
  if (isRows || column?.type === ColumnType.time) return parts.value({ fn: "count", column: null });
  return of("count", column, parts);
}

function orderedAggregate(node: FunctionCall, parts: CallParts): Expression | null {
  const [order] = node.order_bys.orders;
  const column = parts.column(node.children[0]!);
  if (order === undefined || parts.column(order.expression)?.type !== ColumnType.time || column === null) return null;
  const isDescending = order.type === "DESCENDING";
  // any_value ignores NULLs
  if (node.function_name === "any_value") return of(isDescending ? "last" : "first", column, parts);
  const end = ORDERED[node.function_name];
  if (end === undefined) return null;
  const isFirst = (end === "first") !== isDescending;
  const value = of(isFirst ? "first" : "last", column, parts);
  if (value === null) return null;
  // The scan returns the outermost present value. It belongs to the outermost row if that row's time equals the value's; otherwise that row
  // has no value. Among several rows at that time any may be used, hence one with a value.
  const valueTime = parts.value({ fn: isFirst ? "firstTime" : "lastTime", column });
  const rowTime = parts.value({ fn: isFirst ? "min" : "max", column: TIME });
  return whenEqual(valueTime, rowTime, value);
}

const TIME: ColumnDef = { id: 0, name: "time", type: ColumnType.time };

function whenEqual(left: Expression, right: Expression, then: Expression): Expression {
  return whenThen([[{ class: "COMPARISON", type: "COMPARE_EQUAL", alias: "", left, right }, then]]);
}

/** A part of a selector; null if the scan cannot compute it: the times of the least and the greatest value that is no number. */
export function storageSelectorPart(node: FunctionCall, part: "value" | "time", parts: CallParts): Expression | null {
  const { function_name: name, children } = node;
  if (node.filter !== null || node.distinct || node.order_bys.orders.length > 0 || children.length !== 2) return null;
  const column = parts.column(children[0]!);
  if (column === null || column.type === ColumnType.time || parts.column(children[1]!)?.type !== ColumnType.time) return null;
  const fn = SELECTORS[name]?.[part];
  return fn === undefined ? null : of(fn, column, parts);
}

const SELECTORS: Readonly<Record<string, { readonly value: AggregateFunction; readonly time: AggregateFunction }>> = {
  selector_first: { value: "first", time: "firstTime" },
  selector_last: { value: "last", time: "lastTime" },
  selector_min: { value: "min", time: "minTime" },
  selector_max: { value: "max", time: "maxTime" },
};

function selector(name: string, column: ColumnDef | null, parts: CallParts): Expression | null {
  const pair = SELECTORS[name];
  if (pair === undefined || column?.type === ColumnType.time) return null;
  const value = of(pair.value, column, parts);
  const time = of(pair.time, column, parts);
  if (value === null || time === null) return null;
  const members: Expression[] = [
    { ...value, alias: "value" },
    { ...time, alias: "time" },
  ];
  // of no value there is no pair
  return whenThen([[isNotNull(time), call("struct_pack", members)]]);
}
