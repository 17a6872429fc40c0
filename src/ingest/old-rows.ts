// Rows of a body that are older than its database keeps rows: they are removed from the parsed tables, in place, before anything is made of
// their names.
import type { Kernel } from "../kernel/memory/kernel.ts";
import type { Scratch } from "../kernel/memory/scratch.ts";
import type { ParsedColumn, ParsedTable } from "../kernel/parse/parser-view.ts";
import { bitmapBytes, gatherColumn, gatherValues } from "../kernel/scan/rows.ts";
import { VALUE_BYTES } from "../model/rows/column.ts";

export interface OldRow {
  /** Byte offset of the line in the body. */
  readonly lineOffset: number;
  readonly timeNs: bigint;
}

/** For one body. */
export class OldRows {
  private count_ = 0;
  private oldest_: OldRow | null = null;
  private newest_: OldRow | null = null;

  constructor(
    private readonly kernel: Kernel,
    private readonly scratch: Scratch,
    /** Older rows are removed. */
    private readonly minTimeNs: bigint,
  ) {}

  /** Number of rows removed. */
  get count(): number {
    return this.count_;
  }

  /** Of those that were removed, by time; null = none were. */
  get ends(): { readonly oldest: OldRow; readonly newest: OldRow } | null {
    return this.oldest_ === null || this.newest_ === null ? null : { oldest: this.oldest_, newest: this.newest_ };
  }

  /** True if one of the rows is older. */
  isIn({ timePtr, rowCount }: { readonly timePtr: number; readonly rowCount: number }): boolean {
    // comparing halves spares a bigint for each row
    const [minHigh, minLow] = [Number(this.minTimeNs >> 32n), Number(BigInt.asUintN(32, this.minTimeNs))];
    const words = this.kernel.u32;
    const first = timePtr >>> 2;
    for (let at = first; at < first + rowCount * 2; at += 2) {
      const high = words[at + 1]! | 0;
      if (high < minHigh || (high === minHigh && words[at]! < minLow)) return true;
    }
    return false;
  }

  /** The table without its old rows: itself if it has none, null if it has no others. New series are not those of its rows any more. */
  removeFrom(table: ParsedTable): ParsedTable | null {
    if (!this.isIn(table)) return table;
    const times = this.kernel.i64;
    const lines = this.kernel.u32;
    const keep: number[] = [];
    for (let row = 0; row < table.rowCount; row++) {
      const timeNs = times[table.timePtr / 8 + row]!;
      if (timeNs >= this.minTimeNs) keep.push(row);
      else this.note({ lineOffset: lines[table.lineOffsetsPtr / 4 + row]!, timeNs });
    }
    return keep.length === 0 ? null : this.kept(table, Uint32Array.from(keep));
  }

  private note(row: OldRow): void {
    this.count_ += 1;
    if (this.oldest_ === null || row.timeNs < this.oldest_.timeNs) this.oldest_ = row;
    if (this.newest_ === null || row.timeNs > this.newest_.timeNs) this.newest_ = row;
  }

  private kept(table: ParsedTable, keep: Uint32Array): ParsedTable {
    const { kernel, scratch } = this;
    const count = keep.length;
    const rowsPtr = scratch.alloc(count * 4);
    kernel.u32.set(keep, rowsPtr / 4);
    for (const [bytes, ptr] of [
      [4, table.seriesPtr],
      [8, table.timePtr],
      [4, table.lineOffsetsPtr],
    ] as const) {
      gatherValues(kernel, bytes, { sourcePtr: ptr, rowsPtr, count, targetPtr: ptr });
    }
    const keptPtr = scratch.alloc(bitmapBytes(table.rowCount));
    kernel.call.rowBits(rowsPtr, count, table.rowCount, keptPtr);
    const columns = table.columns.flatMap((column): ParsedColumn[] => {
      const { type, dataPtr, validityPtr } = column;
      if (validityPtr === 0) {
        gatherColumn(kernel, type, { sourcePtr: dataPtr, rowsPtr, count, targetPtr: dataPtr });
        return [{ ...column, presentCount: count }];
      }
      const targetPtr = scratch.alloc(bitmapBytes(count));
      const presentCount = kernel.call.keepPacked(VALUE_BYTES[type], dataPtr, validityPtr, keptPtr, table.rowCount, targetPtr);
      return presentCount === 0 ? [] : [{ ...column, validityPtr: targetPtr, presentCount }];
    });
    return { ...table, rowCount: count, columns, newSeriesCount: 0 };
  }
}
