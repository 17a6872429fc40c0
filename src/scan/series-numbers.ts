// One numbering of a table's series across dictionaries: segments and blocks have ids of their own, and finding out whether two of them
// share series would require comparing tags. Each dictionary is compared once, and its numbers are kept from statement to statement. In the
// query worker.
import type { Kernel } from "../kernel/memory/kernel.ts";
import { SeriesDictionary } from "../kernel/series/series-dictionary.ts";
import { assert } from "../model/assert.ts";
import { RECLAIM_AT_ONCE } from "../model/reclaimer.ts";
import type { DictionaryView } from "../model/rows/run.ts";
import type { BlockSnapshot } from "./snapshot.ts";

/** Limit for all tables together: 100,000 series take about 15 MiB. */
const SERIES_MAX = 262_144;
/** Limit per table, including series of removed blocks. */
const SERIES_OF_TABLE_MAX = SERIES_MAX / 2;
/** A table beyond the limit is not numbered for this many statements. */
const RESTED_STATEMENTS = 1000;
/** In-memory dictionaries remembered per table: there are rarely more than two at a time. */
const MEMORY_MAX = 4;

const NONE_KNOWN = new Uint32Array(0);

/** The numbered series of all tables together. */
interface SeriesTotal {
  seriesCount: number;
}

/** The numbering of one table. */
export class SeriesNumbers {
  /** The part of `total` that is this table's. */
  seriesCount = 0;
  private dictionary: SeriesDictionary | undefined;
  private readonly blocks = new WeakMap<BlockSnapshot, Uint32Array>();
  /** By dictionary id, least recently used first. */
  private readonly memory = new Map<number, Uint32Array>();
  private isReleased = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly seriesMax: number,
    private readonly total: SeriesTotal = { seriesCount: 0 },
  ) {}

  /** False once the limit was exceeded: nothing is numbered any more. */
  get isUsable(): boolean {
    return !this.isReleased;
  }

  /** All numbered series, by number; available once a dictionary has been numbered. Borrowed until the next call. */
  get view(): DictionaryView {
    assert(this.dictionary !== undefined, "series have been numbered");
    return this.dictionary.view();
  }

  /** The number of each series of the block's dictionary, which is read if the block is new; null if unknown, or too many. @throws
   *  TsdbError overloaded, and what `dictionary` throws */
  ofBlock(block: BlockSnapshot, dictionary?: () => DictionaryView): Uint32Array | null {
    if (this.isReleased) return null;
    const known = this.blocks.get(block);
    if (known !== undefined || dictionary === undefined) return known ?? null;
    const numbers = this.number(dictionary(), NONE_KNOWN);
    if (numbers !== null) this.blocks.set(block, numbers);
    return numbers;
  }

  /** The same for an in-memory dictionary, which may have grown since the last call. @throws TsdbError overloaded */
  ofMemory(dictionary: DictionaryView): Uint32Array | null {
    if (this.isReleased) return null;
    const known = this.memory.get(dictionary.id) ?? NONE_KNOWN;
    const numbers = known.length >= dictionary.seriesCount ? known : this.number(dictionary, known);
    if (numbers === null) return null;
    // move to the end: most recently used
    this.memory.delete(dictionary.id);
    this.memory.set(dictionary.id, numbers);
    for (const oldest of this.memory.keys()) {
      if (this.memory.size <= MEMORY_MAX) break;
      this.memory.delete(oldest);
    }
    return numbers;
  }

  /** Idempotent. */
  release(): void {
    this.isReleased = true;
    this.dictionary?.release();
    this.dictionary = undefined;
    this.memory.clear();
    this.recount();
  }

  /** Extends the numbers of a dictionary whose first series are known. */
  private number(dictionary: DictionaryView, known: Uint32Array): Uint32Array | null {
    const { kernel } = this;
    const { heap, call } = kernel;
    const { seriesCount } = dictionary;
    // usually most series are known already, but a dictionary that exceeds the limit by itself is rejected at once
    if (seriesCount > this.seriesMax) {
      this.release();
      return null;
    }
    this.dictionary ??= new SeriesDictionary(this.kernel, { lastTimeFloorNs: 0n, reclaimer: RECLAIM_AT_ONCE });
    // a byte and a number per series
    const wantedPtr = heap.alloc(Math.max(1, seriesCount));
    const numbersPtr = heap.alloc(Math.max(1, seriesCount) * 4);
    try {
      call.fillBytes(wantedPtr, 0, known.length);
      call.fillBytes(wantedPtr + known.length, 1, seriesCount - known.length);
      kernel.u32.set(known, numbersPtr / 4);
      this.dictionary.importSeries(dictionary, wantedPtr, numbersPtr);
      const numbers = kernel.u32.slice(numbersPtr / 4, numbersPtr / 4 + seriesCount);
      if (this.dictionary.seriesCount <= this.seriesMax) return numbers;
      this.release();
      return null;
    } finally {
      // also after an import that has failed
      this.recount();
      heap.free(wantedPtr, Math.max(1, seriesCount));
      heap.free(numbersPtr, Math.max(1, seriesCount) * 4);
    }
  }

  private recount(): void {
    const seriesCount = this.dictionary?.seriesCount ?? 0;
    this.total.seriesCount += seriesCount - this.seriesCount;
    this.seriesCount = seriesCount;
  }
}

/** The numberings of recently used tables. One per worker. */
export class SeriesNumbersOfTables {
  /** By table id, least recently used first. */
  private readonly tables = new Map<number, { readonly numbers: SeriesNumbers; rest: number }>();
  /** Kept, not added up: a script may read thousands of tables, one by one. */
  private readonly total: SeriesTotal = { seriesCount: 0 };

  constructor(
    private readonly kernel: Kernel,
    private readonly limits = { seriesMax: SERIES_MAX, seriesOfTableMax: SERIES_OF_TABLE_MAX },
  ) {}

  /** The numbering for one statement. */
  of(tableId: number): SeriesNumbers {
    const { seriesMax, seriesOfTableMax } = this.limits;
    let known = this.tables.get(tableId);
    if (known === undefined || (!known.numbers.isUsable && known.rest-- <= 0)) {
      known = { numbers: new SeriesNumbers(this.kernel, seriesOfTableMax, this.total), rest: RESTED_STATEMENTS };
    }
    // move to the end: most recently used
    this.tables.delete(tableId);
    this.tables.set(tableId, known);
    if (this.total.seriesCount <= seriesMax) return known.numbers;
    for (const [oldest, { numbers }] of this.tables) {
      if (this.total.seriesCount <= seriesMax || oldest === tableId) break;
      numbers.release();
      this.tables.delete(oldest);
    }
    return known.numbers;
  }

  release(): void {
    for (const { numbers } of this.tables.values()) numbers.release();
    this.tables.clear();
  }
}

/** An empty numbering, for scans without a worker's cache. */
export function noSeriesNumbers(kernel: Kernel): SeriesNumbers {
  const numbers = new SeriesNumbers(kernel, 0);
  numbers.release();
  return numbers;
}
