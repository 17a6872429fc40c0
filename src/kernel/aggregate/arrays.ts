// Arrays with one element per cell of an aggregation. They grow together within one memory budget.
import { assert } from "../../model/assert.ts";
import type { Kernel } from "../memory/kernel.ts";
import { gatherValues } from "../scan/rows.ts";

/** Initial value of elements: zero bytes, or a 64-bit value. */
export type Initial = bigint;

/** One array of a CellArrays: its address, valid until the next `reserve`, and its element width in bytes. */
export class CellArray {
  ptr = 0;
  constructor(
    readonly width: 1 | 8 | 16,
    readonly initial: Initial,
  ) {}
}

const CELLS_MIN = 64;

/** All arrays of one aggregation, indexed by cell. Owned: call `release`. */
export class CellArrays {
  private readonly arrays: CellArray[] = [];
  private capacity_ = 0;
  private cellBytes_ = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly bytesMax: number,
  ) {}

  get cellBytes(): number {
    return this.cellBytes_;
  }

  get capacity(): number {
    return this.capacity_;
  }

  /** True if `cellCount` cells fit the budget. */
  fits(cellCount: number): boolean {
    return cellCount * this.cellBytes_ <= this.bytesMax;
  }

  /** Adds an array whose elements are `initial`, which must be 0 unless `width` is 8. Returns null if that exceeds the budget. */
  add(width: 1 | 8 | 16, initial: Initial = 0n): CellArray | null {
    assert(width === 8 || initial === 0n, "only words begin as something");
    if ((this.cellBytes_ + width) * this.capacity_ > this.bytesMax) return null;
    const array = new CellArray(width, initial);
    if (this.capacity_ > 0) {
      array.ptr = this.kernel.heap.alloc(this.capacity_ * width);
      this.fill(array, 0);
    }
    this.cellBytes_ += width;
    this.arrays.push(array);
    return array;
  }

  /** Makes room for `cellCount` cells. Returns false if that exceeds the budget. @throws TsdbError overloaded; every array then has its
   *  old size or a larger one */
  reserve(cellCount: number): boolean {
    if (cellCount <= this.capacity_) return true;
    if (!this.fits(cellCount)) return false;
    const most = Math.floor(this.bytesMax / Math.max(1, this.cellBytes_));
    const capacity = Math.min(most, Math.max(cellCount, this.capacity_ * 2, CELLS_MIN));
    const { heap, call } = this.kernel;
    const old = this.capacity_;
    const grown = this.arrays.map(() => 0);
    try {
      this.arrays.forEach(({ width }, i) => {
        grown[i] = heap.alloc(capacity * width);
      });
    } catch (error) {
      grown.forEach((ptr, i) => {
        if (ptr !== 0) heap.free(ptr, capacity * this.arrays[i]!.width);
      });
      throw error;
    }
    this.capacity_ = capacity;
    this.arrays.forEach((array, i) => {
      if (old > 0) {
        call.copyBytes(grown[i]!, array.ptr, old * array.width);
        heap.free(array.ptr, old * array.width);
      }
      array.ptr = grown[i]!;
      this.fill(array, old);
    });
    return true;
  }

  /** Moves the listed cells (u32, ascending) to 0 .. count-1 and resets all others to their initial value. */
  compact(listPtr: number, count: number): void {
    for (const array of this.arrays) {
      gatherValues(this.kernel, array.width, { sourcePtr: array.ptr, rowsPtr: listPtr, count, targetPtr: array.ptr });
      this.fill(array, count);
    }
  }

  release(): void {
    for (const { ptr, width } of this.arrays) {
      if (this.capacity_ > 0) this.kernel.heap.free(ptr, this.capacity_ * width);
    }
    this.arrays.length = 0;
    this.capacity_ = 0;
    this.cellBytes_ = 0;
  }

  private fill({ ptr, width, initial }: CellArray, from: number): void {
    const count = this.capacity_ - from;
    if (initial === 0n) this.kernel.call.fillBytes(ptr + from * width, 0, count * width);
    else this.kernel.call.fillWords(ptr + from * 8, initial, count);
  }
}
