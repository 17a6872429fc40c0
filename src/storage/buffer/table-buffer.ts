// The rows of one table that are in no file yet: appended batch by batch in log order, read as runs, sealed as a whole for a flush.
// Memory is given back through the pins, so a snapshot taken before stays readable.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ParsedRows } from "../../kernel/parse/parsed-rows.ts";
import type { SeriesDictionary } from "../../kernel/series/series-dictionary.ts";
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import type { Reclaimer } from "../../model/reclaimer.ts";
import type { Run } from "../../model/rows/run.ts";
import { type BufferBatch, BufferSegment } from "./segment.ts";

export type { BufferBatch } from "./segment.ts";

/** The first segment of a table, and of one that got few rows lately: one row takes half a KiB. */
const FIRST_SEGMENT_ROWS = 16;
/** The next one; from there on each has twice the rows of the one before. From 2,048 rows on segments are whole vectors; a smaller one is a
 *  single chunk of a scan, so nothing but its size is special. */
const SEGMENT_ROWS_MIN = 256;

type Span = Pick<Run, "minTimeNs" | "maxTimeNs" | "seqMin" | "seqMax">;

/** What a flush writes: immutable, still visible to queries until it is released. */
export interface SealedBuffer extends Span {
  /** Valid for pins taken before the dictionary's next change: unless it was evicted it goes on growing with the table. */
  runs(): Run[];
  readonly rowCount: number;
  readonly bytes: number;
  /** Frees the rows as soon as no pin can see them. Idempotent. */
  release(): void;
}

export class TableBuffer {
  private segments: BufferSegment[] = [];
  private rowCount_ = 0;
  private seqMax_ = 0;
  /** Segments before this one take no more rows. */
  private openFrom = 0;
  /** Rows in segments from `openFrom` on. */
  private openRows = 0;
  /** Capacity of the next new segment. */
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

  /** Of the newest row there ever was; 0 before the first. */
  get lastSequence(): number {
    return this.seqMax_;
  }

  /** Kernel memory of the rows; the dictionary counts itself. */
  get bytes(): number {
    return this.segments.reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Range of the rows' times and log sequences; the ends of i64 and 0 while the buffer is empty. */
  get span(): Span {
    return spanOf(this.segments.filter(({ rowCount }) => rowCount > 0));
  }

  /** Copies a batch behind all earlier ones: whole or, when it throws, not at all. Sequences never fall.
   *  @throws TsdbError overloaded when kernel memory is full */
  append(batch: BufferBatch, sequence: number): void {
    if (batch.rowCount === 0) return;
    assert(sequence >= this.seqMax_, `sequence ${sequence} appended after ${this.seqMax_}`);
    const pieces = this.reserve(batch);
    for (const { segment, from, count } of pieces) segment.append(batch, { from, count }, sequence);
    this.count(batch.rowCount, sequence);
  }

  /** `append` of a batch that is like those before it and fits where they are: copies it in one call and takes no memory. False, and
   *  nothing is done, if it does not. */
  appendAlike(batch: BufferBatch, sequence: number): boolean {
    const last = this.segments.length - 1;
    if (!(batch instanceof ParsedRows) || last < this.openFrom) return false;
    // rows go to the first segment that is open
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

  /** Rows that are appended later share no run with those so far: a deletion lies between them. */
  cut(): void {
    if (this.openRows === 0) return;
    this.openFrom = this.segments.findLastIndex(({ rowCount }) => rowCount > 0) + 1;
    this.startOver(this.openRows);
  }

  /** A snapshot: rows appended later are not in it. In log order: of runs with equal sequences (one batch over several segments) the later
   *  one in this list holds the later rows. Valid for pins taken before the next change of this buffer. */
  runs(): Run[] {
    return runsOf(this.segments, this.dictionary_, this.openFrom);
  }

  /** Takes all rows out. They stay readable through the result, which the caller releases when they are in a file. With `next` they take
   *  their dictionary along, which is released with them, and the buffer goes on with `next`: the old one is evicted. */
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

  /** Forgets all rows: the table was deleted. */
  dropAll(): void {
    this.seal().release();
  }

  /** A table keeps its pace: new segments start at a quarter of the rows that came since they did so before. So a table that is cut often
   *  has small ones, of which little is left empty. */
  private startOver(rowCount: number): void {
    const quarter = 2 ** Math.floor(Math.log2(Math.max(1, rowCount / 4)));
    const least = rowCount <= FIRST_SEGMENT_ROWS ? FIRST_SEGMENT_ROWS : SEGMENT_ROWS_MIN;
    this.nextRows = Math.min(LIMITS.segmentRowsMax, Math.max(least, quarter));
    this.openRows = 0;
  }

  /** Finds or makes room for every row of the batch, without a visible change. */
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

/** A batch that does not fit into the little that is left goes to the next segment as a whole: where no batch lies on both sides, the
 *  rows of a table can be written to a file in parts. */
function isNearlyFull({ rowCount, capacity }: BufferSegment): boolean {
  return rowCount >= capacity - capacity / 8;
}

/** Segments from `openFrom` on may take more rows as long as they are not full. */
function runsOf(segments: readonly BufferSegment[], dictionary: SeriesDictionary, openFrom: number): Run[] {
  const view = dictionary.view();
  return segments.flatMap((segment, i) => {
    const { rowCount, capacity } = segment;
    // a batch that did not fit into memory leaves empty segments behind, which the next one uses
    return rowCount === 0 ? [] : [segment.run(view, i < openFrom || rowCount === capacity)];
  });
}

interface SealedParts {
  readonly dictionary: SeriesDictionary;
  /** Nothing but these rows uses the dictionary. */
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
  let { minTimeNs, maxTimeNs } = { minTimeNs: 2n ** 63n - 1n, maxTimeNs: -(2n ** 63n) };
  for (const part of rows) {
    if (part.minTimeNs < minTimeNs) minTimeNs = part.minTimeNs;
    if (part.maxTimeNs > maxTimeNs) maxTimeNs = part.maxTimeNs;
  }
  return { minTimeNs, maxTimeNs, seqMin: rows[0]?.seqMin ?? 0, seqMax: rows.at(-1)?.seqMax ?? 0 };
}
