// Flush: writes all buffered rows to one `.pt` file of generation 0, commits it with one manifest entry, then cuts the log. After a crash
// at any point, a row is either replayed from the log or read from the file, never both, because replay starts after `flushedSequence`.

import { EMPTY_FRAME } from "../../ingest/frame.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import { VALUE_BYTES } from "../../model/rows/column.ts";
import type { Run } from "../../model/rows/run.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { LiveTables, SealedRows } from "../buffer/live-tables.ts";
import type { Pins } from "../buffer/pins.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { FileMeta, Manifest } from "../manifest/manifest.ts";
import type { PtDirectory, PtTableInput } from "../pt/file.ts";
import { FRAME_HEADER_BYTES } from "../wal/frame.ts";
import type { Wal } from "../wal/wal.ts";

export interface FlushLimits {
  /** Flush when the open buffer reaches this size: a quarter of the limit for all rows, so that writes continue meanwhile. */
  readonly openBytesMax: number;
  /** Flush when the oldest unflushed row reaches this age. */
  readonly ageMsMax: number;
  /** Flush when no row has come for this time, and the open buffer has at least `idleBytesMin`: it gives the memory back. */
  readonly idleMsMax: number;
  readonly idleBytesMin: number;
  /** Flush when the log reaches this size, so that a replay stays short. */
  readonly walBytesMax: number;
}

export interface FlushState {
  /** Series dictionaries exceed their share; only a flush evicts them, with or without rows. */
  readonly seriesDue: boolean;
  /** The disk is full: a file needs less space than the log that it replaces. */
  readonly spaceDue: boolean;
  /** The disk is full, and the log has frames without remaining rows because their tables were dropped. A flush without rows cuts the
   *  log. */
  readonly logIsDead: boolean;
  readonly openBytes: number;
  readonly openRows: number;
  readonly oldestRowMs: number | undefined;
  readonly newestRowMs: number | undefined;
  readonly walBytes: number;
}

export type FlushReason = "size" | "idle" | "series" | "space" | "age" | "log" | "shutdown" | "restore";

/** The reason to flush now, or undefined. Pure. */
export function planFlush(state: FlushState, nowMs: number, limits: FlushLimits): FlushReason | undefined {
  if (state.seriesDue) return "series";
  if (state.logIsDead) return "space";
  if (state.openRows === 0) return undefined;
  if (state.spaceDue) return "space";
  if (state.openBytes >= limits.openBytesMax) return "size";
  if (state.walBytes >= limits.walBytesMax) return "log";
  // rows that came while the clock was ahead would wait for that time
  const hasPassed = (rowMs: number | undefined, ms: number) => rowMs !== undefined && Math.abs(nowMs - rowMs) >= ms;
  if (hasPassed(state.oldestRowMs, limits.ageMsMax)) return "age";
  if (hasPassed(state.newestRowMs, limits.idleMsMax) && state.openBytes >= limits.idleBytesMin) return "idle";
  return undefined;
}

/** The bytes of a file and its directory. */
export interface EncodedRows {
  readonly bytes: Uint8Array;
  readonly directory: PtDirectory;
}

/** Tables described to the maintenance worker per turn of the event loop: about 10 µs each. */
const TABLES_PER_TURN = 256;

export interface FlushParts {
  readonly tables: LiveTables;
  readonly pins: Pins;
  readonly catalog: Catalog;
  readonly wal: Wal;
  readonly manifest: Manifest;
  readonly store: ObjectStore;
  /** Deletions that may still hide rows of a table. */
  readonly tombstonesOf: (tableId: number) => readonly Tombstone[];
  /** Object key of a `.pt` file. */
  readonly ptKey: (fileId: number) => string;
  readonly limits: FlushLimits;
  /** True if the disk accepts no data. */
  readonly isDiskFull?: () => boolean;
  readonly nowMs: () => number;
  /** Sorts and encodes in the maintenance worker; receives the tables a few at a time. Returns null if there were none. */
  readonly encode: (tables: AsyncIterable<readonly PtTableInput[]>) => Promise<EncodedRows | null>;
  /** How far the log may be cut after a flush of frames up to `sequence`: others may still read it. */
  readonly cutThrough?: (sequence: number) => Promise<number>;
  readonly onFlushed: (flush: { reason: FlushReason; rowCount: number; bytes: number; milliseconds: number }) => void;
  /** Reports a failed flush; its rows stay readable and in the log, and a later check retries. */
  readonly onError: (error: unknown) => void;
}

/** Delay after a failure: a retry encodes all rows again. */
const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 30_000;
/** Attempts of a barrier to find room in the log. */
const ROOM_TRIES = 3;
/** On a full disk, smaller buffers are not flushed: their file would free nothing. */
const SPACE_BYTES_MIN = 256 << 10;

/** The flushes of one server, on the main thread. */
export class Flusher {
  private failures = 0;
  private retryAtMs = 0;
  private running: Promise<void> | undefined;
  private waiters: (() => void)[] = [];

  constructor(private readonly parts: FlushParts) {}

  /** Starts a flush if one is due and none is running. */
  check(): void {
    const { tables, wal, manifest, limits, nowMs, isDiskFull } = this.parts;
    // limit the wait, in case the clock was set back
    const waitMs = this.retryAtMs - nowMs();
    if (this.running !== undefined || (waitMs > 0 && waitMs <= RETRY_MS_MAX)) return;
    const state = {
      spaceDue: isDiskFull?.() === true && Math.max(wal.segmentBytes, tables.openBytes) >= SPACE_BYTES_MIN,
      logIsDead: isDiskFull?.() === true && tables.openRows === 0 && wal.lastSequence > manifest.flushedSequence,
      seriesDue: tables.seriesMemory.isDue,
      openBytes: tables.openBytes,
      openRows: tables.openRows,
      oldestRowMs: tables.oldestRowMs,
      newestRowMs: tables.newestRowMs,
      walBytes: wal.segmentBytes,
    };
    // rows that a failed flush left sealed come first
    const reason = tables.sealed !== undefined ? "size" : planFlush(state, nowMs(), limits);
    if (reason !== undefined) void this.start(reason);
  }

  /** The cause of a failure may be gone: retry immediately. */
  retryNow(): void {
    this.failures = 0;
    this.retryAtMs = 0;
    this.check();
  }

  /** Flushes everything buffered now; resolves when it is in files. */
  async flushAll(): Promise<void> {
    await this.running;
    while (this.parts.tables.openRows > 0 || this.parts.tables.sealed !== undefined) await this.required("shutdown");
  }

  /** Divides the log at this moment: everything before is in files when it resolves. Resolves to the first of `count` successive sequences
   *  above those of all earlier rows and below those of all later ones. What the manifest is asked to commit in the same step precedes all
   *  later rows there. @throws TsdbError no_space, overloaded; what the flush throws */
  async barrier(count = 1): Promise<number> {
    const { tables, wal } = this.parts;
    const bytes = (FRAME_HEADER_BYTES + EMPTY_FRAME.byteLength) * count;
    for (let tries = 0; ; tries++) {
      while (this.running !== undefined || tables.sealed !== undefined) {
        if (this.running === undefined) await this.required("restore");
        else await this.running;
      }
      // a flush takes long, and ends the segment that had room
      if (wal.hasRoom(bytes)) break;
      if (tries === ROOM_TRIES) throw new TsdbError("overloaded", "others fill the log as fast as it finds space; try again");
      await wal.makeRoom(bytes);
    }
    const { sequence } = wal.append(EMPTY_FRAME);
    for (let i = 1; i < count; i++) wal.append(EMPTY_FRAME);
    await this.required("restore");
    return sequence;
  }

  private async required(reason: FlushReason): Promise<void> {
    const done = this.start(reason);
    await done.promise;
    if (done.error !== undefined) throw done.error;
  }

  /** Resolves when the running flush has ended, successfully or not. */
  async settled(): Promise<void> {
    if (this.running === undefined) return;
    await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  private start(reason: FlushReason): { promise: Promise<void>; error: unknown } {
    assert(this.running === undefined, "one flush at a time");
    const outcome: { promise: Promise<void>; error: unknown } = { promise: Promise.resolve(), error: undefined };
    outcome.promise = this.flush(reason)
      .then(() => {
        this.failures = 0;
      })
      .catch((error: unknown) => {
        outcome.error = error;
        // the first retry is immediate
        if (this.failures > 0) this.retryAtMs = this.parts.nowMs() + Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** this.failures);
        this.failures += 1;
        this.parts.onError(error);
      })
      .finally(() => {
        this.running = undefined;
        for (const waiter of this.waiters.splice(0)) waiter();
      });
    this.running = outcome.promise;
    return outcome;
  }

  private async flush(reason: FlushReason): Promise<void> {
    const { tables, catalog, wal, manifest, store, nowMs } = this.parts;
    const startMs = nowMs();
    let sealed = tables.sealed;
    if (sealed === undefined) {
      sealed = tables.seal(wal.lastSequence);
      wal.rotate();
    }
    const added: FileMeta[] = [];
    let rowCount = 0;
    const encoded = await this.encode(sealed);
    if (encoded !== null) {
      const { bytes, directory } = encoded;
      // the file refers to columns by id: their definitions must be durable first
      await catalog.durable(catalog.version);
      const id = manifest.allocateFileId();
      const key = this.parts.ptKey(id);
      await store.put(key, bytes);
      const blocks = directory.blocks.map((block) => ({ ...block, flushedMinMs: startMs, flushedMaxMs: startMs }));
      added.push({ id, key, bytes: bytes.byteLength, generation: 0, blocks });
      for (const block of directory.blocks) rowCount += block.rowCount;
    }
    // flushedSequence must not exceed the log: after a crash, frames not yet in the log would be taken for flushed
    await wal.flushed();
    await manifest.commit({ added, flushedSequence: sealed.sequence }, () => tables.dropSealed());
    await wal.cut((await this.parts.cutThrough?.(sealed.sequence)) ?? sealed.sequence);
    const bytes = added.reduce((sum, file) => sum + file.bytes, 0);
    this.parts.onFlushed({ reason, rowCount, bytes, milliseconds: nowMs() - startMs });
  }

  /** The rows encoded as a file; null if there are none. New series move the dictionaries' arrays meanwhile: a pin keeps those that the
   *  worker reads. */
  private async encode(sealed: SealedRows): Promise<EncodedRows | null> {
    const pin = this.parts.pins.take();
    try {
      return await this.parts.encode(flushInput(sealed, this.parts));
    } finally {
      pin.release();
    }
  }
}

/** Rows of tables that still exist. Rows before and after a deletion go to separate blocks: it hides only the former. */
async function* flushInput(sealed: SealedRows, { catalog, tombstonesOf }: FlushParts): AsyncGenerator<readonly PtTableInput[]> {
  let input: PtTableInput[] = [];
  for (const [tableId, { databaseId, buffer }] of sealed.tables) {
    if (input.length >= TABLES_PER_TURN) {
      yield input;
      input = [];
      await new Promise((resolve) => setImmediate(resolve));
    }
    const table = catalog.tableById(tableId);
    if (table === undefined) continue;
    const { name: tableName, columns } = table;
    for (const part of splitAtDeletions(buffer.runs(), tombstonesOf(tableId)))
      for (const runs of splitBySize(part, LIMITS.flushMergeBytes)) input.push({ databaseId, tableId, tableName, columns, runs });
  }
  if (input.length > 0) yield input;
}

/** Splits `runs` (in log order) into parts whose merge takes about `bytesMax`; parts are larger where no split is possible, because a
 *  body has rows on both sides: blocks of one table are ordered by their sequences. */
export function splitBySize(runs: readonly Run[], bytesMax: number): Run[][] {
  const parts: Run[][] = [];
  let part: Run[] = [];
  let rowCount = 0;
  let widths = new Map<number, number>();
  for (const run of runs) {
    const last = part.at(-1);
    const wider = new Map([...widths, ...run.columns.map(({ columnId, type }) => [columnId, VALUE_BYTES[type]] as const)]);
    if (last !== undefined && last.seqMax < run.seqMin && (rowCount + run.rowCount) * rowBytes(wider) > bytesMax) {
      parts.push(part);
      part = [];
      rowCount = 0;
      widths = new Map(run.columns.map(({ columnId, type }) => [columnId, VALUE_BYTES[type]] as const));
    } else {
      widths = wider;
    }
    part.push(run);
    rowCount += run.rowCount;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

/** Bytes of a row with values in all fields: series, time and fields. */
function rowBytes(widths: ReadonlyMap<number, number>): number {
  let bytes = 12;
  for (const width of widths.values()) bytes += width;
  return bytes;
}

/** Splits `runs` (in log order) so that no part has rows on both sides of a deletion. */
function splitAtDeletions(runs: readonly Run[], tombstones: readonly Tombstone[]): Run[][] {
  const parts = Map.groupBy(runs, ({ seqMin }) => tombstones.filter(({ sequence }) => sequence < seqMin).length);
  return [...parts.values()];
}
