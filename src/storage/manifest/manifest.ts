// Which data files make up the data, and up to which sequence the WAL is contained in them. A state machine over its own operation log: an
// entry is atomic, so a flush or compaction is visible completely or not at all.
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { joinNearest, union } from "../../model/rows/time-ranges.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { type OperationLog, openOperationLog } from "../../object-store/operation-log.ts";
import { inFile, readArray, readCount, readObject } from "../../object-store/operation-values.ts";
import {
  type BlockMeta,
  type BlocksOfFile,
  entryToJson,
  type FileMeta,
  fileToJson,
  type ManifestEntry,
  readEntry,
  readFile,
} from "./manifest-entry.ts";

export type { BlockMeta, BlocksOfFile, FileMeta, ManifestEntry } from "./manifest-entry.ts";

const TABLE_TIMES_MAX = 4;

/** A change as requested by flush or compaction. */
export interface ManifestChange {
  readonly added: readonly FileMeta[];
  readonly removed?: readonly number[];
  readonly removedBlocks?: readonly BlocksOfFile[];
  /** Absent: unchanged at the time the change is applied. */
  readonly flushedSequence?: number;
}

/** A block with the file that holds it. */
export interface BlockOfTable {
  readonly file: FileMeta;
  readonly block: BlockMeta;
}

export interface ManifestOptions {
  /** Key prefix of the log in the store. */
  readonly prefix: string;
  /** Called once when the log has failed: the server must stop. */
  readonly onFailure?: (error: TsdbError) => void;
  readonly snapshotEntries?: number;
  /** `commit` is not allowed. */
  readonly readOnly?: boolean;
}

/** Files in order of arrival; changed only by `apply`. */
class ManifestState {
  flushedSequence = 0;
  nextFileId = 1;
  readonly files = new Map<number, FileMeta>();
  /** By table, then by file. */
  readonly blocksByTable = new Map<number, Map<number, readonly BlockMeta[]>>();
  /** Number of changes. */
  changes = 0;
  /** Number of changes of each table's blocks. */
  readonly changesByTable = new Map<number, number>();

  /** @throws TsdbError corrupt_file if the entry does not fit; nothing has changed then */
  apply(entry: ManifestEntry): void {
    const contradiction = this.contradiction(entry);
    if (contradiction !== null) throw new TsdbError("corrupt_file", `the manifest contradicts itself: ${contradiction}`, {});
    const touched = new Set<number>();
    const replace = (id: number, file: FileMeta | undefined) => {
      for (const tableId of this.unlist(id)) touched.add(tableId);
      if (file === undefined) this.files.delete(id);
      else this.files.set(id, file);
      if (file !== undefined) for (const tableId of this.list(file)) touched.add(tableId);
    };
    for (const id of entry.removed) replace(id, undefined);
    for (const { fileId, blocks } of entry.removedBlocks) replace(fileId, withoutBlocks(this.files.get(fileId)!, blocks));
    for (const file of entry.added) {
      replace(file.id, file);
      this.nextFileId = Math.max(this.nextFileId, file.id + 1);
    }
    for (const tableId of touched) this.updateTable(tableId);
    this.flushedSequence = entry.flushedSequence;
    this.changes++;
  }

  contradiction(entry: ManifestEntry): string | null {
    if (entry.flushedSequence < this.flushedSequence) {
      return `flushed sequence ${entry.flushedSequence} behind ${this.flushedSequence}`;
    }
    const changed = new Set<number>();
    for (const id of entry.removed) {
      if (changed.has(id)) return `file ${id} is removed twice`;
      if (!this.files.has(id)) return `file ${id} is removed and was not there`;
      changed.add(id);
    }
    for (const { fileId, blocks } of entry.removedBlocks) {
      if (changed.has(fileId)) return `blocks of file ${fileId} are removed twice`;
      const known = new Set(this.files.get(fileId)?.blocks.map(({ index }) => index));
      for (const index of blocks) if (!known.delete(index)) return `block ${index} of file ${fileId} is removed and was not there`;
      changed.add(fileId);
    }
    const added = new Set<number>();
    for (const { id, blocks } of entry.added) {
      if (this.files.has(id) || added.has(id)) return `file ${id} is added twice`;
      for (const [i, { index }] of blocks.entries()) if (i > 0 && index <= blocks[i - 1]!.index) return `blocks of file ${id} out of order`;
      added.add(id);
    }
    return null;
  }

  /** Adds a file's blocks to the index; returns their tables. */
  private list({ id, blocks }: FileMeta): Iterable<number> {
    const byTable = Map.groupBy(blocks, ({ tableId }) => tableId);
    for (const [tableId, ofTable] of byTable) {
      const files = this.blocksByTable.get(tableId) ?? new Map<number, readonly BlockMeta[]>();
      files.set(id, ofTable);
      this.blocksByTable.set(tableId, files);
    }
    return byTable.keys();
  }

  /** Removes a file's blocks from the index; returns their tables. */
  private unlist(id: number): Set<number> {
    const tables = new Set(this.files.get(id)?.blocks.map(({ tableId }) => tableId));
    for (const tableId of tables) this.blocksByTable.get(tableId)?.delete(id);
    return tables;
  }

  private updateTable(tableId: number): void {
    this.changesByTable.set(tableId, (this.changesByTable.get(tableId) ?? 0) + 1);
    const files = this.blocksByTable.get(tableId);
    if (files?.size === 0) this.blocksByTable.delete(tableId);
  }

  /** JSON of the state with `pending` applied; does not change the state. */
  toSnapshot(pending: ManifestEntry | null): unknown {
    const files = new Map(this.files);
    let { nextFileId } = this;
    for (const id of pending?.removed ?? []) files.delete(id);
    for (const { fileId, blocks } of pending?.removedBlocks ?? []) {
      const left = withoutBlocks(files.get(fileId)!, blocks);
      if (left === undefined) files.delete(fileId);
      else files.set(fileId, left);
    }
    for (const file of pending?.added ?? []) {
      files.set(file.id, file);
      nextFileId = Math.max(nextFileId, file.id + 1);
    }
    return {
      flushedSequence: pending?.flushedSequence ?? this.flushedSequence,
      nextFileId,
      files: [...files.values()].map(fileToJson),
    };
  }

  static fromSnapshot(value: unknown): ManifestState {
    const snapshot = readObject("state", value);
    const state = new ManifestState();
    const added = readArray("state.files", snapshot["files"]).map(readFile);
    const flushedSequence = readCount("state.flushedSequence", snapshot["flushedSequence"]);
    state.apply({ added, removed: [], removedBlocks: [], flushedSequence });
    state.nextFileId = Math.max(state.nextFileId, readCount("state.nextFileId", snapshot["nextFileId"]));
    return state;
  }
}

/** The file without these blocks; undefined if none remain. */
function withoutBlocks(file: FileMeta, gone: readonly number[]): FileMeta | undefined {
  const indices = new Set(gone);
  const blocks = file.blocks.filter(({ index }) => !indices.has(index));
  return blocks.length === 0 ? undefined : { ...file, blocks };
}

/** The manifest of one server, on the main thread. */
export class Manifest {
  /** Id of the next file. Ids that were allocated but not committed may be reused after a restart only. */
  private nextFileId: number;
  /** The entry being written to the store. */
  private pending: ManifestEntry | null = null;
  /** Commits are serialized: each is checked against the state that the previous one left. */
  private tail: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly log: OperationLog<unknown>,
    private readonly state: ManifestState,
    /** Harmless damage found at start, as sentences for the server's log. */
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

  /** Blocks of the table, in no particular order. */
  blocksOf(tableId: number): BlockOfTable[] {
    const found: BlockOfTable[] = [];
    for (const [fileId, blocks] of this.state.blocksByTable.get(tableId) ?? []) {
      const file = this.state.files.get(fileId)!;
      for (const block of blocks) found.push({ file, block });
    }
    return found;
  }

  blockCountOf(tableId: number): number {
    let count = 0;
    for (const blocks of this.state.blocksByTable.get(tableId)?.values() ?? []) count += blocks.length;
    return count;
  }

  /** Tables with blocks. */
  tableIds(): Iterable<number> {
    return this.state.blocksByTable.keys();
  }

  /** Increases with every change. */
  get changes(): number {
    return this.state.changes;
  }

  /** Changes whenever the table's blocks change. */
  changesOf(tableId: number): number {
    return this.state.changesByTable.get(tableId) ?? 0;
  }

  fileById(id: number): FileMeta | undefined {
    return this.state.files.get(id);
  }

  /** WAL frames up to this sequence are in files. */
  get flushedSequence(): number {
    return this.state.flushedSequence;
  }

  /** At most `countMax` ranges that cover the times of the table's rows in files, ascending and disjoint, keeping the longest gaps. */
  tableTimes(tableId: number, countMax = TABLE_TIMES_MAX): TimeRange[] {
    const ranges = this.blocksOf(tableId).map(({ block }) => ({ minNs: block.minTimeNs, maxNs: block.maxTimeNs }));
    return joinNearest(union(ranges), countMax);
  }

  /** An id for a new file. A crash before a commit may have left an object with its key: put without ifAbsent. */
  allocateFileId(): number {
    return this.nextFileId++;
  }

  /** Makes the change durable, then visible. `onVisible` runs in the same synchronous step in which `files()` changes, so that the
   *  caller can release the rows that the new files contain and no snapshot sees them twice. @throws TsdbError unavailable: the change
   *  is not visible, and no later one will be */
  async commit(change: ManifestChange, onVisible?: () => void): Promise<void> {
    const isDone = await this.inTurn(
      change,
      (contradiction) => assert(contradiction === null, `manifest entry: ${contradiction}`),
      onVisible,
    );
    assert(isDone, "a change without a contradiction is made");
  }

  /** The same for a change that another one may have overtaken: false, without effect, if what it removes is no longer there. */
  commitIfCurrent(change: ManifestChange): Promise<boolean> {
    return this.inTurn(change, () => {});
  }

  private inTurn(
    change: ManifestChange,
    onContradiction: (contradiction: string | null) => void,
    onVisible?: () => void,
  ): Promise<boolean> {
    const done = this.tail.then(async () => {
      const entry = { removed: [], removedBlocks: [], flushedSequence: this.state.flushedSequence, ...change };
      const contradiction = this.state.contradiction(entry);
      onContradiction(contradiction);
      if (contradiction !== null) return false;
      this.pending = entry;
      try {
        await this.log.append(entryToJson(entry)).durable;
      } finally {
        this.pending = null;
      }
      this.state.apply(entry);
      onVisible?.();
      return true;
    });
    this.tail = done.catch(() => {}); // the caller has received the error; the next commit detects it by itself
    return done;
  }

  /** Waits for pending commits. */
  async close(): Promise<void> {
    await this.tail;
    await this.log.close();
  }
}
