// Which columns of which tables have a file index: set for a table, or for a database as the default of its tables. Part of the catalog's
// state: no clock, no I/O.
import { type ColumnDef, ColumnType, type TableDef } from "../../model/rows/column.ts";
import { badValue, readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";

/** Columns by name, since a database's setting applies to many tables. null: no index (any more). */
export interface SetFileIndex {
  readonly kind: "set_file_index";
  readonly of: "database" | "table";
  readonly id: number;
  readonly columns: readonly string[] | null;
}

type Owner = SetFileIndex["of"];

/** True if an index may contain the column. */
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

/** File index settings of all databases and tables. */
export class FileIndexSet {
  private readonly byOwner = { database: new Map<number, readonly string[]>(), table: new Map<number, readonly string[]>() };
  /** Increases with every change. */
  changes = 0;

  get isEmpty(): boolean {
    return this.byOwner.database.size === 0 && this.byOwner.table.size === 0;
  }

  set({ of, id, columns }: SetFileIndex): void {
    this.changes++;
    if (columns === null) this.byOwner[of].delete(id);
    else this.byOwner[of].set(id, columns);
  }

  /** Removes the setting of a dropped owner. */
  drop(of: Owner, id: number): void {
    if (this.byOwner[of].delete(id)) this.changes++;
  }

  /** The setting of the database or table itself. */
  own(of: Owner, id: number): readonly string[] | null {
    return this.byOwner[of].get(id) ?? null;
  }

  /** The indexed columns of a table, in column order. */
  columnsOf({ id, databaseId, columns }: TableDef): ColumnDef[] {
    const names = this.own("table", id) ?? this.own("database", databaseId);
    return names === null ? [] : columns.filter((column) => names.includes(column.name) && canBeIndexed(column));
  }

  /** The snapshot form, in no particular order. */
  toJson(): unknown[] {
    const owners: Owner[] = ["database", "table"];
    return owners.flatMap((of) => [...this.byOwner[of]].map(([id, columns]) => ({ of, id, columns })));
  }
}
