// Line protocol to columns: wraps assembly/line. A parser is kept per database, because what it learned from one body (series, columns,
// their order) is what makes the next one fast.
import * as abi from "../../assembly/abi.ts";
import { assert } from "../model/assert.ts";
import type { ColumnType } from "../model/column.ts";
import { LIMITS } from "../model/limits.ts";
import { Precision } from "../model/precision.ts";
import type { Kernel } from "./kernel.ts";
import { type LineFault, lineErrorMessage } from "./line-error.ts";
import { powersOfFivePtr } from "./powers-of-five.ts";

assert(abi.LINE_COLUMNS_MAX === LIMITS.columnsPerTableMax, "a line holds at most a table's columns");
assert(abi.LINE_KEPT_TABLES_MAX > LIMITS.tablesMax, "a parser keeps every table that a database can have");
assert(abi.LINE_STRING_BYTES_MAX === LIMITS.stringFieldBytesMax, "the kernel knows the limit of strings");
assert(abi.LINE_ERRORS_KEPT >= LIMITS.lineErrorsReported, "every error that is reported is kept");

/** A field column with a value in this body. The same name with another type is another column; who owns the table decides which stays.
 *  `dataPtr`: VALUE_BYTES[type] × presentCount, the values one after the other; `validityPtr`: LSB-first bitmap of the rows that have one,
 *  0 = all have. */
export interface ParsedColumn {
  /** Dense from 0 per table, stable until `reset`. */
  readonly index: number;
  readonly name: string;
  readonly type: ColumnType;
  readonly dataPtr: number;
  readonly validityPtr: number;
  /** 1 .. rowCount */
  readonly presentCount: number;
}

/** Rows of one table, in the body's order. */
export interface ParsedTable {
  /** Dense from 0, stable until `reset`. */
  readonly index: number;
  readonly name: string;
  readonly rowCount: number;
  /** u32 per row: parser-local series id. Series are told apart as written: another order of tags is another id. */
  readonly seriesPtr: number;
  /** i64 per row: nanoseconds since 1970. */
  readonly timePtr: number;
  /** u32 per row: offset of the line's first byte in the body. */
  readonly lineOffsetsPtr: number;
  readonly columns: readonly ParsedColumn[];
  /** Tag names by tag index, all that the parser knows of this table. */
  readonly tagColumns: readonly string[];
  /** Series first seen in this body: ids newSeriesFirst .. newSeriesFirst + newSeriesCount - 1. */
  readonly newSeriesFirst: number;
  readonly newSeriesCount: number;
  /** Their records, one after the other: | tagCount u32 | tagCount × | tag index u32 | valuePtr u32 | valueBytes u32 |. */
  readonly newSeriesRecordsPtr: number;
}

/** A line that is no line protocol; it left no trace in tables, columns or series. */
export interface RawLineError {
  /** Offset of the line's first byte in the body. */
  readonly lineOffset: number;
  /** Bytes of the line without its line end. */
  readonly lineBytes: number;
  /** Made when it is first asked for, which must be before the next `parse`. */
  readonly message: string;
}

/** Pointers, records and messages are borrowed until the next call of the same parser; byte views of strings point into its memory. */
export interface ParsedBody {
  readonly tables: readonly ParsedTable[];
  /** The first LINE_ERRORS_KEPT bad lines, in the body's order; lineCount - rowCount lines are bad in all. */
  readonly errors: readonly RawLineError[];
  /** Lines that are neither blank nor comments. */
  readonly lineCount: number;
  readonly rowCount: number;
}

export interface ParseOptions {
  readonly precision: Precision;
  /** The time of lines without one, cut to the precision. */
  readonly receiveTimeNs: bigint;
}

/** Bytes behind a body that the parser may overwrite. */
export const BODY_PADDING_BYTES: number = abi.LINE_BODY_PADDING;

/** Where a body lies in kernel memory, BODY_PADDING_BYTES before the end of its block. */
export interface BodyLocation {
  readonly ptr: number;
  readonly byteCount: number;
}

/** Names the host has read once. */
interface KnownTable {
  readonly name: string;
  readonly tagColumns: string[];
  readonly columns: { name: string; type: ColumnType }[];
}

const UNIT_NS: Readonly<Record<Precision, bigint>> = {
  [Precision.auto]: 1n,
  [Precision.nanosecond]: 1n,
  [Precision.microsecond]: 1_000n,
  [Precision.millisecond]: 1_000_000n,
  [Precision.second]: 1_000_000_000n,
  [Precision.minute]: 60_000_000_000n,
  [Precision.hour]: 3_600_000_000_000n,
};

const BODY_BYTES_MIN = 4096;

export class LineParser {
  private ptr = 0;
  private bodyPtr = 0;
  private bodyCapacity = 0;
  private known: KnownTable[] = [];
  private generation_ = 0;
  private wantsReset_ = false;

  constructor(private readonly kernel: Kernel) {}

  /** True when the parser has refused lines of the last body because it keeps no more names. Most of those it keeps must have been
   *  rejected: it should be reset before the next body. */
  get wantsReset(): boolean {
    return this.wantsReset_;
  }

  /** Changes whenever indexes and series ids start again: at `reset`, and when `parse` throws. */
  get generation(): number {
    return this.generation_;
  }

  /** Bytes of kernel memory that this parser holds. */
  get memoryBytes(): number {
    return this.ptr === 0 ? 0 : (this.kernel.call.lineMemoryBytes(this.ptr) >>> 0) + this.bodyCapacity;
  }

  /** Reads a whole body, of which a copy is made. @throws as `parseAt` */
  parse(body: Uint8Array, options: ParseOptions): ParsedBody {
    this.reserveBody(body.byteLength);
    this.kernel.u8.set(body, this.bodyPtr);
    return this.parseAt({ ptr: this.bodyPtr, byteCount: body.byteLength }, options);
  }

  /** Reads a whole body that lies in kernel memory with BODY_PADDING_BYTES bytes behind it, which are overwritten. Strings of the result
   *  point into it. Bad lines are data, they never throw.
   *  @throws TsdbError overloaded when kernel memory is full; the parser has then forgotten everything, as after `reset` */
  parseAt(body: BodyLocation, { precision, receiveTimeNs }: ParseOptions): ParsedBody {
    const kernel = this.kernel;
    if (this.ptr === 0) this.ptr = kernel.call.lineCreate(powersOfFivePtr(kernel)) >>> 0;
    const unit = UNIT_NS[precision];
    kernel.i64[this.ptr >>> 3] = unit === 1n ? receiveTimeNs : (receiveTimeNs / unit) * unit;
    let result: number;
    try {
      result = kernel.call.lineParse(this.ptr, body.ptr, body.byteCount, precision) >>> 2;
    } catch (error) {
      this.reset();
      throw error;
    }
    return this.readResult(result, precision);
  }

  /** Address of the record (layout of newSeriesRecordsPtr) of any series the parser knows; borrowed until the next call.
   *  For series whose first row was not taken, so that nothing was made of their record. */
  seriesRecordPtr(table: { tableIndex: number; seriesId: number }): number {
    return this.kernel.call.lineSeriesRecord(this.ptr, table.tableIndex, table.seriesId) >>> 0;
  }

  /** Forgets tables, series and columns; ids start again. */
  reset(): void {
    this.release();
  }

  /** Gives all memory back. A parse after it starts from nothing. */
  release(): void {
    if (this.ptr !== 0) this.kernel.call.lineRelease(this.ptr);
    if (this.bodyCapacity !== 0) this.kernel.heap.free(this.bodyPtr, this.bodyCapacity);
    this.ptr = 0;
    this.bodyCapacity = 0;
    this.known = [];
    this.wantsReset_ = false;
    this.generation_++;
  }

  private reserveBody(bytes: number): void {
    const wanted = bytes + BODY_PADDING_BYTES;
    if (wanted <= this.bodyCapacity) return;
    let capacity = Math.max(BODY_BYTES_MIN, this.bodyCapacity);
    while (capacity < wanted) capacity *= 2;
    const fresh = this.kernel.heap.alloc(capacity);
    if (this.bodyCapacity !== 0) this.kernel.heap.free(this.bodyPtr, this.bodyCapacity);
    this.bodyPtr = fresh;
    this.bodyCapacity = capacity;
  }

  private readResult(at: number, precision: Precision): ParsedBody {
    const words = this.kernel.u32;
    this.wantsReset_ = words[at + abi.PARSED_CROWDED] !== 0;
    const tables: ParsedTable[] = [];
    let tableAt = at + abi.PARSED_HEADER_WORDS;
    for (let left = words[at + abi.PARSED_TABLE_COUNT]!; left > 0; left--) {
      tables.push(this.readTable(words, tableAt));
      tableAt += abi.PARSED_TABLE_WORDS + words[tableAt + abi.PARSED_TABLE_COLUMN_COUNT]! * abi.PARSED_COLUMN_WORDS;
    }
    const errors: RawLineError[] = [];
    let errorAt = words[at + abi.PARSED_ERRORS_PTR]! >>> 2;
    for (let left = words[at + abi.PARSED_ERROR_COUNT]!; left > 0; left--) {
      errors.push(new KernelLineError(this.kernel, errorAt, precision));
      errorAt += abi.LINE_ERROR_WORDS;
    }
    return { tables, errors, lineCount: words[at + abi.PARSED_LINE_COUNT]!, rowCount: words[at + abi.PARSED_ROW_COUNT]! };
  }

  private readTable(words: Uint32Array, at: number): ParsedTable {
    const index = words[at + abi.PARSED_TABLE_INDEX]!;
    let known = this.known[index];
    if (known === undefined) {
      known = { name: this.readName(at + abi.PARSED_TABLE_NAME_PTR), tagColumns: [], columns: [] };
      this.known[index] = known;
    }
    const tagCount = words[at + abi.PARSED_TABLE_TAG_COUNT]!;
    const tagNames = words[at + abi.PARSED_TABLE_TAG_NAMES_PTR]! >>> 2;
    for (let tag = known.tagColumns.length; tag < tagCount; tag++) known.tagColumns.push(this.readName(words[tagNames + tag]! >>> 2));
    const columns: ParsedColumn[] = [];
    let columnAt = at + abi.PARSED_TABLE_WORDS;
    for (let left = words[at + abi.PARSED_TABLE_COLUMN_COUNT]!; left > 0; left--) {
      columns.push(this.readColumn(words, columnAt, known));
      columnAt += abi.PARSED_COLUMN_WORDS;
    }
    return {
      index,
      name: known.name,
      rowCount: words[at + abi.PARSED_TABLE_ROW_COUNT]!,
      seriesPtr: words[at + abi.PARSED_TABLE_SERIES_PTR]!,
      timePtr: words[at + abi.PARSED_TABLE_TIME_PTR]!,
      lineOffsetsPtr: words[at + abi.PARSED_TABLE_LINES_PTR]!,
      columns,
      tagColumns: known.tagColumns,
      newSeriesFirst: words[at + abi.PARSED_TABLE_NEW_FIRST]!,
      newSeriesCount: words[at + abi.PARSED_TABLE_NEW_COUNT]!,
      newSeriesRecordsPtr: words[at + abi.PARSED_TABLE_NEW_RECORDS_PTR]!,
    };
  }

  private readColumn(words: Uint32Array, at: number, known: KnownTable): ParsedColumn {
    const index = words[at + abi.PARSED_COLUMN_INDEX]!;
    let column = known.columns[index];
    if (column === undefined) {
      column = { name: this.readName(at + abi.PARSED_COLUMN_NAME_PTR), type: words[at + abi.PARSED_COLUMN_TYPE]! as ColumnType };
      known.columns[index] = column;
    }
    return {
      index,
      name: column.name,
      type: column.type,
      dataPtr: words[at + abi.PARSED_COLUMN_DATA_PTR]!,
      validityPtr: words[at + abi.PARSED_COLUMN_VALIDITY_PTR]!,
      presentCount: words[at + abi.PARSED_COLUMN_PRESENT]!,
    };
  }

  /** `at`: word index of | namePtr | nameBytes |. */
  private readName(at: number): string {
    const words = this.kernel.u32;
    return decodeText(this.kernel, words[at]!, words[at + 1]!);
  }
}

class KernelLineError implements RawLineError {
  readonly lineOffset: number;
  readonly lineBytes: number;
  private message_: string | undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly at: number,
    private readonly precision: Precision,
  ) {
    this.lineOffset = kernel.u32[at + abi.LINE_ERROR_OFFSET]!;
    this.lineBytes = kernel.u32[at + abi.LINE_ERROR_BYTES]!;
  }

  get message(): string {
    if (this.message_ === undefined) {
      const words = this.kernel.u32;
      this.message_ = lineErrorMessage(words[this.at + abi.LINE_ERROR_CODE]! as LineFault, {
        text: decodeText(this.kernel, words[this.at + abi.LINE_ERROR_TEXT_PTR]!, words[this.at + abi.LINE_ERROR_TEXT_BYTES]!),
        detail: words[this.at + abi.LINE_ERROR_DETAIL]!,
        precision: this.precision,
      });
    }
    return this.message_;
  }
}

function decodeText(kernel: Kernel, ptr: number, bytes: number): string {
  // TextDecoder refuses shared memory: copy first. A byte order mark is text like any other.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(kernel.copyOut(ptr, bytes));
}
