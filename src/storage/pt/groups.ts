// Columns of a block written as a stream: pages are written in groups, and a group's chunks of one column are contiguous. In the directory
// such a column is | offset u64 | dictionary bytes u32 | dictionary crc u32 | (bytes u32 | crc u32) per page | for every group. Only the
// Parquet files of older servers have dictionaries, before the chunks. Offsets of chunks are computed on demand: most are never needed.
import { assert } from "../../model/assert.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import { DirectoryWriter } from "./bytes.ts";
import type { PtExtent, StoredColumn } from "./stored-column.ts";

const GROUP_HEAD_BYTES = 16;
const PAGE_BYTES = 8;

/** The page groups of a block, for all of its columns. */
export class PageGroups {
  /** Group of each page. */
  readonly groupOf: Uint32Array;
  /** First page of each group, followed by the number of pages. */
  readonly firstPage: Uint32Array;

  constructor(readonly pageCounts: readonly number[]) {
    this.firstPage = new Uint32Array(pageCounts.length + 1);
    pageCounts.forEach((count, group) => {
      this.firstPage[group + 1] = this.firstPage[group]! + count;
    });
    this.groupOf = new Uint32Array(this.pageCount);
    for (let group = 0; group < pageCounts.length; group++) this.groupOf.fill(group, this.firstPage[group], this.firstPage[group + 1]);
  }

  get pageCount(): number {
    return this.firstPage.at(-1)!;
  }

  /** Bytes of a column's directory entries. */
  get entryBytes(): number {
    return this.pageCounts.length * GROUP_HEAD_BYTES + this.pageCount * PAGE_BYTES;
  }

  /** Offset of a group's entries. */
  at(group: number): number {
    return group * GROUP_HEAD_BYTES + this.firstPage[group]! * PAGE_BYTES;
  }
}

/** A column of a directory. */
export class GroupedColumn implements StoredColumn {
  private readonly entries: DataView;

  /** @throws Error if a chunk does not lie within [dataStart, dataEnd) */
  constructor(
    readonly columnId: number,
    readonly type: ColumnType,
    private readonly groups: PageGroups,
    entries: Uint8Array,
    { dataStart, dataEnd }: { dataStart: number; dataEnd: number },
  ) {
    this.entries = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
    groups.pageCounts.forEach((count, group) => {
      const { offset, bytes } = this.chunk(groups.firstPage[group]! + count - 1);
      const first = this.offsetOf(group);
      if (first < dataStart || offset + bytes > dataEnd) throw new Error(`column ${columnId} at ${first} lies outside the data`);
    });
  }

  chunk(page: number): PtExtent {
    const group = this.groups.groupOf[page]!;
    const at = this.groups.at(group);
    let offset = this.offsetOf(group) + this.entries.getUint32(at + 8, true);
    let entry = at + GROUP_HEAD_BYTES;
    for (let before = this.groups.firstPage[group]!; before < page; before++, entry += PAGE_BYTES) {
      offset += this.entries.getUint32(entry, true);
    }
    return { offset, bytes: this.entries.getUint32(entry, true), crc: this.entries.getUint32(entry + 4, true) };
  }

  /** The dictionary before the chunks of a page's group; null in a .pt file. */
  dictionary(page: number): PtExtent | null {
    const group = this.groups.groupOf[page]!;
    const at = this.groups.at(group);
    const bytes = this.entries.getUint32(at + 8, true);
    return bytes === 0 ? null : { offset: this.offsetOf(group), bytes, crc: this.entries.getUint32(at + 12, true) };
  }

  private offsetOf(group: number): number {
    return Number(this.entries.getBigUint64(this.groups.at(group), true));
  }
}

/** Builds a column's entries while its block is written, group by group. */
export class GroupedColumnEntries {
  private readonly writer = new DirectoryWriter(256);

  constructor(
    readonly columnId: number,
    readonly type: ColumnType,
  ) {}

  /** `chunks` are contiguous; at least one. */
  addGroup(chunks: readonly PtExtent[]): void {
    const first = chunks[0]!;
    this.writer.u64(BigInt(first.offset));
    this.writer.u64(0n);
    let offset = first.offset;
    for (const chunk of chunks) {
      assert(chunk.offset === offset, `a chunk at ${chunk.offset}, the one before ends at ${offset}`);
      this.writer.u32(chunk.bytes);
      this.writer.u32(chunk.crc);
      offset += chunk.bytes;
    }
  }

  /** The entries so far; borrowed until the next group. */
  bytes(): Uint8Array {
    return this.writer.view();
  }
}
