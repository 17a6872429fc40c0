// Decodes a block of a .pt file: its dictionary, and single columns of a page. Nothing relies on the bytes being valid: checksums detect
// accidents, and bytes that pass them still cannot make the kernel access memory outside its target.
import type { ColumnCodec, DecodeTarget, EncodedSource, RowParts } from "../../kernel/codec/codec.ts";
import { nextDictionaryId } from "../../kernel/memory/dictionary-id.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { Scratch } from "../../kernel/memory/scratch.ts";
import { bitmapBytes } from "../../kernel/scan/rows.ts";
import { TsdbError } from "../../model/errors.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, TagColumnView } from "../../model/rows/run.ts";
import type { BlockPage, BlockSeries, DataBlock, DecodeMemory, PageRowParts } from "../block/data-block.ts";
import { corrupt, type StoredBlock } from "./format.ts";
import type { PtExtent, StoredColumn } from "./stored-column.ts";

/** The file that contains the block. */
export interface OpenFile {
  readonly kernel: Kernel;
  readonly codec: ColumnCodec;
  /** Scratch for one call of a reader; kept until the file is closed, because allocating it for each column would fragment the memory. */
  readonly scratch: Scratch;
  readonly name: string;
  /** The bytes of an extent after checking its checksum, borrowed until the next read. @throws TsdbError corrupt_file, io */
  read(extent: PtExtent): Uint8Array;
}

/** Reads one block. */
export class PtBlockReader implements DataBlock {
  readonly tableId: number;
  readonly rowCount: number;
  readonly seriesCount: number;
  readonly pages: readonly BlockPage[];
  readonly columns: readonly StoredColumn[];

  constructor(
    protected readonly file: OpenFile,
    private readonly block: StoredBlock,
  ) {
    this.tableId = block.tableId;
    this.rowCount = block.rowCount;
    this.seriesCount = block.seriesCount;
    this.columns = block.columns;
    let firstRow = 0;
    this.pages = block.pages.map((page) => {
      const numbered = { ...page, firstRow };
      firstRow += page.rowCount;
      return numbered;
    });
  }

  /** Layout: row offsets, then codes and values of each tag column; see dictionary.ts. */
  readSeries(memory: DecodeMemory): BlockSeries {
    const { kernel } = this.file;
    const { seriesCount, rowCount, tags, dictionary } = this.block;
    return this.decoding(dictionary, (encoded) => {
      const offsetsPtr = encoded.u32(seriesCount + 1, memory);
      if (!kernel.call.isOffsets(offsetsPtr, seriesCount + 1, rowCount)) throw new Error("row offsets of series do not ascend");
      const views = tags.map(({ columnId, valueCount }): TagColumnView => {
        const codesPtr = encoded.u32(seriesCount, memory);
        if (!kernel.call.areBelow(codesPtr, seriesCount, valueCount + 1))
          throw new Error(`codes of tag column ${columnId} past ${valueCount}`);
        // view 0 stays empty: it stands for absent
        const valuesPtr = memory.alloc((valueCount + 1) * VALUE_BYTES[ColumnType.tag]);
        kernel.call.fillBytes(valuesPtr, 0, VALUE_BYTES[ColumnType.tag]);
        encoded.text(valueCount, { type: ColumnType.tag, dataPtr: valuesPtr + 16, validityPtr: 0 }, memory);
        if (!kernel.call.areAscending(valuesPtr + 16, valueCount)) throw new Error(`values of tag column ${columnId} do not ascend`);
        const inOrder = kernel.call.neverDescend(codesPtr, seriesCount) !== 0;
        return { columnId, codesPtr, valuesPtr, valueCount: valueCount + 1, isSorted: true, inOrder };
      });
      return { dictionary: { id: nextDictionaryId(kernel), seriesCount, tags: views }, offsetsPtr };
    });
  }

  readColumn(page: number, columnId: number, memory: DecodeMemory): ColumnRun | null {
    const column = this.columns.find((each) => each.columnId === columnId);
    if (column === undefined) return null;
    const { rowCount } = this.pages[page]!;
    const { type } = column;
    return this.decoding(column.chunk(page), (encoded) => {
      const { kernel, scratch } = this.file;
      const bitmap = scratch.alloc(bitmapBytes(rowCount));
      const dataPtr = memory.alloc(rowCount * VALUE_BYTES[type]);
      const target = { type, dataPtr, validityPtr: bitmap };
      const { hasNulls } = type === ColumnType.string ? encoded.text(rowCount, target, memory) : encoded.values(rowCount, target);
      if (!hasNulls) return { columnId, type, dataPtr, validityPtr: 0 };
      if (type === ColumnType.time) throw new Error("rows without a time");
      const validityPtr = memory.alloc(bitmapBytes(rowCount));
      kernel.call.copyBytes(validityPtr, bitmap, bitmapBytes(rowCount));
      return { columnId, type, dataPtr, validityPtr };
    });
  }

  readRows(page: number, columnId: number, { parts, rowCount: wantedCount }: PageRowParts, memory: DecodeMemory): ColumnRun | null {
    const column = this.columns.find((each) => each.columnId === columnId);
    if (column === undefined) return null;
    const { rowCount } = this.pages[page]!;
    const { type } = column;
    return this.decoding(column.chunk(page), (encoded) => {
      const dataPtr = memory.alloc(wantedCount * VALUE_BYTES[type]);
      const validityPtr = memory.alloc(bitmapBytes(wantedCount));
      const { hasNulls } = encoded.rows(rowCount, parts, { type, dataPtr, validityPtr }, memory);
      if (hasNulls && type === ColumnType.time) throw new Error("rows without a time");
      return { columnId, type, dataPtr, validityPtr: hasNulls ? validityPtr : 0 };
    });
  }

  /** Adds file name and offset to errors about the extent's bytes. */
  private decoding<T>(extent: PtExtent, decode: (encoded: Encoded) => T): T {
    try {
      return this.locating(extent, (bytes) => decode(new Encoded(this.file, bytes)));
    } finally {
      this.file.scratch.reset();
    }
  }

  /** Passes the bytes of an extent, borrowed until the next read, to `use`, and adds file name and offset to its errors. */
  protected locating<T>(extent: PtExtent, use: (bytes: Uint8Array) => T): T {
    const bytes = this.file.read(extent);
    try {
      return use(bytes);
    } catch (error) {
      const isOurs = error instanceof TsdbError && error.kind !== "corrupt_file";
      throw isOurs ? error : corrupt(this.file.name, extent.offset, error);
    }
  }
}

type Place = Pick<DecodeTarget, "type" | "dataPtr" | "validityPtr">;

/** Encoded columns, back to back, copied to the kernel and decoded one by one. */
class Encoded {
  private readonly codec: ColumnCodec;
  private at: number;
  private left: number;

  constructor({ kernel, codec, scratch }: OpenFile, bytes: Uint8Array) {
    this.codec = codec;
    this.at = scratch.alloc(bytes.length);
    this.left = bytes.length;
    kernel.u8.set(bytes, this.at);
  }

  u32(rowCount: number, memory: DecodeMemory): number {
    const target = memory.alloc(rowCount * 4);
    this.codec.decodeU32(this.next(rowCount), target);
    return target;
  }

  values(rowCount: number, place: Place): { hasNulls: boolean } {
    return this.codec.decode(this.next(rowCount), { ...place, textPtr: 0, textBytes: 0 });
  }

  /** Decodes string views whose long text is in `memory`. */
  text(rowCount: number, place: Place, memory: DecodeMemory): { hasNulls: boolean } {
    const source = this.next(rowCount);
    return this.codec.decode(source, { ...place, ...this.textTarget(source, memory) });
  }

  /** Decodes the rows of `parts` of a column of `rowCount`. */
  rows(rowCount: number, parts: RowParts, place: Place, memory: DecodeMemory): { hasNulls: boolean } {
    const source = this.next(rowCount);
    const text = place.type === ColumnType.string ? this.textTarget(source, memory) : { textPtr: 0, textBytes: 0 };
    return this.codec.decodeParts(source, parts, { ...place, ...text });
  }

  private textTarget(source: EncodedSource, memory: DecodeMemory): Pick<DecodeTarget, "textPtr" | "textBytes"> {
    const textBytes = this.codec.decodedTextBytes(source);
    // text is stored uncompressed, so a larger size is damage, not a reason to allocate
    if (textBytes > source.bytes) throw new Error(`${textBytes} bytes of text in ${source.bytes} encoded ones`);
    return { textPtr: textBytes === 0 ? 0 : memory.alloc(textBytes), textBytes };
  }

  private next(rowCount: number): EncodedSource {
    const source = { ptr: this.at, bytes: this.codec.columnBytes(this.at, this.left), rowCount };
    this.at += source.bytes;
    this.left -= source.bytes;
    return source;
  }
}
