// A column chunk: the values of one column in one row group, encoded page by page, with the dictionary and the statistics that they have
// together.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import { type DataPage, LEVEL_BITS, LEVEL_BYTES, type PageLevels, type PageWriter, type WrittenPage } from "./pages.ts";
import { Parquet } from "./schema.ts";
import { type ChunkStatistics, statisticsOf } from "./statistics.ts";

export interface WrittenChunk {
  readonly encoding: number;
  readonly dictionary: WrittenPage | null;
  readonly pages: readonly WrittenPage[];
  /** Absent values included. */
  readonly valueCount: number;
  readonly statistics: ChunkStatistics;
}

/** Present values of a page, side by side. */
interface PageValues {
  readonly rowCount: number;
  readonly levels: PageLevels;
  /** Number of its first value in the chunk. */
  readonly first: number;
  readonly count: number;
}

type EncodedValues = Pick<DataPage, "valuesPtr" | "valuesBytes" | "level">;

/** Distinct values of a chunk, as PLAIN pages have them, and each value's number. */
interface ChunkDictionary {
  readonly valueCount: number;
  readonly ptr: number;
  readonly bytes: number;
  readonly numbersPtr: number;
}

/** More distinct values are not looked for: a dictionary has to be decoded for every page that is read. */
const DISTINCT_MAX = 1 << 14;
const DISTINCT_TEXT_MAX = 256 << 10;
const SLOTS = DISTINCT_MAX * 2;
/** Pages that have to be decompressed and are hardly smaller do not pay. */
const WORTH_UNPACKING = 9 / 10;

export class ChunkWriter {
  constructor(
    private readonly kernel: Kernel,
    private readonly pages: PageWriter,
  ) {}

  /** `column`'s rows from its first on, cut into `pageRows`; validity begins at a whole byte. @throws TsdbError overloaded */
  write({ type, dataPtr, validityPtr }: ColumnRun, pageRows: readonly number[]): WrittenChunk {
    const blocks = new Blocks(this.kernel);
    try {
      const rowCount = pageRows.reduce((sum, rows) => sum + rows, 0);
      const pages = this.presentValues(type, validityPtr, pageRows);
      const count = pages.reduce((sum, page) => sum + page.count, 0);
      let valuesPtr = dataPtr;
      if (count < rowCount) {
        valuesPtr = blocks.alloc(Math.max(1, count) * VALUE_BYTES[type]);
        this.kernel.call.parquetSqueeze(dataPtr, validityPtr, rowCount, VALUE_BYTES[type], valuesPtr);
      }
      const statistics = statisticsOf(this.kernel, type, valuesPtr, { count, nullCount: rowCount - count });
      const dictionary = this.findDictionary(type, valuesPtr, count, blocks);
      if (dictionary !== null) return { ...this.writeNumbers(dictionary, pages), valueCount: rowCount, statistics };
      const encoding = ENCODING[type];
      const unit = encoding === Parquet.deltaBinaryPacked ? this.chooseUnit(valuesPtr, pages[0]!.count) : 1;
      const written = pages.map((page) => {
        const from = valuesPtr + page.first * VALUE_BYTES[type];
        const memory = new Blocks(this.kernel);
        try {
          return this.pages.data({ ...page, encoding, ...this.encode(type, from, page.count, { memory, unit }) });
        } finally {
          memory.release();
        }
      });
      return { encoding, dictionary: null, pages: written, valueCount: rowCount, statistics };
    } finally {
      blocks.release();
    }
  }

  /** Pages whose values are numbers of a dictionary. */
  writeNumbers(
    { valueCount, ptr, bytes, numbersPtr }: ChunkDictionary,
    pages: readonly PageValues[],
  ): Pick<WrittenChunk, "encoding" | "dictionary" | "pages"> {
    const dictionary = this.pages.dictionary(valueCount, ptr, bytes);
    const width = 32 - Math.clz32(Math.max(0, valueCount - 1));
    const encoding = Parquet.rleDictionary;
    const written = pages.map((page) => {
      const memory = new Blocks(this.kernel);
      try {
        const target = memory.alloc(1 + this.kernel.call.parquetNumbersBytesMax(page.count, width));
        this.kernel.u8[target] = width;
        const valuesBytes = 1 + this.kernel.call.parquetNumbersEncode(numbersPtr + page.first * 4, page.count, width, target + 1);
        return this.pages.data({ ...page, encoding, valuesPtr: target, valuesBytes, level: LEVEL_BITS });
      } finally {
        memory.release();
      }
    });
    return { encoding, dictionary, pages: written };
  }

  private presentValues(type: ColumnType, validityPtr: number, pageRows: readonly number[]): PageValues[] {
    let row = 0;
    let first = 0;
    return pageRows.map((rowCount) => {
      const bitmapPtr = validityPtr + row / 8;
      const count = validityPtr === 0 ? rowCount : this.kernel.call.countBits(bitmapPtr, 0, rowCount);
      const optional = { kind: "optional", present: count, bitmapPtr } as const;
      const page: PageValues = { rowCount, levels: type === ColumnType.time ? { kind: "required" } : optional, first, count };
      row += rowCount;
      first += count;
      return page;
    });
  }

  /** Null when there are too many distinct values for it to pay. */
  private findDictionary(type: ColumnType, valuesPtr: number, count: number, blocks: Blocks): ChunkDictionary | null {
    if (type !== ColumnType.float && type !== ColumnType.string) return null;
    const max = Math.min(DISTINCT_MAX, Math.floor(count / 2));
    if (max === 0) return null;
    const { call } = this.kernel;
    const slots = blocks.allocZeroed(SLOTS * 4);
    const entries = blocks.alloc(max * VALUE_BYTES[type]);
    const numbersPtr = blocks.alloc(count * 4);
    if (type === ColumnType.float) {
      const valueCount = call.parquetDistinct8(valuesPtr, count, slots, SLOTS, entries, max, numbersPtr);
      return valueCount < 0 ? null : { valueCount, ptr: entries, bytes: valueCount * 8, numbersPtr };
    }
    const valueCount = call.parquetDistinctText(valuesPtr, count, slots, SLOTS, entries, max, numbersPtr, DISTINCT_TEXT_MAX);
    if (valueCount < 0) return null;
    const bytes = valueCount * 4 + call.parquetTextBytes(entries, valueCount);
    const ptr = blocks.alloc(bytes);
    call.parquetPlainText(entries, valueCount, ptr);
    return { valueCount, ptr, bytes, numbersPtr };
  }

  /** Whether the widths of packed integers are best any number of bits, or whole bytes: where many short series follow each other, each
   *  block has a step from one to the next, and its width is that of the step. What the first page shows goes for all. */
  private chooseUnit(valuesPtr: number, count: number): 1 | 8 {
    const memory = new Blocks(this.kernel);
    try {
      const [bits, bytes] = ([1, 8] as const).map((unit) => {
        const encoded = this.encode(ColumnType.integer, valuesPtr, count, { memory, unit });
        return this.pages.storedBytes(encoded);
      });
      return bytes! < bits! * WORTH_UNPACKING ? 8 : 1;
    } finally {
      memory.release();
    }
  }

  private encode(type: ColumnType, valuesPtr: number, count: number, { memory, unit }: { memory: Blocks; unit: 1 | 8 }): EncodedValues {
    const { call } = this.kernel;
    if (type === ColumnType.boolean) {
      const valuesBytes = Math.ceil(count / 8);
      const target = memory.alloc(Math.max(1, valuesBytes));
      call.parquetPackBits(valuesPtr, count, target);
      return { valuesPtr: target, valuesBytes, level: LEVEL_BITS };
    }
    if (type === ColumnType.float) {
      const target = memory.alloc(Math.max(1, count * 8));
      call.parquetSplit8(valuesPtr, count, target);
      return { valuesPtr: target, valuesBytes: count * 8, level: LEVEL_BITS };
    }
    const work = memory.alloc(128 * 8);
    const numbersBytesMax = call.parquetDeltaBytesMax(count);
    if (type !== ColumnType.string) {
      const target = memory.alloc(numbersBytesMax);
      const level = unit === 8 ? LEVEL_BYTES : LEVEL_BITS;
      return { valuesPtr: target, valuesBytes: call.parquetDeltaEncode(valuesPtr, count, work, unit, target), level };
    }
    const lengths = memory.alloc(Math.max(1, count * 8));
    call.parquetTextLengths(valuesPtr, count, lengths);
    const target = memory.alloc(numbersBytesMax + call.parquetTextBytes(valuesPtr, count));
    const lengthBytes = call.parquetDeltaEncode(lengths, count, work, unit, target);
    const end = call.parquetTexts(valuesPtr, count, target + lengthBytes) >>> 0;
    return { valuesPtr: target, valuesBytes: end - target, level: LEVEL_BYTES };
  }
}

const ENCODING: Readonly<Record<ColumnType, number>> = {
  [ColumnType.time]: Parquet.deltaBinaryPacked,
  [ColumnType.integer]: Parquet.deltaBinaryPacked,
  [ColumnType.unsigned]: Parquet.deltaBinaryPacked,
  [ColumnType.float]: Parquet.byteStreamSplit,
  [ColumnType.string]: Parquet.deltaLengthByteArray,
  [ColumnType.boolean]: Parquet.plain,
  [ColumnType.tag]: Parquet.rleDictionary,
};
