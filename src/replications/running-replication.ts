// One replication: rows of the log go to its queue on disk, and the queue to the remote, each in order and at its own speed.
import type { Disk } from "../disk/disk.ts";
import type { Replication, ReplicationState } from "../metadata/resources/replication/replications.ts";
import { databaseIdOf } from "../metadata/store/ids.ts";
import type { OutgoingLimits } from "../outgoing/outgoing-http.ts";
import { type Clock, pause } from "../triggers/clock.ts";
import type { QueueEntry, QueueFeed } from "./queue-feed.ts";
import { type QueueOnDisk, savePosition } from "./queue-files.ts";
import { type RemoteAccess, type RemoteAnswer, writeToRemote } from "./remote-write.ts";
import type { ReplicationCounts } from "./replication-counts.ts";

export interface RunningParts {
  readonly reader: number;
  readonly folder: string;
  readonly disk: Disk;
  readonly feed: QueueFeed;
  readonly clock: Clock;
  readonly limits: OutgoingLimits;
  readonly counts: ReplicationCounts;
  /** Null: it is deleted. */
  readonly remote: (id: string) => RemoteAccess | null;
  readonly durableSequence: () => number;
  /** The newest frame that may have rows of the bucket. */
  readonly lastSequence: (databaseId: number) => number;
  readonly warn: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

const POSITION_BYTES = 8;
const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 30_000;
/** The log is read again so long after its end was reached: the files of a queue that grows are fewer, and larger. */
const PAUSES_MS: readonly (readonly [queued: number, milliseconds: number])[] = [
  [1, 20],
  [16, 500],
  [Number.POSITIVE_INFINITY, 5000],
];
const READ_AGAIN_MS = 2000;
/** Statuses that say that the lines themselves are wrong. */
const NOT_RETRYABLE: ReadonlySet<number> = new Set([400, 413, 422]);

/** Owned: call `stop`. */
export class RunningReplication {
  /** Frames up to here are in the queue, or behind it. */
  position: number;
  private savedPosition: number;
  private saving: Promise<void> = Promise.resolve();
  private readonly entries: QueueEntry[];
  private bytes: number;
  private isWoken = false;
  private isReading = false;
  private latest: RemoteAnswer | null = null;
  private failures = 0;
  private isFull = false;
  private readonly ending = new AbortController();
  private changed = new AbortController();
  private readonly work = new Set<Promise<void>>();
  private isSending = false;

  constructor(
    private readonly parts: RunningParts,
    private replication: Replication,
    { position, entries }: QueueOnDisk,
  ) {
    this.position = position;
    this.savedPosition = position;
    this.entries = [...entries];
    this.bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    this.send();
    this.wake();
  }

  get reader(): number {
    return this.parts.reader;
  }

  get databaseId(): number {
    return databaseIdOf(this.replication.localBucketID) ?? 0;
  }

  get state(): ReplicationState {
    const { latest, bytes } = this;
    return {
      ...{ queueBytes: POSITION_BYTES + bytes, remainingBytes: bytes },
      ...(latest === null ? {} : { latestResponseCode: latest.status ?? 0, latestErrorMessage: latest.message }),
    };
  }

  /** What waits for its next attempt is sent at once. */
  change(replication: Replication): void {
    this.replication = replication;
    this.failures = 0;
    this.changed.abort();
    this.changed = new AbortController();
  }

  /** Moves the position over durable frames without rows of the bucket, which do not wake it. */
  settle(): void {
    const { lastSequence, durableSequence } = this.parts;
    if (!this.isReading && lastSequence(this.databaseId) <= this.position) this.position = Math.max(this.position, durableSequence());
  }

  /** Frames up to `sequence` are skipped: the log no longer has them. */
  skip(sequence: number): void {
    this.position = Math.max(this.position, sequence);
  }

  /** Durable when it resolves: the log may be cut up to there. @throws TsdbError io */
  async save(): Promise<number> {
    const { position } = this;
    if (position > this.savedPosition && !this.ending.signal.aborted) {
      await this.track(this.savePosition(position));
    }
    return this.savedPosition;
  }

  /** Call it when there may be new durable frames with rows of the bucket. */
  wake(): void {
    this.isWoken = true;
    if (!this.isReading && !this.ending.signal.aborted) void this.track(this.readWhileWoken());
  }

  /** Files that are being made or sent are finished first, or come again. */
  async stop(): Promise<void> {
    this.ending.abort();
    this.changed.abort();
    while (this.work.size > 0) await Promise.allSettled(this.work);
  }

  private track<T>(work: Promise<T>): Promise<T> {
    const done: Promise<void> = work.then(
      () => {},
      () => {},
    );
    this.work.add(done);
    void done.then(() => this.work.delete(done));
    return work;
  }

  private async readWhileWoken(): Promise<void> {
    const { clock, durableSequence } = this.parts;
    const { signal } = this.ending;
    this.isReading = true;
    try {
      // no `await` between the last look and the end: a call of `wake` in between would be without effect
      while (this.isWoken && !signal.aborted) {
        this.isWoken = false;
        while (!signal.aborted && this.position < durableSequence()) await this.read();
        await pause(clock, PAUSES_MS.find(([queued]) => this.entries.length <= queued)![1], signal);
      }
    } finally {
      this.isReading = false;
    }
  }

  private async read(): Promise<void> {
    const { feed, reader, folder, clock, durableSequence, warn, counts } = this.parts;
    const { id, maxQueueSizeBytes } = this.replication;
    const [after, through] = [this.position, durableSequence()];
    try {
      const roomBytes = maxQueueSizeBytes - this.bytes;
      const { databaseId } = this;
      const answer = await feed.queue({ reader, folder, after, through, databaseId, roomBytes, nowMs: clock.nowMs() });
      if (answer.goneBefore !== null) {
        warn("rows are not replicated: the log no longer has them", { id, from: after + 1, through: answer.goneBefore - 1 });
      }
      if (answer.droppedRows > 0 && !this.isFull) warn("rows are not replicated: the queue is full", { id, maxQueueSizeBytes });
      this.isFull = answer.droppedRows > 0;
      counts.queued(id, answer);
      for (const entry of answer.entries) {
        this.entries.push(entry);
        this.bytes += entry.bytes;
      }
      this.position = Math.max(this.position, answer.through);
      this.send();
    } catch (error) {
      if (this.ending.signal.aborted) return;
      warn("cannot queue rows of a replication; will try again", { id, reason: (error as Error).message });
      await pause(clock, READ_AGAIN_MS, this.ending.signal);
    }
  }

  private send(): void {
    if (this.isSending || this.entries.length === 0) return;
    this.isSending = true;
    void this.track(this.sendAll()).finally(() => {
      this.isSending = false;
    });
  }

  private async sendAll(): Promise<void> {
    const { clock } = this.parts;
    const { signal } = this.ending;
    while (!signal.aborted && this.entries.length > 0) {
      const head = this.entries[0]!;
      try {
        if (this.isTooOld(head)) await this.drop(head, "it is older than maxAgeSeconds");
        else if (await this.sent(head)) continue;
        else {
          const ms = this.latest?.retryAfterMs ?? Math.min(RETRY_FIRST_MS * 2 ** Math.min(this.failures++, 20), RETRY_MAX_MS);
          await pause(clock, Math.min(ms, this.timeLeftMs(head)), AbortSignal.any([signal, this.changed.signal]));
        }
      } catch (error) {
        if (signal.aborted) return;
        this.parts.warn("cannot read the queue of a replication", { id: this.replication.id, reason: (error as Error).message });
        await pause(clock, READ_AGAIN_MS, signal);
      }
    }
  }

  /** True when the file is gone: taken by the remote, or given up as configured. */
  private async sent(head: QueueEntry): Promise<boolean> {
    const { disk, folder, limits, clock, remote, counts, warn } = this.parts;
    const { id, remoteID, dropNonRetryableData } = this.replication;
    const access = remote(remoteID);
    if (access === null) return false;
    const body = await disk.readFile(`${folder}/${head.name}`);
    const { signal } = this.ending;
    const answer = await writeToRemote(access, this.replication, body, { limits, nowMs: clock.nowMs(), signal });
    if (signal.aborted && answer.status === null) return false;
    if (answer.message !== "" && answer.message !== this.latest?.message) warn("a replication cannot send", { id, reason: answer.message });
    this.latest = answer;
    if (answer.message === "") {
      this.failures = 0;
      counts.sent(id, head);
      await this.remove(head);
      return true;
    }
    counts.failed(id, answer.status);
    if (!dropNonRetryableData || answer.status === null || !NOT_RETRYABLE.has(answer.status)) return false;
    await this.drop(head, answer.message);
    return true;
  }

  private isTooOld(head: QueueEntry): boolean {
    return this.timeLeftMs(head) <= 0;
  }

  private timeLeftMs({ madeMs }: QueueEntry): number {
    const { maxAgeSeconds } = this.replication;
    return maxAgeSeconds <= 0 ? Number.POSITIVE_INFINITY : madeMs + maxAgeSeconds * 1000 - this.parts.clock.nowMs();
  }

  private async drop(head: QueueEntry, reason: string): Promise<void> {
    const { counts, warn } = this.parts;
    const { id } = this.replication;
    warn("rows of a replication are dropped", { id, rows: head.rows, reason });
    counts.dropped(id, head);
    await this.remove(head);
  }

  /** The position is kept elsewhere when no file has it any more. */
  private async remove(head: QueueEntry): Promise<void> {
    const { disk, folder } = this.parts;
    if (this.entries.length === 1) await this.savePosition(head.through);
    await disk.unlink(`${folder}/${head.name}`);
    this.entries.shift();
    this.bytes -= head.bytes;
  }

  /** One after another, as all write the same file, and never an earlier position after a later one. @throws TsdbError io */
  private savePosition(position: number): Promise<void> {
    const saved = this.saving.then(async () => {
      if (position <= this.savedPosition) return;
      await savePosition(this.parts.disk, this.parts.folder, position);
      this.savedPosition = position;
    });
    this.saving = saved.catch(() => {});
    return saved;
  }
}
