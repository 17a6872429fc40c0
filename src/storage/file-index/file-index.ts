// An open file index: tells which pages of a block may contain a row with one of some texts. Without information, for whatever reason,
// every page may.
import { crc32 } from "../../disk/crc32.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ByteSource } from "../block/byte-source.ts";
import { corrupt } from "../pt/format.ts";
import {
  CELL_BYTES,
  cellHolds,
  cellOf,
  INDEX_HEADER_BYTES,
  INDEX_TRAILER_BYTES,
  type IndexEntry,
  type IndexedBlock,
  type Needle,
  parseIndexDirectory,
  parseIndexTrailer,
} from "./format.ts";
import { ValueList } from "./values.ts";

/** Estimated JavaScript memory of an entry. */
const ENTRY_BYTES = 300;

export interface BlockPlace extends IndexedBlock {
  readonly blockIndex: number;
}

/** The index of one data file. */
export class FileIndex {
  readonly entries: readonly IndexEntry[];
  private readonly byColumn = new Map<string, IndexEntry>();
  private readonly lists = new Map<IndexEntry, ValueList>();
  private valueBytes = 0;

  /** Reads the directory. @throws TsdbError corrupt_file, io; the source is closed then */
  constructor(private readonly source: ByteSource) {
    try {
      this.entries = this.readDirectory();
    } catch (error) {
      source.close();
      throw error instanceof TsdbError ? error : corrupt(source.name, 0, error);
    }
    for (const entry of this.entries) this.byColumn.set(`${entry.blockIndex} ${entry.columnId}`, entry);
  }

  get memoryBytes(): number {
    const cells = this.entries.reduce((sum, { pageCount }) => sum + pageCount * 4, 0);
    return this.entries.length * ENTRY_BYTES + cells + this.valueBytes;
  }

  /** u8 per page of the block: non-zero if it may have a row whose column is one of `needles`; "none" if no page can; null if nothing is
   *  known. @throws TsdbError corrupt_file naming file and offset, io */
  pages(place: BlockPlace, columnId: number, needles: readonly Needle[]): Uint8Array | "none" | null {
    const entry = this.byColumn.get(`${place.blockIndex} ${columnId}`);
    if (entry === undefined || !isOf(entry, place)) return null;
    const { content, pageCount } = entry;
    const found = new Uint8Array(pageCount);
    try {
      const isAnywhere =
        content.kind === "values"
          ? needles.filter(({ bytes }) => this.list(entry).mark(bytes, found)).length > 0
          : this.markFilters(content, needles, found);
      if (!isAnywhere) return "none";
      return pageCount === 0 ? null : found;
    } catch (error) {
      throw error instanceof TsdbError ? error : corrupt(this.source.name, content.offset, error);
    }
  }

  /** Closes the file descriptor; a later call opens it again. */
  close(): void {
    this.source.close();
  }

  private markFilters(
    { offset, cells }: IndexEntry["content"] & { kind: "filters" },
    needles: readonly Needle[],
    found: Uint8Array,
  ): boolean {
    let isAnywhere = false;
    let at = offset;
    for (const [page, count] of cells.entries()) {
      const holds =
        count > 0 &&
        needles.some((needle) => {
          const cell = cellOf(needle, count);
          return cellHolds(this.read(at + cell * CELL_BYTES, CELL_BYTES), cell, needle);
        });
      if (holds) {
        isAnywhere = true;
        // without pages there is a single filter for the whole block
        if (found.length > 0) found[page] = 1;
      }
      at += count * CELL_BYTES;
    }
    return isAnywhere;
  }

  private list(entry: IndexEntry): ValueList {
    let list = this.lists.get(entry);
    if (list === undefined) {
      const { offset, bytes, crc } = entry.content as IndexEntry["content"] & { kind: "values" };
      const read = this.read(offset, bytes);
      if (crc32(read) !== crc) throw new Error("checksum of a list of values is wrong");
      list = new ValueList(read, entry.pageCount);
      this.lists.set(entry, list);
      this.valueBytes += list.memoryBytes;
    }
    return list;
  }

  private readDirectory(): IndexEntry[] {
    const { size } = this.source;
    if (size < INDEX_HEADER_BYTES + INDEX_TRAILER_BYTES) throw new Error(`${size} bytes are no file index`);
    const trailer = parseIndexTrailer(this.read(size - INDEX_TRAILER_BYTES, INDEX_TRAILER_BYTES), size);
    return parseIndexDirectory(this.read(trailer.offset, trailer.bytes), trailer);
  }

  /** Borrowed until the next read. */
  private read(offset: number, bytes: number): Uint8Array {
    const read = this.source.read(offset, bytes);
    if (read.length !== bytes) throw new Error(`cut off: ${read.length} of ${bytes} bytes are there`);
    return read;
  }
}

function isOf({ block }: IndexEntry, place: BlockPlace): boolean {
  const isSameRows = block.rowCount === place.rowCount && block.minTimeNs === place.minTimeNs && block.maxTimeNs === place.maxTimeNs;
  return isSameRows && block.seqMin === place.seqMin && block.seqMax === place.seqMax;
}
