// information_schema as tables whose rows are made in memory: what SHOW, DESCRIBE and the clients of other tools read.
import type { Kernel } from "../kernel/kernel.ts";
import { type ColumnDef, ColumnType } from "../model/column.ts";
import { compareNames } from "./names.ts";
import { TextTable } from "./text-table.ts";

/** A user table, for the list of tables. */
export interface DatabaseTable {
  readonly name: string;
  readonly columns: readonly ColumnDef[];
}

/** Arrow's names, as the vendor prints them. */
const DATA_TYPE: Readonly<Record<ColumnType, string>> = {
  [ColumnType.time]: "Timestamp(Nanosecond, None)",
  [ColumnType.tag]: "Dictionary(Int32, Utf8)",
  [ColumnType.float]: "Float64",
  [ColumnType.integer]: "Int64",
  [ColumnType.unsigned]: "UInt64",
  [ColumnType.string]: "Utf8",
  [ColumnType.boolean]: "Boolean",
};

const VIEWS: Readonly<Record<string, readonly string[]>> = {
  tables: ["table_catalog", "table_schema", "table_name", "table_type"],
  columns: [
    ...["table_catalog", "table_schema", "table_name", "column_name", "ordinal_position", "column_default", "is_nullable", "data_type"],
    ...["character_maximum_length", "character_octet_length", "numeric_precision", "numeric_precision_radix", "numeric_scale"],
    ...["datetime_precision", "interval_type"],
  ],
  views: ["table_catalog", "table_schema", "table_name", "definition"],
  schemata: [
    ...["catalog_name", "schema_name", "schema_owner", "default_character_set_catalog", "default_character_set_schema"],
    ...["default_character_set_name", "sql_path"],
  ],
  df_settings: ["name", "value", "description"],
  routines: [
    ...["specific_catalog", "specific_schema", "specific_name", "routine_catalog", "routine_schema", "routine_name", "routine_type"],
    ...["is_deterministic", "data_type", "function_type", "description", "syntax_example"],
  ],
  parameters: [
    ...["specific_catalog", "specific_schema", "specific_name", "ordinal_position", "parameter_mode", "parameter_name", "data_type"],
    ...["parameter_default", "is_variadic", "rid"],
  ],
};

const NUMBERS: ReadonlySet<string> = new Set(["ordinal_position"]);

type Row = Readonly<Record<string, string | bigint | null>>;

/** A view of information_schema over `tables`; null when there is none of that name. Its memory is the kernel's until `release`. */
export function openCatalogTable(kernel: Kernel, name: string, tables: readonly DatabaseTable[]): TextTable | null {
  const columns = VIEWS[name];
  if (columns === undefined) return null;
  const defs = columns.map((column, id) => ({ id, name: column, type: NUMBERS.has(column) ? ColumnType.integer : ColumnType.string }));
  const sorted = [...tables].sort((a, b) => compareNames(a.name, b.name));
  return new TextTable(kernel, name, defs, rowsOf(name, sorted));
}

function rowsOf(name: string, tables: readonly DatabaseTable[]): Row[] {
  switch (name) {
    case "tables":
      return [
        ...tables.map((table) => tableRow("iox", table.name, "BASE TABLE")),
        ...Object.keys(VIEWS)
          .sort()
          .map((view) => tableRow("information_schema", view, "VIEW")),
      ];
    case "columns":
      return tables.flatMap((table) => columnRows(table));
    case "schemata":
      return ["information_schema", "iox", "system"].map((schema) => ({ catalog_name: "public", schema_name: schema }));
    default:
      return [];
  }
}

function tableRow(schema: string, table: string, type: string): Row {
  return { table_catalog: "public", table_schema: schema, table_name: table, table_type: type };
}

function columnRows(table: DatabaseTable): Row[] {
  return [...table.columns]
    .sort((a, b) => compareNames(a.name, b.name))
    .map((column, i) => ({
      ...tableRow("iox", table.name, "BASE TABLE"),
      column_name: column.name,
      ordinal_position: BigInt(i),
      is_nullable: column.type === ColumnType.time ? "NO" : "YES",
      data_type: DATA_TYPE[column.type],
    }));
}
