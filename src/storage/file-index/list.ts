// Which files have an index, and where it is. Indexes are found by their keys: each is an object beside the data, which can be made again
// from its file at any time, so no log names it.
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { ObjectSource } from "../block/byte-source.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** The index of a file. Another object for every other index. */
export interface FileIndexRef {
  readonly fileId: number;
  /** Of one file a higher number is newer. */
  readonly revision: number;
  readonly source: ObjectSource;
}

export interface ListedIndex {
  readonly ref: FileIndexRef;
  readonly key: string;
  readonly bytes: number;
  /** Columns of each block, by its place in the file; null: not looked at yet. */
  columns: ReadonlyMap<number, ReadonlySet<number>> | null;
}

const KEY = /\/(\d{20})-(\d{1,15})\.ix$/;
const NO_REFS: readonly FileIndexRef[] = [];
/** Tables that are remembered: those used last. */
const TABLES_MAX = 1000;

export class FileIndexList {
  private readonly byFile = new Map<number, ListedIndex>();
  private readonly known = new Map<number, { readonly changes: string; readonly refs: readonly FileIndexRef[] }>();
  /** Grows with every change. */
  private changes = 0;

  private constructor(
    private readonly manifest: Manifest,
    private readonly objectSource: (key: string) => ObjectSource,
  ) {}

  /** Finds what there is, and unless it is `readOnly` removes what is of no file any more or was replaced: a crash may have come before
   *  that.
   *  @throws TsdbError io */
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

  /** Of all of them. */
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

  /** Of a file that has none before, or in place of it. */
  set(fileId: number, revision: number, key: string, bytes: number, columns: ListedIndex["columns"] = null): void {
    this.changes++;
    this.byFile.set(fileId, { ref: { fileId, revision, source: this.objectSource(key) }, key, bytes, columns });
  }

  remove(fileId: number): void {
    if (this.byFile.delete(fileId)) this.changes++;
  }

  /** Indexes of the files that hold the table's blocks: the same list until one of them changes. */
  refsOf(tableId: number): readonly FileIndexRef[] {
    if (this.byFile.size === 0) return NO_REFS;
    const changes = `${this.manifest.changesOf(tableId)} ${this.changes}`;
    let known = this.known.get(tableId);
    if (known?.changes !== changes) {
      const files = new Set(this.manifest.blocksOf(tableId).map(({ file }) => file.id));
      const refs = [...files].flatMap((fileId) => this.byFile.get(fileId)?.ref ?? []);
      known = { changes, refs: refs.length === 0 ? NO_REFS : refs };
    }
    // most recently used last
    this.known.delete(tableId);
    this.known.set(tableId, known);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= TABLES_MAX) break;
      this.known.delete(oldest);
    }
    return known.refs;
  }
}
