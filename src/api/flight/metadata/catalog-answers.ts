// Answers GetCatalogs, GetDbSchemas, GetTables and similar commands from information_schema.
import {
  Binary,
  Bool,
  type DataType,
  DurationNanosecond,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  Schema,
  Timestamp,
  TimeUnit,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from "apache-arrow";
import { COLUMN_TYPE_LABEL, ColumnType } from "../../../model/rows/column.ts";
import type { SqlCommandNamed } from "../wire/sql-messages.ts";
import { type AnswerTable, answerTable, schemaBytes, schemaOf } from "./answer-table.ts";
import { likePattern } from "./like-pattern.ts";

/** Runs a statement on the caller's database and returns its rows as plain values. */
export type AskRows = (statement: string) => Promise<readonly (readonly unknown[])[]>;

/** The only catalog. */
const CATALOG = "public";
const BASE_TABLE = "BASE TABLE";

const text = new Utf8();
export const CATALOGS_SCHEMA = schemaOf({ catalog_name: text });
export const SCHEMAS_SCHEMA = schemaOf({ "catalog_name?": text, db_schema_name: text });
export const TABLE_TYPES_SCHEMA = schemaOf({ table_type: text });
const TABLES = { "catalog_name?": text, "db_schema_name?": text, table_name: text, table_type: text };
const TABLES_SCHEMA = schemaOf(TABLES);
const TABLES_WITH_SCHEMA = schemaOf({ ...TABLES, table_schema: new Binary() });

// There are no keys that a statement could name: these answers are always empty.
export const PRIMARY_KEYS_SCHEMA = schemaOf({
  ...{ "catalog_name?": text, "db_schema_name?": text, table_name: text, column_name: text, "key_name?": text },
  key_sequence: new Int32(),
});
export const FOREIGN_KEYS_SCHEMA = schemaOf({
  ...{ "pk_catalog_name?": text, "pk_db_schema_name?": text, pk_table_name: text, pk_column_name: text },
  ...{ "fk_catalog_name?": text, "fk_db_schema_name?": text, fk_table_name: text, fk_column_name: text },
  ...{ key_sequence: new Int32(), "fk_key_name?": text, "pk_key_name?": text, update_rule: new Uint8(), delete_rule: new Uint8() },
});

/** Answers GetCatalogs. */
export function catalogs(): AnswerTable {
  return answerTable(CATALOGS_SCHEMA, [[CATALOG]]);
}

/** Answers GetTableTypes. */
export function tableTypes(baseType: string): AnswerTable {
  return answerTable(TABLE_TYPES_SCHEMA, [[baseType], ["VIEW"]]);
}

/** True if no catalog is requested, or ours. An empty name means objects without a catalog, of which there are none. */
const isOurs = (catalog: string | undefined) => catalog === undefined || catalog === CATALOG;

/** Answers GetDbSchemas. */
export async function schemas({ catalog, schemaPattern }: SqlCommandNamed<"schemas">, ask: AskRows): Promise<AnswerTable> {
  const found = isOurs(catalog) ? await ask("SELECT schema_name FROM information_schema.schemata ORDER BY schema_name") : [];
  const wanted = likePattern(schemaPattern);
  return answerTable(
    SCHEMAS_SCHEMA,
    found.filter(([name]) => wanted(String(name))).map(([name]) => [CATALOG, name]),
  );
}

/** The schema of a GetTables answer. */
export function tablesSchema({ includeSchema }: SqlCommandNamed<"tables">): Schema {
  return includeSchema ? TABLES_WITH_SCHEMA : TABLES_SCHEMA;
}

/** Answers GetTables. `baseType`: type name of ordinary tables; some tools expect `TABLE`. */
export async function tables(command: SqlCommandNamed<"tables">, baseType: string, ask: AskRows): Promise<AnswerTable> {
  const { catalog, schemaPattern, tablePattern, tableTypes: types, includeSchema } = command;
  const all = isOurs(catalog)
    ? await ask("SELECT table_schema, table_name, table_type FROM information_schema.tables ORDER BY table_schema, table_name, table_type")
    : [];
  const [isSchema, isTable] = [likePattern(schemaPattern), likePattern(tablePattern)];
  const found = all
    .map(([schema, name, type]) => ({ schema: String(schema), name: String(name), type: type === BASE_TABLE ? baseType : String(type) }))
    .filter(({ schema, name, type }) => isSchema(schema) && isTable(name) && (types.length === 0 || types.includes(type)));
  const arrowSchemas = includeSchema && found.length > 0 ? await arrowSchemasOf(ask) : new Map<string, Schema>();
  const rows = found.map(({ schema, name, type }) => {
    const row = [CATALOG, schema, name, type];
    return includeSchema ? [...row, schemaBytes(arrowSchemas.get(tableKey(schema, name)) ?? new Schema([]))] : row;
  });
  return answerTable(tablesSchema(command), rows);
}

const tableKey = (schema: unknown, name: unknown) => `${schema}\0${name}`;

/** The Arrow schema of every table, as returned by a statement. */
async function arrowSchemasOf(ask: AskRows): Promise<ReadonlyMap<string, Schema>> {
  const rows = await ask(`SELECT table_schema, table_name, column_name, is_nullable, data_type FROM information_schema.columns
    ORDER BY table_schema, table_name, ordinal_position`);
  const fields = new Map<string, Field[]>();
  for (const [schema, table, name, isNullable, dataType] of rows) {
    const key = tableKey(schema, table);
    const list = fields.get(key) ?? [];
    fields.set(key, list);
    const { type, kind } = ARROW_TYPES[String(dataType)] ?? { type: text };
    const metadata = schema === "iox" && kind !== undefined ? new Map([["iox::column::type", COLUMN_TYPE_LABEL[kind]]]) : null;
    list.push(new Field(String(name), type, isNullable !== "NO", metadata));
  }
  return new Map([...fields].map(([key, list]) => [key, new Schema(list)]));
}

/** Arrow types by their names in information_schema, and the kind of a user table's column of that type. */
const ARROW_TYPES: Readonly<Record<string, { readonly type: DataType; readonly kind?: ColumnType }>> = {
  "Timestamp(ns)": { type: new Timestamp(TimeUnit.NANOSECOND), kind: ColumnType.time },
  "Dictionary(Int32, Utf8)": { type: text, kind: ColumnType.tag },
  Float64: { type: new Float64(), kind: ColumnType.float },
  Int64: { type: new Int64(), kind: ColumnType.integer },
  UInt64: { type: new Uint64(), kind: ColumnType.unsigned },
  Utf8: { type: text, kind: ColumnType.string },
  Boolean: { type: new Bool(), kind: ColumnType.boolean },
  UInt32: { type: new Uint32() },
  "Duration(ns)": { type: new DurationNanosecond() },
  // answers contain plain strings
  Utf8View: { type: text },
  "List(Utf8View)": { type: new List(new Field("item", text, true)) },
  "List(UInt16)": { type: new List(new Field("item", new Uint16(), true)) },
  'Timestamp(µs, "UTC")': { type: new Timestamp(TimeUnit.MICROSECOND, "UTC") },
};
