// Statements that compute something of the first rows in the order of time: rows are chosen before anything is computed of them, so that
// only they are read, and only their errors count.
import type { Expression, QueryNode, SelectNode, TableFunctionRef } from "../../parse/tree.ts";
import { column, select, subquery } from "../../print/build-query.ts";
import { someNode } from "../../rewrite/walk.ts";
import { type PlannedScan, type ReturnedRows, rowsOfExpressions } from "../direct-scan.ts";

export interface FirstRows<S extends PlannedScan> {
  /** The statement over a subquery that has the rows. */
  readonly query: SelectNode;
  readonly scan: S;
  readonly rows: ReturnedRows;
}

/** Returns null if the statement has another form. @param isTime whether the column of the scan with this index is its time */
export function firstRows<S extends PlannedScan>(
  query: QueryNode,
  scans: readonly S[],
  isTime: (scan: S, columnIndex: number) => boolean,
): FirstRows<S> | null {
  const found = rowsOfExpressions(query, scans, isOfItsRow);
  if (found === null || query.type !== "SELECT_NODE") return null;
  const { scan, keys, distinctOn, columnIndexes, limit } = found;
  const [key] = keys;
  if (key === undefined || distinctOn !== null || !Number.isFinite(limit) || !isTime(scan, columnIndexes[key.column]!)) return null;
  const from = query.from_table as TableFunctionRef;
  const [order, slice] = ["ORDER_MODIFIER", "LIMIT_MODIFIER"].map((type) => query.modifiers.find((modifier) => modifier.type === type)!);
  if (order?.type !== "ORDER_MODIFIER" || slice === undefined || query.modifiers.length > 2) return null;
  const chosen = select({ items: scan.columns.map(({ name }) => column(from.alias, name)), from });
  const orders = order.orders.map((each, i) => ({
    ...each,
    expression: column(from.alias, nameOf(scan, columnIndexes[keys[i]!.column]!)),
  }));
  chosen.modifiers = [{ type: "ORDER_MODIFIER", orders }, slice];
  return { query: { ...query, from_table: subquery(chosen, from.alias), modifiers: [order] }, scan, rows: found };
}

function nameOf({ columns }: PlannedScan, index: number): string {
  return columns[index]!.name;
}

/** Whether an expression is computed of each row alone, and makes one row of it. An aggregate beside ORDER BY time is an error anyway. */
function isOfItsRow(item: Expression): boolean {
  return !someNode(
    item,
    (node) => node.class === "WINDOW" || node.class === "SUBQUERY" || (node.class === "FUNCTION" && MAKES_ROWS.has(node.function_name)),
  );
}

const MAKES_ROWS: ReadonlySet<string> = new Set(["unnest", "generate_subscripts"]);
