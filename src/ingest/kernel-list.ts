// A growable u32 array in kernel memory: maps from one id space to another, read by kernel loops.
import type { Kernel } from "../kernel/memory/kernel.ts";
import { assert } from "../model/assert.ts";

/** Value of new elements: larger than any id. */
export const UNRESOLVED = 0xffffffff;

/** A growable u32 array in kernel memory; new elements are UNRESOLVED. */
export class KernelU32List {
  ptr = 0;
  private capacity = 0;
  private length_ = 0;

  constructor(private readonly kernel: Kernel) {}

  get length(): number {
    return this.length_;
  }

  grow(length: number): void {
    if (length <= this.length_) return;
    if (length > this.capacity) {
      const capacity = Math.max(length, this.capacity * 2, 16);
      const ptr = this.kernel.heap.alloc(capacity * 4);
      const { u32 } = this.kernel;
      u32.copyWithin(ptr / 4, this.ptr / 4, this.ptr / 4 + this.length_);
      if (this.capacity > 0) this.kernel.heap.free(this.ptr, this.capacity * 4);
      this.ptr = ptr;
      this.capacity = capacity;
    }
    this.kernel.u32.fill(UNRESOLVED, this.ptr / 4 + this.length_, this.ptr / 4 + length);
    this.length_ = length;
  }

  /** Sets all elements to UNRESOLVED. */
  clear(): void {
    this.kernel.u32.fill(UNRESOLVED, this.ptr / 4, this.ptr / 4 + this.length_);
  }

  get(index: number): number {
    assert(index < this.length, `index ${index} of ${this.length_}`);
    return this.kernel.u32[this.ptr / 4 + index]!;
  }

  set(index: number, value: number): void {
    assert(index < this.length, `index ${index} of ${this.length_}`);
    this.kernel.u32[this.ptr / 4 + index] = value;
  }

  release(): void {
    if (this.capacity > 0) this.kernel.heap.free(this.ptr, this.capacity * 4);
    this.capacity = 0;
    this.length_ = 0;
  }
}
