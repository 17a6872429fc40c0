// The rows of system.file_index: the defined indexes, and how many files have them.

import { LIMITS } from "../model/limits.ts";
import type { TableDef } from "../model/rows/column.ts";
import type { SystemRow } from "../model/system-table.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { FileIndexList } from "../storage/file-index/list.ts";
import type { Manifest } from "../storage/manifest/manifest.ts";

export interface FileIndexRowsParts {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly indexes: FileIndexList;
}

/** First the database's own index, with the tables that have none of their own; then those of its tables. */
export function fileIndexRows(parts: FileIndexRowsParts, { id, name: database }: { id: number; name: string }): SystemRow[] {
  const { fileIndexes } = parts.catalog;
  const tables = parts.catalog.tables(id);
  const row = (table: string | null, columns: readonly string[] | null, of: readonly TableDef[]): SystemRow[] => {
    if (columns === null) return [];
    const { files, indexed, bytes } = progressOf(parts, of);
    return [[database, table, columns.join(", "), BigInt(files), BigInt(indexed), BigInt(bytes)]];
  };
  const others = tables.filter((table) => fileIndexes.own("table", table.id) === null);
  const ofTables = tables.flatMap((table) => row(table.name, fileIndexes.own("table", table.id), [table]));
  return [...row(null, fileIndexes.own("database", id), others), ...ofTables];
}

/** Number of the tables' files that should have an index, that have it, and its size; for files shared with other tables, the whole
 *  size. */
function progressOf({ catalog, manifest, indexes }: FileIndexRowsParts, tables: readonly TableDef[]) {
  const isIndexed = new Map<number, boolean>();
  for (const table of tables) {
    const wanted = catalog.fileIndexes.columnsOf(table);
    for (const { file, block } of manifest.blocksOf(table.id)) {
      const columns = wanted.filter(({ id }) => block.columnIds.includes(id));
      if (columns.length === 0 || block.rowCount < LIMITS.indexedRowsMin) continue;
      const listed = indexes.of(file.id);
      // an index not examined since the start was built for these columns
      const has = listed !== undefined && columns.every(({ id }) => listed.columns?.get(block.index)?.has(id) ?? listed.columns === null);
      isIndexed.set(file.id, has && isIndexed.get(file.id) !== false);
    }
  }
  const indexed = [...isIndexed].filter(([, has]) => has).map(([fileId]) => fileId);
  const bytes = indexed.reduce((sum, fileId) => sum + indexes.of(fileId)!.bytes, 0);
  return { files: isIndexed.size, indexed: indexed.length, bytes };
}
