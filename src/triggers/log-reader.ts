// Reads rows for write triggers out of the write-ahead log, each trigger from its own place. Runs in a thread of its own.
import type { Disk } from "../disk/disk.ts";
import { FrameDecoder } from "../ingest/frame.ts";
import { ColumnCodec } from "../kernel/codec/codec.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { LogTail } from "../storage/wal/log-tail.ts";
import { frameRows, learnSeries, type SeriesKeys } from "./frame-rows.ts";
import { joinTables } from "./joined-rows.ts";
import type { LogFeed, LogRequest, LogRows, LogTable } from "./log-feed.ts";

/** Rows of several frames go together up to here: a call costs about as much as some hundred rows. */
const ROWS_MAX = 20_000;
/** Bytes of these frames in the log. */
const FRAME_BYTES_MAX = 4 << 20;
/** Rows behind more triggers call none: they write in a circle. */
const DEPTH_MAX = 16;

/** One trigger's place. */
interface Place {
  readonly databaseId: number;
  readonly tableId: number | null;
  readonly tail: LogTail;
  segment: number;
}

export class LogReader implements LogFeed {
  private readonly decoder: FrameDecoder;
  private readonly places = new Map<number, Place>();
  /** What places have learned of the segments that they are in: by segment, then table. */
  private readonly series = new Map<number, Map<number, SeriesKeys>>();
  private reading: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly kernel: Kernel,
    private readonly disk: Disk,
    private readonly folder: string,
  ) {
    this.decoder = new FrameDecoder(kernel, new ColumnCodec(kernel));
  }

  /** Requests of all triggers are answered one after the other. */
  read(request: LogRequest): Promise<LogRows> {
    const rows = this.reading.then(() => this.readNow(request));
    this.reading = rows.catch(() => {});
    return rows;
  }

  /** Forgets the places of triggers that are not among these. */
  async keepOnly(triggerIds: ReadonlySet<number>): Promise<void> {
    for (const [id, place] of [...this.places]) {
      if (triggerIds.has(id)) continue;
      this.places.delete(id);
      await place.tail.close().catch(() => {});
    }
    this.forgetSegments();
  }

  private async readNow({ after, through, databaseId, tableId, triggerId }: LogRequest): Promise<LogRows> {
    const place = await this.placeOf(triggerId, databaseId, tableId);
    const batch = new Batch(triggerId);
    let reached = after;
    try {
      const goneBefore = await place.tail.read(after, through, (sequence, payload, segment) => {
        this.take(place, batch, { payload, segment, isNew: sequence > after });
        reached = Math.max(reached, sequence);
        return !batch.isFull;
      });
      return { ...batch.rows(), through: batch.isFull ? reached : through, goneBefore };
    } catch (error) {
      // its place is unclear
      this.places.delete(triggerId);
      await place.tail.close().catch(() => {});
      throw error;
    }
  }

  private take(place: Place, batch: Batch, { payload, segment, isNew }: { payload: Uint8Array; segment: number; isNew: boolean }): void {
    if (segment !== place.segment) {
      place.segment = segment;
      this.forgetSegments();
    }
    const wants = (databaseId: number, id: number) => databaseId === place.databaseId && (place.tableId === null || id === place.tableId);
    const tables = this.decoder.decode(payload, wants);
    const admitted = isNew && tables.length > 0 && batch.admits(this.decoder.writer);
    for (const table of tables) {
      const series = this.seriesOf(segment, table.tableId);
      if (table.keysBytes > 0) learnSeries(this.kernel, table, series);
      if (admitted) batch.add(frameRows(this.kernel, table, series));
    }
    if (admitted) batch.frameBytes += payload.byteLength;
  }

  private seriesOf(segment: number, tableId: number): SeriesKeys {
    const tables = this.series.get(segment) ?? new Map<number, SeriesKeys>();
    const keys = tables.get(tableId) ?? new Map<number, Uint8Array>();
    this.series.set(segment, tables.set(tableId, keys));
    return keys;
  }

  /** Those that no place is in. */
  private forgetSegments(): void {
    const used = new Set([...this.places.values()].map(({ segment }) => segment));
    for (const segment of this.series.keys()) if (!used.has(segment)) this.series.delete(segment);
  }

  private async placeOf(triggerId: number, databaseId: number, tableId: number | null): Promise<Place> {
    const found = this.places.get(triggerId);
    if (found !== undefined && found.databaseId === databaseId && found.tableId === tableId) return found;
    await found?.tail.close();
    const place = { databaseId, tableId, tail: new LogTail(this.disk, this.folder), segment: -1 };
    this.places.set(triggerId, place);
    return place;
  }
}

/** Rows of frames for one call. */
class Batch {
  frameBytes = 0;
  private readonly tables = new Map<number, LogTable[]>();
  private rowCount = 0;
  private depth = 0;
  private hasOwn = false;
  private hasTooDeep = false;

  constructor(private readonly triggerId: number) {}

  get isFull(): boolean {
    return this.rowCount >= ROWS_MAX || this.frameBytes >= FRAME_BYTES_MAX;
  }

  /** Whether the trigger sees rows of this writer. */
  admits(writer: { readonly triggerId: number; readonly depth: number } | null): boolean {
    if (writer === null) return true;
    if (writer.triggerId === this.triggerId) this.hasOwn = true;
    else if (writer.depth > DEPTH_MAX) this.hasTooDeep = true;
    else {
      this.depth = Math.max(this.depth, writer.depth);
      return true;
    }
    return false;
  }

  add(table: LogTable): void {
    const parts = this.tables.get(table.tableId);
    if (parts === undefined) this.tables.set(table.tableId, [table]);
    else parts.push(table);
    this.rowCount += table.rowCount;
  }

  rows(): Omit<LogRows, "through" | "goneBefore"> {
    const { depth, hasOwn, hasTooDeep } = this;
    return { tables: [...this.tables.values()].map(joinTables), depth, hasOwn, hasTooDeep };
  }
}
