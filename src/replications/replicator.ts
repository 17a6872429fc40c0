// Runs the replications that the records say, and holds the log for what they have not queued yet.
import { gzipSync } from "node:zlib";
import type { Disk } from "../disk/disk.ts";
import type { Remotes } from "../metadata/resources/replication/remotes.ts";
import type {
  Replication,
  ReplicationService,
  ReplicationState,
  Replications,
  ReplicationTarget,
} from "../metadata/resources/replication/replications.ts";
import { TsdbError } from "../model/errors.ts";
import { OUTGOING_LIMITS, type OutgoingLimits } from "../outgoing/outgoing-http.ts";
import type { Clock } from "../triggers/clock.ts";
import type { QueueFeed } from "./queue-feed.ts";
import { openQueue, savePosition } from "./queue-files.ts";
import { type RemoteAccess, writeToRemote } from "./remote-write.ts";
import { ReplicationCounts } from "./replication-counts.ts";
import { RunningReplication } from "./running-replication.ts";

export interface ReplicatorParts {
  readonly replications: Pick<Replications, "list" | "version" | "generation">;
  readonly remotes: Pick<Remotes, "find" | "token">;
  /** Null: the server keeps nothing on disk, and replicates nothing. */
  readonly disk: Disk | null;
  /** Of all queues. */
  readonly folder: string;
  readonly feed: QueueFeed;
  readonly clock: Clock;
  readonly log: { readonly lastSequence: number; readonly durableSequence: number };
  /** Loopback and private addresses too. */
  readonly allowsPrivate: boolean;
  readonly removeFolder: (path: string) => Promise<void>;
  readonly warn: (message: string, details: Readonly<Record<string, unknown>>) => void;
}

const FOLLOW_MS = 250;
const EMPTY: ReplicationState = { queueBytes: 8, remainingBytes: 0 };
const NOTHING = gzipSync("");
const ANSWER_BYTES_MAX = 64 << 10;

/** Owned: call `stop`. */
export class Replicator implements ReplicationService {
  readonly counts = new ReplicationCounts();
  private readonly running = new Map<string, RunningReplication>();
  private readonly records = new Map<string, string>();
  /** By database: the newest frame with rows of it. Of databases that are replicated. */
  private readonly lastRows = new Map<number, number>();
  private readonly pending = new Set<number>();
  private readonly limits: OutgoingLimits;
  private version = -1;
  private generation = 0;
  private nextReader = 1;
  private following: Promise<void> = Promise.resolve();
  private isStarted = false;
  private isStopped = false;
  private cancelTick = () => {};

  constructor(private readonly parts: ReplicatorParts) {
    this.limits = { ...OUTGOING_LIMITS, allowsPrivate: parts.allowsPrivate, bodyBytesMax: ANSWER_BYTES_MAX };
    this.generation = parts.replications.generation;
  }

  start(): void {
    this.isStarted = true;
    this.tick();
  }

  /** Call it for each table of a frame. */
  noteRows(databaseId: number, sequence: number): void {
    if (!this.lastRows.has(databaseId)) return;
    this.lastRows.set(databaseId, sequence);
    this.pending.add(databaseId);
  }

  /** Frames up to here are durable. */
  logged(sequence: number): void {
    if (this.pending.size === 0) return;
    for (const each of this.running.values()) if (this.pending.has(each.databaseId)) each.wake();
    for (const databaseId of this.pending) if ((this.lastRows.get(databaseId) ?? 0) <= sequence) this.pending.delete(databaseId);
  }

  /** For metrics. */
  numbers() {
    return [...this.running].map(([id, { state }]) => ({ id, queuedBytesNow: state.remainingBytes, ...this.counts.of(id) }));
  }

  state(id: string): ReplicationState {
    return this.running.get(id)?.state ?? EMPTY;
  }

  sequence(): number {
    if (this.parts.disk === null)
      throw new TsdbError("unprocessable", "a server that keeps its data in memory has no queues of replications");
    return this.parts.log.lastSequence;
  }

  async validate(target: ReplicationTarget): Promise<void> {
    const remote = this.remoteOf(target.remoteID);
    if (remote === null) throw new TsdbError("bad_request", `remote "${target.remoteID}" not found`);
    const { message } = await writeToRemote(remote, target, NOTHING, { limits: this.limits, nowMs: this.parts.clock.nowMs() });
    if (message !== "") throw new TsdbError("bad_request", message);
  }

  /** For the log's hold: how far each has come, durably. */
  async positions(): Promise<ReadonlyMap<string, number>> {
    await this.follow();
    const found = new Map<string, number>();
    for (const [id, each] of this.running) {
      each.settle();
      found.set(id, await each.save());
    }
    // those that could not be opened
    for (const { id, sinceSequence } of this.parts.replications.list()) if (!found.has(id)) found.set(id, sinceSequence);
    return found;
  }

  /** Frames up to `sequence` are no longer kept. */
  passOver(sequence: number, reason: string): void {
    for (const [id, each] of this.running) {
      if (each.position >= sequence) continue;
      this.parts.warn("rows are not replicated", { id, from: each.position + 1, through: sequence, reason });
      each.skip(sequence);
    }
  }

  /** What is being sent is given up, and sent again after the next start. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.cancelTick();
    await this.following;
    await Promise.all([...this.running.values()].map((each) => each.stop()));
    this.parts.feed.close();
  }

  private tick(): void {
    if (this.isStopped) return;
    void this.follow();
    this.cancelTick = this.parts.clock.after(FOLLOW_MS, () => this.tick());
  }

  private follow(): Promise<void> {
    if (this.isStarted && this.parts.disk !== null && !this.isStopped) {
      const { disk } = this.parts;
      this.following = this.following.then(() => this.followNow(disk));
    }
    return this.following;
  }

  private async followNow(disk: Disk): Promise<void> {
    const { replications, warn } = this.parts;
    if (replications.version === this.version) return;
    const isFirst = this.version < 0;
    this.version = replications.version;
    // positions of a backup are those of another log
    const isRestored = replications.generation !== this.generation;
    this.generation = replications.generation;
    const wanted = new Map(replications.list().map((each) => [each.id, each]));
    try {
      if (isFirst) await this.removeOrphans(disk, wanted);
      for (const id of [...this.running.keys()]) if (!wanted.has(id)) await this.remove(id);
      for (const replication of wanted.values()) await this.run(disk, replication, isRestored);
    } catch (error) {
      this.version = -1;
      warn("cannot open the queues of replications; will try again", { reason: (error as Error).message });
    }
    const databases = new Set([...this.running.values()].map(({ databaseId }) => databaseId));
    for (const databaseId of this.lastRows.keys()) if (!databases.has(databaseId)) this.lastRows.delete(databaseId);
  }

  private async run(disk: Disk, replication: Replication, isRestored: boolean): Promise<void> {
    const { id, sinceSequence } = replication;
    const record = JSON.stringify([replication, this.parts.remotes.find(replication.remoteID)]);
    const known = this.running.get(id);
    if (known !== undefined) {
      if (this.records.get(id) !== record) known.change(replication);
      this.records.set(id, record);
      return;
    }
    const { clock, feed, log, warn } = this.parts;
    const folder = `${this.parts.folder}/${id}`;
    let queue = await openQueue(disk, folder);
    if (queue === null) {
      const position = isRestored ? log.durableSequence : Math.min(sinceSequence, log.durableSequence);
      await disk.makeFolder(folder);
      await savePosition(disk, folder, position);
      queue = { position, entries: [] };
    }
    this.records.set(id, record);
    const parts = {
      ...{ reader: this.nextReader++, folder, disk, feed, clock, limits: this.limits, counts: this.counts, warn },
      remote: (remoteID: string) => this.remoteOf(remoteID),
      durableSequence: () => log.durableSequence,
      lastSequence: (databaseId: number) => this.lastRows.get(databaseId) ?? 0,
    };
    const running = new RunningReplication(parts, replication, queue);
    this.running.set(id, running);
    // until its first read there may be rows in any frame, and those that are not durable yet were noted for nobody
    if (!this.lastRows.has(running.databaseId)) {
      this.lastRows.set(running.databaseId, log.lastSequence);
      this.pending.add(running.databaseId);
    }
    running.wake();
  }

  private async remove(id: string): Promise<void> {
    const running = this.running.get(id);
    this.running.delete(id);
    this.records.delete(id);
    this.counts.forget(id);
    await running?.stop();
    await this.parts.removeFolder(`${this.parts.folder}/${id}`);
    this.parts.feed.keepOnly([...this.running.values()].map(({ reader }) => reader));
  }

  private async removeOrphans(disk: Disk, wanted: ReadonlyMap<string, Replication>): Promise<void> {
    const { folder, removeFolder } = this.parts;
    for (const { name, isFolder } of await disk.list(folder)) {
      if (isFolder && !wanted.has(name)) await removeFolder(`${folder}/${name}`);
    }
  }

  private remoteOf(id: string): RemoteAccess | null {
    const remote = this.parts.remotes.find(id);
    return remote === null ? null : { ...remote, token: this.parts.remotes.token(id) };
  }
}
