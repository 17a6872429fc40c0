// The names of columns in a FROM that has not been rewritten.
import type { CteMap } from "../../bind/scope.ts";
import { tableNameOf } from "../../parse/check.ts";
import type { QueryNode, TableRef } from "../../parse/tree.ts";
import type { RewriteContext } from "../context.ts";
import { itemAlias } from "../item-name.ts";

/** True if `from` is known to have a column of that name (encoded): in GROUP BY it precedes an alias. */
export function hasColumn(from: TableRef, name: string, context: RewriteContext, ctes: CteMap): boolean {
  switch (from.type) {
    case "JOIN":
      return hasColumn(from.left, name, context, ctes) || hasColumn(from.right, name, context, ctes);
    case "BASE_TABLE": {
      if (from.column_name_alias.includes(name)) return true;
      const cte = from.schema_name === "" ? ctes.get(from.table_name) : undefined;
      const { schema, table } = tableNameOf(from);
      const columns = cte !== undefined ? cte.columns : schema === "iox" ? context.tables.describe(table)?.columns : null;
      return columns?.some((column) => column.name === name) ?? false;
    }
    case "SUBQUERY":
      return from.column_name_alias.includes(name) || isShown(from.subquery.node, name, context, ctes);
    default:
      return false;
  }
}

/** True if a query's answer has a column of that name. */
function isShown(node: QueryNode, name: string, context: RewriteContext, ctes: CteMap): boolean {
  if (node.type !== "SELECT_NODE") return "left" in node && isShown(node.left, name, context, ctes);
  return node.select_list.some((item) => {
    if (item.class === "STAR") return hasColumn(node.from_table, name, context, ctes);
    return (itemAlias(item) ?? (item.class === "COLUMN_REF" ? item.column_names.at(-1) : null)) === name;
  });
}
