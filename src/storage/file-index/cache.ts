// Caches open file indexes within a memory budget: their directories and value lists; filters are read from the file each time. One per
// thread. An index that cannot be read excludes nothing, so statements work without it; the indexer finds the damage (file-indexer.ts).
import { TsdbError } from "../../model/errors.ts";
import { openByteSource } from "../block/byte-source.ts";
import { type BlockPlace, FileIndex } from "./file-index.ts";
import type { Needle } from "./format.ts";
import type { FileIndexRef } from "./list.ts";

const BYTES_MAX = 32 << 20;

interface Entry {
  readonly revision: number;
  /** Null if it cannot be read. */
  index: FileIndex | null;
  bytes: number;
}

/** The open file indexes of one thread. */
export class FileIndexCache {
  /** Least recently used first. */
  private readonly entries = new Map<number, Entry>();
  /** Indexes that may have an open file descriptor. */
  private readonly open = new Set<FileIndex>();
  private bytes = 0;

  constructor(private readonly bytesMax = BYTES_MAX) {}

  /** Like FileIndex.pages; null if the index cannot be read. */
  pages(ref: FileIndexRef, place: BlockPlace, columnId: number, needles: readonly Needle[]): Uint8Array | "none" | null {
    const entry = this.entry(ref);
    if (entry.index === null) return null;
    this.open.add(entry.index);
    try {
      return entry.index.pages(place, columnId, needles);
    } catch (error) {
      this.giveUp(entry, error);
      return null;
    } finally {
      this.measure(ref.fileId, entry);
    }
  }

  /** Closes file descriptors. */
  rest(): void {
    for (const index of this.open) index.close();
    this.open.clear();
  }

  /** Drops the index of a file that is no longer part of the data. */
  drop(fileId: number): void {
    const entry = this.entries.get(fileId);
    if (entry === undefined) return;
    this.entries.delete(fileId);
    this.bytes -= entry.bytes;
    if (entry.index === null) return;
    entry.index.close();
    this.open.delete(entry.index);
  }

  private entry(ref: FileIndexRef): Entry {
    const { fileId, revision } = ref;
    let entry = this.entries.get(fileId);
    if (entry !== undefined && entry.revision !== revision) {
      this.drop(fileId);
      entry = undefined;
    }
    if (entry === undefined) {
      entry = { revision, index: null, bytes: 0 };
      try {
        entry.index = new FileIndex(openByteSource(ref.source));
      } catch (error) {
        this.giveUp(entry, error);
      }
    }
    // move to the end: most recently used
    this.entries.delete(fileId);
    this.entries.set(fileId, entry);
    return entry;
  }

  private giveUp(entry: Entry, error: unknown): void {
    if (!(error instanceof TsdbError)) throw error;
    if (entry.index !== null) {
      entry.index.close();
      this.open.delete(entry.index);
    }
    entry.index = null;
  }

  private measure(fileId: number, entry: Entry): void {
    const bytes = entry.index?.memoryBytes ?? 0;
    this.bytes += bytes - entry.bytes;
    entry.bytes = bytes;
    for (const oldest of this.entries.keys()) {
      if (this.bytes <= this.bytesMax || oldest === fileId) break;
      this.drop(oldest);
    }
  }
}
