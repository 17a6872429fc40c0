// Prints a tree checked by check.ts as SQL text. All operators are in parentheses, all names in quotes.
import { ident } from "../parse/names.ts";
import type { CommonTableExpression, Modifier, QueryNode, SelectNode, TableRef } from "../parse/tree.ts";
import { unsupported } from "../parse/unsupported.ts";
import { printExpression, printList, printOrders } from "./print-expression.ts";
import { SqlWriter } from "./sql-writer.ts";

/** The text of a statement for DuckDB. `scanCalls`: those of its scans, by index. */
export function printStatement(node: QueryNode, scanCalls: readonly string[]): SqlWriter {
  const out = new SqlWriter(printQuery, scanCalls);
  printQuery(out, node);
  return out;
}

/** A whole query, with its WITH, ORDER BY and LIMIT. */
function printQuery(out: SqlWriter, node: QueryNode): void {
  printWith(out, node);
  switch (node.type) {
    case "SELECT_NODE":
      printSelect(out, node);
      break;
    case "SET_OPERATION_NODE":
      printOperand(out, node.left);
      out.put(
        ` ${SET_OPERATION[node.setop_type] ?? ""}${node.setop_all ? " ALL" : ""}${node.setop_type === "UNION_BY_NAME" ? " BY NAME" : ""} `,
      );
      printOperand(out, node.right);
      break;
    case "RECURSIVE_CTE_NODE":
      printOperand(out, node.left);
      out.put(node.union_all ? " UNION ALL " : " UNION ");
      printOperand(out, node.right);
      break;
  }
  for (const modifier of node.modifiers) printModifier(out, modifier);
}

const SET_OPERATION: Readonly<Record<string, string>> = {
  UNION: "UNION",
  UNION_BY_NAME: "UNION",
  EXCEPT: "EXCEPT",
  INTERSECT: "INTERSECT",
};

function printOperand(out: SqlWriter, node: QueryNode): void {
  out.put("(");
  printQuery(out, node);
  out.put(")");
}

function printWith(out: SqlWriter, node: QueryNode): void {
  const entries = node.cte_map.map;
  if (entries.length === 0) return;
  const recursive = entries.some(({ value }) => value.query.node.type === "RECURSIVE_CTE_NODE");
  out.put(recursive ? "WITH RECURSIVE " : "WITH ");
  entries.forEach(({ key, value }, i) => {
    out.put(`${i === 0 ? "" : ", "}${ident(key)}${aliasList(value.aliases)} AS ${MATERIALIZED[materialization(value)] ?? ""}(`);
    printQuery(out, value.query.node);
    out.put(")");
  });
  out.put(" ");
}

const MATERIALIZED: Readonly<Record<string, string>> = {
  CTE_MATERIALIZE_ALWAYS: "MATERIALIZED ",
  CTE_MATERIALIZE_NEVER: "NOT MATERIALIZED ",
};

function materialization(cte: CommonTableExpression): string {
  return cte.query.node.type === "RECURSIVE_CTE_NODE" ? "" : cte.materialized;
}

function aliasList(names: readonly string[]): string {
  return names.length === 0 ? "" : `(${names.map(ident).join(", ")})`;
}

function printSelect(out: SqlWriter, node: SelectNode): void {
  out.put("SELECT ");
  for (const modifier of node.modifiers) {
    if (modifier.type !== "DISTINCT_MODIFIER") continue;
    out.put("DISTINCT ");
    if (modifier.distinct_on_targets.length > 0) {
      out.put("ON (");
      printList(out, modifier.distinct_on_targets);
      out.put(") ");
    }
  }
  node.select_list.forEach((expression, i) => {
    if (i > 0) out.put(", ");
    printExpression(out, expression);
    if (expression.alias !== "") out.put(` AS ${ident(expression.alias)}`);
  });
  if (node.from_table.type !== "EMPTY") {
    out.put(" FROM ");
    printTable(out, node.from_table);
  }
  if (node.where_clause !== null) printClause(out, " WHERE ", node.where_clause);
  printGroups(out, node);
  if (node.having !== null) printClause(out, " HAVING ", node.having);
  if (node.qualify !== null) printClause(out, " QUALIFY ", node.qualify);
}

function printClause(out: SqlWriter, keyword: string, expression: Parameters<typeof printExpression>[1]): void {
  out.put(keyword);
  printExpression(out, expression);
}

function printGroups(out: SqlWriter, node: SelectNode): void {
  if (node.aggregate_handling === "FORCE_AGGREGATES") {
    out.put(" GROUP BY ALL");
    return;
  }
  if (node.group_expressions.length === 0 && node.group_sets.length === 0) return;
  const plain = node.group_sets.length === 1 && node.group_sets[0]!.length === node.group_expressions.length;
  if (plain) {
    out.put(" GROUP BY ");
    printList(out, node.group_expressions);
    return;
  }
  out.put(" GROUP BY GROUPING SETS (");
  node.group_sets.forEach((set, i) => {
    out.put(i > 0 ? ", (" : "(");
    printList(
      out,
      set.map((index) => node.group_expressions[index]!),
    );
    out.put(")");
  });
  out.put(")");
}

function printModifier(out: SqlWriter, modifier: Modifier): void {
  if (modifier.type === "ORDER_MODIFIER") {
    out.put(" ORDER BY ");
    printOrders(out, modifier.orders);
  } else if (modifier.type === "LIMIT_MODIFIER") {
    if (modifier.limit !== null) {
      out.put(" LIMIT (");
      printExpression(out, modifier.limit);
      out.put(")");
    }
    if (modifier.offset !== null) printClause(out, " OFFSET ", modifier.offset);
  }
}

function tableAlias(ref: TableRef, columns: readonly string[]): string {
  return ref.alias === "" ? "" : ` AS ${ident(ref.alias)}${aliasList(columns)}`;
}

/** A table reference with its alias. Tables have been replaced by functions or subqueries; only CTEs are referred to by name. */
function printTable(out: SqlWriter, ref: TableRef): void {
  out.mark(ref.query_location);
  switch (ref.type) {
    case "BASE_TABLE":
      out.put(`${ident(ref.table_name)}${tableAlias(ref, ref.column_name_alias)}`);
      break;
    case "SUBQUERY":
      printOperand(out, ref.subquery.node);
      out.put(tableAlias(ref, ref.column_name_alias));
      break;
    case "TABLE_FUNCTION":
      printExpression(out, ref.function);
      out.put(ref.with_ordinality === "WITH_ORDINALITY" ? " WITH ORDINALITY" : "");
      out.put(tableAlias(ref, ref.column_name_alias));
      out.namedScan(ref.alias);
      // columns are renamed by their places
      if (ref.column_name_alias.length > 0) out.namesAll = true;
      break;
    case "EXPRESSION_LIST":
      out.put("(VALUES ");
      ref.values.forEach((row, i) => {
        out.put(i > 0 ? ", (" : "(");
        printList(out, row);
        out.put(")");
      });
      out.put(`)${tableAlias(ref, ref.expected_names)}`);
      break;
    case "JOIN":
      printJoin(out, ref);
      break;
    default:
      throw unsupported(`${ref.type} in FROM`);
  }
}

const JOIN_TYPES: Readonly<Record<string, string>> = {
  INNER: "",
  LEFT: "LEFT ",
  RIGHT: "RIGHT ",
  OUTER: "FULL ",
  FULL: "FULL ",
  SEMI: "SEMI ",
  ANTI: "ANTI ",
};

function printJoin(out: SqlWriter, join: Extract<TableRef, { type: "JOIN" }>): void {
  const type = JOIN_TYPES[join.join_type];
  if (type === undefined) throw unsupported(`${join.join_type} join`);
  out.put("(");
  printTable(out, join.left);
  if (join.ref_type === "CROSS") out.put(" CROSS JOIN ");
  else if (join.ref_type === "POSITIONAL") out.put(" POSITIONAL JOIN ");
  else if (join.ref_type === "NATURAL") {
    out.put(` NATURAL ${type}JOIN `);
    out.namesAll = true;
  } else if (join.ref_type === "ASOF") {
    out.put(` ASOF ${type}JOIN `);
    // a run takes the expressions of the join's equalities out of its plan
    out.runsOnce = true;
  } else if (join.ref_type === "REGULAR") out.put(` ${type}JOIN `);
  else throw unsupported(`${join.ref_type} join`);
  printTable(out, join.right);
  if (join.using_columns.length > 0) out.put(` USING (${join.using_columns.map(ident).join(", ")})`);
  else if (join.condition !== null) printClause(out, " ON ", join.condition);
  out.put(")");
}
