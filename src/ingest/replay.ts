// Restores the buffer from the log at start. Each log segment has its own series ids, which are mapped to those of the table's dictionary
// by the keys in the segment's frames.

import { ColumnCodec } from "../kernel/codec/codec.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { Scratch } from "../kernel/memory/scratch.ts";
import { TsdbError } from "../model/errors.ts";
import type { LiveTable, LiveTables } from "../storage/buffer/live-tables.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import { type DecodedTable, FrameDecoder } from "./frame.ts";
import { KernelU32List, UNRESOLVED } from "./kernel-list.ts";

/** Frames that cannot be applied, because damaged ones before them name their series. */
export interface NamelessFrames {
  count: number;
  rows: number;
  readonly first: number;
  last: number;
}

/** Applies log frames to the buffers, in log order. Frames of dropped tables are counted and skipped. */
export class Replayer {
  /** Rows restored. */
  rowCount = 0;
  /** Null: there are none. */
  nameless: NamelessFrames | null = null;
  /** Rows of dropped tables. */
  droppedRows = 0;
  private readonly decoder: FrameDecoder;
  private readonly scratch: Scratch;
  private segment = -1;
  /** By table: dictionary series id per segment series id. */
  private readonly seriesMaps = new Map<number, KernelU32List>();

  constructor(
    private readonly kernel: Kernel,
    private readonly catalog: Catalog,
    private readonly tables: LiveTables,
    private readonly nowMs: number,
    /** False: a frame of series that its segment does not name is left out. True: it is an error. */
    private readonly failOnError = true,
  ) {
    this.decoder = new FrameDecoder(kernel, new ColumnCodec(kernel));
    this.scratch = new Scratch(kernel);
  }

  /** @throws TsdbError corrupt_file, overloaded */
  frame(sequence: number, payload: Uint8Array, segment: number): void {
    if (segment !== this.segment) this.startSegment(segment);
    const found: { live: LiveTable; table: DecodedTable }[] = [];
    let unknown: TsdbError | null = null;
    for (const table of this.decoder.decode(payload)) {
      const def = this.catalog.tableById(table.tableId);
      if (def === undefined || def.databaseId !== table.databaseId) {
        this.droppedRows += table.rowCount;
        continue;
      }
      const live = this.tables.ensure(def);
      // the names of each table are learned in any case
      const problem = this.mapSeries(live, table);
      unknown ??= problem;
      found.push({ live, table });
    }
    this.scratch.reset();
    if (unknown === null) for (const { live, table } of found) this.append(live, table, sequence);
    else if (this.failOnError) throw unknown;
    else {
      this.nameless ??= { count: 0, rows: 0, first: sequence, last: sequence };
      this.nameless.count += 1;
      this.nameless.rows += found.reduce((sum, { table }) => sum + table.rowCount, 0);
      this.nameless.last = sequence;
    }
  }

  release(): void {
    this.startSegment(-1);
    this.decoder.release();
    this.scratch.release();
  }

  /** Replaces the segment's ids in the rows by those of the dictionary. Returns an error if the segment has not named all of them. */
  private mapSeries(live: LiveTable, table: DecodedTable): TsdbError | null {
    const map = this.learnKeys(live, table);
    if (table.rowCount === 0) return null;
    const series = this.kernel.u32.subarray(table.seriesPtr / 4, table.seriesPtr / 4 + table.rowCount);
    const largest = maxOf(series);
    if (largest >= map.length) return unknownSeries(table, largest);
    live.dictionary.mapSeries(map.ptr, table.seriesPtr, table.rowCount, table.seriesPtr);
    return maxOf(series) === UNRESOLVED ? unknownSeries(table, largest) : null;
  }

  private append(live: LiveTable, table: DecodedTable, sequence: number): void {
    const { dictionary } = live;
    const facts = dictionary.noteTimes(table.seriesPtr, table.timePtr, table.rowCount);
    this.cutAtDeletion(live, sequence);
    const { rowCount, seriesPtr, timePtr, columns } = table;
    this.tables.append(live, { rowCount, seriesPtr, timePtr, columns, ...facts }, { sequence, nowMs: this.nowMs });
    this.rowCount += rowCount;
  }

  /** Rows before and after a deletion must not share a run. */
  private cutAtDeletion({ tableId, buffer }: LiveTable, sequence: number): void {
    for (const deletion of this.catalog.tombstonesOf(tableId)) {
      if (deletion.sequence >= buffer.lastSequence && deletion.sequence < sequence) buffer.cut();
    }
  }

  private learnKeys(live: LiveTable, table: DecodedTable): KernelU32List {
    let map = this.seriesMaps.get(live.tableId);
    if (map === undefined) {
      map = new KernelU32List(this.kernel);
      this.seriesMaps.set(live.tableId, map);
    }
    if (table.keysBytes === 0) return map;
    const pairsPtr = this.scratch.alloc(table.keysBytes);
    const count = live.dictionary.insertRecords(table.keysPtr, table.keysBytes, pairsPtr);
    const pairs = this.kernel.u32.slice(pairsPtr / 4, pairsPtr / 4 + count * 2);
    let length = map.length;
    for (let i = 0; i < pairs.length; i += 2) length = Math.max(length, pairs[i]! + 1);
    map.grow(length);
    for (let i = 0; i < pairs.length; i += 2) map.set(pairs[i]!, pairs[i + 1]!);
    return map;
  }

  private startSegment(segment: number): void {
    this.segment = segment;
    for (const map of this.seriesMaps.values()) map.release();
    this.seriesMaps.clear();
  }
}

function maxOf(values: Uint32Array): number {
  let max = 0;
  for (const value of values) if (value > max) max = value;
  return max;
}

function unknownSeries(table: DecodedTable, series: number): TsdbError {
  return new TsdbError(
    "corrupt_file",
    `a frame of the log names series ${series} of table ${table.tableId}, which its segment does not define`,
  );
}
