// Windows over groups: what they sort by is computed by the grouping, and names show it as a column.
import { functionType } from "../bind/functions.ts";
import type { Expression, SelectNode, Window } from "../parse/tree.ts";
import { childrenOf } from "../rewrite/walk.ts";

/** True if the windows of a select item sort by keys of its grouping: by expressions in GROUP BY, besides columns and aggregates. */
export function sortsByKeys(item: Expression, { group_expressions, select_list }: SelectNode): boolean {
  if (group_expressions.length === 0 || item.class === "COLUMN_REF") return false;
  const sorts = windowsOf(item)
    .flatMap(({ orders }) => orders.map(({ expression }) => expression))
    .filter((sort) => sort.class !== "COLUMN_REF" && !(sort.class === "FUNCTION" && functionType(sort.function_name) === "AGGREGATE"));
  if (sorts.length === 0) return false;
  const keys = new Set(group_expressions.map((key) => shapeOf(keyOf(key, select_list))));
  return sorts.every((sort) => keys.has(shapeOf(sort)));
}

function windowsOf(node: Expression): Window[] {
  const windows = childrenOf(node).flatMap(windowsOf);
  return node.class === "WINDOW" ? [node, ...windows] : windows;
}

/** A key by number or alias is that item. */
function keyOf(key: Expression, items: readonly Expression[]): Expression {
  if (key.class === "CONSTANT") return items[Number(key.value.value) - 1] ?? key;
  if (key.class !== "COLUMN_REF" || key.column_names.length > 1) return key;
  return items.find(({ alias }) => alias === key.column_names[0]) ?? key;
}

/** Equal for equal expressions, wherever they are written. */
function shapeOf(node: Expression): string {
  return JSON.stringify({ ...node, alias: "" }, (name, value: unknown) => (name === "query_location" ? undefined : value));
}
