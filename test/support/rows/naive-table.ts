// The content of a table snapshot, read without the scan: every run and block row by row, with deletions and retention evaluated for each,
// then merged in log order.
import { Blocks } from "../../../src/kernel/memory/blocks.ts";
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import { TIME_COLUMN } from "../../../src/model/rows/column.ts";
import type { Run } from "../../../src/model/rows/run.ts";
import type { BlockSnapshot, TableSnapshot } from "../../../src/scan/snapshot.ts";
import { openByteSource } from "../../../src/storage/block/byte-source.ts";
import { PtReader } from "../../../src/storage/pt/reader.ts";
import { isHiddenRow, mergeRows } from "./naive-scan.ts";
import { readRun, type TestRow } from "./rows.ts";

interface Part {
  readonly seqMin: number;
  readonly seqMax: number;
  readonly rows: readonly TestRow[];
}

/** The table's rows, one per series and time, in arbitrary order. */
export function naiveRows(kernel: Kernel, { table, runs, blocks, tombstones, retentionMinNs }: TableSnapshot): TestRow[] {
  const read = (run: Run): Part => ({ ...run, rows: readRun(kernel, table.columns, run) });
  const parts = [...runs.map(read), ...blocks.map((block) => readBlock(kernel, block, read))];
  const visible = parts
    .sort((a, b) => a.seqMin - b.seqMin || a.seqMax - b.seqMax)
    .flatMap(({ seqMax, rows }) =>
      rows.filter((row) => row.timeNs >= retentionMinNs && !isHiddenRow(row, seqMax, tombstones, table.columns)),
    );
  return mergeRows(visible, table.columns);
}

function readBlock(kernel: Kernel, meta: BlockSnapshot, read: (run: Run) => Part): Part {
  const file = new PtReader(kernel, openByteSource(meta.source));
  const memory = new Blocks(kernel);
  try {
    const block = file.block(meta.blockIndex);
    const { dictionary, offsetsPtr } = block.readSeries(memory);
    const offsets = kernel.u32.slice(offsetsPtr / 4, offsetsPtr / 4 + dictionary.seriesCount + 1);
    const seriesOfRow = Array.from({ length: dictionary.seriesCount }, (_, id) => Array(offsets[id + 1]! - offsets[id]!).fill(id)).flat();
    const rows = block.pages.flatMap(({ rowCount, firstRow }, page): readonly TestRow[] => {
      const columns = block.columns.map(({ columnId }) => block.readColumn(page, columnId, memory)!);
      const seriesPtr = memory.alloc(rowCount * 4);
      kernel.u32.set(seriesOfRow.slice(firstRow, firstRow + rowCount), seriesPtr / 4);
      const [time] = columns.filter(({ columnId }) => columnId === TIME_COLUMN.id);
      const fields = columns.filter(({ columnId }) => columnId !== TIME_COLUMN.id);
      return read({ ...meta, sorted: true, dictionary, rowCount, seriesPtr, timePtr: time!.dataPtr, columns: fields }).rows;
    });
    return { ...meta, rows };
  } finally {
    memory.release();
    file.close();
  }
}
