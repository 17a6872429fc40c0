// Recognises, after the rewrite, what needs no DuckDB any more: plain columns of one scan, sorted by some of them, a part of the rows.
import { SCAN_FUNCTION } from "../duckdb/table-function.ts";
import type { SortKey } from "./row-order.ts";
import type { ColumnRef, Expression, Modifier, OrderBy, QueryNode, SelectNode, TableFunctionRef } from "./tree.ts";

/** A scan as far as a plan needs to know it: by its handle, with encoded names. */
export interface PlannedScan {
  readonly handle: number;
  readonly columns: readonly { readonly name: string }[];
}

export interface StraightPlan<S extends PlannedScan> {
  readonly scan: S;
  /** Columns of the scan that are read: the answer's, and those only sorted by. */
  readonly columnIndexes: readonly number[];
  /** Names of the answer's columns, encoded, and which of `columnIndexes` each is. */
  readonly outputs: readonly { readonly name: string; readonly column: number }[];
  /** Columns of `columnIndexes`; empty: as they come. */
  readonly keys: readonly SortKey[];
  readonly limit: number;
  readonly offset: number;
}

/** Null: DuckDB has something to do. */
export function straightPlan<S extends PlannedScan>(query: QueryNode, scans: readonly S[]): StraightPlan<S> | null {
  const [scan] = scans;
  if (scan === undefined || scans.length > 1 || !isPlain(query)) return null;
  const { from_table: from } = query;
  if (from.type !== "TABLE_FUNCTION" || !readsScan(from, scan)) return null;
  const columns = new Columns(scan, from.alias);
  const outputs: { name: string; column: number }[] = [];
  for (const item of query.select_list) {
    if (isPlainStar(item, from.alias)) {
      for (const { name } of scan.columns) outputs.push({ name, column: columns.find([name])! });
      continue;
    }
    const column = item.class === "COLUMN_REF" ? columns.find(item.column_names) : null;
    if (column === null) return null;
    outputs.push({ name: item.alias !== "" ? item.alias : (item as ColumnRef).column_names.at(-1)!, column });
  }
  let keys: SortKey[] = [];
  let slice = { limit: Number.POSITIVE_INFINITY, offset: 0 };
  for (const modifier of query.modifiers) {
    const found = modifier.type === "ORDER_MODIFIER" ? sortKeys(modifier.orders, outputs, columns) : sliceOf(modifier);
    if (found === null) return null;
    if (Array.isArray(found)) keys = found;
    else slice = found;
  }
  return { scan, columnIndexes: columns.indexes, outputs, keys, ...slice };
}

function isPlain(query: QueryNode): query is SelectNode {
  return (
    query.type === "SELECT_NODE" &&
    query.cte_map.map.length === 0 &&
    query.where_clause === null &&
    query.group_expressions.length === 0 &&
    query.group_sets.length === 0 &&
    query.aggregate_handling === "STANDARD_HANDLING" &&
    query.having === null &&
    query.qualify === null &&
    query.sample === null
  );
}

function isPlainStar(node: Expression, alias: string): boolean {
  if (node.class !== "STAR" || node.columns || node.expr !== null) return false;
  const changes = [node.exclude_list, node.qualified_exclude_list, node.replace_list, node.rename_list];
  return (node.relation_name === "" || node.relation_name === alias) && changes.every(({ length }) => length === 0);
}

function readsScan({ function: call, sample, column_name_alias, with_ordinality }: TableFunctionRef, scan: PlannedScan): boolean {
  const [handle] = call.children;
  return (
    call.function_name === SCAN_FUNCTION &&
    handle?.class === "CONSTANT" &&
    Number(handle.value.value) === scan.handle &&
    sample === null &&
    column_name_alias.length === 0 &&
    with_ordinality === "WITHOUT_ORDINALITY"
  );
}

/** The columns that are read, each once. */
class Columns {
  readonly indexes: number[] = [];

  constructor(
    private readonly scan: PlannedScan,
    private readonly alias: string,
  ) {}

  /** The place of a column in `indexes`; null when it is none of the scan. */
  find(names: readonly string[]): number | null {
    if (names.length > 2 || (names.length === 2 && names[0] !== this.alias)) return null;
    const index = this.scan.columns.findIndex(({ name }) => name === names.at(-1));
    if (index < 0) return null;
    const known = this.indexes.indexOf(index);
    return known >= 0 ? known : this.indexes.push(index) - 1;
  }
}

function sortKeys(orders: readonly OrderBy[], outputs: readonly { name: string; column: number }[], columns: Columns): SortKey[] | null {
  const keys: SortKey[] = [];
  for (const { expression, type, null_order } of orders) {
    const column = sortColumn(expression, outputs, columns);
    if (column === null) return null;
    const isDescending = type === "DESCENDING";
    keys.push({ column, isDescending, nullsFirst: null_order === "NULLS FIRST" || (null_order !== "NULLS LAST" && isDescending) });
  }
  return keys;
}

/** A number is a place in the answer, a bare name one of its columns before it is one of the table's. */
function sortColumn(key: Expression, outputs: readonly { name: string; column: number }[], columns: Columns): number | null {
  if (key.class === "CONSTANT") return outputs[(wholeNumber(key) ?? 0) - 1]?.column ?? null;
  if (key.class !== "COLUMN_REF") return null;
  const [name] = key.column_names;
  const named = key.column_names.length === 1 ? outputs.filter((output) => output.name === name) : [];
  if (named.length > 1) return null;
  return named[0]?.column ?? columns.find(key.column_names);
}

function sliceOf(modifier: Modifier): { limit: number; offset: number } | null {
  if (modifier.type !== "LIMIT_MODIFIER") return null;
  const limit = modifier.limit === null ? Number.POSITIVE_INFINITY : wholeNumber(modifier.limit);
  const offset = modifier.offset === null ? 0 : wholeNumber(modifier.offset);
  return limit === null || offset === null ? null : { limit, offset };
}

/** A constant integer from 0 that a double holds. */
function wholeNumber(node: Expression): number | null {
  if (node.class !== "CONSTANT" || node.value.is_null || !INTEGERS.has(node.value.type.id)) return null;
  const value = Number(node.value.value);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

const INTEGERS: ReadonlySet<string> = new Set(["TINYINT", "SMALLINT", "INTEGER", "BIGINT"]);
