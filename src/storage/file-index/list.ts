// Lists the existing file indexes. They are found by their keys: an index is an object beside the data that can be rebuilt from its file at
// any time, so no log refers to it.
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { ObjectSource } from "../block/byte-source.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** The index of a file. A new object whenever the index changes. */
export interface FileIndexRef {
  readonly fileId: number;
  /** Of several indexes of a file, the one with the highest number is current. */
  readonly revision: number;
  readonly source: ObjectSource;
}

export interface ListedIndex {
  readonly ref: FileIndexRef;
  readonly key: string;
  readonly bytes: number;
  /** Indexed columns of each block, by its position in the file; null: not read yet. */
  columns: ReadonlyMap<number, ReadonlySet<number>> | null;
}

const KEY = /\/(\d{20})-(\d{1,15})\.ix$/;
const NO_REFS: readonly FileIndexRef[] = [];
/** Tables whose lists are cached: the most recently used. */
const TABLES_MAX = 1000;

/** The file indexes of the server, on the main thread. */
export class FileIndexList {
  private readonly byFile = new Map<number, ListedIndex>();
  private readonly known = new Map<number, { readonly changes: string; readonly refs: readonly FileIndexRef[] }>();
  /** Increases with every change. */
  private changes = 0;

  private constructor(
    private readonly manifest: Manifest,
    private readonly objectSource: (key: string) => ObjectSource,
  ) {}

  /** Lists the existing indexes; unless `readOnly`, removes outdated ones and those of removed files, left over from a crash. @throws
   *  TsdbError io */
  static async open(
    store: ObjectStore,
    manifest: Manifest,
    { prefix, objectSource, readOnly }: { prefix: string; objectSource: (key: string) => ObjectSource; readOnly?: boolean },
  ): Promise<FileIndexList> {
    const list = new FileIndexList(manifest, objectSource);
    const obsolete: string[] = [];
    for (const { key, sizeBytes } of await store.list(prefix)) {
      const [, file, revision] = KEY.exec(key) ?? [];
      if (file === undefined || manifest.fileById(Number(file)) === undefined) {
        obsolete.push(key);
        continue;
      }
      const before = list.byFile.get(Number(file));
      if (before !== undefined) obsolete.push(before.ref.revision > Number(revision) ? key : before.key);
      if (before === undefined || before.ref.revision < Number(revision)) list.set(Number(file), Number(revision), key, sizeBytes);
    }
    if (!readOnly) for (const key of obsolete) await store.delete(key);
    return list;
  }

  get isEmpty(): boolean {
    return this.byFile.size === 0;
  }

  get count(): number {
    return this.byFile.size;
  }

  /** Total size of all indexes. */
  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.byFile.values()) sum += bytes;
    return sum;
  }

  all(): IterableIterator<ListedIndex> {
    return this.byFile.values();
  }

  of(fileId: number): ListedIndex | undefined {
    return this.byFile.get(fileId);
  }

  /** Registers or replaces the index of a file. */
  set(fileId: number, revision: number, key: string, bytes: number, columns: ListedIndex["columns"] = null): void {
    this.changes++;
    this.byFile.set(fileId, { ref: { fileId, revision, source: this.objectSource(key) }, key, bytes, columns });
  }

  remove(fileId: number): void {
    if (this.byFile.delete(fileId)) this.changes++;
  }

  /** Indexes of the files that contain the table's blocks; the same array until one of them changes. */
  refsOf(tableId: number): readonly FileIndexRef[] {
    if (this.byFile.size === 0) return NO_REFS;
    const changes = `${this.manifest.changesOf(tableId)} ${this.changes}`;
    let known = this.known.get(tableId);
    if (known?.changes !== changes) {
      const files = new Set(this.manifest.blocksOf(tableId).map(({ file }) => file.id));
      const refs = [...files].flatMap((fileId) => this.byFile.get(fileId)?.ref ?? []);
      known = { changes, refs: refs.length === 0 ? NO_REFS : refs };
    }
    // move to the end: most recently used
    this.known.delete(tableId);
    this.known.set(tableId, known);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= TABLES_MAX) break;
      this.known.delete(oldest);
    }
    return known.refs;
  }
}
