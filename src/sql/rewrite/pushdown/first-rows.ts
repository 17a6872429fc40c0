// Rewrites `row_number() OVER (PARTITION BY keys ORDER BY …) = 1`, in QUALIFY or around a subquery, to the equivalent DISTINCT ON (keys)
// with the same ORDER BY. DuckDB takes longer for a window than for the rest of such a statement, of which often nothing remains.
import type { ColumnRef, Expression, SelectNode, Star, Window } from "../../parse/tree.ts";
import { integerConstant } from "../../parse/tree.ts";
import { hasAggregate } from "../functions/aggregate-call.ts";
import { someNode } from "../walk.ts";

/** The same query with DISTINCT ON. `number`: the name of the row number, which must not be a column of the table; null: none. */
export interface FirstRows {
  readonly node: SelectNode;
  readonly number: string | null;
}

/** Returns null if it has another form, or names would change their meaning. */
export function firstRowsOf(node: SelectNode): FirstRows | null {
  if (node.qualify === null && node.from_table.type !== "SUBQUERY") return null;
  if (node.modifiers.length > 0 || !isBare(node)) return null;
  return node.qualify !== null ? ofQualify(node, node.qualify) : ofSubquery(node);
}

/** True without groups and sample. */
function isBare(node: SelectNode): boolean {
  const isGrouped = node.group_expressions.length + node.group_sets.length > 0 || node.aggregate_handling !== "STANDARD_HANDLING";
  return !isGrouped && node.having === null && node.sample === null && !node.select_list.some(hasAggregate);
}

function ofQualify(node: SelectNode, qualify: Expression): FirstRows | null {
  const window = comparedWithOne(qualify);
  if (window?.class !== "WINDOW" || node.select_list.some(hasWindow)) return null;
  const chosen = distinctOn(node, window, node.select_list);
  return chosen === null ? null : { node: chosen, number: null };
}

function ofSubquery(node: SelectNode): FirstRows | null {
  const { from_table: from, where_clause: where } = node;
  if (from.type !== "SUBQUERY" || from.sample !== null || from.column_name_alias.length > 0 || where === null) return null;
  const inner = from.subquery.node;
  if (inner.type !== "SELECT_NODE" || !isBare(inner) || inner.qualify !== null) return null;
  if (inner.modifiers.length > 0 || inner.cte_map.map.length > 0) return null;
  const [window, ...others] = inner.select_list.filter(hasWindow);
  const number = comparedWithOne(where);
  if (window?.class !== "WINDOW" || others.length > 0 || number?.class !== "COLUMN_REF") return null;
  if (nameIn(number, from.alias) !== window.alias || window.alias === "" || !areDistinct(inner.select_list)) return null;
  const items: Expression[] = [];
  for (const item of node.select_list) {
    const shown = shownItems(item, from.alias, inner.select_list, window);
    if (shown === null) return null;
    items.push(...shown);
  }
  const chosen = distinctOn({ ...node, from_table: inner.from_table, where_clause: inner.where_clause }, window, items);
  return chosen === null ? null : { node: chosen, number: window.alias };
}

function hasWindow(node: Expression): boolean {
  return someNode(node, ({ class: kind }) => kind === "WINDOW");
}

/** `*` and one item, or columns and expressions with different names. */
function areDistinct(items: readonly Expression[]): boolean {
  if (items.some(({ class: kind }) => kind === "STAR")) return items.length === 2 && items.some(isStar);
  const names = items.map(outputName);
  return !names.includes(null) && new Set(names).size === names.length;
}

/** `x` in `x = 1`. */
function comparedWithOne(node: Expression): Expression | null {
  if (node.class !== "COMPARISON" || node.type !== "COMPARE_EQUAL") return null;
  const isOne = (side: Expression) => side.class === "CONSTANT" && side.value.value === 1 && side.value.type.id === "INTEGER";
  return isOne(node.right) ? node.left : isOne(node.left) ? node.right : null;
}

/** The column referred to in relation `alias`; null otherwise. */
function nameIn({ column_names: names }: ColumnRef, alias: string): string | null {
  return names.length === 1 || (names.length === 2 && names[0] === alias) ? names.at(-1)! : null;
}

/** An item of the outer query in terms of the inner query's table. */
function shownItems(item: Expression, alias: string, inner: readonly Expression[], window: Window): Expression[] | null {
  if (item.class === "STAR") return isStarOf(item, alias) ? starItems(item, inner, window) : null;
  const name = item.class === "COLUMN_REF" ? nameIn(item, alias) : null;
  if (name === null) return null;
  const shownAs = item.alias !== "" ? item.alias : name;
  if (name === window.alias) return [one(shownAs)];
  const given = inner.find((candidate) => candidate !== window && outputName(candidate) === name);
  if (given !== undefined) return [{ ...given, alias: shownAs }];
  return inner.some(isStar) ? [{ ...(item as ColumnRef), column_names: [name] }] : null;
}

function starItems(star: Star, inner: readonly Expression[], window: Window): Expression[] | null {
  const excluded = new Set(star.exclude_list);
  const isOfTable = inner.some(isStar);
  if (!isOfTable && !star.exclude_list.every((name) => inner.some((item) => outputName(item) === name))) return null;
  return inner.flatMap((item): Expression[] => {
    if (item.class === "STAR") return [{ ...item, exclude_list: star.exclude_list.filter((name) => name !== window.alias) }];
    const name = outputName(item)!;
    if (excluded.has(name)) return [];
    return [item === window ? one(name) : item];
  });
}

/** `*` or `alias.*`, possibly with exclusions. */
function isStarOf(star: Star, alias: string): boolean {
  const isPlain = !star.columns && star.expr === null && star.replace_list.length === 0 && star.rename_list.length === 0;
  return isPlain && star.qualified_exclude_list.length === 0 && (star.relation_name === "" || star.relation_name === alias);
}

function isStar(node: Expression): boolean {
  return node.class === "STAR" && isStarOf(node, "") && node.exclude_list.length === 0;
}

/** Null: a name generated by DuckDB. */
function outputName(node: Expression): string | null {
  if (node.alias !== "") return node.alias;
  return node.class === "COLUMN_REF" ? node.column_names.at(-1)! : null;
}

/** Row numbers are unsigned. */
function one(alias: string): Expression {
  const constant = integerConstant(1);
  return { ...constant, alias, value: { ...constant.value, type: { id: "UBIGINT", type_info: null } } };
}

function distinctOn(node: SelectNode, window: Window, select_list: Expression[]): SelectNode | null {
  const { function_name, partitions, orders, filter_expr, arg_orders, children } = window;
  if (function_name !== "row_number" || filter_expr !== null || arg_orders.length > 0 || children.length > 0) return null;
  if (partitions.length === 0 || orders.length === 0) return null;
  // aliases and positions are not visible within OVER
  const isSafe = (key: Expression) => key.class === "COLUMN_REF" && select_list.every((item) => !shadows(item, key));
  if (!partitions.every(isSafe) || !orders.every(({ expression }) => isSafe(expression))) return null;
  return {
    ...node,
    select_list,
    qualify: null,
    modifiers: [
      { type: "DISTINCT_MODIFIER", distinct_on_targets: partitions },
      { type: "ORDER_MODIFIER", orders },
    ],
  };
}

/** True if an item has the name of a column without being it. */
function shadows(item: Expression, key: ColumnRef): boolean {
  const name = key.column_names.at(-1)!;
  return item.alias === name && !(item.class === "COLUMN_REF" && item.column_names.at(-1) === name);
}
