// Counts of groups that depend on tags alone become one number of the scan: the values of a tag, and the rows of a subquery that has one
// for each combination of tags.
import { TsdbError } from "../../../model/errors.ts";
import type { AggregateRequest } from "../../../model/query/aggregate.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { type GroupSource, kindOfColumn, type ScanUse } from "../../bind/kind.ts";
import { mapRange } from "../../bind/plan-clock.ts";
import type { CteMap, Scope } from "../../bind/scope.ts";
import { internalName } from "../../parse/names.ts";
import type { Expression, FunctionCall, SelectNode } from "../../parse/tree.ts";
import type { From, RewriteContext } from "../context.ts";
import { scanOf } from "../from.ts";
import { isAggregateCall } from "../functions/aggregate-call.ts";
import { countedTag } from "../functions/group-parts.ts";
import { OneTable, Unfit, unfit } from "../one-table.ts";
import { mapChildren } from "../walk.ts";
import { groupedSelect } from "./push-aggregate.ts";
import type { PushedDown } from "./where.ts";

const NUMBER = internalName("number of groups", 0);

/** `count(DISTINCT tag)` of a table's rows: changes the SELECT to show the scan's number, and returns its new FROM; null, without a change,
 *  if it asks for something else. */
export function countValues(table: OneTable, context: RewriteContext): From | null {
  const { node } = table;
  return isOneGroup(node) && node.modifiers.length === 0
    ? tried(() => {
        let counted: ColumnDef | null = null;
        const items = node.select_list.map((item) =>
          withNumber(item, table.alias, (call) => {
            // approx_distinct has another type
            const tag = call.function_name === "count" ? countedTag(call, (argument) => table.column(argument)) : null;
            if (tag === null || (counted !== null && counted.id !== tag.id)) return false;
            counted = tag;
            return true;
          }),
        );
        const source = counted === null ? unfit() : sourceOf(table.pushedDown, [counted], "present");
        return numberAsTable(table, context, source, items);
      })
    : null;
}

/** `count(*)` of the rows of a subquery that are one for each combination of tags: the same for such a SELECT. */
export function countRows(node: SelectNode, context: RewriteContext, outer: Scope | null, ctes: CteMap): From | null {
  const { from_table: from } = node;
  if (from.type !== "SUBQUERY" || from.sample !== null || from.column_name_alias.length > 0 || node.where_clause !== null) return null;
  const inner = from.subquery.node;
  if (inner.type !== "SELECT_NODE" || inner.cte_map.map.length > 0 || !isOneGroup(node) || node.modifiers.length > 0) return null;
  if (inner.modifiers.some(({ type }) => type !== "DISTINCT_MODIFIER" && type !== "ORDER_MODIFIER")) return null;
  const { from_table: read } = inner;
  if (read.type !== "BASE_TABLE") return null;
  return tried(() => {
    // before the subquery is analysed: most SELECTs ask for something else
    const items = node.select_list.map((item) => withNumber(item, read.alias !== "" ? read.alias : read.table_name, isRowCount));
    const table = OneTable.of(inner, context, outer, ctes) ?? unfit();
    return numberAsTable(table, context, sourceOf(table.pushedDown, keysOf(table), "all"), items, node);
  });
}

/** True for a SELECT without clauses that choose rows or groups. */
function isOneGroup(node: SelectNode): boolean {
  const { group_expressions, group_sets, aggregate_handling, having, qualify, sample } = node;
  const isGrouped = group_expressions.length + group_sets.length > 0 || aggregate_handling !== "STANDARD_HANDLING";
  return !isGrouped && having === null && qualify === null && sample === null;
}

/** Null if `find` finds the query unfit. */
function tried<T>(find: () => T): T | null {
  try {
    return find();
  } catch (error) {
    // the plain rewrite reports errors of the statement again
    if (error instanceof Unfit || error instanceof TsdbError) return null;
    throw error;
  }
}

/** An item with the number in place of calls that `isIt` finds; it must have nothing else of rows. */
function withNumber(item: Expression, alias: string, isIt: (call: FunctionCall) => boolean): Expression {
  switch (item.class) {
    case "FUNCTION":
      if (!isAggregateCall(item)) break;
      if (!isIt(item)) unfit();
      return { class: "COLUMN_REF", type: "COLUMN_REF", alias: item.alias, column_names: [alias, NUMBER] };
    case "COLUMN_REF":
    case "STAR":
    case "SUBQUERY":
    case "WINDOW":
    case "LAMBDA":
    case "POSITIONAL_REFERENCE":
      return unfit();
  }
  return mapChildren(item, (child) => withNumber(child, alias, isIt));
}

/** `count(*)`, or of a constant. */
function isRowCount({ function_name: name, children, distinct, filter, order_bys }: FunctionCall): boolean {
  if (distinct || filter !== null || order_bys.orders.length > 0) return false;
  if (name === "count_star") return true;
  return name === "count" && children.every((child) => child.class === "CONSTANT" && !child.value.is_null) && children.length < 2;
}

/** The tags of which the SELECT shows each combination once. @throws Unfit, TsdbError */
function keysOf(table: OneTable): readonly ColumnDef[] {
  const { node } = table;
  const [distinct] = node.modifiers.flatMap((modifier) => (modifier.type === "DISTINCT_MODIFIER" ? [modifier.distinct_on_targets] : []));
  if (distinct === undefined || distinct.length === 0) return groupKeysOf(table);
  if (!isOneGroup(node)) unfit();
  for (const item of node.select_list) if (!isStar(item) && table.column(item) === null) unfit();
  for (const modifier of node.modifiers) {
    if (modifier.type === "ORDER_MODIFIER") for (const { expression } of modifier.orders) columnAt(table, expression);
  }
  return distinct.map((target) => columnAt(table, target));
}

/** The column that a key denotes, which may have another name in the select list. @throws Unfit */
function columnAt(table: OneTable, key: Expression): ColumnDef {
  const column = table.column(key) ?? unfit();
  const item = table.item(key);
  return item === undefined || table.column(item)?.id === column.id ? column : unfit();
}

function isStar(item: Expression): boolean {
  return (
    item.class === "STAR" &&
    !item.columns &&
    item.expr === null &&
    item.relation_name === "" &&
    item.exclude_list.length + item.qualified_exclude_list.length + item.replace_list.length + item.rename_list.length === 0
  );
}

/** Of a SELECT that reads nothing but groups. */
function groupKeysOf(table: OneTable): readonly ColumnDef[] {
  const { clauses, source } = groupedSelect(table) ?? unfit();
  const { where_clause, having, qualify, group_expressions } = clauses;
  if (where_clause !== null || having !== null || qualify !== null || group_expressions.length > 0) unfit();
  const { bins, groupBy, values } = source.request;
  return bins === null && values === undefined && source.keys === null ? groupBy : unfit();
}

/** @throws Unfit if rows are chosen by more than their series and times */
function sourceOf(
  { range, tags, fields, conditions, rest }: PushedDown,
  groupBy: readonly ColumnDef[],
  counted: NonNullable<AggregateRequest["counted"]>,
): GroupSource {
  if (fields.length + rest.length > 0 || groupBy.length === 0 || groupBy.some(({ type }) => type !== ColumnType.tag)) unfit();
  const request = { range, tags, fields, bins: null, groupBy, aggregates: [], counted };
  // no time is before the first bin
  const unbinned = mapRange(range, ({ minNs }) => ({ minNs, maxNs: minNs - 1n }));
  return { request, columnNames: [NUMBER], unbinned, conditions, keys: null };
}

function numberAsTable(
  { alias, name, from, node }: OneTable,
  { tables }: RewriteContext,
  source: GroupSource,
  items: Expression[],
  shows: SelectNode = node,
): From {
  const scan: ScanUse = tables.groups(name, source) ?? unfit();
  Object.assign(shows, { select_list: items, where_clause: null });
  const columns = [{ name: NUMBER, kind: kindOfColumn(ColumnType.integer) }];
  return { ref: scanOf(scan, alias, from), relations: [{ alias, columns }], narrowable: new Map() };
}
