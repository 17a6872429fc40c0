// information_schema as tables whose rows are generated in memory: read by SHOW, DESCRIBE and other tools.
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import { type SystemColumn, type SystemRow, type SystemType, type SystemValue, systemColumns } from "../../model/system-table.ts";
import { DIALECT_FUNCTIONS } from "../bind/dialect.ts";
import { DUCKDB_FUNCTIONS, functionType } from "../bind/functions.ts";
import { findSystemTable, systemTableNames } from "./system-schema.ts";

/** A user table, for the list of tables. */
export interface DatabaseTable {
  readonly name: string;
  readonly columns: readonly ColumnDef[];
}

/** The properties of a database shown in views. */
export interface DatabaseCatalog {
  readonly tables: readonly DatabaseTable[];
  /** The database `_internal`. */
  readonly isInternal: boolean;
}

/** Arrow's names, as the vendor prints them. */
const DATA_TYPE: Readonly<Record<ColumnType, string>> = {
  [ColumnType.time]: "Timestamp(ns)",
  [ColumnType.tag]: "Dictionary(Int32, Utf8)",
  [ColumnType.float]: "Float64",
  [ColumnType.integer]: "Int64",
  [ColumnType.unsigned]: "UInt64",
  [ColumnType.string]: "Utf8",
  [ColumnType.boolean]: "Boolean",
};

/** For schema `system`; texts of information_schema are plain. */
const SYSTEM_DATA_TYPE: Readonly<Record<SystemType, string>> = {
  text: "Utf8View",
  texts: "List(Utf8View)",
  "unsigneds 16": "List(UInt16)",
  integer: "Int64",
  unsigned: "UInt64",
  "unsigned 32": "UInt32",
  boolean: "Boolean",
  time: "Timestamp(ns)",
  "zoned time": 'Timestamp(µs, "UTC")',
  duration: "Duration(ns)",
};

const VIEW_DATA_TYPE: Readonly<Record<SystemType, string>> = { ...SYSTEM_DATA_TYPE, text: "Utf8" };

const CATALOG = "public";
/** Maximum rows of a view for our virtual tables and functions. */
const OWN_ROWS_MAX = 2000;

const VIEWS: Readonly<Record<string, readonly SystemColumn[]>> = {
  tables: systemColumns("table_catalog:text, table_schema:text, table_name:text, table_type:text"),
  columns: systemColumns(`table_catalog:text, table_schema:text, table_name:text, column_name:text, ordinal_position:unsigned,
    column_default:text?, is_nullable:text, data_type:text, character_maximum_length:unsigned?, character_octet_length:unsigned?,
    numeric_precision:unsigned?, numeric_precision_radix:unsigned?, numeric_scale:unsigned?, datetime_precision:unsigned?,
    interval_type:text?`),
  views: systemColumns("table_catalog:text, table_schema:text, table_name:text, definition:text?"),
  schemata: systemColumns(`catalog_name:text, schema_name:text, schema_owner:text?, default_character_set_catalog:text?,
    default_character_set_schema:text?, default_character_set_name:text?, sql_path:text?`),
  df_settings: systemColumns("name:text, value:text?, description:text?"),
  routines: systemColumns(`specific_catalog:text, specific_schema:text, specific_name:text, routine_catalog:text, routine_schema:text,
    routine_name:text, routine_type:text, is_deterministic:boolean, data_type:text?, function_type:text, description:text?,
    syntax_example:text?`),
  parameters:
    systemColumns(`specific_catalog:text, specific_schema:text, specific_name:text, ordinal_position:unsigned, parameter_mode:text,
    parameter_name:text?, data_type:text, parameter_default:text?, is_variadic:boolean, rid:unsigned`),
};

/** Settings of name resolution, under the names that tools of the dialect query. */
const SETTINGS: readonly SystemRow[] = [
  ["datafusion.catalog.default_catalog", CATALOG, "The catalog of tables named without one"],
  ["datafusion.catalog.default_schema", "iox", "The schema of tables named without one"],
  ["datafusion.catalog.information_schema", "true", "Whether there is an information_schema"],
  ["datafusion.execution.time_zone", null, "The zone of times without one"],
  ["datafusion.sql_parser.enable_ident_normalization", "true", "Whether unquoted names become lower case"],
];

/** The columns of a view; null if it does not exist. */
export function findView(name: string): readonly SystemColumn[] | null {
  return Object.hasOwn(VIEWS, name) ? VIEWS[name]! : null;
}

/** The rows of an existing view, generated lazily: there may be very many. */
export function viewRows(name: string, catalog: DatabaseCatalog): Iterable<SystemRow> {
  switch (name) {
    case "tables":
      return tableRows(catalog);
    case "columns":
      return allColumnRows(catalog);
    case "schemata":
      return ["information_schema", "iox", "system"].map((schema) => [CATALOG, schema]);
    case "df_settings":
      return [...SETTINGS];
    case "routines":
      return routineRows();
    default:
      // users cannot create views, and parameters of functions are unknown
      return [];
  }
}

function byName(tables: readonly DatabaseTable[]): DatabaseTable[] {
  return [...tables].sort((a, b) => compareTexts(a.name, b.name));
}

function* tableRows({ tables, isInternal }: DatabaseCatalog): Generator<SystemRow> {
  for (const { name } of byName(tables)) yield tableRow("iox", name, "BASE TABLE");
  for (const name of systemTableNames(isInternal)) yield tableRow("system", name, "BASE TABLE");
  for (const view of Object.keys(VIEWS).sort()) yield tableRow("information_schema", view, "VIEW");
}

function* allColumnRows({ tables, isInternal }: DatabaseCatalog): Generator<SystemRow> {
  for (const table of byName(tables)) yield* columnRows("iox", table.name, userColumns(table));
  for (const name of systemTableNames(isInternal)) {
    yield* columnRows("system", name, ownColumns(findSystemTable(name, isInternal)!.columns, SYSTEM_DATA_TYPE));
  }
  for (const view of Object.keys(VIEWS).sort()) yield* columnRows("information_schema", view, ownColumns(VIEWS[view]!, VIEW_DATA_TYPE));
}

/** Upper bound of a view's rows; those for virtual tables are few. */
export function viewRowsMax(name: string, { tables }: DatabaseCatalog): number {
  const ofTable = name === "columns" ? (table: DatabaseTable) => table.columns.length : () => 1;
  return tables.reduce((sum, table) => sum + ofTable(table), OWN_ROWS_MAX);
}

function tableRow(schema: string, table: string, type: string): SystemRow {
  return [CATALOG, schema, table, type];
}

interface DescribedColumn {
  readonly name: string;
  readonly dataType: string;
  readonly isNullable: boolean;
}

function userColumns(table: DatabaseTable): DescribedColumn[] {
  return [...table.columns]
    .sort((a, b) => compareTexts(a.name, b.name))
    .map(({ name, type }) => ({ name, dataType: DATA_TYPE[type], isNullable: type !== ColumnType.time }));
}

function ownColumns(columns: readonly SystemColumn[], dataTypes: Readonly<Record<SystemType, string>>): DescribedColumn[] {
  return columns.map(({ name, type, isNullable }) => ({ name, dataType: dataTypes[type], isNullable }));
}

function columnRows(schema: string, table: string, columns: readonly DescribedColumn[]): SystemRow[] {
  return columns.map(({ name, dataType, isNullable }, i) => {
    const octets = dataType === "Utf8" ? 2_147_483_647n : null;
    const [precision, radix]: SystemValue[] = dataType === "Float64" ? [24n, 2n] : [null, null];
    const position = BigInt(i);
    return [CATALOG, schema, table, name, position, null, isNullable ? "YES" : "NO", dataType, null, octets, precision!, radix!];
  });
}

/** Operators have no alphabetic names. */
const FUNCTION_NAME = /^[a-z]/;
const VOLATILE: ReadonlySet<string> = new Set(["random", "uuid", "gen_random_uuid", "uuidv4", "uuidv7"]);

function routineRows(): SystemRow[] {
  const names = [...new Set([...DUCKDB_FUNCTIONS, ...DIALECT_FUNCTIONS])].filter((name) => FUNCTION_NAME.test(name)).sort();
  return names.map((name) => {
    const place: SystemRow = [CATALOG, "iox", name];
    return [...place, ...place, "FUNCTION", !VOLATILE.has(name), null, functionType(name)];
  });
}
