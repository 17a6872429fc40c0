// The first rows of an order, found while the rows are read: of the others only the first key is looked at.

import type { ResultColumn, ResultType } from "../../../model/query/result-batch.ts";
import type { ScanColumn } from "../../../model/query/scan-chunk.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import { joinColumns } from "../../../model/rows/joined-column.ts";
import { takeRows } from "../../../model/rows/take-rows.ts";
import type { Steps } from "../../../model/steps.ts";
import { LeastValues } from "./least-values.ts";
import { RowOrder, type SortKey } from "./row-order.ts";

/** More first rows are sorted with all others. */
const COUNT_MAX = 10_000;
/** Rows that are kept beside the first ones before those behind them are dropped. */
const SPARE_ROWS = 4096;
/** So many rows that may be among the first, as those of a key with few values, are sorted faster by DuckDB. */
const CANDIDATES_MAX = 200_000;
const CANDIDATE_BYTES_MAX = 32 << 20;

/** Views of the kernel's memory. */
export interface KernelViews {
  readonly u8: Uint8Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
}

/** A chunk of the scan. */
export interface KeyedChunk {
  readonly rowCount: number;
  /** The first key as it lies in the kernel's memory. */
  readonly key: ScanColumn;
  /** Copies of the columns' values at these rows. */
  read(rows: Uint32Array): readonly ResultColumn[];
}

interface Rows {
  readonly columns: readonly ResultColumn[];
  readonly rowCount: number;
}

/** The rows of a scan that come first. */
export class TopRows {
  private parts: Rows[] = [];
  private rowCount = 0;
  private candidates = 0;
  private candidateBytes = 0;
  private readonly least: LeastValues;
  private readonly ranks: Float64Array;
  private readonly found: Uint32Array;
  private readonly keyType: ColumnType;
  private readonly key: SortKey;

  /** @param columnTypes of the scan @param types of its result columns @param keys see `fits` @param count number of rows wanted
   *  @param chunkRowsMax rows of a chunk */
  constructor(
    columnTypes: readonly ColumnType[],
    private readonly types: readonly ResultType[],
    private readonly keys: readonly SortKey[],
    private readonly count: number,
    chunkRowsMax: number,
  ) {
    this.key = keys[0]!;
    this.keyType = columnTypes[this.key.column]!;
    this.least = new LeastValues(count);
    this.ranks = new Float64Array(chunkRowsMax);
    this.found = new Uint32Array(chunkRowsMax);
  }

  /** False if rows in this order must be sorted with all others. */
  static fits(columnTypes: readonly ColumnType[], keys: readonly SortKey[], count: number): boolean {
    const [key] = keys;
    if (key === undefined || count === 0 || count > COUNT_MAX) return false;
    const type = columnTypes[key.column]!;
    return type !== ColumnType.tag && type !== ColumnType.string;
  }

  /** Takes the rows of a chunk, which is not needed afterwards. Returns false if too many may be among the first. */
  *add(views: KernelViews, { rowCount, key, read }: KeyedChunk): Steps<boolean> {
    this.rank(views, key, rowCount);
    const found = this.rowsWithin(rowCount);
    if (found === 0) return true;
    const taken = read(this.found.subarray(0, found));
    this.parts.push({ columns: taken, rowCount: found });
    this.rowCount += found;
    this.candidates += found;
    for (const { values, data } of taken) this.candidateBytes += values.byteLength + (data?.length ?? 0);
    if (this.candidates > CANDIDATES_MAX || this.candidateBytes > CANDIDATE_BYTES_MAX) return false;
    if (this.rowCount >= this.count + Math.max(this.count, SPARE_ROWS)) yield* this.drop();
    return true;
  }

  /** The first rows in order. */
  *first(): Steps<Rows> {
    if (this.rowCount > 0) yield* this.drop();
    return this.parts[0] ?? { columns: [], rowCount: 0 };
  }

  /** Drops what is not among the first rows. */
  private *drop(): Steps<void> {
    const { parts, rowCount, types } = this;
    const columns = types.map((type, i) => {
      const rows = parts.map((part) => ({ column: part.columns[i]!, rowCount: part.rowCount }));
      return joinColumns(type, rows);
    });
    yield;
    const sorted = yield* new RowOrder(columns, types, rowCount, this.keys).sorted();
    const count = Math.min(rowCount, this.count);
    const rows = sorted?.subarray(0, count) ?? Uint32Array.from({ length: count }, (_, row) => row);
    this.parts = [{ columns: columns.map((column, i) => takeRows(column, types[i]!, rows)), rowCount: count }];
    this.rowCount = count;
  }

  /** Puts the rows that may be among the first into `found`; returns their number. */
  private rowsWithin(rowCount: number): number {
    const { ranks, found, least } = this;
    let count = 0;
    for (let row = 0; row < rowCount; row++) {
      const rank = ranks[row]!;
      const { bound } = least;
      // of rows with equal keys the earlier ones come first, and there are enough of them
      if (rank > bound || (rank === bound && this.isExact(bound))) continue;
      found[count++] = row;
      least.add(rank);
    }
    // the bound has come nearer
    const { bound } = least;
    let within = 0;
    for (let i = 0; i < count; i++) if (ranks[found[i]!]! <= bound) found[within++] = found[i]!;
    return within;
  }

  /** True if rows whose rank is `bound` have equal keys. */
  private isExact(bound: number): boolean {
    if (this.keys.length > 1 || !Number.isFinite(bound)) return false;
    return this.keyType === ColumnType.float || this.keyType === ColumnType.boolean || Number.isSafeInteger(bound);
  }

  /** Ranks the first key of each row: a row with a lesser rank comes before, one with an equal rank may. */
  private rank({ u8, u32, f64 }: KernelViews, { dataPtr, validityPtr }: ScanColumn, rowCount: number): void {
    const { ranks, keyType } = this;
    const { isDescending, nullsFirst } = this.key;
    const sign = isDescending ? -1 : 1;
    const nullRank = nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    if (dataPtr === 0) {
      ranks.fill(nullRank, 0, rowCount);
      return;
    }
    if (keyType === ColumnType.float) {
      const at = dataPtr >>> 3;
      // NaN is above all numbers
      const nanRank = sign * Number.POSITIVE_INFINITY;
      for (let row = 0; row < rowCount; row++) {
        const value = sign * f64[at + row]!;
        ranks[row] = Number.isNaN(value) ? nanRank : value;
      }
    } else if (keyType === ColumnType.boolean) {
      for (let row = 0; row < rowCount; row++) ranks[row] = sign * u8[dataPtr + row]!;
    } else {
      const at = dataPtr >>> 2;
      const isUnsigned = keyType === ColumnType.unsigned;
      for (let row = 0; row < rowCount; row++) {
        const high = u32[at + 2 * row + 1]!;
        // rounded to a double, which keeps the order
        ranks[row] = sign * ((isUnsigned ? high : high | 0) * 2 ** 32 + u32[at + 2 * row]!);
      }
    }
    if (validityPtr === 0) return;
    for (let row = 0; row < rowCount; row++) if (((u8[validityPtr + (row >>> 3)]! >>> (row & 7)) & 1) === 0) ranks[row] = nullRank;
  }
}
