// The rows of one table that are in no file yet: appended batch by batch in log order, read as runs, sealed as a whole for a flush. Memory
// is freed through the pins, so earlier snapshots stay readable.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ParsedRows } from "../../kernel/parse/parsed-rows.ts";
import type { SeriesDictionary } from "../../kernel/series/series-dictionary.ts";
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import type { Reclaimer } from "../../model/reclaimer.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";
import type { Run } from "../../model/rows/run.ts";
import { type BufferBatch, BufferSegment } from "./segment.ts";

export type { BufferBatch } from "./segment.ts";

/** Rows of a table's first segment, and after intervals with few rows: a segment of one row takes half a KiB. */
const FIRST_SEGMENT_ROWS = 16;
/** Rows of the second segment; each later one doubles. From 2,048 rows on, segments are multiples of a vector; a smaller one is a single
 *  chunk of a scan. */
const SEGMENT_ROWS_MIN = 256;

type Span = Pick<Run, "minTimeNs" | "maxTimeNs" | "seqMin" | "seqMax">;

/** The rows that a flush writes: immutable, visible to queries until released. */
export interface SealedBuffer extends Span {
  /** Valid for pins taken before the dictionary's next change: unless it was evicted, the dictionary continues to grow with the table. */
  runs(): Run[];
  readonly rowCount: number;
  readonly bytes: number;
  /** Frees the rows once no pin can see them. Idempotent. */
  release(): void;
}

/** The buffer of one table. */
export class TableBuffer {
  private segments: BufferSegment[] = [];
  private rowCount_ = 0;
  private seqMax_ = 0;
  /** Index of the first segment that takes rows. */
  private openFrom = 0;
  /** Rows in segments from `openFrom` on. */
  private openRows = 0;
  /** Capacity of the next segment. */
  private nextRows = FIRST_SEGMENT_ROWS;
  private dictionary_: SeriesDictionary;

  constructor(
    private readonly kernel: Kernel,
    dictionary: SeriesDictionary,
    private readonly pins: Reclaimer,
  ) {
    this.dictionary_ = dictionary;
  }

  get dictionary(): SeriesDictionary {
    return this.dictionary_;
  }

  get rowCount(): number {
    return this.rowCount_;
  }

  /** Sequence of the newest row ever appended; 0 if none. */
  get lastSequence(): number {
    return this.seqMax_;
  }

  /** Kernel memory of the rows; the dictionary is counted separately. */
  get bytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Time range and log sequences of the rows; the extremes of i64, and 0, while the buffer is empty. */
  get span(): Span {
    return spanOf(this.segments.filter(({ rowCount }) => rowCount > 0));
  }

  /** Appends a batch: completely or, if it throws, not at all. Sequences never decrease. @throws TsdbError overloaded if kernel memory
   *  is full */
  append(batch: BufferBatch, sequence: number): void {
    if (batch.rowCount === 0) return;
    assert(sequence >= this.seqMax_, `sequence ${sequence} appended after ${this.seqMax_}`);
    const pieces = this.reserve(batch);
    for (const { segment, from, count } of pieces) segment.append(batch, { from, count }, sequence);
    this.count(batch.rowCount, sequence);
  }

  /** Appends a batch that has the layout of earlier ones and fits the last segment: one call, no allocation. Returns false, without
   *  effect, if it does not. */
  appendAlike(batch: BufferBatch, sequence: number): boolean {
    const last = this.segments.length - 1;
    if (!(batch instanceof ParsedRows) || last < this.openFrom) return false;
    // rows go to the first open segment
    if (last > this.openFrom && this.segments[last - 1]!.rowCount < this.segments[last - 1]!.capacity) return false;
    assert(sequence >= this.seqMax_, `sequence ${sequence} appended after ${this.seqMax_}`);
    if (!this.segments[last]!.appendAlike(batch, sequence)) return false;
    this.count(batch.rowCount, sequence);
    return true;
  }

  private count(rowCount: number, sequence: number): void {
    this.rowCount_ += rowCount;
    this.openRows += rowCount;
    this.seqMax_ = sequence;
  }

  /** Later rows must not share a run with earlier ones: a deletion lies between them. */
  cut(): void {
    if (this.openRows === 0) return;
    this.openFrom = this.segments.findLastIndex(({ rowCount }) => rowCount > 0) + 1;
    this.startOver(this.openRows);
  }

  /** A snapshot; later rows are not part of it. In log order: of runs with equal sequences (one batch spanning segments) the later in
   *  the list has the later rows. Valid for pins taken before the next change of this buffer. */
  runs(): Run[] {
    return runsOf(this.segments, this.dictionary_, this.openFrom);
  }

  /** Takes all rows out of the buffer. They stay readable through the result, which the caller releases once they are in a file. With
   *  `next`, the old dictionary is evicted: it is released together with the rows, and the buffer continues with `next`. */
  seal(next?: SeriesDictionary): SealedBuffer {
    const segments = this.segments;
    const dictionary = this.dictionary_;
    this.startOver(this.rowCount_);
    this.segments = [];
    this.openFrom = 0;
    this.rowCount_ = 0;
    this.dictionary_ = next ?? dictionary;
    return sealed(segments, { dictionary, isEvicted: next !== undefined, pins: this.pins });
  }

  /** Discards all rows, after the table was deleted. */
  dropAll(): void {
    this.seal().release();
  }

  /** Adapts to the table's rate: new segments start at a quarter of the rows received since the last start, so that a frequently cut
   *  table has small, well-filled segments. */
  private startOver(rowCount: number): void {
    const quarter = 2 ** Math.floor(Math.log2(Math.max(1, rowCount / 4)));
    const least = rowCount <= FIRST_SEGMENT_ROWS ? FIRST_SEGMENT_ROWS : SEGMENT_ROWS_MIN;
    this.nextRows = Math.min(LIMITS.segmentRowsMax, Math.max(least, quarter));
    this.openRows = 0;
  }

  /** Finds or allocates room for every row of the batch; changes nothing visible. */
  private reserve(batch: BufferBatch): { segment: BufferSegment; from: number; count: number }[] {
    const pieces: { segment: BufferSegment; from: number; count: number }[] = [];
    let from = 0;
    let index = this.segments.findIndex(({ rowCount, capacity }, i) => i >= this.openFrom && rowCount < capacity);
    if (index < 0) index = this.segments.length;
    const open = this.segments[index];
    if (open !== undefined && isNearlyFull(open) && open.rowCount + batch.rowCount > open.capacity) this.openFrom = ++index;
    for (; from < batch.rowCount; index++) {
      if (index === this.segments.length) this.segments.push(this.newSegment(batch.rowCount - from));
      const segment = this.segments[index]!;
      const count = Math.min(segment.capacity - segment.rowCount, batch.rowCount - from);
      segment.reserve(batch, from, count);
      pieces.push({ segment, from, count });
      from += count;
    }
    return pieces;
  }

  private newSegment(rowsLeft: number): BufferSegment {
    const wanted = 2 ** Math.ceil(Math.log2(rowsLeft));
    const segment = new BufferSegment(this.kernel, Math.min(LIMITS.segmentRowsMax, Math.max(this.nextRows, wanted)), this.pins);
    this.nextRows = Math.min(LIMITS.segmentRowsMax, Math.max(SEGMENT_ROWS_MIN, segment.capacity * 2));
    return segment;
  }
}

/** A batch that does not fit the little that is left goes to the next segment as a whole: a table's rows can be split for writing only
 *  where no batch spans the split. */
function isNearlyFull({ rowCount, capacity }: BufferSegment): boolean {
  return rowCount >= capacity - capacity / 8;
}

/** Segments from `openFrom` on take rows until they are full. */
function runsOf(segments: readonly BufferSegment[], dictionary: SeriesDictionary, openFrom: number): Run[] {
  const view = dictionary.view();
  return segments.flatMap((segment, i) => {
    const { rowCount, capacity } = segment;
    // a batch that failed for lack of memory leaves empty segments, which the next batch uses
    return rowCount === 0 ? [] : [segment.run(view, i < openFrom || rowCount === capacity)];
  });
}

interface SealedParts {
  readonly dictionary: SeriesDictionary;
  /** True if the dictionary was evicted and belongs to these rows alone. */
  readonly isEvicted: boolean;
  readonly pins: Reclaimer;
}

function sealed(segments: readonly BufferSegment[], { dictionary, isEvicted, pins }: SealedParts): SealedBuffer {
  let released = false;
  return {
    runs: () => runsOf(segments, dictionary, segments.length),
    rowCount: segments.reduce((sum, segment) => sum + segment.rowCount, 0),
    bytes: segments.reduce((sum, segment) => sum + segment.bytes, 0),
    ...spanOf(segments.filter(({ rowCount }) => rowCount > 0)),
    release: () => {
      if (released) return;
      released = true;
      pins.defer(() => {
        for (const segment of segments) segment.free();
      });
      if (isEvicted) dictionary.release();
    },
  };
}

/** `rows` in log order. */
function spanOf(rows: readonly Span[]): Span {
  let { minTimeNs, maxTimeNs } = { minTimeNs: I64_MAX, maxTimeNs: I64_MIN };
  for (const part of rows) {
    if (part.minTimeNs < minTimeNs) minTimeNs = part.minTimeNs;
    if (part.maxTimeNs > maxTimeNs) maxTimeNs = part.maxTimeNs;
  }
  return { minTimeNs, maxTimeNs, seqMin: rows[0]?.seqMin ?? 0, seqMax: rows.at(-1)?.seqMax ?? 0 };
}
