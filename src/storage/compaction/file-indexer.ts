// Keeps file indexes in line with the catalog: finds files whose index is missing or outdated, has each built in the maintenance worker,
// and installs it. One file at a time; a crash at any point leaves the previous index or none, and the next start continues.

import type { Reclaimer } from "../../model/reclaimer.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { type ObjectSource, openByteSource } from "../block/byte-source.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { FileIndex } from "../file-index/file-index.ts";
import type { FileIndexList, ListedIndex } from "../file-index/list.ts";
import type { BlockMeta, FileMeta, Manifest } from "../manifest/manifest.ts";
import type { IndexRequest } from "./build-index.ts";

/** The result of building one index, for the log. */
export interface IndexReport {
  readonly fileId: number;
  readonly blocks: number;
  readonly columns: number;
  readonly rowCount: number;
  readonly bytes: number;
  readonly milliseconds: number;
}

export interface FileIndexerParts {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly store: ObjectStore;
  readonly pins: Reclaimer;
  readonly list: FileIndexList;
  readonly indexKey: (fileId: number, revision: number) => string;
  /** Where the worker reads the object of this key. */
  readonly objectSource: (key: string) => ObjectSource;
  /** Builds an index in the maintenance worker, which passes it to `write` in pieces. Returns its size in bytes. */
  readonly build: (request: IndexRequest, write: (piece: Uint8Array) => Promise<void>) => Promise<number>;
  /** Cancels the running build, which then rejects. */
  readonly cancelBuild: () => void;
  /** Blocks with fewer rows get no index: reading them costs no more. */
  readonly rowsMin: number;
  /** No index is built while this returns true. */
  readonly isDiskFull?: () => boolean;
  readonly nowMs: () => number;
  readonly onIndexed: (report: IndexReport) => void;
  /** Reports an index that could not be built and will be retried, or a damaged index that is rebuilt. */
  readonly onError: (error: unknown) => void;
}

/** Columns by the position of their block in the file. */
type Wanted = ReadonlyMap<number, { readonly block: BlockMeta; readonly columns: readonly ColumnDef[] }>;

/** Blocks examined without a pause: some milliseconds of the main thread. */
const BLOCKS_PER_STEP = 1000;
const RETRY_MS_MIN = 10_000;
const RETRY_MS_MAX = 3_600_000;

/** The file indexing of one server. Call `check` when files or settings have changed, and `stop` at the end. */
export class FileIndexer {
  private running: Promise<void> | undefined;
  private isStopped = false;
  private isDue = false;
  /** Value of `state()` when everything was up to date; "" before. */
  private doneAt = "";
  private readonly failures = new Map<number, { readonly count: number; readonly untilMs: number }>();

  constructor(private readonly parts: FileIndexerParts) {}

  /** Starts what is due; later changes are picked up by the running pass. */
  check(): void {
    const { catalog, list } = this.parts;
    this.isDue = true;
    if (this.running !== undefined || this.isStopped || (catalog.fileIndexes.isEmpty && list.isEmpty)) return;
    this.running = this.work()
      .catch((error) => this.parts.onError(error))
      .then(() => {
        this.running = undefined;
      });
  }

  /** The disk has space again: retry immediately what failed for lack of it. */
  spaceFound(): void {
    this.failures.clear();
    this.check();
  }

  /** Resolves when nothing is left to do; for tests. */
  async settled(): Promise<void> {
    this.check();
    while (this.running !== undefined) await this.running;
  }

  /** Cancels the running build; the file keeps its previous index. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.parts.cancelBuild();
    await this.running;
  }

  private async work(): Promise<void> {
    while (this.isDue && !this.isStopped) {
      this.isDue = false;
      const state = this.state();
      if (state === this.doneAt && this.failures.size === 0) continue;
      this.removeObsolete();
      if (await this.indexFiles()) this.doneAt = state;
    }
  }

  /** A value that differs whenever there may be something to do. */
  private state(): string {
    const { catalog, manifest } = this.parts;
    return `${catalog.version} ${manifest.changes}`;
  }

  /** Removes indexes of files that no longer exist. */
  private removeObsolete(): void {
    const { manifest, list } = this.parts;
    for (const { ref, key } of [...list.all()]) {
      if (manifest.fileById(ref.fileId) !== undefined) continue;
      list.remove(ref.fileId);
      this.deleteLater(key);
    }
  }

  /** Returns false if some file could not be indexed. */
  private async indexFiles(): Promise<boolean> {
    const { manifest, nowMs, isDiskFull } = this.parts;
    if (isDiskFull?.()) return false;
    let looked = 0;
    let isAll = true;
    for (const { id } of manifest.files()) {
      // look the file up again: it may have been removed or have lost blocks
      const file = manifest.fileById(id);
      if (file === undefined) continue;
      if (this.isStopped) return false;
      looked += file.blocks.length;
      if (looked >= BLOCKS_PER_STEP) {
        looked = 0;
        await new Promise((resolve) => setImmediate(resolve));
      }
      const waitMs = (this.failures.get(id)?.untilMs ?? 0) - nowMs();
      // no longer, in case the clock was set back
      if (waitMs > 0 && waitMs <= RETRY_MS_MAX) {
        isAll = false;
        continue;
      }
      try {
        await this.indexFile(file);
        this.failures.delete(id);
      } catch (error) {
        // a merge may have replaced the file
        if (manifest.fileById(id) === undefined) continue;
        isAll = false;
        if (this.isStopped) return false;
        this.noteFailure(id);
        this.parts.onError(error);
      }
    }
    return isAll;
  }

  private async indexFile(file: FileMeta): Promise<void> {
    const { list } = this.parts;
    const wanted = this.wantedOf(file);
    const listed = list.of(file.id);
    if (wanted.size === 0) {
      if (listed === undefined) return;
      list.remove(file.id);
      this.deleteLater(listed.key);
      return;
    }
    if (listed === undefined || !this.isAsWanted(listed, file, wanted)) await this.build(file, wanted, listed);
  }

  private wantedOf(file: FileMeta): Wanted {
    const { catalog, rowsMin } = this.parts;
    const wanted = new Map<number, { block: BlockMeta; columns: readonly ColumnDef[] }>();
    if (catalog.fileIndexes.isEmpty) return wanted;
    for (const block of file.blocks) {
      const table = block.rowCount < rowsMin ? undefined : catalog.tableById(block.tableId);
      if (table === undefined) continue;
      const columns = catalog.fileIndexes.columnsOf(table).filter(({ id }) => block.columnIds.includes(id));
      if (columns.length > 0) wanted.set(block.index, { block, columns });
    }
    return wanted;
  }

  /** True if no column is missing and no remaining block has a column too many. */
  private isAsWanted(listed: ListedIndex, file: FileMeta, wanted: Wanted): boolean {
    listed.columns ??= this.readColumns(listed);
    const { columns } = listed;
    return file.blocks.every(({ index }) => {
      const has = columns.get(index);
      const wants = wanted.get(index)?.columns ?? [];
      return (has?.size ?? 0) === wants.length && wants.every(({ id }) => has!.has(id));
    });
  }

  /** The columns of an index found at start; empty if it cannot be read. */
  private readColumns({ ref }: ListedIndex): ReadonlyMap<number, ReadonlySet<number>> {
    const columns = new Map<number, Set<number>>();
    try {
      const index = new FileIndex(openByteSource(ref.source));
      index.close();
      for (const { blockIndex, columnId } of index.entries) columns.set(blockIndex, (columns.get(blockIndex) ?? new Set()).add(columnId));
    } catch (error) {
      this.parts.onError(error);
    }
    return columns;
  }

  private async build(file: FileMeta, wanted: Wanted, before: ListedIndex | undefined): Promise<void> {
    const { manifest, store, list, indexKey, objectSource, build, nowMs, onIndexed } = this.parts;
    const startMs = nowMs();
    const revision = (before?.ref.revision ?? 0) + 1;
    const key = indexKey(file.id, revision);
    const blocks = [...wanted.values()].map(({ block, columns }) => {
      const { index, rowCount, minTimeNs, maxTimeNs, seqMin, seqMax } = block;
      return { index, rowCount, minTimeNs, maxTimeNs, seqMin, seqMax, columns };
    });
    const writer = await store.begin(key);
    let bytes: number;
    try {
      bytes = await build({ source: objectSource(file.key), blocks }, (piece) => writer.append(piece));
      await writer.finish();
    } catch (error) {
      await writer.abort();
      throw error;
    }
    if (manifest.fileById(file.id) === undefined) {
      await store.delete(key);
      return;
    }
    const columns = new Map([...wanted].map(([index, of]) => [index, new Set(of.columns.map(({ id }) => id))]));
    list.set(file.id, revision, key, bytes, columns);
    if (before !== undefined) this.deleteLater(before.key);
    onIndexed({
      fileId: file.id,
      blocks: blocks.length,
      columns: blocks.reduce((sum, block) => sum + block.columns.length, 0),
      rowCount: blocks.reduce((sum, { rowCount }) => sum + rowCount, 0),
      bytes,
      milliseconds: nowMs() - startMs,
    });
  }

  /** Deletes the object after its last reader. After a crash the next start removes it. */
  private deleteLater(key: string): void {
    const { pins, store, onError } = this.parts;
    pins.defer(() => void store.delete(key).catch(onError));
  }

  private noteFailure(fileId: number): void {
    const count = (this.failures.get(fileId)?.count ?? 0) + 1;
    this.failures.set(fileId, { count, untilMs: this.parts.nowMs() + Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** (count - 1)) });
  }
}
