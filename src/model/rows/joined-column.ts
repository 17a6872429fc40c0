// Joins rows of several result columns of one type into one column, which owns its buffers.
import { assert } from "../assert.ts";
import type { ResultColumn, ResultField, ResultType, ResultValues } from "../query/result-batch.ts";

const NO_BYTES = new Uint8Array(0);
const ROWS_MIN = 64;

/** `count` rows of a column, starting at `from`. */
export interface ColumnRows {
  readonly from: number;
  readonly count: number;
}

/** A growing column. Values of NULL rows are copied with the others, so they are as undefined as those of the source. */
export class JoinedColumn {
  rowCount = 0;
  private validity: Uint8Array | null = null;
  private values: ResultValues = NO_BYTES;
  private offsets = new Int32Array(0);
  private data = NO_BYTES;
  private dictionary: readonly string[] | undefined;
  private readonly children: readonly JoinedColumn[];
  private readonly width: number;

  constructor(private readonly type: ResultType) {
    this.children = childrenOf(type).map((child) => new JoinedColumn(child.type));
    this.width = type.kind === "hugeint" || type.kind === "decimal" || type.kind === "interval" ? 16 : 1;
  }

  /** False if the column's codes belong to other strings than those that are here. */
  accepts(column: ResultColumn): boolean {
    if (this.rowCount > 0 && column.dictionary !== this.dictionary) return false;
    return this.children.every((child, i) => child.accepts(column.children![i]!));
  }

  /** Copies rows of a borrowed column that this one accepts. */
  append(column: ResultColumn, rows: ColumnRows): void {
    const { type } = this;
    assert(this.accepts(column), "codes of one column have one dictionary");
    this.dictionary = column.dictionary;
    this.appendValidity(column.validity, rows);
    if (type.kind === "utf8" || type.kind === "binary") {
      const bytes = this.appendOffsets(column.offsets!, rows);
      this.appendData(column.data!, bytes);
    } else if (type.kind === "list" || type.kind === "map") {
      const items = this.appendOffsets(column.offsets!, rows);
      for (const [i, child] of this.children.entries()) child.append(column.children![i]!, items);
    } else if (type.kind === "struct") {
      for (const [i, child] of this.children.entries()) child.append(column.children![i]!, rows);
    } else if (type.kind !== "null") this.appendValues(column.values, rows);
    this.rowCount += rows.count;
  }

  /** The rows so far. Valid until the next `append` or `clear`. */
  column(): ResultColumn {
    const { type, rowCount, dictionary } = this;
    const validity = this.validity?.subarray(0, (rowCount + 7) >> 3) ?? null;
    const offsets = this.offsets.subarray(0, rowCount + 1);
    const children = this.children.map((child) => child.column());
    switch (type.kind) {
      case "utf8":
      case "binary":
        return { validity, values: NO_BYTES, offsets: this.endOffsets(offsets), data: this.data.subarray(0, offsets[rowCount] ?? 0) };
      case "list":
      case "map":
        return { validity, values: NO_BYTES, offsets: this.endOffsets(offsets), children };
      case "struct":
        return { validity, values: NO_BYTES, children };
      default: {
        const values = this.values.subarray(0, rowCount * this.width) as ResultValues;
        return dictionary === undefined ? { validity, values } : { validity, values, dictionary };
      }
    }
  }

  /** Keeps the buffers. */
  clear(): void {
    this.rowCount = 0;
    this.validity = null;
    this.dictionary = undefined;
    for (const child of this.children) child.clear();
  }

  private endOffsets(offsets: Int32Array): Int32Array {
    return offsets.length === 0 ? new Int32Array(1) : offsets;
  }

  private appendValues(source: ResultValues, { from, count }: ColumnRows): void {
    const { width, rowCount } = this;
    const wanted = (rowCount + count) * width;
    const isFirst = this.values.constructor !== source.constructor;
    assert(!isFirst || rowCount === 0, "the values of a column have one type");
    if (wanted > this.values.length || isFirst) {
      const larger = new (source.constructor as new (length: number) => ResultValues)(roomFor(this.values.length, wanted));
      if (!isFirst) (larger as Uint8Array).set(this.values.subarray(0, rowCount * width) as Uint8Array);
      this.values = larger;
    }
    const rows = source.subarray(from * width, (from + count) * width);
    assert(rows.length === count * width, `${rows.length} values of ${width} for ${count} rows`);
    (this.values as Uint8Array).set(rows as Uint8Array, rowCount * width);
  }

  /** Returns the items of the rows. */
  private appendOffsets(source: Int32Array, { from, count }: ColumnRows): ColumnRows {
    const { rowCount } = this;
    if (rowCount + count + 1 > this.offsets.length) {
      const larger = new Int32Array(roomFor(this.offsets.length, rowCount + count + 1));
      larger.set(this.offsets);
      this.offsets = larger;
    }
    const { offsets } = this;
    if (rowCount === 0) offsets[0] = 0;
    const first = source[from]!;
    const shift = offsets[rowCount]! - first;
    for (let row = 1; row <= count; row++) offsets[rowCount + row] = source[from + row]! + shift;
    return { from: first, count: source[from + count]! - first };
  }

  /** The offsets of these bytes are here already. */
  private appendData(source: Uint8Array, { from, count }: ColumnRows): void {
    const at = this.offsets[this.rowCount]!;
    if (at + count > this.data.length) {
      const larger = new Uint8Array(roomFor(this.data.length, at + count));
      larger.set(this.data.subarray(0, at));
      this.data = larger;
    }
    this.data.set(source.subarray(from, from + count), at);
  }

  private appendValidity(source: Uint8Array | null, rows: ColumnRows): void {
    const { rowCount } = this;
    if (source === null && this.validity === null) return;
    const bytes = (rowCount + rows.count + 7) >> 3;
    if (this.validity === null || this.validity.length < bytes) {
      const larger = new Uint8Array(roomFor(this.validity?.length ?? 0, bytes));
      if (this.validity === null) fillBits(larger, 0, rowCount);
      else larger.set(this.validity.subarray(0, (rowCount + 7) >> 3));
      this.validity = larger;
    }
    if (source === null) fillBits(this.validity, rowCount, rows.count);
    else copyBits(this.validity, rowCount, source, rows);
  }
}

function childrenOf(type: ResultType): readonly ResultField[] {
  if (type.kind === "struct") return type.children;
  if (type.kind === "list") return [type.child];
  return type.kind === "map" ? [type.key, type.value] : [];
}

function roomFor(length: number, wanted: number): number {
  return Math.max(wanted, length * 2, ROWS_MIN);
}

/** Sets `count` bits from `at` on. */
function fillBits(bits: Uint8Array, at: number, count: number): void {
  const end = at + count;
  let bit = at;
  for (; bit < end && (bit & 7) !== 0; bit++) bits[bit >> 3]! |= 1 << (bit & 7);
  const whole = (end - bit) >> 3;
  if (whole > 0) {
    bits.fill(0xff, bit >> 3, (bit >> 3) + whole);
    bit += whole * 8;
  }
  for (; bit < end; bit++) setBit(bits, bit, true);
}

/** Bits behind those that are here may have any value: a buffer serves many batches. */
function copyBits(bits: Uint8Array, at: number, source: Uint8Array, { from, count }: ColumnRows): void {
  if ((at & 7) === 0 && (from & 7) === 0) {
    bits.set(source.subarray(from >> 3, (from + count + 7) >> 3), at >> 3);
    return;
  }
  for (let row = 0; row < count; row++) setBit(bits, at + row, ((source[(from + row) >> 3]! >> ((from + row) & 7)) & 1) === 1);
}

function setBit(bits: Uint8Array, at: number, isSet: boolean): void {
  const mask = 1 << (at & 7);
  bits[at >> 3] = isSet ? bits[at >> 3]! | mask : bits[at >> 3]! & ~mask;
}

/** The rows of all parts, in order: a single part itself, else owned by the caller. */
export function joinColumns(
  type: ResultType,
  parts: readonly { readonly column: ResultColumn; readonly rowCount: number }[],
): ResultColumn {
  if (parts.length === 1) return parts[0]!.column;
  const joined = new JoinedColumn(type);
  for (const { column, rowCount } of parts) joined.append(column, { from: 0, count: rowCount });
  return joined.column();
}
