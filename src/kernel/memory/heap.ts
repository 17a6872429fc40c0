// One thread's allocator on the shared extents: powers of two up to 32 KiB from free lists, larger blocks as whole extents. Any heap may
// free a block, given the size it was allocated with; only whole extents return to the other threads.
import { EXTENT_BYTES, type Extents } from "./extents.ts";
import { FREED, FRESH, poison } from "./poison.ts";

const CLASS_MIN_SHIFT = 6; // 64 bytes: one cache line
const CLASS_MAX_SHIFT = 15; // 32 KiB: half an extent

/** One thread's heap. */
export class Heap {
  private readonly free_: number[][] = Array.from({ length: CLASS_MAX_SHIFT + 1 }, () => []);
  private usedBytes_ = 0;

  /** @param extents if they have an owner, only this heap may free its blocks */
  constructor(readonly extents: Extents) {}

  /** Bytes allocated by this heap and not freed through it. */
  get usedBytes(): number {
    return this.usedBytes_;
  }

  /** Bytes that a block of `bytes` occupies. */
  static footprint(bytes: number): number {
    const shift = classOf(bytes);
    return shift === 0 ? Math.max(1, Math.ceil(bytes / EXTENT_BYTES)) * EXTENT_BYTES : 1 << shift;
  }

  /** Allocates at least `bytes` bytes at a multiple of 64, with undefined contents. @throws TsdbError overloaded */
  alloc(bytes: number): number {
    const shift = classOf(bytes);
    if (shift === 0) {
      const ptr = this.extents.allocate(bytes);
      this.usedBytes_ += Heap.footprint(bytes);
      return ptr;
    }
    const list = this.free_[shift]!;
    let ptr = list.pop();
    if (ptr === undefined) {
      const base = this.extents.allocate(EXTENT_BYTES);
      const size = 1 << shift;
      for (let at = base + EXTENT_BYTES - size; at > base; at -= size) list.push(at);
      ptr = base;
    }
    poison(this.extents.shared.memory, ptr, 1 << shift, FRESH);
    this.usedBytes_ += 1 << shift;
    return ptr;
  }

  /** Returns extents of which no block is in use to the other threads. */
  trim(): void {
    for (const [shift, list] of this.free_.entries()) {
      const perExtent = EXTENT_BYTES >>> shift;
      if (list.length < perExtent) continue;
      const counts = new Map<number, number>();
      for (const ptr of list) {
        const base = ptr - (ptr % EXTENT_BYTES);
        counts.set(base, (counts.get(base) ?? 0) + 1);
      }
      const isWhole = (ptr: number) => counts.get(ptr - (ptr % EXTENT_BYTES)) === perExtent;
      this.free_[shift] = list.filter((ptr) => !isWhole(ptr));
      for (const [base, count] of counts) if (count === perExtent) this.extents.release(base, EXTENT_BYTES);
    }
  }

  /** `alloc`, zero-filled. */
  allocZeroed(bytes: number): number {
    const ptr = this.alloc(bytes);
    new Uint8Array(this.extents.shared.memory.buffer, ptr, bytes).fill(0);
    return ptr;
  }

  /** Frees a block; `bytes` is the size it was allocated with. */
  free(ptr: number, bytes: number): void {
    const shift = classOf(bytes);
    this.usedBytes_ -= Heap.footprint(bytes);
    if (shift === 0) this.extents.release(ptr, bytes);
    else {
      poison(this.extents.shared.memory, ptr, 1 << shift, FREED);
      this.free_[shift]!.push(ptr);
    }
  }
}

/** The size class as a shift; 0 for blocks of whole extents. */
function classOf(bytes: number): number {
  if (bytes > 1 << CLASS_MAX_SHIFT) return 0;
  return Math.max(CLASS_MIN_SHIFT, 32 - Math.clz32(Math.max(1, bytes) - 1));
}
