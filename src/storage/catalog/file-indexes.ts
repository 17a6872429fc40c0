// Which columns of which tables have a file index: set for a table, or for a database as what its tables do that have none of their own.
// Part of the catalog's state: no clock, no I/O.
import { type ColumnDef, ColumnType, type TableDef } from "../../model/rows/column.ts";
import { badValue, readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";

/** Columns by name, since a database's are those of many tables. null: it has none (any more). */
export interface SetFileIndex {
  readonly kind: "set_file_index";
  readonly of: "database" | "table";
  readonly id: number;
  readonly columns: readonly string[] | null;
}

type Owner = SetFileIndex["of"];

/** What an index may be over. */
export function canBeIndexed({ type }: ColumnDef): boolean {
  return type === ColumnType.tag || type === ColumnType.string;
}

/** @throws TsdbError corrupt_file */
export function readSetFileIndex(value: unknown): SetFileIndex {
  const { of, id, columns } = readObject("set_file_index", value);
  if (of !== "database" && of !== "table") badValue("of", of, "database or table");
  const names = columns === null ? null : readArray("columns", columns).map((name, i) => readText(`columns[${i}]`, name));
  return { kind: "set_file_index", of, id: readCount("id", id), columns: names };
}

export class FileIndexSet {
  private readonly byOwner = { database: new Map<number, readonly string[]>(), table: new Map<number, readonly string[]>() };
  /** Grows with every change. */
  changes = 0;

  get isEmpty(): boolean {
    return this.byOwner.database.size === 0 && this.byOwner.table.size === 0;
  }

  set({ of, id, columns }: SetFileIndex): void {
    this.changes++;
    if (columns === null) this.byOwner[of].delete(id);
    else this.byOwner[of].set(id, columns);
  }

  /** The owner is gone. */
  drop(of: Owner, id: number): void {
    if (this.byOwner[of].delete(id)) this.changes++;
  }

  /** What was set for the database or table itself. */
  own(of: Owner, id: number): readonly string[] | null {
    return this.byOwner[of].get(id) ?? null;
  }

  /** The columns of a table that have an index, in the order of its columns. */
  columnsOf({ id, databaseId, columns }: TableDef): ColumnDef[] {
    const names = this.own("table", id) ?? this.own("database", databaseId);
    return names === null ? [] : columns.filter((column) => names.includes(column.name) && canBeIndexed(column));
  }

  /** For a snapshot: in no certain order. */
  toJson(): unknown[] {
    const owners: Owner[] = ["database", "table"];
    return owners.flatMap((of) => [...this.byOwner[of]].map(([id, columns]) => ({ of, id, columns })));
  }
}
