// GROUP BY unnest(list): the rows are multiplied before they are grouped, by a join with each row's list. DuckDB has unnest in select lists
// alone.
import { internalName } from "../parse/names.ts";
import type { Expression, FunctionCall, OrderBy, SelectNode, TableRef } from "../parse/tree.ts";
import { selectFrom } from "./from.ts";
import { mapChildren } from "./walk.ts";

/** Changes `node` in place. */
export function joinUnnestedGroups(node: SelectNode): void {
  const found = new Map<string, FunctionCall>();
  for (const group of node.group_expressions) {
    const item = itemOf(group, node);
    if (isUnnest(item)) found.set(keyOf(item), item);
  }
  if (found.size === 0) return;
  const names = new Map([...found.keys()].map((key, i) => [key, internalName("list", i)] as const));
  const joined = (expression: Expression): Expression => {
    const name = isUnnest(expression) ? names.get(keyOf(expression)) : undefined;
    if (name === undefined) return mapChildren(expression, joined);
    return { class: "COLUMN_REF", type: "COLUMN_REF", alias: expression.alias, column_names: [LISTS, name] };
  };
  node.from_table = join(
    node.from_table,
    [...names].map(([key, alias]) => ({ ...found.get(key)!, alias })),
  );
  const groups = node.group_expressions.map((group) => (isUnnest(itemOf(group, node)) ? { ...itemOf(group, node), alias: "" } : group));
  node.group_expressions = groups.map(joined);
  node.select_list = node.select_list.map(joined);
  if (node.having !== null) node.having = joined(node.having);
  for (const modifier of node.modifiers)
    if (modifier.type === "ORDER_MODIFIER") {
      modifier.orders = modifier.orders.map((order): OrderBy => ({ ...order, expression: joined(order.expression) }));
    }
}

function isUnnest(node: Expression): node is FunctionCall {
  return node.class === "FUNCTION" && node.function_name === "unnest";
}

/** The item of the select list that a group names, by its number or its alias; or the group itself. */
function itemOf(group: Expression, { select_list }: SelectNode): Expression {
  if (group.class === "CONSTANT") return select_list[Number(group.value.value) - 1] ?? group;
  if (group.class !== "COLUMN_REF" || group.column_names.length > 1) return group;
  return select_list.find(({ alias }) => alias === group.column_names[0]) ?? group;
}

const PLACES: ReadonlySet<string> = new Set(["alias", "query_location"]);

/** The same for the same call in other places. */
function keyOf(node: Expression): string {
  return JSON.stringify(node, (name, value: unknown) => (PLACES.has(name) ? undefined : value));
}

const LISTS = internalName("lists", 0);

/** Several lists stand side by side. */
function join(from: TableRef, items: FunctionCall[]): TableRef {
  const node = selectFrom({ type: "EMPTY", alias: "", sample: null }, items);
  const lists: TableRef = { type: "SUBQUERY", alias: LISTS, sample: null, subquery: { node }, column_name_alias: [] };
  if (from.type === "EMPTY") return lists;
  return {
    type: "JOIN",
    ...{ alias: "", sample: null, left: from, right: lists, condition: null },
    ...{ join_type: "INNER", ref_type: "CROSS", using_columns: [] },
  };
}
