// Formats the cells of one column as text: numbers, booleans, times. A `Cells` object is bound to a batch's column and then formats row by
// row.
import { assert } from "../../model/assert.ts";
import type { ResultBatch, ResultColumn, TimeUnit } from "../../model/query/result-batch.ts";
import type { ByteWriter } from "../byte-writer.ts";
import { dateText, durationText, intervalText, TimestampText, writeTimeOfDay } from "./clock-text.ts";
import { DoubleText, type FloatLayout, JSON_LAYOUT, nonFiniteText, PLAIN_LAYOUT, SINGLE_LAYOUT, singleText } from "./float-text.ts";
import { decimalText, readInt128, writeInt64, writeUint64 } from "./wide-text.ts";
import type { ZoneOffsets } from "./zone-offsets.ts";

/** The target format. `json` quotes text and rejects or replaces numbers that JSON cannot represent; `csv` quotes only cells with a
 *  comma, quote or line end; `plain` is text for people. */
export type CellStyle = "json" | "csv" | "plain";

const QUOTE = 0x22;

const layoutOf = (style: CellStyle): FloatLayout => (style === "json" ? JSON_LAYOUT : PLAIN_LAYOUT);

/** Formats the values of one column. */
export abstract class Cells {
  /** Validity of the bound column's rows, LSB first; null if all are present. */
  validity: Uint8Array | null = null;

  constructor(protected readonly out: ByteWriter) {}

  /** Binds the next batch's column, which stays borrowed until the next bind. */
  bind(column: ResultColumn, rowCount: number): void {
    assert(column.validity === null || column.validity.length * 8 >= rowCount, `validity covers ${rowCount} rows`);
    this.validity = column.validity;
    this.load(column, rowCount);
  }

  isNull(row: number): boolean {
    const { validity } = this;
    return validity !== null && ((validity[row >> 3]! >> (row & 7)) & 1) === 0;
  }

  /** Writes the value of `row`, which must not be null. */
  abstract write(row: number): void;
  protected abstract load(column: ResultColumn, rowCount: number): void;
}

/** Binds each column of `batch` to its cells. */
export function bindAll(cells: readonly Cells[], { columns, rowCount }: ResultBatch): void {
  assert(columns.length === cells.length, `${columns.length} columns, ${cells.length} in the head`);
  for (let index = 0; index < cells.length; index++) cells[index]!.bind(columns[index]!, rowCount);
}

/** A column of NULLs. */
export class NullCells extends Cells {
  protected load(_column: ResultColumn, rowCount: number): void {
    this.validity = new Uint8Array((rowCount + 7) >> 3);
  }
  write(): void {
    assert(false, "a null column holds no value");
  }
}

/** Booleans. */
export class BoolCells extends Cells {
  private values: Uint8Array = new Uint8Array(0);
  protected load(column: ResultColumn): void {
    this.values = column.values as Uint8Array;
  }
  write(row: number): void {
    this.out.ascii(this.values[row] === 0 ? "false" : "true");
  }
}

/** Integers of up to 32 bits. */
export class IntCells extends Cells {
  private values: Exclude<ResultColumn["values"], BigInt64Array | BigUint64Array> = new Int32Array(0);
  protected load(column: ResultColumn): void {
    const { values } = column;
    assert(!(values instanceof BigInt64Array || values instanceof BigUint64Array), "a narrow integer column has narrow values");
    this.values = values;
  }
  write(row: number): void {
    this.out.int(this.values[row]!);
  }
}

/** 64-bit integers. */
export class Int64Cells extends Cells {
  private words: Int32Array = new Int32Array(0);
  constructor(
    out: ByteWriter,
    private readonly signed: boolean,
  ) {
    super(out);
  }
  protected load(column: ResultColumn, rowCount: number): void {
    this.words = wordsOf(column, rowCount);
  }
  write(row: number): void {
    const low = this.words[row * 2]!;
    const high = this.words[row * 2 + 1]!;
    if (high === 0 && low >= 0) this.out.uint31(low);
    else if (this.signed) writeInt64(this.out, low >>> 0, high);
    else writeUint64(this.out, low >>> 0, high >>> 0);
  }
}

/** Floats of 64 bits. */
export class DoubleCells extends Cells {
  private values: Float64Array = new Float64Array(0);
  private readonly text: DoubleText;
  constructor(
    out: ByteWriter,
    private readonly style: CellStyle,
  ) {
    super(out);
    this.text = new DoubleText(out, layoutOf(style));
  }
  protected load(column: ResultColumn): void {
    this.values = column.values as Float64Array;
  }
  write(row: number): void {
    const value = this.values[row]!;
    // value - value is 0 for finite values only.
    if (value - value === 0) this.text.write(value);
    else this.out.ascii(this.style === "json" ? "null" : nonFiniteText(value));
  }
}

/** Floats of 32 bits. */
export class SingleCells extends Cells {
  private values: Float32Array = new Float32Array(0);
  constructor(
    out: ByteWriter,
    private readonly style: CellStyle,
  ) {
    super(out);
  }
  protected load(column: ResultColumn): void {
    this.values = column.values as Float32Array;
  }
  write(row: number): void {
    const value = this.values[row]!;
    if (Number.isFinite(value)) this.out.ascii(singleText(value, this.style === "json" ? JSON_LAYOUT : SINGLE_LAYOUT));
    else this.out.ascii(this.style === "json" ? "null" : nonFiniteText(value));
  }
}

/** 128-bit integers with `scale` decimals; `scale` null for integers. */
export class Int128Cells extends Cells {
  private view: DataView = new DataView(new ArrayBuffer(0));
  constructor(
    out: ByteWriter,
    private readonly signed: boolean,
    private readonly scale: number | null,
  ) {
    super(out);
  }
  protected load(column: ResultColumn, rowCount: number): void {
    this.view = viewOf(column, rowCount);
  }
  write(row: number): void {
    const value = readInt128(this.view, row * 16, this.signed);
    this.out.ascii(this.scale === null ? value.toString() : decimalText(value, this.scale));
  }
}

/** Cells of plain ASCII text that are strings in JSON. */
abstract class QuotedCells extends Cells {
  constructor(
    out: ByteWriter,
    private readonly style: CellStyle,
  ) {
    super(out);
  }
  write(row: number): void {
    if (this.style === "json") {
      this.out.byte(QUOTE);
      this.writeText(row);
      this.out.byte(QUOTE);
    } else {
      this.writeText(row);
    }
  }
  protected abstract writeText(row: number): void;
}

/** Timestamps, with the zone's offset if the type has one. */
export class TimestampCells extends QuotedCells {
  private words: Int32Array = new Int32Array(0);
  private readonly text: TimestampText;
  constructor(out: ByteWriter, style: CellStyle, unit: TimeUnit, zone: ZoneOffsets | null) {
    super(out, style);
    this.text = new TimestampText(out, unit, zone);
  }
  protected load(column: ResultColumn, rowCount: number): void {
    this.words = wordsOf(column, rowCount);
  }
  protected writeText(row: number): void {
    this.text.write(this.words[row * 2]! >>> 0, this.words[row * 2 + 1]!);
  }
}

/** Dates. */
export class DateCells extends QuotedCells {
  private values: Int32Array = new Int32Array(0);
  protected load(column: ResultColumn): void {
    this.values = column.values as Int32Array;
  }
  protected writeText(row: number): void {
    this.out.ascii(dateText(this.values[row]!));
  }
}

/** Counts of a time unit. */
abstract class UnitCells extends QuotedCells {
  protected values: BigInt64Array = new BigInt64Array(0);
  constructor(
    out: ByteWriter,
    style: CellStyle,
    protected readonly unit: TimeUnit,
  ) {
    super(out, style);
  }
  protected load(column: ResultColumn): void {
    this.values = column.values as BigInt64Array;
  }
}

/** Times of day. */
export class TimeCells extends UnitCells {
  protected writeText(row: number): void {
    writeTimeOfDay(this.out, Number(this.values[row]!), this.unit);
  }
}

/** Intervals. */
export class IntervalCells extends QuotedCells {
  private view: DataView = new DataView(new ArrayBuffer(0));
  protected load(column: ResultColumn, rowCount: number): void {
    this.view = viewOf(column, rowCount);
  }
  protected writeText(row: number): void {
    const at = row * 16;
    const { view } = this;
    this.out.ascii(intervalText(view.getInt32(at, true), view.getInt32(at + 4, true), view.getBigInt64(at + 8, true)));
  }
}

/** Durations. */
export class DurationCells extends UnitCells {
  protected writeText(row: number): void {
    this.out.ascii(durationText(this.values[row]!, this.unit));
  }
}

/** Binary data as lower-case hexadecimal digits. */
export class BinaryCells extends QuotedCells {
  private offsets: Int32Array = new Int32Array(0);
  private data: Uint8Array = new Uint8Array(0);
  protected load(column: ResultColumn): void {
    assert(column.offsets !== undefined && column.data !== undefined, "a binary column has offsets and data");
    this.offsets = column.offsets;
    this.data = column.data;
  }
  protected writeText(row: number): void {
    this.out.hex(this.data, this.offsets[row]!, this.offsets[row + 1]!);
  }
}

/** The low and high 32-bit words of 64-bit values as i32: reading u32 would create doubles. */
function wordsOf(column: ResultColumn, rowCount: number): Int32Array {
  const { values } = column;
  assert(values instanceof BigInt64Array || values instanceof BigUint64Array, "a 64-bit column has 64-bit values");
  assert(values.length >= rowCount, `${values.length} values for ${rowCount} rows`);
  return new Int32Array(values.buffer, values.byteOffset, rowCount * 2);
}

/** The bytes of a column of 16-byte values. */
function viewOf(column: ResultColumn, rowCount: number): DataView {
  const { values } = column;
  assert(values.byteLength >= rowCount * 16, `${values.byteLength} bytes for ${rowCount} values of 16`);
  return new DataView(values.buffer, values.byteOffset, rowCount * 16);
}
