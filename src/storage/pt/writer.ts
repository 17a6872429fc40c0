// Writes sealed rows as one .pt file in memory: per table a merge, a sort, and blocks by UTC day, encoded column by column, page by page.
// Storing the bytes and releasing the rows is the caller's task.

import { ColumnCodec } from "../../kernel/codec/codec.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { RunMerge } from "../../kernel/scan/run-merge.ts";
import { LIMITS } from "../../model/limits.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { joinOverlaps } from "../../model/rows/overlap-ranges.ts";
import type { ColumnRun, Run } from "../../model/rows/run.ts";
import { DAY_NS } from "../../model/time/time-units.ts";
import { fittingPage, PtBlockWriter } from "./block-writer.ts";
import { ColumnEmitter } from "./column-emitter.ts";
import { encodeDirectory, encodeHeader, type PtBlock, type PtDirectory } from "./format.ts";
import { type DayRows, orderTable } from "./order.ts";
import { PtOutput } from "./output.ts";

/** Default of `stringsKeptBytes`. */
const STRINGS_KEPT_BYTES = 512 << 20;

/** Rows of one table. Runs have disjoint sequence ranges; of runs with equal sequences, the later in the list is the later one. */
export interface PtTableInput {
  readonly databaseId: number;
  readonly tableId: number;
  /** For people inspecting the file. */
  readonly tableName?: string;
  readonly columns: readonly ColumnDef[];
  readonly runs: readonly Run[];
}

/** A file; the bytes are owned by the caller and fill their buffer exactly. */
export interface PtFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly directory: PtDirectory;
}

export interface PtWriterOptions {
  /** A power of two, at least 64: smaller pages, for tests. */
  readonly pageRowsMax?: number;
  /** Of the views of string columns that are merged once, not twice: for tests. */
  readonly stringsKeptBytes?: number;
}

/** Writes the rows of `tables`; tables without rows have no block. The runs are borrowed for the call. @throws TsdbError overloaded */
export function encodePt(
  kernel: Kernel,
  tables: readonly PtTableInput[],
  { pageRowsMax = LIMITS.pageRowsMax, stringsKeptBytes = STRINGS_KEPT_BYTES }: PtWriterOptions = {},
): PtFile {
  const output = new PtOutput();
  const codec = new ColumnCodec(kernel);
  const emitter = new ColumnEmitter(kernel, codec, output);
  try {
    output.append(encodeHeader());
    const blocks = tables.flatMap((table) => writeTable({ kernel, emitter, pageRowsMax, stringsKeptBytes }, table));
    const directory = { blocks };
    output.append(encodeDirectory(directory, output.bytes));
    return { bytes: output.take(), directory };
  } finally {
    emitter.release();
    codec.release();
  }
}

interface Writing {
  readonly kernel: Kernel;
  readonly emitter: ColumnEmitter;
  readonly pageRowsMax: number;
  readonly stringsKeptBytes: number;
}

/** Writes the blocks of all days column by column: only one is in memory at a time, besides string columns, which are looked at first and
 *  kept up to a limit. */
function writeTable({ kernel, emitter, pageRowsMax, stringsKeptBytes }: Writing, table: PtTableInput): PtBlock[] {
  if (table.runs.every(({ rowCount }) => rowCount === 0)) return [];
  const merge = RunMerge.open(kernel, table.runs, { ownDictionary: true });
  const blocks = new Blocks(kernel);
  const writers: { rows: DayRows; writer: PtBlockWriter }[] = [];
  try {
    const { tags, days } = orderTable(kernel, merge.rows, blocks);
    const columns = table.columns.toSorted((a, b) => a.id - b.id);
    const strings = new Map<number, ColumnRun>();
    const pages = pageSizes(kernel, { merge, columns, days, pageRowsMax }, { strings, blocks, keptBytes: stringsKeptBytes });
    for (const [i, rows] of days.entries()) {
      const writer = new PtBlockWriter(kernel, { run: merge.rows, tags, rows, emitter, pageRows: pages[i]! });
      writers.push({ rows, writer });
    }
    for (const column of columns) {
      const passing = new Blocks(kernel);
      try {
        const merged = strings.get(column.id) ?? merge.column(column, passing);
        if (merged !== undefined) for (const { writer } of writers) writer.write(merged);
      } finally {
        passing.release();
      }
    }
    return writers.map(({ rows, writer }) => ({ ...identify(table, rows), ...writer.end() }));
  } finally {
    for (const { writer } of writers) writer.release();
    blocks.release();
    merge.release();
  }
}

/** Rows of the pages of each day, whose sizes the string columns determine: these are merged for it one after the other, and those that
 *  there is room for stay in `strings`. A table may have thousands. */
function pageSizes(
  kernel: Kernel,
  { merge, columns, days, pageRowsMax }: { merge: RunMerge; columns: readonly ColumnDef[]; days: readonly DayRows[]; pageRowsMax: number },
  { strings, blocks, keptBytes }: { strings: Map<number, ColumnRun>; blocks: Blocks; keptBytes: number },
): number[] {
  const sizes = days.map(() => pageRowsMax);
  const bytes = merge.rows.rowCount * VALUE_BYTES[ColumnType.string];
  for (const column of columns) {
    if (column.type !== ColumnType.string) continue;
    const isKept = (strings.size + 1) * bytes <= keptBytes;
    const passing = new Blocks(kernel);
    try {
      const merged = merge.column(column, isKept ? blocks : passing);
      if (merged === undefined) continue;
      if (isKept) strings.set(column.id, merged);
      for (const [i, rows] of days.entries()) sizes[i] = fittingPage(kernel, merged, rows, sizes[i]!);
    } finally {
      passing.release();
    }
  }
  return sizes;
}

/** The properties of a block that follow from the runs overlapping its day. */
function identify({ databaseId, tableId, tableName = "", runs }: PtTableInput, { day }: DayRows) {
  const range = { minNs: BigInt(day) * DAY_NS, maxNs: (BigInt(day) + 1n) * DAY_NS - 1n };
  const sources = runs.filter((run) => overlaps(run, range));
  return {
    databaseId,
    tableId,
    tableName,
    day,
    ...joinOverlaps(sources, range),
    seqMin: Math.min(...sources.map(({ seqMin }) => seqMin)),
    seqMax: Math.max(...sources.map(({ seqMax }) => seqMax)),
  };
}

function overlaps({ rowCount, minTimeNs, maxTimeNs }: Run, { minNs, maxNs }: TimeRange): boolean {
  return rowCount > 0 && minTimeNs <= maxNs && maxTimeNs >= minNs;
}
