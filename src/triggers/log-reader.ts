// Reads rows for write triggers from the write-ahead log: through one shared reader for triggers that keep up, with separate readers for
// those that lag. Runs in its own thread.
import type { Disk } from "../disk/disk.ts";
import { FrameDecoder } from "../ingest/frame.ts";
import { ColumnCodec } from "../kernel/codec/codec.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import { LogTail } from "../storage/wal/log-tail.ts";
import { frameRows, learnSeries, type SeriesKeys } from "./frame-rows.ts";
import { joinTables } from "./joined-rows.ts";
import type { LogFeed, LogRequest, LogRows, LogTable } from "./log-feed.ts";
import { type LogSubject, type RecentFrame, RecentFrames, type WantedOf } from "./recent-frames.ts";

/** Target rows per call: the overhead of a call equals some hundred rows. */
const ROWS_MAX = 20_000;
/** Maximum bytes of its frames in the log. */
const FRAME_BYTES_MAX = 4 << 20;
/** Rows of a greater depth are not delivered: the triggers form a loop. */
const DEPTH_MAX = 16;

/** The read position of a trigger that lags. */
interface Place extends LogSubject {
  readonly tail: LogTail;
  segment: number;
}

type TriggerWants = (databaseId: number, tableId: number) => boolean;

/** Reads frames of the log for any number of triggers. */
export class LogReader implements LogFeed {
  private readonly decoder: FrameDecoder;
  /** The shared reader; null: no trigger has caught up yet. */
  private recent: RecentFrames | null = null;
  private readonly places = new Map<number, Place>();
  /** Series keys of the segments being read: by segment, then table. */
  private readonly series = new Map<number, Map<number, SeriesKeys>>();
  private reading: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly kernel: Kernel,
    private readonly disk: Disk,
    private readonly folder: string,
  ) {
    this.decoder = new FrameDecoder(kernel, new ColumnCodec(kernel));
  }

  /** Requests of all triggers are processed sequentially. */
  read(request: LogRequest): Promise<LogRows> {
    const rows = this.reading.then(() => this.readNow(request));
    this.reading = rows.catch(() => {});
    return rows;
  }

  /** Closes the readers of all other triggers. */
  keepOnly(triggerIds: ReadonlySet<number>): Promise<void> {
    const done = this.reading.then(async () => {
      for (const [id, place] of [...this.places]) {
        if (triggerIds.has(id)) continue;
        this.places.delete(id);
        await place.tail.close().catch(() => {});
      }
      this.recent?.keepOnly(triggerIds);
      if (this.recent?.isFollowed === false) await this.dropRecent();
      this.forgetSegments();
    });
    this.reading = done;
    return done;
  }

  private async readNow(request: LogRequest): Promise<LogRows> {
    const rows = this.recent?.has(request, request.after) ? await this.readRecent(this.recent, request) : null;
    return rows ?? this.readOwn(request);
  }

  /** Null: frames are missing; `readOwn` reports which. */
  private async readRecent(
    recent: RecentFrames,
    { triggerId, after, through, takesAll = false, ...subject }: LogRequest,
  ): Promise<LogRows | null> {
    const batch = new Batch(triggerId, takesAll);
    const wants = wantsOf(subject);
    let reached = after;
    try {
      const isWhole = await recent.read(after, through, ({ sequence, bytes, writer, tables }) => {
        const wanted = tables.filter(({ databaseId, rows }) => wants(databaseId, rows.tableId));
        if (wanted.length > 0 && batch.admits(writer)) {
          for (const { rows } of wanted) batch.add(rows);
          batch.frameBytes += bytes;
        }
        reached = sequence;
        return !batch.isFull;
      });
      if (isWhole) {
        recent.follow(triggerId, subject, reached);
        this.forgetSegments();
        return { ...batch.rows({ isOwned: false }), through: batch.isFull ? reached : through, goneBefore: null };
      }
    } catch (error) {
      await this.dropRecent();
      throw error;
    }
    await this.dropRecent();
    return null;
  }

  private async readOwn({ triggerId, after, through, takesAll = false, ...subject }: LogRequest): Promise<LogRows> {
    const place = await this.placeOf(triggerId, subject);
    const batch = new Batch(triggerId, takesAll);
    const wants = wantsOf(subject);
    let reached = after;
    try {
      const goneBefore = await place.tail.read(after, through, (sequence, payload, segment) => {
        place.segment = segment;
        const isNew = sequence > after;
        const { writer, tables } = this.decode(payload, segment, (databaseId, tableId) => {
          return wants(databaseId, tableId) ? (isNew ? "rows" : "keys") : null;
        });
        if (isNew && tables.length > 0 && batch.admits(writer)) {
          for (const { rows } of tables) batch.add(rows);
          batch.frameBytes += payload.byteLength;
        }
        reached = Math.max(reached, sequence);
        return !batch.isFull;
      });
      await this.joinRecent(triggerId, place, reached);
      return { ...batch.rows({ isOwned: true }), through: batch.isFull ? reached : through, goneBefore };
    } catch (error) {
      // the read position is undefined
      this.places.delete(triggerId);
      await place.tail.close().catch(() => {});
      throw error;
    }
  }

  /** Moves a trigger that has caught up to the shared reader; the first one provides its tail. */
  private async joinRecent(triggerId: number, place: Place, reached: number): Promise<void> {
    const isFirst = this.recent === null;
    this.recent ??= new RecentFrames(place.tail, reached, (payload, segment, wanted) => this.decode(payload, segment, wanted));
    if (isFirst) this.recent.segment = place.segment;
    if (this.recent.follow(triggerId, place, reached)) {
      this.places.delete(triggerId);
      if (!isFirst) await place.tail.close();
    }
    this.forgetSegments();
  }

  private decode(payload: Uint8Array, segment: number, wanted: WantedOf): Pick<RecentFrame, "writer" | "tables"> {
    const decoded = this.decoder.decode(payload, (databaseId, tableId) => wanted(databaseId, tableId) !== null);
    const tables = decoded.flatMap((table) => {
      const { databaseId, tableId } = table;
      const series = this.seriesOf(segment, tableId);
      if (table.keysBytes > 0) learnSeries(this.kernel, table, series);
      return wanted(databaseId, tableId) === "rows" ? [{ databaseId, rows: frameRows(this.kernel, table, series) }] : [];
    });
    return { writer: this.decoder.writer, tables };
  }

  private seriesOf(segment: number, tableId: number): SeriesKeys {
    const tables = this.series.get(segment) ?? new Map<number, SeriesKeys>();
    const keys = tables.get(tableId) ?? new Map<number, Uint8Array>();
    this.series.set(segment, tables.set(tableId, keys));
    return keys;
  }

  /** Drops the keys of segments that no reader is in. */
  private forgetSegments(): void {
    const used = new Set([...this.places.values()].map(({ segment }) => segment));
    if (this.recent !== null) used.add(this.recent.segment);
    for (const segment of this.series.keys()) if (!used.has(segment)) this.series.delete(segment);
  }

  private async dropRecent(): Promise<void> {
    const { recent } = this;
    this.recent = null;
    await recent?.close().catch(() => {});
  }

  private async placeOf(triggerId: number, subject: LogSubject): Promise<Place> {
    const found = this.places.get(triggerId);
    if (found !== undefined && found.databaseId === subject.databaseId && found.tableId === subject.tableId) return found;
    await found?.tail.close();
    const place = { ...subject, tail: new LogTail(this.disk, this.folder), segment: -1 };
    this.places.set(triggerId, place);
    return place;
  }
}

function wantsOf(subject: LogSubject): TriggerWants {
  return (databaseId, tableId) => databaseId === subject.databaseId && (subject.tableId === null || tableId === subject.tableId);
}

/** Rows of frames for one call. */
class Batch {
  frameBytes = 0;
  private readonly tables = new Map<number, LogTable[]>();
  private rowCount = 0;
  private depth = 0;
  private hasOwn = false;
  private hasTooDeep = false;

  constructor(
    private readonly triggerId: number,
    private readonly takesAll: boolean,
  ) {}

  get isFull(): boolean {
    return this.rowCount >= ROWS_MAX || this.frameBytes >= FRAME_BYTES_MAX;
  }

  /** True if rows of this writer are delivered to the trigger. */
  admits(writer: { readonly triggerId: number; readonly depth: number } | null): boolean {
    if (writer === null || this.takesAll) return true;
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

  /** `isOwned`: the added tables are not shared. */
  rows({ isOwned }: { readonly isOwned: boolean }): Omit<LogRows, "through" | "goneBefore"> {
    const { depth, hasOwn, hasTooDeep } = this;
    const tables = [...this.tables.values()].map((parts) => (isOwned && parts.length === 1 ? parts[0]! : joinTables(parts)));
    return { tables, depth, hasOwn, hasTooDeep };
  }
}
