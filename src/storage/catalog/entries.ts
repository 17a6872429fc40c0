// What the catalog's state has of each database and table, and how that is written in snapshots.
import { type ColumnDef, type TableDef, TIME_COLUMN } from "../../model/rows/column.ts";
import { readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { violated } from "./contradiction.ts";
import { COLUMN_TYPE_NAME, columnTypeName, readHardDelete } from "./operations.ts";
import type { PolicySettings } from "./policies.ts";

export interface DatabaseDef {
  readonly id: number;
  readonly namespace: number;
  readonly name: string;
}

/** Of an object that was deleted and can be restored. */
export interface SoftDeletion {
  /** What it was called before. */
  readonly formerName: string;
  readonly deletedMs: number;
  /** When it will be dropped; null = never. */
  readonly hardDeleteMs: number | null;
}

/** A soft-deleted database or table, with the table's database. */
export type DeletedObject = SoftDeletion &
  ({ readonly of: "database"; readonly def: DatabaseDef } | { readonly of: "table"; readonly def: TableDef });

/** A table with its index. `def` is replaced, never changed, when columns are added: a holder has a fixed schema, and
 *  `def` being the same object means that nothing has changed. */
export interface TableSchema {
  readonly def: TableDef;
  readonly columnsByName: ReadonlyMap<string, ColumnDef>;
  readonly nextColumnId: number;
}

export interface MutableTable extends TableSchema {
  def: TableDef;
  columnsByName: Map<string, ColumnDef>;
  nextColumnId: number;
  /** null = as the database says; 0 = for ever. */
  retentionNs: bigint | null;
  deletion: SoftDeletion | null;
}

export interface DatabaseEntry {
  def: DatabaseDef;
  /** null or 0 = for ever. */
  retentionNs: bigint | null;
  deletion: SoftDeletion | null;
  /** null: never set. */
  policies: PolicySettings | null;
  /** Deleted ones too, by the name they have now. */
  readonly tablesByName: Map<string, MutableTable>;
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

/** As a snapshot has it. */
export function databaseToJson({ def, retentionNs, deletion, policies }: DatabaseEntry): unknown {
  return { ...def, ...retentionToJson(retentionNs), ...deletionToJson(deletion), ...(policies === null ? {} : { policies }) };
}

/** As a snapshot has it. */
export function tableToJson({ def, nextColumnId, retentionNs, deletion }: MutableTable): unknown {
  const { id, databaseId, name } = def;
  const columns = def.columns.slice(1).map((column) => ({ id: column.id, name: column.name, type: columnTypeName(column.type) }));
  return { id, databaseId, name, nextColumnId, ...retentionToJson(retentionNs), ...deletionToJson(deletion), columns };
}

function retentionToJson(retentionNs: bigint | null): { retentionNs?: string } {
  return retentionNs === null ? {} : { retentionNs: String(retentionNs) };
}

function deletionToJson(deletion: SoftDeletion | null): { deletion?: SoftDeletion } {
  return deletion === null ? {} : { deletion };
}

/** @throws TsdbError corrupt_file */
export function readDeletion(value: unknown): SoftDeletion | null {
  if (value === undefined) return null;
  const deletion = readObject("deletion", value);
  return {
    formerName: readText("deletion.formerName", deletion["formerName"]),
    deletedMs: readCount("deletion.deletedMs", deletion["deletedMs"]),
    hardDeleteMs: readHardDelete(deletion["hardDeleteMs"]),
  };
}

export function move<T extends { def: { readonly name: string } }>(byName: Map<string, T>, entry: T, name: string, offence: string): void {
  if (byName.has(name)) violated(offence);
  byName.delete(entry.def.name);
  entry.def = { ...entry.def, name };
  byName.set(name, entry);
}

/** By name they lie in the order in which they got it. */
export function byId(tables: TableDef[]): TableDef[] {
  return tables.sort((a, b) => a.id - b.id);
}

export function columnDef(column: { id: number; name: string; type: keyof typeof COLUMN_TYPE_NAME }): ColumnDef {
  return { id: column.id, name: column.name, type: COLUMN_TYPE_NAME[column.type] };
}
