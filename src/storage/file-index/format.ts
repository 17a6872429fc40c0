// The file index format: directory at the end, filter cells, value lists. FORMAT.md draws the same.
import { crc32 } from "../../disk/crc32.ts";
import { assert } from "../../model/assert.ts";
import { DirectoryReader, DirectoryWriter } from "../pt/bytes.ts";
import { hex } from "../pt/format.ts";

/** "TSDBIX" and two zero bytes. */
const MAGIC = 0x0000_5849_4244_5354n;
const VERSION = 1;
/** | magic u64 | version u32 | 0 u32 | */
export const INDEX_HEADER_BYTES = 16;
/** | directoryOffset u64 | directoryBytes u32 | directoryCrc u32 | version u32 | 0 u32 | magic u64 | */
export const INDEX_TRAILER_BYTES = 32;

/** | bits u32[7] | CRC-32 of the bits, seeded with the cell's number, u32 | */
export const CELL_BYTES = 32;
const CELL_WORDS = 7;
/** Texts per filter cell, for a false positive rate of 1 in 1,000. */
const CELL_TEXTS = 14;
/** Maximum cells per filter, so that a cell's number is computed exactly in a double. */
const CELLS_MAX = 1 << 20;
const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947];

/** Identifies the block that an index belongs to, as in the manifest. */
export interface IndexedBlock {
  readonly rowCount: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly seqMin: number;
  readonly seqMax: number;
}

/** A column of a block. `pageCount` 0: the information is about the block as a whole. */
export interface IndexEntry {
  readonly blockIndex: number;
  readonly block: IndexedBlock;
  readonly columnId: number;
  readonly pageCount: number;
  /** Either the list of values with their pages, or filters: one per page (or one for the block), each with this many cells, back to
   *  back. */
  readonly content:
    | { readonly kind: "values"; readonly offset: number; readonly bytes: number; readonly crc: number }
    | { readonly kind: "filters"; readonly offset: number; readonly cells: Uint32Array };
}

const KIND_VALUES = 1;
const KIND_FILTERS = 2;

/** Cells of a filter for `textCount` distinct texts. */
export function cellCount(textCount: number): number {
  return Math.min(CELLS_MAX, Math.ceil(textCount / CELL_TEXTS));
}

/** The first INDEX_HEADER_BYTES of an index. */
export function encodeIndexHeader(): Uint8Array {
  const writer = new DirectoryWriter(INDEX_HEADER_BYTES);
  writer.u64(MAGIC);
  writer.u32(VERSION);
  writer.u32(0);
  return writer.take();
}

/** Directory and trailer of an index whose contents end at `offset`. */
export function encodeIndexDirectory(entries: readonly IndexEntry[], offset: number): Uint8Array {
  const writer = new DirectoryWriter(4096);
  writer.u32(entries.length);
  for (const { blockIndex, block, columnId, pageCount, content } of entries) {
    writer.u32(blockIndex);
    writer.u32(columnId);
    writer.u32(content.kind === "values" ? KIND_VALUES : KIND_FILTERS);
    writer.u32(pageCount);
    writer.u32(block.rowCount);
    writer.i64(block.minTimeNs);
    writer.i64(block.maxTimeNs);
    writer.u64(BigInt(block.seqMin));
    writer.u64(BigInt(block.seqMax));
    writer.u64(BigInt(content.offset));
    if (content.kind === "values") {
      writer.u32(content.bytes);
      writer.u32(content.crc);
    } else {
      assert(content.cells.length === Math.max(1, pageCount), `${content.cells.length} filters for ${pageCount} pages`);
      for (const cells of content.cells) writer.u32(cells);
    }
  }
  const { length } = writer;
  const crc = crc32(writer.view());
  writer.u64(BigInt(offset));
  writer.u32(length);
  writer.u32(crc);
  writer.u32(VERSION);
  writer.u32(0);
  writer.u64(MAGIC);
  return writer.take();
}

/** Locates the directory, from an index's last INDEX_TRAILER_BYTES. @throws Error with the cause alone */
export function parseIndexTrailer(trailer: Uint8Array, fileBytes: number): { offset: number; bytes: number; crc: number } {
  const reader = new DirectoryReader(trailer);
  const [offset, bytes, crc, version] = [reader.count(), reader.u32(), reader.u32(), reader.u32()];
  reader.u32();
  if (reader.u64() !== MAGIC) throw new Error("no trailer of a file index");
  if (version !== VERSION) throw new Error(`file index of format ${version}, this program reads ${VERSION}`);
  const end = fileBytes - INDEX_TRAILER_BYTES;
  if (offset < INDEX_HEADER_BYTES || offset + bytes !== end) throw new Error(`directory at ${offset} + ${bytes}, file ends at ${end}`);
  return { offset, bytes, crc };
}

/** Parses and checks a directory; every offset lies before it. @throws Error with the cause alone */
export function parseIndexDirectory(directory: Uint8Array, at: { readonly offset: number; readonly crc: number }): IndexEntry[] {
  const got = crc32(directory);
  if (got !== at.crc) throw new Error(`checksum of the directory ${hex(got)}, expected ${hex(at.crc)}`);
  const reader = new DirectoryReader(directory);
  return reader.list(reader.u32(), () => parseEntry(reader, at.offset));
}

function parseEntry(reader: DirectoryReader, dataEnd: number): IndexEntry {
  const [blockIndex, columnId, kind, pageCount] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()];
  const rowCount = reader.u32();
  const [minTimeNs, maxTimeNs] = [reader.i64(), reader.i64()];
  const [seqMin, seqMax, offset] = [reader.count(), reader.count(), reader.count()];
  const checked = (bytes: number) => {
    if (offset < INDEX_HEADER_BYTES || offset + bytes > dataEnd) throw new Error(`contents at ${offset} + ${bytes} past ${dataEnd}`);
  };
  const entry = { blockIndex, columnId, pageCount, block: { rowCount, minTimeNs, maxTimeNs, seqMin, seqMax } };
  if (kind === KIND_VALUES) {
    const [bytes, crc] = [reader.u32(), reader.u32()];
    checked(bytes);
    return { ...entry, content: { kind: "values", offset, bytes, crc } };
  }
  if (kind !== KIND_FILTERS) throw new Error(`contents of kind ${kind}`);
  const cells = Uint32Array.from(reader.list(Math.max(1, pageCount), () => reader.u32()));
  checked(cells.reduce((sum, count) => sum + count, 0) * CELL_BYTES);
  return { ...entry, content: { kind: "filters", offset, cells } };
}

/** A text to search for, with its hash. */
export interface Needle {
  readonly bytes: Buffer;
  /** Upper and lower half of its XXH64. */
  readonly high: number;
  readonly low: number;
}

/** Hashes a text for searching. */
export function needleOf(text: string): Needle {
  const bytes = Buffer.from(text);
  const hash = Bun.hash.xxHash64(bytes);
  return { bytes, high: Number(hash >> 32n), low: Number(hash & 0xffff_ffffn) };
}

/** Number of the filter cell that would contain a text. */
export function cellOf({ high }: Needle, cells: number): number {
  return Math.floor((high * cells) / 2 ** 32);
}

/** True if a cell (CELL_BYTES, borrowed) may contain the text. @throws Error if the cell is damaged or not number `number` */
export function cellHolds(cell: Uint8Array, number: number, { low }: Needle): boolean {
  const view = new DataView(cell.buffer, cell.byteOffset, cell.byteLength);
  const got = crc32(cell.subarray(0, CELL_WORDS * 4), number);
  const expected = view.getUint32(CELL_WORDS * 4, true);
  if (got !== expected) throw new Error(`checksum of a filter's cell ${hex(got)}, expected ${hex(expected)}`);
  return SALTS.every((salt, word) => ((view.getUint32(word * 4, true) >>> (Math.imul(low, salt) >>> 27)) & 1) === 1);
}

/** Writes the checksums into a filter that the kernel has filled. */
export function sealCells(filter: Uint8Array): void {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  for (let number = 0; number * CELL_BYTES < filter.length; number++) {
    const at = number * CELL_BYTES;
    const end = at + CELL_WORDS * 4;
    view.setUint32(end, crc32(filter.subarray(at, end), number), true);
  }
}
