// What a snapshot of a table says, read without the scan: every run and block row by row, deletions and retention judged for each, then
// merged in log order.
import type { Kernel } from "../../src/kernel/kernel.ts";
import { SeriesFilter } from "../../src/kernel/series-filter.ts";
import { ColumnType } from "../../src/model/column.ts";
import type { Run } from "../../src/model/run.ts";
import { ALL_TIME } from "../../src/model/scan.ts";
import { decodeBlock } from "../../src/query/block-runs.ts";
import type { TableSnapshot } from "../../src/query/snapshot.ts";
import { openByteSource } from "../../src/store/byte-source.ts";
import { openDataFile } from "../../src/store/data-file.ts";
import { isHiddenRow, mergeRows } from "./naive-scan.ts";
import { readRun, type TestRow } from "./rows.ts";

/** Rows that the table has, one per series and time, in no order that matters. */
export function naiveRows(kernel: Kernel, { table, runs, blocks, tombstones, retentionMinNs }: TableSnapshot): TestRow[] {
  const parts: { seqMin: number; seqMax: number; rows: TestRow[] }[] = [];
  const add = (run: Run) => parts.push({ seqMin: run.seqMin, seqMax: run.seqMax, rows: readRun(kernel, table.columns, run) });
  for (const run of runs) add(run);
  const fieldIds = table.columns.filter(({ type }) => type !== ColumnType.tag && type !== ColumnType.time).map(({ id }) => id);
  for (const meta of blocks) {
    const file = openDataFile(kernel, openByteSource(meta.source), meta.format);
    const filter = new SeriesFilter(kernel, []);
    const decoded = decodeBlock(kernel, file.block(meta.blockIndex), { meta, fieldIds, range: ALL_TIME, filter });
    for (const run of decoded.runs) add(run);
    decoded.release();
    filter.release();
    file.close();
  }
  const visible = parts
    .sort((a, b) => a.seqMin - b.seqMin || a.seqMax - b.seqMax)
    .flatMap(({ seqMax, rows }) =>
      rows.filter((row) => row.timeNs >= retentionMinNs && !isHiddenRow(row, seqMax, tombstones, table.columns)),
    );
  return mergeRows(visible, table.columns);
}
