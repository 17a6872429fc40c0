// Creates and deletes file indexes on behalf of users, in the catalog. The files are indexed in the background
// (storage/compaction/file-indexer.ts).

import { near, TsdbError } from "../../model/errors.ts";
import type { TableDef } from "../../model/rows/column.ts";
import { FILE_INDEX_COLUMNS_MAX, type FileIndexOwner, type FileIndexService } from "../../model/rows/file-index.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { canBeIndexed } from "../../storage/catalog/file-indexes.ts";

/** File indexes by the names of database, table and columns. Methods resolve once the catalog is durable; files are indexed later.
 *  @throws TsdbError unknown_database, unknown_table, not_found, bad_request */
export class NamedFileIndexes implements FileIndexService {
  constructor(
    private readonly catalog: Catalog,
    /** Called after a change: files may need other indexes. */
    private readonly onChanged: () => void,
  ) {}

  async create(owner: FileIndexOwner, columns: readonly string[]): Promise<void> {
    const { of, id, tables } = this.find(owner);
    checkColumns(owner, tables, columns);
    const { durable } = this.catalog.apply([{ kind: "set_file_index", of, id, columns }]);
    this.onChanged();
    await durable;
  }

  async delete(owner: FileIndexOwner): Promise<void> {
    const { of, id } = this.find(owner);
    if (this.catalog.fileIndexes.own(of, id) === null) throw new TsdbError("not_found", `${shown(owner)} has no file index`, { ...owner });
    const { durable } = this.catalog.apply([{ kind: "set_file_index", of, id, columns: null }]);
    this.onChanged();
    await durable;
  }

  /** The owner and the tables it covers. */
  private find({ database, table }: FileIndexOwner): { of: "database" | "table"; id: number; tables: readonly TableDef[] } {
    const { catalog } = this;
    const found = catalog.findDatabase(database);
    if (found === undefined) throw new TsdbError("unknown_database", `database not found: ${database}`, { database });
    if (table === null) return { of: "database", id: found.id, tables: catalog.tables(found.id) };
    const def = catalog.findTable(found.id, table);
    if (def === undefined) throw new TsdbError("unknown_table", `table not found: ${database}.${table}`, { database, table });
    return { of: "table", id: def.id, tables: [def] };
  }
}

function shown({ database, table }: FileIndexOwner): string {
  return table === null ? `database '${database}'` : `table '${database}.${table}'`;
}

/** @throws TsdbError bad_request naming the column */
function checkColumns(owner: FileIndexOwner, tables: readonly TableDef[], names: readonly string[]): void {
  const refuse = (message: string, column?: string): never => {
    throw new TsdbError("bad_request", message, { ...owner, ...(column === undefined ? {} : { column }) });
  };
  if (names.length === 0) refuse("a file index needs a column: `columns` is empty");
  if (names.length > FILE_INDEX_COLUMNS_MAX) refuse(`a file index has ${FILE_INDEX_COLUMNS_MAX} columns at most, got ${names.length}`);
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) refuse(`duplicate column '${near(name)}' in a file index`, name);
    seen.add(name);
    const columns = tables.flatMap((table) => table.columns.filter((column) => column.name === name));
    const where = owner.table === null ? `no table of ${shown(owner)}` : shown(owner);
    if (columns.length === 0) refuse(`${where} has ${owner.table === null ? "a" : "no"} column '${near(name)}'`, name);
    if (!columns.some(canBeIndexed)) refuse(`column '${near(name)}' of ${shown(owner)} is neither a tag nor a string field`, name);
  }
}
