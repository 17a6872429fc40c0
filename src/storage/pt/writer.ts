// Writes sealed rows as one .pt file in memory: per table a merge, a sort, and blocks by UTC day, encoded column by column, page by page.
// Storing the bytes and releasing the rows is the caller's task.

import { ColumnCodec } from "../../kernel/codec/codec.ts";
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { RunMerge } from "../../kernel/scan/run-merge.ts";
import { LIMITS } from "../../model/limits.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import { joinOverlaps } from "../../model/rows/overlap-ranges.ts";
import type { Run } from "../../model/rows/run.ts";
import { DAY_NS } from "../../model/time/time-units.ts";
import { PtBlockWriter } from "./block-writer.ts";
import { ColumnEmitter } from "./column-emitter.ts";
import { encodeDirectory, encodeHeader, type PtBlock, type PtDirectory } from "./format.ts";
import { type DayRows, orderTable } from "./order.ts";
import { PtOutput } from "./output.ts";

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
}

/** Writes the rows of `tables`; tables without rows have no block. The runs are borrowed for the call. @throws TsdbError overloaded */
export function encodePt(
  kernel: Kernel,
  tables: readonly PtTableInput[],
  { pageRowsMax = LIMITS.pageRowsMax }: PtWriterOptions = {},
): PtFile {
  const output = new PtOutput();
  const codec = new ColumnCodec(kernel);
  const emitter = new ColumnEmitter(kernel, codec, output);
  try {
    output.append(encodeHeader());
    const blocks = tables.flatMap((table) => writeTable({ kernel, emitter, pageRowsMax }, table));
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
}

/** Writes the blocks of all days column by column: only one is in memory at a time, besides the string columns, whose views determine
 *  the pages' sizes. */
function writeTable({ kernel, emitter, pageRowsMax }: Writing, table: PtTableInput): PtBlock[] {
  if (table.runs.every(({ rowCount }) => rowCount === 0)) return [];
  const merge = RunMerge.open(kernel, table.runs, { ownDictionary: true });
  const blocks = new Blocks(kernel);
  const writers: { rows: DayRows; writer: PtBlockWriter }[] = [];
  try {
    const { tags, days } = orderTable(kernel, merge.rows, blocks);
    const columns = table.columns.toSorted((a, b) => a.id - b.id);
    const strings = columns.filter(({ type }) => type === ColumnType.string).flatMap((column) => merge.column(column, blocks) ?? []);
    for (const rows of days) {
      const writer = new PtBlockWriter(kernel, { run: merge.rows, strings, tags, rows, emitter, pageRowsMax });
      writers.push({ rows, writer });
    }
    for (const column of columns) {
      const passing = new Blocks(kernel);
      try {
        const merged = strings.find(({ columnId }) => columnId === column.id) ?? merge.column(column, passing);
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
