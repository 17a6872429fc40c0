// Reads the memory of a line parser: columns of the last body, names, series records.
import * as abi from "../../../assembly/abi.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import type { Precision } from "../../model/time/precision.ts";
import type { Kernel } from "../memory/kernel.ts";
import { type LineFault, lineErrorMessage } from "./line-error.ts";

/** A field column that has a value in this body. A field with the same name and another type is a separate column; the table's owner
 *  rejects one of them. `dataPtr`: VALUE_BYTES[type] × presentCount, the present values back to back; `validityPtr`: LSB-first bitmap of
 *  the rows with a value, 0 = all rows. */
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

/** Rows of one table, in body order. */
export interface ParsedTable {
  /** Dense from 0, stable until `reset`. */
  readonly index: number;
  readonly name: string;
  readonly rowCount: number;
  /** u32 per row: parser-local series id. Series are compared as written: the same tags in another order have another id. */
  readonly seriesPtr: number;
  /** i64 per row: nanoseconds since 1970. */
  readonly timePtr: number;
  /** u32 per row: offset of the line's first byte in the body. */
  readonly lineOffsetsPtr: number;
  readonly columns: readonly ParsedColumn[];
  /** All tag names that the parser knows for this table, by tag index. */
  readonly tagColumns: readonly string[];
  /** Series first seen in this body: ids newSeriesFirst .. newSeriesFirst + newSeriesCount - 1. */
  readonly newSeriesFirst: number;
  readonly newSeriesCount: number;
  /** Their records, back to back: | tagCount u32 | tagCount × | tag index u32 | valuePtr u32 | valueBytes u32 |. */
  readonly newSeriesRecordsPtr: number;
}

/** A line that is not valid line protocol; it has no effect on tables, columns or series. */
export interface RawLineError {
  /** Offset of the line's first byte in the body. */
  readonly lineOffset: number;
  /** Bytes of the line without its line end. */
  readonly lineBytes: number;
  /** Created on first access, which must happen before the next `parse`. */
  readonly message: string;
  /** True if the line is well-formed, and its names or types are what is wrong. */
  readonly isParsed: boolean;
}

/** Pointers, records and messages are borrowed until the next call of the same parser; byte views of strings point into the body. */
export interface ParsedBody {
  readonly tables: readonly ParsedTable[];
  /** The first LINE_ERRORS_KEPT invalid lines, in body order; lineCount - rowCount lines are invalid in total. */
  readonly errors: readonly RawLineError[];
  /** Of the invalid lines, those that can be parsed: they are left out, and do not speak against the others. */
  readonly droppedCount: number;
  /** Lines that are neither blank nor comments. */
  readonly lineCount: number;
  readonly rowCount: number;
}

/** Names already converted to strings. */
interface KnownTable {
  readonly name: string;
  readonly tagColumns: string[];
  readonly columns: { name: string; type: ColumnType }[];
}

/** The host's view of one line parser. */
export class ParserView {
  /** Address of the parser; 0 before it is created. */
  ptr = 0;
  private known: KnownTable[] = [];
  private wantsReset_ = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly columnsPerTableMax: number = LIMITS.columnsPerTableMax,
  ) {}

  /** True if the parser rejected lines of the last body because it keeps no more names: reset it before the next body. */
  get wantsReset(): boolean {
    return this.wantsReset_;
  }

  /** The same for a result of `lineParse`: the lines may be valid, and the limit was reached by names of earlier bodies. */
  isCrowded(resultPtr: number): boolean {
    return this.kernel.u32[(resultPtr >>> 2) + abi.PARSED_CROWDED] !== 0;
  }

  /** Offset of the first byte of the body that `lineParse` did not parse. */
  endOf(resultPtr: number): number {
    return this.kernel.u32[(resultPtr >>> 2) + abi.PARSED_END]!;
  }

  /** Number of tables whose names the parser keeps. */
  get tableCount(): number {
    return this.ptr === 0 ? 0 : this.kernel.call.lineTableCount(this.ptr) >>> 0;
  }

  /** Bytes of kernel memory in use, without the body. */
  get memoryBytes(): number {
    return this.ptr === 0 ? 0 : this.kernel.call.lineMemoryBytes(this.ptr) >>> 0;
  }

  /** Forgets all names, after the parser was freed or reset: indexes restart from 0. */
  forget(): void {
    this.ptr = 0;
    this.known = [];
    this.wantsReset_ = false;
  }

  /** Bytes that `writeSeriesRecord` writes. */
  seriesRecordBytes(table: { tableIndex: number; seriesId: number }): number {
    return this.kernel.call.lineSeriesRecordBytes(this.ptr, table.tableIndex, table.seriesId) >>> 0;
  }

  /** Writes the record (layout of newSeriesRecordsPtr) of any series that the parser knows. Needed for series whose first row was
   *  rejected, so that their record was not used. */
  writeSeriesRecord(table: { tableIndex: number; seriesId: number }, targetPtr: number): void {
    this.kernel.call.lineSeriesRecord(this.ptr, table.tableIndex, table.seriesId, targetPtr);
  }

  /** True if a name of the table, in any body since the last reset, was used both as a tag and as a field, or as fields of different
   *  types: then some lines may conflict with others. */
  hasConflicts({ index, tagColumns }: ParsedTable): boolean {
    const { columns } = this.known[index]!;
    const names = new Set(tagColumns);
    for (const { name } of columns) names.add(name);
    return names.size < tagColumns.length + columns.length;
  }

  /** Converts the result of `lineParse` to objects. */
  read(resultPtr: number, precision: Precision): ParsedBody {
    const at = resultPtr >>> 2;
    const words = this.kernel.u32;
    this.wantsReset_ = this.isCrowded(resultPtr);
    const tables: ParsedTable[] = [];
    let tableAt = at + abi.PARSED_HEADER_WORDS;
    for (let left = words[at + abi.PARSED_TABLE_COUNT]!; left > 0; left--) {
      tables.push(this.readTable(words, tableAt));
      tableAt += abi.PARSED_TABLE_WORDS + words[tableAt + abi.PARSED_TABLE_COLUMN_COUNT]! * abi.PARSED_COLUMN_WORDS;
    }
    const errors: RawLineError[] = [];
    let errorAt = words[at + abi.PARSED_ERRORS_PTR]! >>> 2;
    for (let left = words[at + abi.PARSED_ERROR_COUNT]!; left > 0; left--) {
      errors.push(new KernelLineError(this.kernel, errorAt, precision, this.columnsPerTableMax));
      errorAt += abi.LINE_ERROR_WORDS;
    }
    const [lineCount, rowCount] = [words[at + abi.PARSED_LINE_COUNT]!, words[at + abi.PARSED_ROW_COUNT]!];
    return { tables, errors, lineCount, rowCount, droppedCount: words[at + abi.PARSED_DROPPED_COUNT]! };
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
  readonly isParsed: boolean;
  private message_: string | undefined;

  constructor(
    private readonly kernel: Kernel,
    private readonly at: number,
    private readonly precision: Precision,
    private readonly columnsPerTableMax: number,
  ) {
    this.lineOffset = kernel.u32[at + abi.LINE_ERROR_OFFSET]!;
    this.lineBytes = kernel.u32[at + abi.LINE_ERROR_BYTES]!;
    const code = kernel.u32[at + abi.LINE_ERROR_CODE]!;
    this.isParsed = code === abi.LINE_BAD_OTHER_TYPE || code === abi.LINE_BAD_RESERVED;
  }

  get message(): string {
    if (this.message_ === undefined) {
      const words = this.kernel.u32;
      this.message_ = lineErrorMessage(words[this.at + abi.LINE_ERROR_CODE]! as LineFault, {
        text: decodeText(this.kernel, words[this.at + abi.LINE_ERROR_TEXT_PTR]!, words[this.at + abi.LINE_ERROR_TEXT_BYTES]!),
        detail: words[this.at + abi.LINE_ERROR_DETAIL]!,
        precision: this.precision,
        columnsPerTableMax: this.columnsPerTableMax,
      });
    }
    return this.message_;
  }
}

function decodeText(kernel: Kernel, ptr: number, bytes: number): string {
  // TextDecoder rejects shared memory: copy first. A byte order mark is ordinary text.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(kernel.copyOut(ptr, bytes));
}
