// Merges blocks of one table and day into one, in memory independent of their size: slice by slice in file order, and within a slice column
// by column.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { HiddenRows } from "../../kernel/scan/hidden-rows.ts";
import { SeriesUnion } from "../../kernel/series/series-union.ts";
import { TsdbError } from "../../model/errors.ts";
import { ColumnType, TIME_COLUMN, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { DecodeMemory } from "../block/data-block.ts";
import type { MergedBlockWriter, MergedColumn } from "../pt/merge-writer.ts";
import { mergeSliceColumn } from "./merge-columns.ts";
import { MergeInput, type MergeSource } from "./merge-input.ts";
import { MergeSlice } from "./merge-slice.ts";
import { cutPages } from "./page-cut.ts";

export interface MergeRequest {
  /** In order of sequence. */
  readonly sources: readonly MergeSource[];
  /** Tombstones of the table; each applies to sources whose sequence does not exceed its own. */
  readonly tombstones: readonly Tombstone[];
  readonly writer: MergedBlockWriter;
  /** Awaited between steps of about 10 ms, so that other work can run. */
  readonly pace: () => Promise<void>;
  readonly limits?: Partial<MergeLimits>;
}

export interface MergeLimits {
  /** Target rows per slice: 32 bytes each for their order, plus the column being merged. */
  readonly sliceRows: number;
  /** Bytes of a string column of a slice, and of those that are kept until they are written. */
  readonly textBytes: number;
}

const MERGE_LIMITS: MergeLimits = { sliceRows: 1 << 20, textBytes: 96 << 20 };
/** A slice is not made smaller than this because of its text: fewer rows than a page could not be written. */
const SLICE_ROWS_MIN = 1024;

/** Returns the number of merged rows; the writer's `end` has been called if there are any. @throws TsdbError corrupt_file, io,
 *  overloaded */
export async function mergeBlocks(kernel: Kernel, request: MergeRequest): Promise<number> {
  const memory = new Blocks(kernel);
  const union = new SeriesUnion(kernel);
  const hidden = new HiddenRows(kernel, request.tombstones);
  try {
    const inputs = await openInputs(kernel, request, { memory, union, hidden });
    if (inputs.length === 0) return 0;
    return await new BlockMerge(kernel, inputs, request, union).run(memory);
  } finally {
    memory.release();
    union.release();
    hidden.release();
  }
}

async function openInputs(
  kernel: Kernel,
  { sources, pace }: MergeRequest,
  { memory, union, hidden }: { memory: Blocks; union: SeriesUnion; hidden: HiddenRows },
): Promise<MergeInput[]> {
  const inputs: MergeInput[] = [];
  for (const source of sources) {
    const { block, minTimeNs, maxTimeNs, seqMax } = source;
    const own = new Blocks(kernel);
    try {
      const { dictionary, offsetsPtr: readPtr } = block.readSeries(own);
      const exclusions = hidden.of({ dictionary, minTimeNs, maxTimeNs, seqMax });
      if (exclusions === "all") continue;
      const offsetsBytes = (dictionary.seriesCount + 1) * 4;
      const offsetsPtr = memory.alloc(offsetsBytes);
      kernel.call.copyBytes(offsetsPtr, readPtr, offsetsBytes);
      union.add(dictionary);
      inputs.push(new MergeInput(kernel, source, dictionary, offsetsPtr, exclusions.length === 0 ? null : hidden));
    } finally {
      own.release();
    }
    await pace();
  }
  for (const [i, input] of inputs.entries()) input.mapPtr = union.map(i);
  return inputs;
}

/** Memory for decoded pages with a limit on text. */
class TextMemory implements DecodeMemory {
  readonly blocks: Blocks;
  bytes = 0;

  constructor(
    kernel: Kernel,
    private readonly bytesMax: number,
  ) {
    this.blocks = new Blocks(kernel);
  }

  alloc(bytes: number): number {
    this.bytes += bytes;
    if (this.bytes > this.bytesMax) throw new TsdbError("overloaded", `more than ${this.bytesMax} bytes of text in a slice`);
    return this.blocks.alloc(bytes);
  }
}

/** The string columns of a slice, which determine its pages. Owned: call `release`. */
class SliceTexts {
  readonly kept = new Map<number, ColumnRun>();
  /** By row: the longest text of the columns that are merged again when they are written. */
  rest: Uint32Array | null = null;
  /** Of one column. */
  largestBytes = 0;
  private keptBytes = 0;
  private readonly memories: Blocks[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly rowCount: number,
    private readonly bytesMax: number,
  ) {}

  /** Keeps the column, whose memory it takes over, if there is room: a table may have thousands. */
  add(column: ColumnRun, { blocks, bytes }: TextMemory): void {
    this.largestBytes = Math.max(this.largestBytes, bytes);
    const ownBytes = bytes + this.rowCount * VALUE_BYTES[ColumnType.string];
    if (this.keptBytes + ownBytes <= this.bytesMax) {
      this.keptBytes += ownBytes;
      this.kept.set(column.columnId, column);
      this.memories.push(blocks);
      return;
    }
    this.rest ??= new Uint32Array(this.rowCount);
    const { rest, rowCount } = this;
    const words = this.kernel.u32;
    // a view begins with its length, that of an absent value is 0
    for (let row = 0, at = column.dataPtr / 4; row < rowCount; row++, at += 4) if (words[at]! > rest[row]!) rest[row] = words[at]!;
    blocks.release();
  }

  release(): void {
    for (const memory of this.memories.splice(0)) memory.release();
  }
}

class BlockMerge {
  private readonly columns: readonly MergedColumn[];
  private readonly strings: readonly MergedColumn[];
  private readonly limits: MergeLimits;
  private rowCount = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly inputs: readonly MergeInput[],
    private readonly request: MergeRequest,
    private readonly union: SeriesUnion,
  ) {
    this.limits = { ...MERGE_LIMITS, ...request.limits };
    this.columns = columnsOf(inputs);
    this.strings = this.columns.filter(({ type }) => type === ColumnType.string);
  }

  async run(memory: Blocks): Promise<number> {
    const { writer } = this.request;
    const { seriesCount, tags } = this.union;
    writer.begin(this.columns, { seriesCount, tags });
    const countsPtr = memory.allocZeroed(seriesCount * 4);
    let rowsMax = this.limits.sliceRows;
    let rowsMin = SLICE_ROWS_MIN;
    while (this.inputs.some(({ rowsLeft }) => rowsLeft > 0)) {
      const slice = MergeSlice.take(this.kernel, this.inputs, rowsMax, seriesCount);
      try {
        await this.request.pace();
        const written = await this.writeSlice(slice, rowsMax > rowsMin && this.strings.length > 0, countsPtr);
        if (written === "less") {
          rowsMax = Math.max(rowsMin, rowsMax >> 2);
          continue;
        }
        // if a large slice left less than a bitmap word of rows, the next slice must be larger, whatever its text
        if (written === "more") {
          rowsMax *= 2;
          rowsMin = rowsMax;
          continue;
        }
        rowsMin = SLICE_ROWS_MIN;
        if (written === "little text") rowsMax = Math.min(this.limits.sliceRows, rowsMax * 2);
      } finally {
        slice.release();
      }
    }
    if (this.rowCount > 0) writer.end(countsPtr);
    return this.rowCount;
  }

  /** Returns "less" or "more" if nothing was written and the slice must have fewer or more rows. */
  private async writeSlice(
    slice: MergeSlice,
    canBeLess: boolean,
    countsPtr: number,
  ): Promise<"less" | "more" | "much text" | "little text"> {
    const { kernel, limits } = this;
    const texts = new SliceTexts(kernel, slice.rowCount, limits.textBytes);
    try {
      if (!(await this.mergeTexts(slice, texts, canBeLess))) return "less";
      const pageRows = cutPages(kernel, texts, { rowCount: slice.rowCount, isLast: slice.isLast });
      const rowCount = pageRows.reduce((sum, rows) => sum + rows, 0);
      if (rowCount === 0 && slice.rowCount > 0) return "more";
      if (rowCount > 0) await this.writeGroup(slice, pageRows, rowCount, texts.kept);
      kernel.call.mergeCount(slice.seriesPtr, 0, rowCount, 0, countsPtr + slice.firstSeries * 4);
      this.rowCount += rowCount;
      slice.advance(rowCount);
      return texts.largestBytes < limits.textBytes / 4 ? "little text" : "much text";
    } finally {
      texts.release();
    }
  }

  /** Looks at the string columns of all merged rows. False: one of them takes too much, and a smaller slice is possible. */
  private async mergeTexts(slice: MergeSlice, texts: SliceTexts, canBeLess: boolean): Promise<boolean> {
    const { kernel, limits } = this;
    const { rowCount } = slice;
    for (const column of this.strings) {
      const memory = new TextMemory(kernel, canBeLess ? limits.textBytes : Number.POSITIVE_INFINITY);
      try {
        texts.add(mergeSliceColumn(kernel, slice, column, { rowCount, memory, blocks: memory.blocks }), memory);
      } catch (error) {
        memory.blocks.release();
        if (canBeLess && error instanceof TsdbError && error.kind === "overloaded") return false;
        throw error;
      }
      await this.request.pace();
    }
    return true;
  }

  private async writeGroup(
    slice: MergeSlice,
    pageRows: readonly number[],
    rowCount: number,
    texts: ReadonlyMap<number, ColumnRun>,
  ): Promise<void> {
    const { writer, pace } = this.request;
    const { seriesPtr, firstSeries, timePtr } = slice;
    writer.beginGroup({ seriesPtr, firstSeries, timePtr, pageRows });
    for (const column of this.columns) {
      const scratch = new Blocks(this.kernel);
      try {
        const time = { ...column, dataPtr: timePtr, validityPtr: 0 };
        const merged = column.columnId === TIME_COLUMN.id ? time : texts.get(column.columnId);
        const memory = { rowCount, memory: scratch, blocks: scratch };
        writer.writeColumn(merged ?? mergeSliceColumn(this.kernel, slice, column, memory));
      } finally {
        scratch.release();
      }
      await pace();
    }
  }
}

/** Time, then all fields that an input has, in ascending order of ids. */
function columnsOf(inputs: readonly MergeInput[]): MergedColumn[] {
  const types = new Map<number, ColumnType>();
  for (const { source } of inputs) for (const { columnId, type } of source.block.columns) types.set(columnId, type);
  return [...types].map(([columnId, type]) => ({ columnId, type })).sort((a, b) => a.columnId - b.columnId);
}
