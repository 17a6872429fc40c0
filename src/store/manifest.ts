// Which data files make up the data, and up to where the WAL is in them. A state machine over its own operation log: an entry is
// atomic, so a flush or a compaction is there as a whole or not at all.
import { assert } from "../model/assert.ts";
import { TsdbError } from "../model/errors.ts";
import type { ObjectStore } from "../object-store/object-store.ts";
import { type OperationLog, openOperationLog } from "../object-store/operation-log.ts";
import { inFile, readArray, readCount, readObject } from "../object-store/operation-values.ts";
import { entryToJson, type FileMeta, fileToJson, type ManifestEntry, readEntry, readFile } from "./manifest-entry.ts";

export type { BlockMeta, FileMeta, ManifestEntry } from "./manifest-entry.ts";

export interface ManifestOptions {
  /** Key prefix of the log in the store. */
  readonly prefix: string;
  /** Called once when the log has failed: the server must stop. */
  readonly onFailure?: (error: TsdbError) => void;
  readonly snapshotEntries?: number;
}

/** Files and their order of arrival; changes only by `apply`. */
class ManifestState {
  flushedSequence = 0;
  nextFileId = 1;
  readonly files = new Map<number, FileMeta>();
  readonly filesByTable = new Map<number, Map<number, FileMeta>>();
  private readonly maxTimeByTable = new Map<number, bigint>();

  /** @throws TsdbError corrupt_file when it does not fit: nothing is changed then */
  apply(entry: ManifestEntry): void {
    const contradiction = this.contradiction(entry);
    if (contradiction !== null) throw new TsdbError("corrupt_file", `the manifest contradicts itself: ${contradiction}`, {});
    const touched = new Set<number>();
    for (const id of entry.removed) {
      const file = this.files.get(id)!;
      this.files.delete(id);
      for (const { tableId } of file.blocks) {
        this.filesByTable.get(tableId)?.delete(id);
        touched.add(tableId);
      }
    }
    for (const file of entry.added) {
      this.files.set(file.id, file);
      this.nextFileId = Math.max(this.nextFileId, file.id + 1);
      for (const { tableId } of file.blocks) {
        const files = this.filesByTable.get(tableId) ?? new Map<number, FileMeta>();
        files.set(file.id, file);
        this.filesByTable.set(tableId, files);
        touched.add(tableId);
      }
    }
    for (const tableId of touched) this.updateTable(tableId);
    this.flushedSequence = entry.flushedSequence;
  }

  contradiction(entry: ManifestEntry): string | null {
    if (entry.flushedSequence < this.flushedSequence) {
      return `flushed sequence ${entry.flushedSequence} behind ${this.flushedSequence}`;
    }
    const removed = new Set(entry.removed);
    if (removed.size < entry.removed.length) return "a file is removed twice";
    for (const id of removed) if (!this.files.has(id)) return `file ${id} is removed and was not there`;
    const added = new Set<number>();
    for (const { id } of entry.added) {
      if (this.files.has(id) || added.has(id)) return `file ${id} is added twice`;
      added.add(id);
    }
    return null;
  }

  private updateTable(tableId: number): void {
    const files = this.filesByTable.get(tableId);
    if (files === undefined || files.size === 0) {
      this.filesByTable.delete(tableId);
      this.maxTimeByTable.delete(tableId);
      return;
    }
    let max: bigint | undefined;
    for (const { blocks } of files.values()) {
      for (const block of blocks) {
        if (block.tableId === tableId && (max === undefined || block.maxTimeNs > max)) max = block.maxTimeNs;
      }
    }
    assert(max !== undefined, `table ${tableId} has files without a block of it`);
    this.maxTimeByTable.set(tableId, max);
  }

  tableMaxTimeNs(tableId: number): bigint | undefined {
    return this.maxTimeByTable.get(tableId);
  }

  /** JSON of the state, with `pending` applied to it (it stays as it is). */
  toSnapshot(pending: ManifestEntry | null): unknown {
    const added = pending?.added ?? [];
    const removed = new Set(pending?.removed ?? []);
    const files = [...[...this.files.values()].filter(({ id }) => !removed.has(id)), ...added];
    return {
      flushedSequence: pending?.flushedSequence ?? this.flushedSequence,
      nextFileId: added.reduce((next, { id }) => Math.max(next, id + 1), this.nextFileId),
      files: files.map(fileToJson),
    };
  }

  static fromSnapshot(value: unknown): ManifestState {
    const snapshot = readObject("state", value);
    const state = new ManifestState();
    const added = readArray("state.files", snapshot["files"]).map(readFile);
    state.apply({ added, removed: [], flushedSequence: readCount("state.flushedSequence", snapshot["flushedSequence"]) });
    state.nextFileId = Math.max(state.nextFileId, readCount("state.nextFileId", snapshot["nextFileId"]));
    return state;
  }
}

export class Manifest {
  /** Id of the next file to be made; ids handed out and not committed are reused after a restart at most. */
  private nextFileId: number;
  /** The entry on its way to the store. */
  private pending: ManifestEntry | null = null;
  /** Commits happen one after another: each is checked against the state that the one before has left. */
  private tail: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly log: OperationLog<unknown>,
    private readonly state: ManifestState,
    /** Damage that was found at start and cost nothing, as sentences for the server's log. */
    readonly warnings: readonly string[],
  ) {
    this.nextFileId = state.nextFileId;
    log.snapshotWith(() => state.toSnapshot(this.pending));
  }

  /** @throws TsdbError corrupt_file naming the file, io */
  static async open(store: ObjectStore, options: ManifestOptions): Promise<Manifest> {
    const { log, snapshot, operations, warnings } = await openOperationLog<unknown>(store, { ...options, kind: "manifest" });
    const restored = snapshot === null ? new ManifestState() : inFile(snapshot.file, () => ManifestState.fromSnapshot(snapshot.state));
    for (const { value, file } of operations) inFile(file, () => restored.apply(readEntry(value)));
    return new Manifest(log, restored, warnings);
  }

  /** In order of commit. */
  files(): FileMeta[] {
    return [...this.state.files.values()];
  }

  /** Files that hold a block of the table, in order of commit. */
  filesOf(tableId: number): FileMeta[] {
    return [...(this.state.filesByTable.get(tableId)?.values() ?? [])];
  }

  fileById(id: number): FileMeta | undefined {
    return this.state.files.get(id);
  }

  /** Frames of the WAL up to this sequence are in files. */
  get flushedSequence(): number {
    return this.state.flushedSequence;
  }

  /** Newest time of the table in files; undefined when it has none. */
  tableMaxTimeNs(tableId: number): bigint | undefined {
    return this.state.tableMaxTimeNs(tableId);
  }

  /** An id for a new file. An object may be there already under its key, left over from a crash before its commit: put without ifAbsent. */
  allocateFileId(): number {
    return this.nextFileId++;
  }

  /** Makes the change durable, then visible; `onVisible` runs in the same synchronous step in which `files()` changes, so that the
   *  caller can let go of the rows that the new files hold and no snapshot sees them twice.
   *  @throws TsdbError unavailable: nothing has become visible, and nothing ever will again */
  commit(entry: ManifestEntry, onVisible?: () => void): Promise<void> {
    const done = this.tail.then(async () => {
      const contradiction = this.state.contradiction(entry);
      assert(contradiction === null, `manifest entry: ${contradiction}`);
      this.pending = entry;
      try {
        await this.log.append(entryToJson(entry)).durable;
      } finally {
        this.pending = null;
      }
      this.state.apply(entry);
      onVisible?.();
    });
    this.tail = done.catch(() => {}); // the caller was told; the next commit finds out by itself
    return done;
  }

  /** Waits for commits under way. */
  async close(): Promise<void> {
    await this.tail;
    await this.log.close();
  }
}
