// Recognizes statements that need no DuckDB after the rewrite: plain columns of one scan, sorted by some of them, with a limit.
import { SCAN_FUNCTION } from "../../duckdb/table-function.ts";
import type { Expression, Modifier, OrderBy, QueryNode, SelectNode, Star, TableFunctionRef } from "../parse/tree.ts";
import type { SortKey } from "./order/row-order.ts";

/** The properties of a scan that planning needs: its handle, and encoded names. */
export interface PlannedScan {
  readonly handle: number;
  readonly columns: readonly { readonly name: string }[];
}

export interface DirectScan<S extends PlannedScan> {
  readonly scan: S;
  /** Columns of the scan to read: those of the answer, and those only sorted by. */
  readonly columnIndexes: readonly number[];
  readonly outputs: readonly DirectOutput[];
  /** Columns of `columnIndexes`; empty: no order. */
  readonly keys: readonly SortKey[];
  /** DISTINCT ON: of rows with equal values in these columns the first in the order of `keys`; null: all rows. */
  readonly distinctOn: readonly number[] | null;
  readonly limit: number;
  readonly offset: number;
}

/** Which rows of a scan are returned, and in which order. */
export type ReturnedRows = Pick<DirectScan<PlannedScan>, "columnIndexes" | "keys" | "distinctOn" | "limit" | "offset">;

/** A column of the answer, with DuckDB's name, encoded. */
export type DirectOutput =
  /** Either an index into `columnIndexes`, or a constant. */
  { readonly name: string; readonly column: number } | { readonly name: string; readonly constant: bigint };

/** Returns null if DuckDB is needed. */
export function directScan<S extends PlannedScan>(query: QueryNode, scans: readonly S[]): DirectScan<S> | null {
  return scannedRows(query, scans, () => null);
}

/** The same for a select list that has expressions too, each of which `isExpression` must accept; they stand as constants in `outputs`. */
export function rowsOfExpressions<S extends PlannedScan>(
  query: QueryNode,
  scans: readonly S[],
  isExpression: (item: Expression) => boolean,
): DirectScan<S> | null {
  return scannedRows(query, scans, (item) => (isExpression(item) ? [{ name: item.alias, constant: 0n }] : null));
}

function scannedRows<S extends PlannedScan>(
  query: QueryNode,
  scans: readonly S[],
  otherwise: (item: Expression) => DirectOutput[] | null,
): DirectScan<S> | null {
  const [scan] = scans;
  if (scan === undefined || scans.length > 1 || !isPlain(query)) return null;
  const { from_table: from } = query;
  if (from.type !== "TABLE_FUNCTION" || !readsScan(from, scan)) return null;
  const columns = new Columns(scan, from.alias);
  const outputs: DirectOutput[] = [];
  for (const item of query.select_list) {
    const found = outputsOf(item, scan, from.alias, columns) ?? otherwise(item);
    if (found === null) return null;
    outputs.push(...found);
  }
  const parts = {
    keys: [] as readonly SortKey[],
    distinctOn: null as readonly number[] | null,
    limit: Number.POSITIVE_INFINITY,
    offset: 0,
  };
  for (const modifier of query.modifiers) {
    const part = modifierPart(modifier, outputs, columns);
    if (part === null) return null;
    Object.assign(parts, part);
  }
  // without an order the first row is undefined
  if (parts.distinctOn !== null && parts.keys.length === 0) return null;
  return { scan, columnIndexes: columns.indexes, outputs, ...parts };
}

function outputsOf(item: Expression, scan: PlannedScan, alias: string, columns: Columns): DirectOutput[] | null {
  if (item.class === "STAR") return starOutputs(item, scan, alias, columns);
  if (item.class === "COLUMN_REF") {
    const column = columns.find(item.column_names);
    return column === null ? null : [{ name: item.alias !== "" ? item.alias : item.column_names.at(-1)!, column }];
  }
  // integers of a select list are widened to 64 bits
  const constant = item.class === "CAST" && item.cast_type.id === "BIGINT" && !item.try_cast ? wholeNumber(item.child) : null;
  return constant === null || item.alias === "" ? null : [{ name: item.alias, constant: BigInt(constant) }];
}

type ModifierPart = Partial<Pick<DirectScan<PlannedScan>, "keys" | "distinctOn" | "limit" | "offset">>;

function modifierPart(modifier: Modifier, outputs: readonly DirectOutput[], columns: Columns): ModifierPart | null {
  if (modifier.type === "ORDER_MODIFIER") {
    const keys = sortKeys(modifier.orders, outputs, columns);
    return keys === null ? null : { keys };
  }
  if (modifier.type !== "DISTINCT_MODIFIER") return sliceOf(modifier);
  const distinctOn: number[] = [];
  for (const target of modifier.distinct_on_targets) {
    const column = sortColumn(target, outputs, columns);
    if (column === null) return null;
    distinctOn.push(column);
  }
  return distinctOn.length === 0 ? null : { distinctOn };
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

/** `*` without some columns. */
function starOutputs(star: Star, scan: PlannedScan, alias: string, columns: Columns): DirectOutput[] | null {
  const { columns: isPattern, expr, relation_name, exclude_list, qualified_exclude_list, replace_list, rename_list } = star;
  if (isPattern || expr !== null || (relation_name !== "" && relation_name !== alias)) return null;
  if (qualified_exclude_list.length + replace_list.length + rename_list.length > 0) return null;
  const shown = scan.columns.filter(({ name }) => !exclude_list.includes(name));
  // excluding an unknown column is an error
  if (shown.length + exclude_list.length !== scan.columns.length) return null;
  return shown.map(({ name }) => ({ name, column: columns.find([name])! }));
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

/** The columns to read, without duplicates. */
class Columns {
  readonly indexes: number[] = [];

  private readonly indexByName: ReadonlyMap<string, number>;
  private readonly places = new Map<number, number>();

  constructor(
    { columns }: PlannedScan,
    private readonly alias: string,
  ) {
    this.indexByName = new Map(columns.map(({ name }, index) => [name, index]));
  }

  /** The index of a column in `indexes`; null if it is not one of the scan. */
  find(names: readonly string[]): number | null {
    if (names.length > 2 || (names.length === 2 && names[0] !== this.alias)) return null;
    const index = this.indexByName.get(names.at(-1)!);
    if (index === undefined) return null;
    let place = this.places.get(index);
    if (place === undefined) {
      place = this.indexes.push(index) - 1;
      this.places.set(index, place);
    }
    return place;
  }
}

function sortKeys(orders: readonly OrderBy[], outputs: readonly DirectOutput[], columns: Columns): SortKey[] | null {
  const keys: SortKey[] = [];
  for (const { expression, type, null_order } of orders) {
    const column = sortColumn(expression, outputs, columns);
    if (column === null) return null;
    const isDescending = type === "DESCENDING";
    keys.push({ column, isDescending, nullsFirst: null_order === "NULLS FIRST" || (null_order !== "NULLS LAST" && isDescending) });
  }
  return keys;
}

/** A number is a position in the answer; a bare name denotes an answer's column before a table's. */
function sortColumn(key: Expression, outputs: readonly DirectOutput[], columns: Columns): number | null {
  if (key.class === "CONSTANT") return columnOf(outputs[(wholeNumber(key) ?? 0) - 1]);
  if (key.class !== "COLUMN_REF") return null;
  const [name] = key.column_names;
  const named = key.column_names.length === 1 ? outputs.filter((output) => output.name === name) : [];
  if (named.length > 1) return null;
  return named[0] === undefined ? columns.find(key.column_names) : columnOf(named[0]);
}

function columnOf(output: DirectOutput | undefined): number | null {
  return output !== undefined && "column" in output ? output.column : null;
}

function sliceOf(modifier: Modifier): { limit: number; offset: number } | null {
  if (modifier.type !== "LIMIT_MODIFIER") return null;
  const limit = modifier.limit === null ? Number.POSITIVE_INFINITY : wholeNumber(modifier.limit);
  const offset = modifier.offset === null ? 0 : wholeNumber(modifier.offset);
  return limit === null || offset === null ? null : { limit, offset };
}

/** A non-negative constant integer that is exact as a double. */
function wholeNumber(node: Expression): number | null {
  if (node.class !== "CONSTANT" || node.value.is_null || !INTEGERS.has(node.value.type.id)) return null;
  const value = Number(node.value.value);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

const INTEGERS: ReadonlySet<string> = new Set(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UBIGINT"]);
