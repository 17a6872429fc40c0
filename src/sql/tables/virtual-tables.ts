// The virtual tables of a database (information_schema and system), with the types of their columns in statements.
import type { SystemColumn, SystemRow, SystemType } from "../../model/system-table.ts";
import type { Kind } from "../bind/kind.ts";
import type { OutputColumn } from "../bind/scope.ts";
import { encodeName } from "../parse/names.ts";
import { call, castTo, type Expression, stringConstant } from "../parse/tree.ts";
import { type DatabaseCatalog, findView, viewRows, viewRowsMax } from "./catalog-tables.ts";
import { findSystemTable } from "./system-schema.ts";

export interface VirtualTable {
  readonly columns: readonly SystemColumn[];
  /** May be iterated any number of times. */
  readonly rows: () => Iterable<SystemRow>;
  readonly rowCountMax: number;
}

export interface OwnData extends DatabaseCatalog {
  /** Rows of the tables in schema `system`. */
  readonly systemRows: Readonly<Record<string, readonly SystemRow[]>>;
}

/** Columns of a virtual table; null if it does not exist. */
export function ownColumns(schema: string, name: string, isInternal: boolean): readonly SystemColumn[] | null {
  if (schema === "information_schema") return findView(name);
  return schema === "system" ? (findSystemTable(name, isInternal)?.columns ?? null) : null;
}

/** Null if there is no such table. */
export function virtualTable(schema: string, name: string, data: OwnData): VirtualTable | null {
  const columns = ownColumns(schema, name, data.isInternal);
  if (columns === null) return null;
  if (schema !== "system") return { columns, rows: () => viewRows(name, data), rowCountMax: viewRowsMax(name, data) };
  const rows = data.systemRows[name] ?? [];
  return { columns, rows: () => rows, rowCountMax: rows.length };
}

const KIND: Readonly<Record<SystemType, Kind>> = {
  text: "string",
  texts: "other",
  "unsigneds 16": "other",
  integer: "integer",
  unsigned: "integer",
  "unsigned 32": "integer",
  boolean: "boolean",
  time: "time",
  "zoned time": "unknown",
  duration: "duration",
};

/** The columns of a virtual table as outputs of a query. */
export function outputsOf(columns: readonly SystemColumn[]): OutputColumn[] {
  return columns.map(({ name, type }) => ({ name: encodeName(name), kind: KIND[type] }));
}

/** Element types of lists, in the notation of DuckDB's JSON functions. */
const LISTS: Partial<Record<SystemType, string>> = { texts: '["VARCHAR"]', "unsigneds 16": '["USMALLINT"]' };

/** The columns as a select list over the scanned rows; null if no conversion is needed. */
export function selectListOf(columns: readonly SystemColumn[]): Expression[] | null {
  if (columns.every(({ type }) => convert(type, "") === null)) return null;
  return columns.map(({ name, type }) => {
    const encoded = encodeName(name);
    const value = convert(type, encoded) ?? columnRef(encoded);
    return { ...value, alias: encoded };
  });
}

function convert(type: SystemType, name: string): Expression | null {
  if (type === "zoned time") return castTo(columnRef(name), "TIMESTAMP WITH TIME ZONE");
  if (type === "unsigned 32") return castTo(columnRef(name), "UINTEGER");
  const list = LISTS[type];
  return list === undefined ? null : call("from_json", [columnRef(name), stringConstant(list)]);
}

function columnRef(name: string): Expression {
  return { class: "COLUMN_REF", type: "COLUMN_REF", alias: "", column_names: [name] };
}
