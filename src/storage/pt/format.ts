// The .pt format: magic numbers and the directory at the end, in memory and as bytes. FORMAT.md draws the same for readers of hex dumps.
import { crc32 } from "../../disk/crc32.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import { I64_MIN } from "../../model/rows/int64.ts";
import { DAY_NS } from "../../model/time/time-units.ts";
import { DirectoryReader, DirectoryWriter } from "./bytes.ts";
import { GroupedColumn, type GroupedColumnEntries, PageGroups } from "./groups.ts";
import type { PtExtent, StoredColumn } from "./stored-column.ts";

/** "TSDBPT" and two zero bytes. */
const MAGIC = 0x0000_5450_4244_5354n;
/** Written by flushes: the chunks of a column are contiguous. */
const PT_VERSION = 1;
/** Written by merges: chunks are contiguous per page group (pt/groups.ts). */
export const PT_VERSION_GROUPED = 2;
/** | magic u64 | version u32 | 0 u32 | */
export const PT_HEADER_BYTES = 16;
/** | directoryOffset u64 | directoryBytes u32 | directoryCrc u32 | version u32 | 0 u32 | magic u64 | */
export const PT_TRAILER_BYTES = 32;

const FLAG_UNIQUE = 1;
const FLAG_GROUPED = 2;

/** Rows of a block that are encoded together, sorted by series and time. */
export interface PtPage {
  readonly rowCount: number;
  /** Ids in the block's dictionary. */
  readonly firstSeries: number;
  readonly lastSeries: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
}

export interface PtColumn {
  readonly columnId: number;
  /** Time or a field type; tags are in the dictionary. */
  readonly type: ColumnType;
  /** One per page, contiguous in the file. */
  readonly chunks: readonly PtExtent[];
}

export interface PtTag {
  readonly columnId: number;
  /** Highest code; code 0 stands for absent. */
  readonly valueCount: number;
}

/** Rows of one table and one UTC day. */
export interface PtBlock {
  readonly databaseId: number;
  readonly tableId: number;
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly rowCount: number;
  readonly seriesCount: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  /** Log sequences of the rows. */
  readonly seqMin: number;
  readonly seqMax: number;
  /** False if rows may have the series and time of rows of lower sequences in other files. Within a block each pair is unique. */
  readonly unique: boolean;
  /** If not unique: ranges that contain all such times, as far as known. Stored in the manifest, not in the file. */
  readonly overlaps?: readonly TimeRange[];
  /** The table's name when the file was written, for people inspecting files; the catalog is authoritative. */
  readonly tableName: string;
  readonly dictionary: PtExtent;
  /** Ascending column ids. */
  readonly tags: readonly PtTag[];
  readonly pages: readonly PtPage[];
  /** Time first, then ascending column ids. */
  readonly columns: readonly PtColumn[];
}

/** A block written in page groups. */
export interface PtGroupedBlock extends Omit<PtBlock, "columns"> {
  /** Number of pages in each group. */
  readonly groups: readonly number[];
  readonly columns: readonly GroupedColumnEntries[];
}

/** A block read from a file. */
export interface StoredBlock extends Omit<PtBlock, "columns"> {
  readonly columns: readonly StoredColumn[];
}

export interface PtDirectory {
  readonly blocks: readonly (PtBlock | PtGroupedBlock)[];
}

/** Start of a block's day. For the first day of the i64 range only the end is representable. */
export function dayStartNs({ day }: Pick<PtBlock, "day">): bigint {
  const start = BigInt(day) * DAY_NS;
  return start < I64_MIN ? I64_MIN : start;
}

/** Ids of all columns in a block, tags included, ascending. */
export function columnIdsOf({ tags, columns }: Pick<StoredBlock, "tags"> & { columns: readonly { columnId: number }[] }): number[] {
  return [...tags, ...columns].map(({ columnId }) => columnId).sort((a, b) => a - b);
}

/** The first PT_HEADER_BYTES of a file. */
export function encodeHeader(version = PT_VERSION): Uint8Array {
  const writer = new DirectoryWriter(PT_HEADER_BYTES);
  writer.u64(MAGIC);
  writer.u32(version);
  writer.u32(0);
  return writer.take();
}

/** Directory and trailer of a file whose blocks end at `offset`. */
export function encodeDirectory(directory: PtDirectory, offset: number, version = PT_VERSION): Uint8Array {
  const writer = new DirectoryWriter(4096);
  const { blocks } = directory;
  writer.u32(blocks.length);
  for (let i = 0; i < blocks.length; i++) writer.u32(0);
  blocks.forEach((block, i) => {
    writer.setU32(4 + i * 4, writer.length);
    encodeBlock(writer, block);
  });
  const { length } = writer;
  const crc = crc32(writer.view());
  writer.u64(BigInt(offset));
  writer.u32(length);
  writer.u32(crc);
  writer.u32(version);
  writer.u32(0);
  writer.u64(MAGIC);
  return writer.take();
}

function encodeBlock(writer: DirectoryWriter, block: PtBlock | PtGroupedBlock): void {
  writer.u64(BigInt(block.databaseId));
  writer.u64(BigInt(block.tableId));
  writer.i32(block.day);
  writer.u32((block.unique ? FLAG_UNIQUE : 0) | ("groups" in block ? FLAG_GROUPED : 0));
  writer.u32(block.rowCount);
  writer.u32(block.seriesCount);
  writer.i64(block.minTimeNs);
  writer.i64(block.maxTimeNs);
  writer.u64(BigInt(block.seqMin));
  writer.u64(BigInt(block.seqMax));
  writer.u64(BigInt(block.dictionary.offset));
  writer.u32(block.dictionary.bytes);
  writer.u32(block.dictionary.crc);
  writer.u32(block.tags.length);
  writer.u32(block.columns.length);
  writer.u32(block.pages.length);
  writer.text(block.tableName);
  for (const { columnId, valueCount } of block.tags) {
    writer.u32(columnId);
    writer.u32(valueCount);
  }
  for (const page of block.pages) {
    writer.u32(page.rowCount);
    writer.u32(page.firstSeries);
    writer.u32(page.lastSeries);
    writer.i64(page.minTimeNs);
    writer.i64(page.maxTimeNs);
  }
  if ("groups" in block) encodeGroups(writer, block);
  else encodeChunks(writer, block);
}

function encodeGroups(writer: DirectoryWriter, { groups, columns }: PtGroupedBlock): void {
  writer.u32(groups.length);
  for (const pageCount of groups) writer.u32(pageCount);
  for (const column of columns) {
    writer.u32(column.columnId);
    writer.u32(column.type);
    writer.bytes(column.bytes());
  }
}

function encodeChunks(writer: DirectoryWriter, block: PtBlock): void {
  for (const { columnId, type, chunks } of block.columns) {
    assert(chunks.length === block.pages.length, `${chunks.length} chunks of column ${columnId} for ${block.pages.length} pages`);
    writer.u32(columnId);
    writer.u32(type);
    writer.u64(BigInt(chunks[0]!.offset));
    for (const { bytes, crc } of chunks) {
      writer.u32(bytes);
      writer.u32(crc);
    }
  }
}

/** Locates the directory, from a file's last PT_TRAILER_BYTES. @throws Error with the cause alone: the caller knows the file */
export function parseTrailer(trailer: Uint8Array, fileBytes: number): PtExtent {
  const reader = new DirectoryReader(trailer);
  const offset = reader.count();
  const bytes = reader.u32();
  const crc = reader.u32();
  const version = reader.u32();
  reader.u32();
  if (reader.u64() !== MAGIC) throw new Error("no .pt trailer");
  checkVersion(version);
  const end = fileBytes - PT_TRAILER_BYTES;
  if (offset < PT_HEADER_BYTES || offset + bytes !== end) throw new Error(`directory at ${offset} + ${bytes}, file ends at ${end}`);
  return { offset, bytes, crc };
}

/** A directory whose blocks are parsed on demand: a file may contain thousands, a statement needs a few. */
export class PtDirectoryReader {
  readonly blockCount: number;

  /** `bytes` is kept. Data starts at offset `dataStart` of the file. @throws Error with the cause alone */
  constructor(
    private readonly bytes: Uint8Array,
    { crc, offset }: PtExtent,
    readonly dataStart = PT_HEADER_BYTES,
  ) {
    const got = crc32(bytes);
    if (got !== crc) throw new Error(`checksum of the directory ${hex(got)}, expected ${hex(crc)}`);
    this.dataEnd = offset;
    this.blockCount = new DirectoryReader(bytes).u32();
    if (this.blockCount > bytes.length / 4 - 1) throw new Error(`${this.blockCount} blocks in a directory of ${bytes.length} bytes`);
  }

  /** Offset of the end of the data. */
  readonly dataEnd: number;

  get byteLength(): number {
    return this.bytes.length;
  }

  /** Parses and checks a block: offsets lie in the data, counts are consistent. @throws Error with the cause alone */
  block(index: number): StoredBlock {
    if (index >= this.blockCount) throw new Error(`block ${index} of ${this.blockCount}`);
    const offset = new DirectoryReader(this.bytes.subarray(4 + index * 4)).u32();
    return parseBlock(new DirectoryReader(this.bytes.subarray(offset)), this);
  }

  all(): { blocks: StoredBlock[] } {
    return { blocks: Array.from({ length: this.blockCount }, (_, index) => this.block(index)) };
  }
}

/** @throws Error with the cause alone */
export function checkHeader(header: Uint8Array): void {
  const reader = new DirectoryReader(header);
  if (reader.u64() !== MAGIC) throw new Error("no .pt header");
  checkVersion(reader.u32());
}

function checkVersion(version: number): void {
  if (version === PT_VERSION || version === PT_VERSION_GROUPED) return;
  throw new Error(`format version ${version}, this program reads ${PT_VERSION} and ${PT_VERSION_GROUPED}`);
}

/** The error for damage at an offset of a file. */
export function corrupt(file: string, offset: number, cause: unknown): TsdbError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TsdbError("corrupt_file", `cannot read ${file} at ${offset}: ${reason}`, { file, offset, cause: reason }, { cause });
}

/** A checksum as eight hex digits, for error messages. */
export function hex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}

function parseBlock(reader: DirectoryReader, data: { readonly dataStart: number; readonly dataEnd: number }): StoredBlock {
  const { dataStart, dataEnd } = data;
  const extent = (offset: number, bytes: number, crc: number): PtExtent => {
    if (offset < dataStart || offset + bytes > dataEnd) throw new Error(`${bytes} bytes at ${offset} lie outside the data`);
    return { offset, bytes, crc };
  };
  const databaseId = reader.count();
  const tableId = reader.count();
  const day = reader.i32();
  const flags = reader.u32();
  const rowCount = reader.u32();
  const seriesCount = reader.u32();
  const minTimeNs = reader.i64();
  const maxTimeNs = reader.i64();
  const seqMin = reader.count();
  const seqMax = reader.count();
  const dictionary = extent(reader.count(), reader.u32(), reader.u32());
  const tagCount = reader.u32();
  const columnCount = reader.u32();
  const pageCount = reader.u32();
  const tableName = reader.text();
  if (rowCount === 0 || seriesCount === 0 || seriesCount > rowCount) throw new Error(`${rowCount} rows of ${seriesCount} series`);
  const tags = reader.list(tagCount, () => ({ columnId: reader.u32(), valueCount: reader.u32() }));
  if (tags.some(({ valueCount }) => valueCount > seriesCount)) throw new Error(`more tag values than ${seriesCount} series`);
  const pages = reader.list(pageCount, () => ({
    rowCount: reader.u32(),
    firstSeries: reader.u32(),
    lastSeries: reader.u32(),
    minTimeNs: reader.i64(),
    maxTimeNs: reader.i64(),
  }));
  checkPages(pages, rowCount, seriesCount);
  const groups = (flags & FLAG_GROUPED) === 0 ? null : readGroups(reader, pageCount);
  const columns = reader.list(columnCount, (): StoredColumn => {
    const columnId = reader.u32();
    const type = readType(reader.u32());
    if (groups !== null) return new GroupedColumn(columnId, type, groups, reader.piece(groups.entryBytes), data);
    const column = new ChunkedColumn(columnId, type, reader.count(), reader.piece(pageCount * 8));
    extent(column.offset, column.bytes, 0);
    return column;
  });
  if (columns[0]?.type !== ColumnType.time || columns[0].columnId !== TIME_COLUMN.id) throw new Error("no time column");
  const unique = (flags & FLAG_UNIQUE) !== 0;
  const block = { databaseId, tableId, day, rowCount, seriesCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, tableName };
  return { ...block, dictionary, tags, pages, columns };
}

function readGroups(reader: DirectoryReader, pageCount: number): PageGroups {
  const pageCounts = reader.list(reader.u32(), () => reader.u32());
  const total = pageCounts.reduce((sum, count) => sum + count, 0);
  if (total !== pageCount || pageCounts.includes(0)) throw new Error(`groups of ${total} pages in a block of ${pageCount}`);
  return new PageGroups(pageCounts);
}

/** A column of a directory whose chunks are contiguous. Their offsets are computed on demand: most are never read, and a file may have
 *  millions. */
class ChunkedColumn implements StoredColumn {
  private readonly entries: DataView;

  /** `entries`: | bytes u32 | crc u32 | per page. */
  constructor(
    readonly columnId: number,
    readonly type: ColumnType,
    readonly offset: number,
    entries: Uint8Array,
  ) {
    this.entries = new DataView(entries.buffer, entries.byteOffset, entries.byteLength);
  }

  /** Total size of all chunks. */
  get bytes(): number {
    return this.bytesBefore(this.entries.byteLength / 8);
  }

  chunk(page: number): PtExtent {
    const at = page * 8;
    const offset = this.offset + this.bytesBefore(page);
    return { offset, bytes: this.entries.getUint32(at, true), crc: this.entries.getUint32(at + 4, true) };
  }

  private bytesBefore(page: number): number {
    let bytes = 0;
    for (let at = page * 8 - 8; at >= 0; at -= 8) bytes += this.entries.getUint32(at, true);
    return bytes;
  }
}

/** Readers rely on pages of full bitmap words: checks that all pages but the last are. */
function checkPages(pages: readonly PtPage[], rowCount: number, seriesCount: number): void {
  let rows = 0;
  pages.forEach((page, i) => {
    const whole = page.rowCount % 64 === 0 || i === pages.length - 1;
    if (page.rowCount === 0 || page.rowCount > LIMITS.pageRowsMax || !whole) throw new Error(`page ${i} of ${page.rowCount} rows`);
    if (page.firstSeries > page.lastSeries || page.lastSeries >= seriesCount) throw new Error(`page ${i} of series past ${seriesCount}`);
    rows += page.rowCount;
  });
  if (rows !== rowCount) throw new Error(`pages of ${rows} rows in a block of ${rowCount}`);
}

const STORED_TYPES: ReadonlySet<number> = new Set([
  ColumnType.time,
  ColumnType.float,
  ColumnType.integer,
  ColumnType.unsigned,
  ColumnType.string,
  ColumnType.boolean,
]);

function readType(type: number): ColumnType {
  if (!STORED_TYPES.has(type)) throw new Error(`column type ${type}`);
  return type as ColumnType;
}
