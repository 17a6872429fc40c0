// What a file index is: the directory at its end, the cells of its filters, and its lists of values. FORMAT.md draws the same.
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

/** | bits u32[7] | CRC-32 of the bits, begun with the cell's number, u32 | */
export const CELL_BYTES = 32;
const CELL_WORDS = 7;
/** One text in 1,000 that is not there seems to be. */
const CELL_TEXTS = 14;
/** So that a cell's number is computed exactly in a double. */
const CELLS_MAX = 1 << 20;
const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947];

/** What tells that an index is of this block and no other: as the manifest has it. */
export interface IndexedBlock {
  readonly rowCount: number;
  readonly minTimeNs: bigint;
  readonly maxTimeNs: bigint;
  readonly seqMin: number;
  readonly seqMax: number;
}

/** A column of a block. `pageCount` 0: what is known is of the block as a whole. */
export interface IndexEntry {
  readonly blockIndex: number;
  readonly block: IndexedBlock;
  readonly columnId: number;
  readonly pageCount: number;
  /** Every value with the pages that have it, or a filter for each page (or the block): so many cells each, one behind the other. */
  readonly content:
    | { readonly kind: "values"; readonly offset: number; readonly bytes: number; readonly crc: number }
    | { readonly kind: "filters"; readonly offset: number; readonly cells: Uint32Array };
}

const KIND_VALUES = 1;
const KIND_FILTERS = 2;

export function cellCount(textCount: number): number {
  return Math.min(CELLS_MAX, Math.ceil(textCount / CELL_TEXTS));
}

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

/** Where the directory lies, from an index's last INDEX_TRAILER_BYTES. @throws Error with the cause alone */
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

/** Every offset lies before the directory. @throws Error with the cause alone */
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

/** A text to be looked for. */
export interface Needle {
  readonly bytes: Buffer;
  /** Both halves of its XXH64. */
  readonly high: number;
  readonly low: number;
}

export function needleOf(text: string): Needle {
  const bytes = Buffer.from(text);
  const hash = Bun.hash.xxHash64(bytes);
  return { bytes, high: Number(hash >> 32n), low: Number(hash & 0xffff_ffffn) };
}

/** Which cell of a filter a text is in. */
export function cellOf({ high }: Needle, cells: number): number {
  return Math.floor((high * cells) / 2 ** 32);
}

/** Whether a cell (CELL_BYTES, borrowed) may have the text. @throws Error when it is damaged, or another one */
export function cellHolds(cell: Uint8Array, number: number, { low }: Needle): boolean {
  const view = new DataView(cell.buffer, cell.byteOffset, cell.byteLength);
  const got = crc32(cell.subarray(0, CELL_WORDS * 4), number);
  const expected = view.getUint32(CELL_WORDS * 4, true);
  if (got !== expected) throw new Error(`checksum of a filter's cell ${hex(got)}, expected ${hex(expected)}`);
  return SALTS.every((salt, word) => ((view.getUint32(word * 4, true) >>> (Math.imul(low, salt) >>> 27)) & 1) === 1);
}

/** Puts the checksums into a filter that the kernel has filled. */
export function sealCells(filter: Uint8Array): void {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  for (let number = 0; number * CELL_BYTES < filter.length; number++) {
    const at = number * CELL_BYTES;
    const end = at + CELL_WORDS * 4;
    view.setUint32(end, crc32(filter.subarray(at, end), number), true);
  }
}
