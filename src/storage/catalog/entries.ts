// The state of each database and table in the catalog, and its form in snapshots.
import { type ColumnDef, type TableDef, TIME_COLUMN } from "../../model/rows/column.ts";
import { readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";
import { COLUMN_TYPE_NAME, columnTypeName, readColumn, readHardDelete, readRetention } from "./operations.ts";
import { type PolicySettings, readPolicies } from "./policies.ts";

export interface DatabaseDef {
  readonly id: number;
  readonly namespace: number;
  readonly name: string;
}

/** Properties of a soft-deleted object. */
export interface SoftDeletion {
  /** Name before the deletion. */
  readonly formerName: string;
  readonly deletedMs: number;
  /** When it will be dropped; null = never. */
  readonly hardDeleteMs: number | null;
}

/** A soft-deleted database or table; a table with its database. */
export type DeletedObject = SoftDeletion &
  ({ readonly of: "database"; readonly def: DatabaseDef } | { readonly of: "table"; readonly def: TableDef });

/** A table with its name index. `def` is replaced, never modified, when columns are added: a holder sees a fixed schema, and an
 *  identical `def` object means an unchanged schema. */
export interface TableSchema {
  readonly def: TableDef;
  readonly columnsByName: ReadonlyMap<string, ColumnDef>;
  readonly nextColumnId: number;
}

export interface MutableTable extends TableSchema {
  def: TableDef;
  columnsByName: Map<string, ColumnDef>;
  nextColumnId: number;
  /** null = inherited from the database; 0 = forever. */
  retentionNs: bigint | null;
  deletion: SoftDeletion | null;
}

export interface DatabaseEntry {
  def: DatabaseDef;
  /** null or 0 = forever. */
  retentionNs: bigint | null;
  deletion: SoftDeletion | null;
  /** null: never set. */
  policies: PolicySettings | null;
  /** By current name, including deleted ones. */
  readonly tablesByName: Map<string, MutableTable>;
}

/** Without tables. */
export function newDatabase(def: DatabaseDef): DatabaseEntry {
  return { def, retentionNs: null, deletion: null, policies: null, tablesByName: new Map() };
}

/** With its time column only. */
export function newTable({ id, databaseId, name }: Omit<TableDef, "columns">): MutableTable {
  return {
    def: { id, databaseId, name, columns: [TIME_COLUMN] },
    columnsByName: new Map([[TIME_COLUMN.name, TIME_COLUMN]]),
    nextColumnId: TIME_COLUMN.id + 1,
    retentionNs: null,
    deletion: null,
  };
}

/** The snapshot form of a database. */
export function databaseToJson({ def, retentionNs, deletion, policies }: DatabaseEntry): unknown {
  return { ...def, ...retentionToJson(retentionNs), ...deletionToJson(deletion), ...(policies === null ? {} : { policies }) };
}

/** @throws TsdbError corrupt_file */
export function databaseFromJson(value: unknown): Omit<DatabaseEntry, "tablesByName"> {
  const database = readObject("database", value);
  return {
    def: {
      id: readCount("database.id", database["id"]),
      namespace: readCount("database.namespace", database["namespace"]),
      name: readText("database.name", database["name"]),
    },
    retentionNs: toNs(readRetention("database.retentionNs", database["retentionNs"])),
    policies: database["policies"] === undefined ? null : readPolicies(database["policies"]),
    deletion: readDeletion(database["deletion"]),
  };
}

/** Nanoseconds of a JSON text; null stays null. */
export function toNs(text: string | null): bigint | null {
  return text === null ? null : BigInt(text);
}

/** The snapshot form of a table. */
export function tableToJson({ def, nextColumnId, retentionNs, deletion }: MutableTable): unknown {
  const { id, databaseId, name } = def;
  const columns = def.columns.slice(1).map((column) => ({ id: column.id, name: column.name, type: columnTypeName(column.type) }));
  return { id, databaseId, name, nextColumnId, ...retentionToJson(retentionNs), ...deletionToJson(deletion), columns };
}

/** The opposite. @throws TsdbError corrupt_file */
export function tableFromJson(value: unknown) {
  const table = readObject("table", value);
  return {
    id: readCount("table.id", table["id"]),
    databaseId: readCount("table.databaseId", table["databaseId"]),
    name: readText("table.name", table["name"]),
    columns: readArray("table.columns", table["columns"]).map((column) => columnDef(readColumn("column", column))),
    nextColumnId: readCount("table.nextColumnId", table["nextColumnId"]),
    retentionNs: toNs(readRetention("table.retentionNs", table["retentionNs"])),
    deletion: readDeletion(table["deletion"]),
  };
}

function retentionToJson(retentionNs: bigint | null): { retentionNs?: string } {
  return retentionNs === null ? {} : { retentionNs: String(retentionNs) };
}

function deletionToJson(deletion: SoftDeletion | null): { deletion?: SoftDeletion } {
  return deletion === null ? {} : { deletion };
}

/** @throws TsdbError corrupt_file */
function readDeletion(value: unknown): SoftDeletion | null {
  if (value === undefined) return null;
  const deletion = readObject("deletion", value);
  return {
    formerName: readText("deletion.formerName", deletion["formerName"]),
    deletedMs: readCount("deletion.deletedMs", deletion["deletedMs"]),
    hardDeleteMs: readHardDelete(deletion["hardDeleteMs"]),
  };
}

/** Changes the key of an entry in its name index. @throws TsdbError corrupt_file with `offence` if another entry has the name */
export function move<T extends { def: { readonly name: string } }>(byName: Map<string, T>, entry: T, name: string, offence: string): void {
  if (byName.has(name)) violated(offence);
  byName.delete(entry.def.name);
  entry.def = { ...entry.def, name };
  byName.set(name, entry);
}

/** Sorts tables by id: the name index lists them in the order of their last renaming. */
export function byId(tables: TableDef[]): TableDef[] {
  return tables.sort((a, b) => a.id - b.id);
}

/** The definition of a column as its operation describes it. */
export function columnDef(column: { id: number; name: string; type: keyof typeof COLUMN_TYPE_NAME }): ColumnDef {
  return { id: column.id, name: column.name, type: COLUMN_TYPE_NAME[column.type] };
}
