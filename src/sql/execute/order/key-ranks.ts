// Ranks of a key's values: numbers in whose order rows come first, as far as doubles can tell.
import type { ResultColumn } from "../../../model/query/result-batch.ts";
import type { ScanColumn } from "../../../model/query/scan-chunk.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import type { KeyOrder } from "./key-bound.ts";

/** Views of the kernel's memory. */
export interface KernelViews {
  readonly u8: Uint8Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
}

/** A row with a lesser rank comes before, one with an equal rank may. */
export class KeyRanks {
  /** Of the rows of the last chunk. */
  readonly ranks: Float64Array;
  private readonly sign: 1 | -1;
  private readonly nullRank: number;
  /** NaN is above all numbers. */
  private readonly nanRank: number;

  /** @param type see `fits` @param chunkRowsMax rows of a chunk */
  constructor(
    private readonly type: ColumnType,
    { isDescending, nullsFirst }: KeyOrder,
    chunkRowsMax: number,
  ) {
    this.ranks = new Float64Array(chunkRowsMax);
    this.sign = isDescending ? -1 : 1;
    this.nullRank = nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    this.nanRank = this.sign * Number.POSITIVE_INFINITY;
  }

  /** False: values of the type have no ranks. */
  static fits(type: ColumnType): boolean {
    return type !== ColumnType.tag && type !== ColumnType.string;
  }

  /** True if rows with this rank have equal keys. */
  isExact(rank: number): boolean {
    if (!Number.isFinite(rank)) return false;
    return this.type === ColumnType.float || this.type === ColumnType.boolean || Number.isSafeInteger(rank);
  }

  /** Ranks the rows of a chunk. */
  rank({ u8, u32, f64 }: KernelViews, { dataPtr, validityPtr }: ScanColumn, rowCount: number): void {
    const { ranks, type, sign, nullRank, nanRank } = this;
    if (dataPtr === 0) {
      ranks.fill(nullRank, 0, rowCount);
      return;
    }
    if (type === ColumnType.float) {
      const at = dataPtr >>> 3;
      for (let row = 0; row < rowCount; row++) {
        const value = sign * f64[at + row]!;
        ranks[row] = Number.isNaN(value) ? nanRank : value;
      }
    } else if (type === ColumnType.boolean) {
      for (let row = 0; row < rowCount; row++) ranks[row] = sign * u8[dataPtr + row]!;
    } else {
      const at = dataPtr >>> 2;
      const isUnsigned = type === ColumnType.unsigned;
      for (let row = 0; row < rowCount; row++) {
        const high = u32[at + 2 * row + 1]!;
        // rounded to a double, which keeps the order
        ranks[row] = sign * ((isUnsigned ? high : high | 0) * 2 ** 32 + u32[at + 2 * row]!);
      }
    }
    if (validityPtr === 0) return;
    for (let row = 0; row < rowCount; row++) if (((u8[validityPtr + (row >>> 3)]! >>> (row & 7)) & 1) === 0) ranks[row] = nullRank;
  }

  /** The rank of a row that was read. */
  of({ validity, values }: ResultColumn, row: number): number {
    if (validity !== null && ((validity[row >>> 3]! >>> (row & 7)) & 1) === 0) return this.nullRank;
    const value = this.sign * Number(values[row]!);
    return Number.isNaN(value) ? this.nanRank : value;
  }
}
