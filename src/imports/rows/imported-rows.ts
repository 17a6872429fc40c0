// Gathers pieces of a file's rows in memory of the kernel, and writes them as `.pt` files of some hundred thousand rows each.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { timeRange } from "../../kernel/scan/rows.ts";
import { SeriesDictionary } from "../../kernel/series/series-dictionary.ts";
import { assert } from "../../model/assert.ts";
import { ALL_TIME, type TimeRange } from "../../model/query/scan.ts";
import { RECLAIM_AT_ONCE } from "../../model/reclaimer.ts";
import { type ColumnDef, ColumnType } from "../../model/rows/column.ts";
import type { ColumnRun, Run } from "../../model/rows/run.ts";
import { joinNearest, union } from "../../model/rows/time-ranges.ts";
import { type PtDirectory, writePt } from "../../storage/pt/file.ts";
import type { ColumnPiece, RowPiece, TagPiece } from "../piece.ts";
import { tagSetsOf } from "./tag-sets.ts";

/** Rows of one table, and what the pieces' columns are there. */
export interface ImportTarget {
  readonly databaseId: number;
  readonly tableId: number;
  readonly tableName: string;
  /** Of the pieces, in their order. */
  readonly columns: readonly ColumnDef[];
}

/** A file is written at this size in memory. */
const SLICE_BYTES_MAX = 96 << 20;
/** With more, what was known of series is forgotten, and later rows count as possible duplicates. */
const SERIES_BYTES_MAX = 256 << 20;
const TAKEN_TIMES_MAX = 4;

export interface EncodedSlice {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Sequences are the number of the slice, from 1: rows of later slices are later. */
  readonly directory: PtDirectory;
}

/** The rows of one import. Owned: call `release`. */
export class ImportedRows {
  private dictionary: SeriesDictionary;
  private blocks: Blocks;
  private runs: Omit<Run, "dictionary">[] = [];
  private sliceBytes = 0;
  private sliceCount = 0;
  private times: TimeRange[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly target: ImportTarget,
    private readonly sliceBytesMax = SLICE_BYTES_MAX,
    private readonly seriesBytesMax = SERIES_BYTES_MAX,
  ) {
    this.dictionary = this.newDictionary();
    this.blocks = new Blocks(kernel);
  }

  /** True if `take` should be called before more rows. */
  get isFull(): boolean {
    return this.sliceBytes >= this.sliceBytesMax;
  }

  /** The piece's arrays are copied. @throws TsdbError overloaded */
  add({ rowCount, times, columns }: RowPiece): void {
    if (rowCount === 0) return;
    const { kernel, blocks } = this;
    assert(columns.length === this.target.columns.length, `${columns.length} of ${this.target.columns.length} columns`);
    const timePtr = blocks.alloc(rowCount * 8);
    kernel.i64.set(times, timePtr / 8);
    const seriesPtr = this.seriesOf(rowCount, columns);
    const facts = this.dictionary.noteTimes(seriesPtr, timePtr, rowCount);
    const fields = this.target.columns.flatMap((column, i) => this.field(column, columns[i]!) ?? []);
    const { minNs, maxNs } = timeRange(kernel, timePtr, rowCount);
    const sequence = this.sliceCount + 1;
    this.runs.push({
      ...{ rowCount, seriesPtr, timePtr, columns: fields, sorted: false, seqMin: sequence, seqMax: sequence, ...facts },
      ...{ minTimeNs: minNs, maxTimeNs: maxNs },
    });
    this.sliceBytes = blocks.bytes;
  }

  /** The rows since the last call as a file; null if there are none. @throws TsdbError overloaded */
  take(): EncodedSlice | null {
    if (this.runs.length === 0) return null;
    const { databaseId, tableId, tableName, columns } = this.target;
    const dictionary = this.dictionary.view();
    const runs = this.runs.map((run) => ({ ...run, dictionary }));
    const slice = writePt(this.kernel, [{ databaseId, tableId, tableName, columns, runs }]);
    this.times.push(...runs.map(({ minTimeNs, maxTimeNs }) => ({ minNs: minTimeNs, maxNs: maxTimeNs })));
    this.times = joinNearest(union(this.times), TAKEN_TIMES_MAX);
    this.runs = [];
    this.blocks.release();
    this.sliceBytes = 0;
    this.sliceCount += 1;
    if (this.dictionary.memoryBytes > this.seriesBytesMax) {
      this.dictionary.release();
      this.dictionary = this.newDictionary();
    }
    return slice;
  }

  release(): void {
    this.blocks.release();
    this.dictionary.release();
  }

  private newDictionary(): SeriesDictionary {
    const lastTimeFloorNs = this.times.at(-1)?.maxNs ?? ALL_TIME.minNs;
    return new SeriesDictionary(this.kernel, { lastTimeFloorNs, takenTimes: this.times, reclaimer: RECLAIM_AT_ONCE });
  }

  /** u32 for each row: its series in the dictionary. */
  private seriesOf(rowCount: number, columns: readonly ColumnPiece[]): number {
    const { kernel } = this;
    const tags = columns.flatMap((piece, i) => (piece.kind === "tags" ? [{ piece, id: this.target.columns[i]!.id }] : []));
    const { setOf, rows } = tagSetsOf(
      tags.map(({ piece }) => piece.codes),
      rowCount,
    );
    const seriesPtr = this.blocks.alloc(rowCount * 4);
    kernel.u32.set(setOf, seriesPtr / 4);
    const scratch = new Blocks(kernel);
    try {
      const words = recordsOf(
        scratch,
        kernel,
        tags.map(({ piece }) => piece),
        rows,
      );
      const recordsPtr = scratch.alloc(words.length * 4);
      kernel.u32.set(words, recordsPtr / 4);
      const idsPtr = scratch.alloc(Math.max(1, tags.length) * 4);
      kernel.u32.set(
        tags.map(({ id }) => id),
        idsPtr / 4,
      );
      const mapPtr = scratch.alloc(rows.length * 4);
      this.dictionary.resolveRecords(recordsPtr, rows.length, idsPtr, mapPtr);
      this.dictionary.mapSeries(mapPtr, seriesPtr, rowCount, seriesPtr);
      return seriesPtr;
    } finally {
      scratch.release();
    }
  }

  /** Null: a tag, or no row has a value. */
  private field({ id, type }: ColumnDef, piece: ColumnPiece): ColumnRun | null {
    const { kernel, blocks } = this;
    if (piece.kind === "tags") return null;
    const { validity } = piece;
    if (validity?.every((byte) => byte === 0) === true) return null;
    let validityPtr = 0;
    if (validity !== null) {
      validityPtr = blocks.alloc(validity.length);
      kernel.u8.set(validity, validityPtr);
    }
    if (piece.kind === "texts") {
      assert(type === ColumnType.string, "texts are strings");
      return { columnId: id, type, dataPtr: blocks.allocViewsAt(piece), validityPtr };
    }
    const dataPtr = blocks.alloc(Math.max(1, piece.values.length));
    kernel.u8.set(piece.values, dataPtr);
    return { columnId: id, type, dataPtr, validityPtr };
  }
}

/** Sets of tags as the line parser writes those of new series: | tags | (tag, address of the text, bytes) for each tag |. */
function recordsOf(scratch: Blocks, kernel: Kernel, tags: readonly TagPiece[], rows: readonly number[]): Uint32Array {
  const texts = tags.map(({ bytes }) => {
    const ptr = scratch.alloc(Math.max(1, bytes.length));
    kernel.u8.set(bytes, ptr);
    return ptr;
  });
  const words = new Uint32Array(rows.length * (1 + 3 * tags.length));
  let at = 0;
  for (const row of rows) {
    const head = at++;
    for (let tag = 0; tag < tags.length; tag++) {
      const { codes, offsets } = tags[tag]!;
      const code = codes[row]!;
      if (code === 0) continue;
      words[head]! += 1;
      words[at++] = tag;
      words[at++] = texts[tag]! + offsets[code - 1]!;
      words[at++] = offsets[code]! - offsets[code - 1]!;
    }
  }
  return words.subarray(0, at);
}
