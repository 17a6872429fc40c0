// Formats the rows of an answer as JSON or CSV in assembly/text: a batch is copied into kernel memory, its text is copied out.
import {
  TEXT_BOOLEAN,
  TEXT_COLUMN_BYTES,
  TEXT_COLUMN_STATE,
  TEXT_CSV,
  TEXT_EPOCH,
  TEXT_FLOAT,
  TEXT_FLUX_CSV,
  TEXT_INTEGER,
  TEXT_INTEGER_32,
  TEXT_JSON,
  TEXT_PLAIN_FLOAT_BYTES_MAX,
  TEXT_ROWS_END,
  TEXT_ROWS_INFINITE,
  TEXT_ROWS_NEXT,
  TEXT_ROWS_WORDS,
  TEXT_STRING,
  TEXT_TIME,
  TEXT_UNSIGNED,
  TEXT_UNSIGNED_32,
  TEXT_V1_CSV,
  TEXT_V1_JSON,
  TEXT_VALUE_BYTES_MAX,
  TEXT_VIEW,
} from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ResultBatch, ResultColumn, ResultField, ResultType, TimeUnit } from "../../model/query/result-batch.ts";
import { type RowLayout, type RowText, type RowTextMaker, unsupportedValue } from "../../model/query/row-text.ts";
import type { Kernel } from "../memory/kernel.ts";
import { Scratch } from "../memory/scratch.ts";
import { powersOfFivePtr } from "../parse/powers-of-five.ts";

/** Batches beyond this size have long strings; copying them costs more than it saves. */
const BATCH_BYTES_MAX = 32 << 20;
/** Maximum memory kept between batches. */
const KEPT_BYTES_MAX = 4 << 20;
const OUT_BYTES_MIN = 64 << 10;
const OUT_BYTES_MAX = 1 << 20;
/** A row that may take more is the caller's. */
const ROW_BYTES_MAX = 256 << 20;
/** The kernel copies texts in blocks of 16 bytes and may read beyond their ends. */
const SPARE_BYTES = 16;
const TWO_32 = 2 ** 32;
/** Number of decimals that the kernel tries first in a float column. */
const DECIMALS = 2;

const UNITS: Readonly<Record<TimeUnit, { perSecond: number; digits: number }>> = {
  s: { perSecond: 1, digits: 0 },
  ms: { perSecond: 1e3, digits: 3 },
  us: { perSecond: 1e6, digits: 6 },
  ns: { perSecond: 1e9, digits: 9 },
};

/** Creates row formatters on one thread's kernel. */
export class KernelRowText implements RowTextMaker {
  private readonly scratch: Scratch;

  private readonly powersPtr: number;

  constructor(private readonly kernel: Kernel) {
    this.scratch = new Scratch(kernel);
    this.powersPtr = powersOfFivePtr(kernel);
  }

  make(fields: readonly ResultField[], layout: RowLayout): RowText | null {
    const { v1 } = layout;
    const hasEpochs = v1 !== undefined && (layout.isCsv || v1.epochNs !== null);
    const kinds = fields.map(({ type }) => (hasEpochs && isTime(type) ? TEXT_EPOCH : kindOf(type)));
    if (kinds.some((kind) => kind === null)) return null;
    return new Writer(this.kernel, this.scratch, this.powersPtr, fields, kinds as number[], layout);
  }
}

function kindOf(type: ResultType): number | null {
  switch (type.kind) {
    case "bool":
      return TEXT_BOOLEAN;
    case "int":
      if (type.bits === 64) return type.signed ? TEXT_INTEGER : TEXT_UNSIGNED;
      return type.bits !== 32 ? null : type.signed ? TEXT_INTEGER_32 : TEXT_UNSIGNED_32;
    case "float":
      return type.bits === 64 ? TEXT_FLOAT : null;
    case "timestamp":
      return type.zone === null ? TEXT_TIME : null;
    case "utf8":
      return TEXT_STRING;
    default:
      return null;
  }
}

/** True for types that the v1 API divides by the `epoch` unit. */
function isTime(type: ResultType): boolean {
  return type.kind === "timestamp" && type.unit === "ns";
}

class Writer implements RowText {
  /** The layout's texts (start, end, null, labels), each with spare bytes, and their offsets. */
  private readonly texts: Uint8Array;
  private readonly textOffsets: readonly number[];
  private readonly fixedBytesMax: number;
  /** True if this batch needs more memory than is kept. */
  private isLarge = false;

  constructor(
    private readonly kernel: Kernel,
    private readonly scratch: Scratch,
    private readonly powersPtr: number,
    private readonly fields: readonly ResultField[],
    private readonly kinds: readonly number[],
    private readonly layout: RowLayout,
  ) {
    const texts = [layout.rowStart, layout.rowEnd, layout.nullText, ...layout.labels];
    const offsets: number[] = [];
    let at = 0;
    for (const text of texts) {
      offsets.push(at);
      at += text.length + SPARE_BYTES;
    }
    this.texts = new Uint8Array(at);
    for (const [i, text] of texts.entries()) this.texts.set(text, offsets[i]);
    this.textOffsets = offsets;
    const isPlain = layout.isAnnotated === true || (layout.isCsv && layout.v1 !== undefined);
    const bytesMax = (kind: number) => (isPlain && kind === TEXT_FLOAT ? TEXT_PLAIN_FLOAT_BYTES_MAX : TEXT_VALUE_BYTES_MAX);
    this.fixedBytesMax = kinds.reduce((sum, kind) => sum + bytesMax(kind) + layout.nullText.length, at);
  }

  rows(batch: ResultBatch, from = 0, to = batch.rowCount): Uint8Array<ArrayBuffer> | null {
    const copiedBytes = bytesOf(batch);
    if (copiedBytes > BATCH_BYTES_MAX) return null;
    this.isLarge = copiedBytes + OUT_BYTES_MAX > KEPT_BYTES_MAX;
    try {
      return this.write(batch, from, to);
    } catch (error) {
      // without kernel memory, the caller formats the rows itself
      if (error instanceof TsdbError && error.kind === "overloaded") return null;
      throw error;
    } finally {
      if (this.isLarge) this.scratch.release();
      else this.scratch.reset();
    }
  }

  /** Null: a row is too long. */
  private write(batch: ResultBatch, from: number, to: number): Uint8Array<ArrayBuffer> | null {
    assert(0 <= from && from <= to && to <= batch.rowCount, `rows ${from} to ${to} of ${batch.rowCount}`);
    const { kernel, scratch } = this;
    const rows = this.describe(batch, to);
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let outBytes = Math.min(OUT_BYTES_MAX, Math.max(OUT_BYTES_MIN, this.fixedBytesMax * (to - from)));
    let out = scratch.alloc(outBytes);
    for (let row = from; row < to; ) {
      kernel.call.textRows(rows, row, out, out + outBytes);
      const infinite = kernel.u32[(rows >>> 2) + TEXT_ROWS_INFINITE]!;
      if (infinite !== 0) throw unsupportedValue(infinite === 1 ? "+Inf" : "-Inf");
      const next = kernel.u32[(rows >>> 2) + TEXT_ROWS_NEXT]!;
      if (next > row) parts.push(kernel.copyOut(out, kernel.u32[(rows >>> 2) + TEXT_ROWS_END]! - out));
      else {
        // a single row of long strings
        this.isLarge = true;
        outBytes *= 4;
        if (outBytes > ROW_BYTES_MAX) return null;
        out = scratch.alloc(outBytes);
      }
      row = next;
    }
    return parts.length === 1 ? parts[0]! : join(parts);
  }

  /** Copies batch and layout into kernel memory. Returns the address of the description that `textRows` expects. */
  private describe(batch: ResultBatch, rowCount: number): number {
    const { kernel, scratch, layout, textOffsets, kinds } = this;
    const texts = this.copyIn(this.texts);
    const columns = scratch.alloc(Math.max(1, kinds.length) * TEXT_COLUMN_BYTES);
    for (let i = 0; i < kinds.length; i++) {
      const { kind, values, validity, data } = this.place(batch.columns[i]!, kinds[i]!, batch.rowCount);
      const at = (columns + i * TEXT_COLUMN_BYTES) >>> 2;
      const { u32 } = kernel;
      u32.fill(0, at, at + TEXT_COLUMN_BYTES / 4);
      u32[at] = kind;
      u32[at + 1] = values;
      u32[at + 2] = validity;
      u32[at + 3] = data;
      u32[at + 4] = texts + textOffsets[3 + i]!;
      u32[at + 5] = layout.labels[i]!.length;
      this.prepare(kind, this.fields[i]!.type, at + TEXT_COLUMN_STATE);
    }
    const rows = scratch.alloc(TEXT_ROWS_WORDS * 4);
    const { isCsv, skipsNulls, rowStart, rowEnd, nullText, v1 } = layout;
    const style = layout.isAnnotated
      ? TEXT_FLUX_CSV
      : v1 === undefined
        ? isCsv
          ? TEXT_CSV
          : TEXT_JSON
        : isCsv
          ? TEXT_V1_CSV
          : TEXT_V1_JSON;
    const texts3 = [rowStart, rowEnd, nullText].flatMap((text, i) => [texts + textOffsets[i]!, text.length]);
    const words = [rowCount, kinds.length, columns, style, Number(skipsNulls), ...texts3, this.powersPtr, this.fixedBytesMax, 0, 0, 0];
    kernel.u32.set(words, rows >>> 2);
    return rows;
  }

  /** Copies a column to where the kernel can read it. */
  private place(column: ResultColumn, kind: number, rowCount: number): { kind: number; values: number; validity: number; data: number } {
    const isText = kind === TEXT_STRING;
    if (column.inKernel !== undefined) {
      const { dataPtr, validityPtr } = column.inKernel;
      const validity = dataPtr === 0 ? this.copyIn(new Uint8Array((rowCount + 7) >> 3)) : validityPtr;
      return { kind: isText ? TEXT_VIEW : kind, values: dataPtr, validity, data: 0 };
    }
    checkLengths(column, isText, rowCount);
    const values = this.copyIn(isText ? column.offsets! : column.values);
    const validity = column.validity === null ? 0 : this.copyIn(column.validity);
    return { kind, values, validity, data: isText ? this.copyIn(column.data!) : 0 };
  }

  private prepare(kind: number, type: ResultType, at: number): void {
    const { u32 } = this.kernel;
    if (type.kind === "float") u32[at] = DECIMALS;
    if (type.kind !== "timestamp") return;
    if (kind === TEXT_EPOCH) {
      const divisor = this.layout.v1?.epochNs ?? 1;
      u32[at] = divisor % TWO_32;
      u32[at + 1] = divisor / TWO_32;
      return;
    }
    const { perSecond, digits } = UNITS[type.unit];
    u32[at] = perSecond;
    u32[at + 2] = digits;
  }

  private copyIn(source: ArrayBufferView): number {
    const ptr = this.scratch.alloc(source.byteLength + SPARE_BYTES);
    // the buffer of a small array is made when it is asked for, which takes longer than the copy
    this.kernel.u8.set(source instanceof Uint8Array ? source : new Uint8Array(source.buffer, source.byteOffset, source.byteLength), ptr);
    return ptr;
  }
}

/** The kernel reads as many values as there are rows: check that they exist. */
function checkLengths({ values, offsets, data, validity }: ResultColumn, isText: boolean, rowCount: number): void {
  assert(validity === null || validity.length * 8 >= rowCount, `validity covers ${rowCount} rows`);
  if (!isText) assert(values.length >= rowCount, `${values.length} values for ${rowCount} rows`);
  else assert(offsets !== undefined && data !== undefined && offsets.length > rowCount, "a string column has offsets and data");
}

function bytesOf({ columns }: ResultBatch): number {
  return columns.reduce((sum, column) => sum + columnBytes(column), 0);
}

/** Bytes to copy for a column. */
function columnBytes(column: ResultColumn): number {
  if (column.inKernel !== undefined) return 0;
  const { values, offsets, data } = column;
  return values.byteLength + (offsets?.byteLength ?? 0) + (data?.byteLength ?? 0);
}

function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
