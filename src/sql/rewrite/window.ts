// Window functions. For aggregates the rule of aggregate-function.ts applies, with the window added to each aggregate in its result. A
// RANGE frame in intervals over times is computed in nanoseconds, because DuckDB would add microseconds.

import { RENAMED_FUNCTIONS } from "../bind/dialect.ts";
import { isAggregate } from "../bind/functions.ts";
import { type Typed, withClock } from "../bind/kind.ts";
import type { Scope } from "../bind/scope.ts";
import { sameType, withMarkOf } from "../bind/type-notes.ts";
import { type Interval, intervalNs, parseInterval } from "../parse/interval.ts";
import type { Expression, FunctionCall, OrderBy, Window } from "../parse/tree.ts";
import { bigintConstant, call, castTo } from "../parse/tree.ts";
import type { RewriteContext } from "./context.ts";
import { keptType, resultKind } from "./function.ts";
import { AGGREGATE_RULES } from "./functions/aggregate-function.ts";
import { CHANGE_RULES } from "./functions/change-function.ts";
import { rewriteOrders } from "./orders.ts";
import { nullConstant, planError, wide } from "./rule.ts";
import { intervalConstant, nsOf } from "./time/time-value.ts";
import { typed } from "./typed.ts";
import { mapChildren } from "./walk.ts";

/** Rewrites a window function call. */
export function rewriteWindow(node: Window, context: RewriteContext, scope: Scope): Typed {
  const optional = (child: Expression | null): Typed | null => (child === null ? null : context.expression(child, scope));
  const args = node.children.map((child) => context.expression(child, scope));
  const name = RENAMED_FUNCTIONS[node.function_name] ?? node.function_name;
  const rewritten: Window = {
    ...node,
    function_name: name,
    // the result has the type of a literal argument
    children: args.map((arg) => (RANKS.has(name) ? arg.node : wide(arg))),
    partitions: node.partitions.map((child) => context.expression(child, scope).node),
    orders: rewriteOrders(node.orders, context, scope),
    arg_orders: rewriteOrders(node.arg_orders, context, scope),
    start_expr: optional(node.start_expr)?.node ?? null,
    end_expr: optional(node.end_expr)?.node ?? null,
    offset_expr: optional(node.offset_expr)?.node ?? null,
    default_expr: defaultOf(optional(node.default_expr), args[0]),
    filter_expr: optional(node.filter_expr)?.node ?? null,
  };
  for (const bound of [node.start_expr, node.end_expr].map(optional)) {
    const isNegative = bound !== null && "number" in bound && bound.number !== undefined && bound.number < 0;
    if (isNegative) throw planError("Invalid window frame: frame offsets for ROWS / GROUPS must be non negative integers");
  }
  if (node.orders.length === 0 && (node.start.endsWith("_GROUPS") || node.end.endsWith("_GROUPS")))
    throw planError("GROUPS requires an ORDER BY clause");
  const framed = fromTheEnd(intervalFrame(node, rewritten, context, scope), args);
  const change = CHANGE_RULES[name];
  if (change !== undefined)
    return change({ window: framed, args: withDetached(args, [node.offset_expr, node.default_expr].map(optional)) });
  if (name === "ntile") return { node: tiles(framed), kind: "integer", arrow: "UInt64" };
  if (RANKS.has(name)) return { node: framed, kind: "integer", arrow: "UInt64" };
  const made = OWN.has(name) ? null : ofAggregates(framed, args, context, scope);
  const kept = CHOOSING.has(name) ? sameType(args[0]) : keptType(name, args);
  if (made !== null) return made;
  const value = { ...withClock(typed(framed, resultKind(name, args)), args), ...kept };
  return NEIGHBOURS.has(name) ? withMarkOf(value, args[0]) : value;
}

/** nth_value with a negative number counts from the frame's end: the last value, or in the opposite order from the start of the mirrored
 *  frame. @throws TsdbError bad_query without an order, of which there is no opposite */
function fromTheEnd(window: Window, args: readonly Typed[]): Window {
  const place = args[1]?.number;
  if (window.function_name !== "nth_value" || typeof place !== "bigint" || place >= 0n) return window;
  if (place === -1n) return { ...window, type: "WINDOW_LAST_VALUE", function_name: "last_value", children: [window.children[0]!] };
  if (window.orders.length === 0) throw planError(`nth_value with ${place} requires an ORDER BY clause`);
  const mirrored = (bound: string) => bound.replace(/PRECEDING|FOLLOWING/, (side) => (side === "PRECEDING" ? "FOLLOWING" : "PRECEDING"));
  return {
    ...window,
    children: [window.children[0]!, bigintConstant(-place)],
    orders: window.orders.map(reversed),
    ...{ start: mirrored(window.end), end: mirrored(window.start), start_expr: window.end_expr, end_expr: window.start_expr },
  };
}

/** Without words NULLs come last in ascending order, first in descending order. */
function reversed(order: OrderBy): OrderBy {
  const isDescending = order.type === "DESCENDING";
  const isFirst = order.null_order === "ORDER_DEFAULT" ? isDescending : order.null_order === "NULLS FIRST";
  return { ...order, type: isDescending ? "ASCENDING" : "DESCENDING", null_order: isFirst ? "NULLS LAST" : "NULLS FIRST" };
}

/** The default of lag and lead, converted to the value's type: truncated where DuckDB would round. */
function defaultOf(value: Typed | null, other: Typed | undefined): Expression | null {
  if (value === null) return null;
  return value.kind === "float" && other?.kind === "integer" ? castTo(call("trunc", [value.node]), "BIGINT") : value.node;
}

/** ntile(n): larger tiles are distributed among the others, where DuckDB puts them first. */
function tiles(window: Window): Expression {
  const { children } = window;
  const over = (name: string, type: string, parts: Partial<Window>): Window => ({
    ...window,
    function_name: name,
    type,
    children: [],
    ...parts,
  });
  const frame = { start: "UNBOUNDED_PRECEDING", end: "UNBOUNDED_FOLLOWING" };
  const place = over("row_number", "WINDOW_ROW_NUMBER", {});
  const count = over("count_star", "WINDOW_AGGREGATE", { ...frame, orders: [] });
  return call("__tile", [children[0] ?? nullConstant(), place, count], window.query_location);
}

/** Row numbers and ranks: unsigned 64 bits in the dialect. */
const RANKS: ReadonlySet<string> = new Set(["dense_rank", "ntile", "rank", "row_number"]);
/** DuckDB's window functions with names of aggregates. */
const OWN: ReadonlySet<string> = new Set(["first_value", "last_value", "nth_value"]);

const NEIGHBOURS: ReadonlySet<string> = new Set(["lag", "lead"]);

/** Functions that return the value of another row. */
const CHOOSING: ReadonlySet<string> = new Set([...OWN, ...NEIGHBOURS]);

/** DuckDB's parser separates the second and third argument from the first. */
function withDetached(args: readonly Typed[], detached: readonly (Typed | null)[]): Typed[] {
  return [...args, ...detached.filter((arg) => arg !== null)];
}

/** An aggregate over the window; null: it has no rule. */
function ofAggregates(window: Window, args: readonly Typed[], context: RewriteContext, scope: Scope): Typed | null {
  const plain: FunctionCall = {
    ...call(window.function_name, window.children, window.query_location),
    filter: window.filter_expr,
    distinct: window.distinct,
    order_bys: { type: "ORDER_MODIFIER", orders: window.arg_orders },
  };
  const made = AGGREGATE_RULES[window.function_name]?.({ node: plain, args, context, scope }) ?? null;
  return made === null ? null : { ...made, node: overWindow(made.node, window) };
}

function overWindow(node: Expression, window: Window): Expression {
  if (node.class !== "FUNCTION" || node.is_operator || !isAggregate(node.function_name)) {
    return mapChildren(node, (child) => overWindow(child, window));
  }
  const { function_name, children, filter, distinct, order_bys } = node;
  return { ...window, function_name, children, distinct, filter_expr: filter, arg_orders: order_bys.orders, alias: "" };
}

function intervalFrame(node: Window, rewritten: Window, context: RewriteContext, scope: Scope): Window {
  const [order] = node.orders;
  if (order === undefined || node.orders.length !== 1) return rewritten;
  const bounds = [node.start_expr, node.end_expr].map((bound) => (bound === null ? null : context.expression(bound, scope)));
  const inRange = node.start.endsWith("_RANGE") || node.end.endsWith("_RANGE");
  if (!inRange || bounds.every((bound) => bound === null)) return rewritten;
  // what looks at no frame takes any
  if (UNFRAMED.has(rewritten.function_name))
    return { ...rewritten, start: "UNBOUNDED_PRECEDING", end: "CURRENT_ROW_RANGE", start_expr: null, end_expr: null };
  const key = context.expression(order.expression, scope);
  if (key.kind !== "time") return rewritten;
  const spans = bounds.map((bound) => (bound === null ? null : spanOf(bound)));
  if (spans.some((span) => span?.months !== undefined && span.months !== 0)) {
    // months have no fixed length
    const [start, end] = spans.map((span) => (span === null ? null : intervalConstant(span).node));
    return { ...rewritten, orders: [{ ...order, expression: call("__us", [key.node]) }], start_expr: start ?? null, end_expr: end ?? null };
  }
  const [start, end] = bounds.map((bound, i) =>
    bound === null ? null : spans[i] == null ? bound.node : bigintConstant(intervalNs(spans[i])),
  );
  return { ...rewritten, orders: [{ ...order, expression: nsOf(key) }], start_expr: start ?? null, end_expr: end ?? null };
}

/** A bound as an interval: a plain number is months, as in a text without a unit; null: it is not constant. */
function spanOf({ interval, text, number }: Typed): Interval | null {
  if (interval !== undefined) return interval;
  if (typeof number === "bigint") return { months: Number(number), days: 0, ns: 0n };
  return text === undefined ? null : parseInterval(text);
}

/** Functions for which a window's frame means nothing. */
const UNFRAMED: ReadonlySet<string> = new Set(["cume_dist", "dense_rank", "lag", "lead", "ntile", "percent_rank", "rank", "row_number"]);
