// A Parquet file of this program as a DataFile: the directory before the footer tells where its pages are, so that neither the footer nor
// the tag columns are read, and a page's column is decoded from its own bytes and its dictionary's.
import { bitmapBytes } from "../../kernel/scan/rows.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { DecodeMemory } from "../block/data-block.ts";
import { type OpenFile, PtBlockReader } from "../pt/block-reader.ts";
import { PT_TRAILER_BYTES, type PtDirectoryReader, type StoredBlock, type StoredColumn } from "../pt/format.ts";
import { PtReader } from "../pt/reader.ts";
import { DictionaryPages } from "./dictionaries.ts";
import { decompress, type PageHead, readPageHead } from "./page.ts";
import { PARQUET_MAGIC, Parquet } from "./schema.ts";

const TAIL_BYTES = 8;
/** Of all files that this thread reads. */
const dictionaries = new DictionaryPages();
let fileCount = 0;

export class ParquetReader extends PtReader {
  private readonly fileNumber = ++fileCount;

  override block(index: number): ParquetBlockReader {
    return new ParquetBlockReader(this.openFile, this.stored(index), this.fileNumber);
  }

  protected override readDirectory(): PtDirectoryReader {
    const { size } = this.source;
    const bytesMin = PARQUET_MAGIC.length + PT_TRAILER_BYTES + TAIL_BYTES;
    if (size < bytesMin) throw new Error(`${size} bytes are no Parquet file`);
    const tail = this.readWhole(size - TAIL_BYTES, TAIL_BYTES);
    const footerBytes = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
    if (PARQUET_MAGIC.some((byte, i) => tail[4 + i] !== byte)) throw new Error("no Parquet file");
    if (footerBytes > size - bytesMin) throw new Error(`a footer of ${footerBytes} bytes in a file of ${size}`);
    return this.directoryBefore(size - TAIL_BYTES - footerBytes, PARQUET_MAGIC.length);
  }
}

/** Present values of a page in kernel memory: as they are in the file, or numbers of a dictionary's entries. */
interface PageValues {
  readonly head: PageHead;
  readonly present: number;
  /** Bit of each row; 0 = all are present. */
  readonly bitmapPtr: number;
  /** Encoded values [ptr, end). */
  readonly ptr: number;
  readonly end: number;
}

class ParquetBlockReader extends PtBlockReader {
  constructor(
    file: OpenFile,
    block: StoredBlock,
    /** Unique among those that were opened by this thread. */
    private readonly fileNumber: number,
  ) {
    super(file, block);
  }

  override readColumn(page: number, columnId: number, memory: DecodeMemory): ColumnRun | null {
    const column = this.columns.find((each) => each.columnId === columnId);
    if (column === undefined) return null;
    try {
      return this.locating(column.chunk(page), (bytes) => this.decode(bytes, page, column, memory));
    } finally {
      this.file.scratch.reset();
    }
  }

  private decode(bytes: Uint8Array, page: number, column: StoredColumn, memory: DecodeMemory): ColumnRun {
    const { kernel } = this.file;
    const { columnId, type } = column;
    const { rowCount } = this.pages[page]!;
    const values = this.readPage(bytes, rowCount, type);
    const { present, bitmapPtr } = values;
    const width = VALUE_BYTES[type];
    const dataPtr = memory.alloc(rowCount * width);
    if (values.head.encoding === Parquet.rleDictionary) this.fromDictionary(values, page, column, { dataPtr, memory });
    else this.decodeValues(values, type, { dataPtr, memory });
    if (bitmapPtr === 0) return { columnId, type, dataPtr, validityPtr: 0 };
    kernel.call.parquetSpread(dataPtr, bitmapPtr, rowCount, width, present);
    const validityPtr = memory.alloc(bitmapBytes(rowCount));
    kernel.call.copyBytes(validityPtr, bitmapPtr, bitmapBytes(rowCount));
    return { columnId, type, dataPtr, validityPtr };
  }

  /** Head, levels and values of a data page. */
  private readPage(bytes: Uint8Array, rowCount: number, type: ColumnType): PageValues {
    const head = readPageHead(bytes);
    const { levelBytes, plainBytes, storedBytes, isCompressed } = head;
    if (head.type !== Parquet.dataPageV2) throw new Error(`page of type ${head.type}`);
    if (head.valueCount !== rowCount) throw new Error(`page of ${head.valueCount} rows, ${rowCount} expected`);
    if (head.bytes + storedBytes !== bytes.length || levelBytes > storedBytes || levelBytes > plainBytes) {
      throw new Error(`page of ${head.bytes} + ${storedBytes} bytes in ${bytes.length}`);
    }
    const { present, bitmapPtr } = this.readLevels(bytes.subarray(head.bytes, head.bytes + levelBytes), rowCount, type);
    if (present + head.nullCount !== rowCount) throw new Error(`${present} values and ${head.nullCount} absent in ${rowCount} rows`);
    const stored = bytes.subarray(head.bytes + levelBytes);
    const plain = isCompressed ? decompress(stored, plainBytes - levelBytes) : stored;
    const ptr = this.copyIn(plain);
    return { head, present, bitmapPtr, ptr, end: ptr + plain.length };
  }

  /** Which rows have a value: one run, or a bitmap. A bitmap of rows that all have one is left out. */
  private readLevels(levels: Uint8Array, rowCount: number, type: ColumnType): { present: number; bitmapPtr: number } {
    if (type === ColumnType.time) {
      if (levels.length > 0) throw new Error("rows without a time");
      return { present: rowCount, bitmapPtr: 0 };
    }
    const { kernel, scratch } = this.file;
    let at = 0;
    let head = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = levels[at++];
      if (byte === undefined || scale > 2 ** 28) throw new Error("levels are cut off");
      head += (byte & 127) * scale;
      if (byte < 128) break;
    }
    const rest = levels.subarray(at);
    if (head === rowCount * 2 && rest.length === 1 && rest[0] === 1) return { present: rowCount, bitmapPtr: 0 };
    const bytes = Math.ceil(rowCount / 8);
    const isNone = head === rowCount * 2 && rest.length === 1 && rest[0] === 0;
    if (!isNone && (head !== bytes * 2 + 1 || rest.length !== bytes)) throw new Error(`levels of ${levels.length} bytes`);
    const bitmapPtr = scratch.alloc(bitmapBytes(rowCount));
    kernel.call.fillBytes(bitmapPtr, 0, bitmapBytes(rowCount));
    if (isNone) return { present: 0, bitmapPtr };
    kernel.u8.set(rest, bitmapPtr);
    if (rowCount % 8 > 0) kernel.u8[bitmapPtr + bytes - 1]! &= (1 << (rowCount % 8)) - 1;
    return { present: kernel.call.countBits(bitmapPtr, 0, rowCount), bitmapPtr };
  }

  private decodeValues(values: PageValues, type: ColumnType, { dataPtr, memory }: { dataPtr: number; memory: DecodeMemory }): void {
    const { call } = this.file.kernel;
    const { head, present, ptr, end } = values;
    const expect = (isFine: boolean) => {
      if (!isFine) throw new Error(`${end - ptr} bytes do not hold ${present} values of type ${type}, encoding ${head.encoding}`);
    };
    if (type === ColumnType.float) {
      expect(head.encoding === Parquet.byteStreamSplit && end - ptr === present * 8);
      call.parquetJoin8(ptr, present, dataPtr);
    } else if (type === ColumnType.boolean) {
      expect(head.encoding === Parquet.plain && end - ptr === Math.ceil(present / 8));
      call.parquetUnpackBits(ptr, present, dataPtr);
    } else if (type === ColumnType.string) {
      expect(head.encoding === Parquet.deltaLengthByteArray);
      const lengths = this.file.scratch.alloc(Math.max(1, present * 8));
      const text = call.parquetDeltaDecode(ptr, end, present, lengths) >>> 0;
      expect(text !== 0);
      // the views point into it
      const kept = memory.alloc(Math.max(1, end - text));
      call.copyBytes(kept, text, end - text);
      expect(call.parquetLengthViews(lengths, kept, kept + (end - text), present, dataPtr) !== 0);
    } else {
      expect(head.encoding === Parquet.deltaBinaryPacked);
      expect(call.parquetDeltaDecode(ptr, end, present, dataPtr) >>> 0 === end);
    }
  }

  private fromDictionary(
    { present, ptr, end }: PageValues,
    page: number,
    column: StoredColumn,
    { dataPtr, memory }: { dataPtr: number; memory: DecodeMemory },
  ): void {
    const { kernel, scratch } = this.file;
    const numbers = scratch.alloc(Math.max(1, present * 4));
    const width = kernel.u8[ptr]!;
    if (end - ptr < 1 || kernel.call.parquetNumbersDecode(ptr + 1, end, width, present, numbers) >>> 0 !== end) {
      throw new Error(`${end - ptr} bytes do not hold ${present} numbers of a dictionary`);
    }
    const extent = column.dictionary?.(page) ?? null;
    if (extent === null) throw new Error("a page's dictionary is missing");
    // another read: what was borrowed of the one before is not used any more
    const plain = dictionaries.get(this.fileNumber, extent.offset, () => this.locating(extent, readDictionary));
    const { entries, count } = this.openDictionary(plain, column.type, memory);
    if (!kernel.call.areBelow(numbers, present, count)) throw new Error(`numbers past a dictionary of ${count}`);
    if (column.type === ColumnType.float) kernel.call.gather8(entries, numbers, present, dataPtr);
    else kernel.call.gather16(entries, numbers, present, dataPtr);
  }

  /** Entries as values of the column, in scratch; the text of views is in `memory`. */
  private openDictionary(plain: Uint8Array, type: ColumnType, memory: DecodeMemory): { entries: number; count: number } {
    const { kernel, scratch } = this.file;
    const count = new DataView(plain.buffer, plain.byteOffset).getUint32(0, true);
    const values = plain.subarray(4);
    if (type === ColumnType.float) {
      if (values.length !== count * 8) throw new Error(`${values.length} bytes do not hold ${count} floats`);
      return { entries: this.copyIn(values), count };
    }
    if (type !== ColumnType.string || count > values.length / 4) throw new Error(`${values.length} bytes do not hold ${count} texts`);
    const text = memory.alloc(Math.max(1, values.length));
    kernel.u8.set(values, text);
    const entries = scratch.alloc(Math.max(1, count * VALUE_BYTES[type]));
    if (kernel.call.parquetPlainViews(text, text + values.length, count, entries) === 0)
      throw new Error("texts of a dictionary are cut off");
    return { entries, count };
  }

  private copyIn(bytes: Uint8Array): number {
    const ptr = this.file.scratch.alloc(Math.max(1, bytes.length));
    this.file.kernel.u8.set(bytes, ptr);
    return ptr;
  }
}

/** Number of entries as u32, then the entries as PLAIN values. @throws Error with the cause alone */
function readDictionary(bytes: Uint8Array): Uint8Array {
  const head = readPageHead(bytes);
  if (head.type !== Parquet.dictionaryPage || head.encoding !== Parquet.plain || head.bytes + head.storedBytes !== bytes.length) {
    throw new Error(`a dictionary of type ${head.type}, encoding ${head.encoding}`);
  }
  const values = decompress(bytes.subarray(head.bytes), head.plainBytes);
  const plain = new Uint8Array(4 + values.length);
  new DataView(plain.buffer).setUint32(0, head.valueCount, true);
  plain.set(values, 4);
  return plain;
}
