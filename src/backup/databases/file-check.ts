// Whether a file is what the description of its backup says: a SHA-256 shows that nothing was changed, not that both belong together.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import { ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import { type ObjectSource, openByteSource } from "../../storage/block/byte-source.ts";
import { COLUMN_TYPE_NAME } from "../../storage/catalog/operations.ts";
import type { BlockMeta } from "../../storage/manifest/manifest.ts";
import { dayStartNs, type StoredBlock } from "../../storage/pt/format.ts";
import { PtReader } from "../../storage/pt/reader.ts";
import type { TableContent } from "./content.ts";

/** Compares the file's directory with its blocks in the description. @throws TsdbError corrupt_file */
export function checkFile(
  kernel: Kernel,
  source: ObjectSource,
  blocks: readonly BlockMeta[],
  tables: ReadonlyMap<number, TableContent>,
): void {
  const reader = new PtReader(kernel, openByteSource(source));
  try {
    for (const block of blocks) {
      const stored = block.index < reader.blockCount ? reader.stored(block.index) : null;
      const table = tables.get(block.tableId);
      if (stored === null || table === undefined || !isSame(block, stored) || !hasColumns(stored, table)) {
        throw new TsdbError("corrupt_file", `its block ${block.index} is another one than the backup describes`);
      }
    }
  } finally {
    reader.close();
  }
}

/** Ids of tables are those of the server that wrote the file, which a restore before may have changed. */
function isSame(block: BlockMeta, stored: StoredBlock): boolean {
  const { rowCount, minTimeNs, maxTimeNs } = block;
  const isTimes = minTimeNs === stored.minTimeNs && maxTimeNs === stored.maxTimeNs && block.dayStartNs === dayStartNs(stored);
  return isTimes && rowCount === stored.rowCount && minTimeNs <= maxTimeNs && rowCount > 0;
}

function hasColumns({ tags, columns }: StoredBlock, table: TableContent): boolean {
  const types = new Map<number, ColumnType>(table.columns.map(({ id, type }) => [id, COLUMN_TYPE_NAME[type]]));
  types.set(TIME_COLUMN.id, TIME_COLUMN.type);
  const all = [...tags.map(({ columnId }) => ({ columnId, type: ColumnType.tag })), ...columns];
  return all.every(({ columnId, type }) => types.get(columnId) === type);
}
