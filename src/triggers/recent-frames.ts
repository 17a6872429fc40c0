// The newest frames of the log, read and decoded once for all triggers that keep up. A trigger that lags reads with its own tail
// (log-reader.ts) until it has caught up.
import type { TriggerWriter } from "../model/write.ts";
import type { LogTail } from "../storage/wal/log-tail.ts";
import type { LogTable } from "./log-feed.ts";

/** The rows that a trigger reads: one table, or a whole database. */
export interface LogSubject {
  readonly databaseId: number;
  /** Null: all. */
  readonly tableId: number | null;
}

export interface RecentFrame {
  readonly sequence: number;
  /** Of the payload. */
  readonly bytes: number;
  readonly writer: TriggerWriter | null;
  /** Rows of followed subjects. */
  readonly tables: readonly { readonly databaseId: number; readonly rows: LogTable }[];
}

/** `keys`: only the series keys in the frame are decoded. */
export type Wanted = "rows" | "keys" | null;
export type WantedOf = (databaseId: number, tableId: number) => Wanted;

/** Decodes a frame, as far as `wanted` selects its tables. */
export type DecodeFrame = (payload: Uint8Array, segment: number, wanted: WantedOf) => Pick<RecentFrame, "writer" | "tables">;

const KEPT_BYTES_MAX = 32 << 20;
const KEPT_FRAMES_MAX = 10_000;

/** A ring of the newest frames, limited in bytes. */
export class RecentFrames {
  /** Consecutive; the last is the one before the tail's next. */
  private frames: RecentFrame[] = [];
  private keptBytes = 0;
  /** By subject: from which sequence on its rows are decoded, and the triggers that read it. */
  private readonly followed = new Map<string, { readonly subject: LogSubject; readonly since: number; readonly triggerIds: Set<number> }>();
  /** Segment of the frame that was read last. */
  segment = -1;

  constructor(
    private readonly tail: LogTail,
    /** Of the frame that the tail has read last. */
    private position: number,
    private readonly decode: DecodeFrame,
  ) {}

  /** True if all rows of the subject after `after` can be read here. */
  has(subject: LogSubject, after: number): boolean {
    const found = this.followed.get(keyOf(subject));
    return found !== undefined && after + 1 >= Math.max(found.since, this.position - this.frames.length + 1);
  }

  /** Adds a trigger that has read the rows of the subject up to `through` itself; returns false if that lags too far. */
  follow(triggerId: number, subject: LogSubject, through: number): boolean {
    if (!this.has(subject, through) && through < this.position) return false;
    const key = keyOf(subject);
    const since = this.followed.get(key)?.since ?? through + 1;
    const triggerIds = this.followed.get(key)?.triggerIds ?? new Set();
    this.followed.set(key, { subject, since, triggerIds: triggerIds.add(triggerId) });
    return true;
  }

  /** Removes all other triggers. */
  keepOnly(wanted: ReadonlySet<number>): void {
    for (const [key, { triggerIds }] of this.followed) {
      for (const id of triggerIds) if (!wanted.has(id)) triggerIds.delete(id);
      if (triggerIds.size === 0) this.followed.delete(key);
    }
  }

  get isFollowed(): boolean {
    return this.followed.size > 0;
  }

  /** Passes frames after `after`, up to `through`, to `take` until it returns false. Returns false if some are missing from the log.
   *  @throws TsdbError io, corrupt_file; the read position is undefined then */
  async read(after: number, through: number, take: (frame: RecentFrame) => boolean): Promise<boolean> {
    const first = this.position - this.frames.length + 1;
    for (const frame of this.frames.slice(Math.max(0, after + 1 - first))) {
      if (frame.sequence > through || !take(frame)) return true;
    }
    if (this.position >= through) return true;
    const gone = await this.tail.read(this.position, through, (sequence, payload, segment) => {
      this.segment = segment;
      this.position = sequence;
      const wanted = (databaseId: number, tableId: number) => this.wanted(sequence, databaseId, tableId);
      const frame = { sequence, bytes: payload.byteLength, ...this.decode(payload, segment, wanted) };
      this.keep(frame);
      return sequence <= after || take(frame);
    });
    return gone === null;
  }

  close(): Promise<void> {
    return this.tail.close();
  }

  /** Rows before `since` may be of series that were named before its segment was read for the subject. */
  private wanted(sequence: number, databaseId: number, tableId: number): Wanted {
    const ofTable = this.followed.get(keyOf({ databaseId, tableId }));
    const ofDatabase = this.followed.get(keyOf({ databaseId, tableId: null }));
    if (ofTable === undefined && ofDatabase === undefined) return null;
    return Math.min(ofTable?.since ?? Number.POSITIVE_INFINITY, ofDatabase?.since ?? Number.POSITIVE_INFINITY) <= sequence
      ? "rows"
      : "keys";
  }

  private keep(frame: RecentFrame): void {
    this.frames.push(frame);
    this.keptBytes += costOf(frame);
    while (this.keptBytes > KEPT_BYTES_MAX || this.frames.length > KEPT_FRAMES_MAX) this.keptBytes -= costOf(this.frames.shift()!);
  }
}

function keyOf({ databaseId, tableId }: LogSubject): string {
  return `${databaseId}/${tableId}`;
}

/** Bytes of the decoded columns. */
function costOf({ tables }: RecentFrame): number {
  let bytes = 0;
  for (const { rows } of tables) {
    for (const { present, values } of rows.columns) {
      bytes += present?.byteLength ?? 0;
      const arrays = values.kind === "text" ? [values.codes, values.ends, values.bytes] : [values.values];
      for (const array of arrays) bytes += array?.byteLength ?? 0;
    }
  }
  return bytes;
}
