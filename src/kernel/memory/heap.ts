// One thread's allocator over the shared extents: powers of two up to 32 KiB from free lists, larger blocks as whole extents.
// A block is freed by any heap with the size it was asked for; memory returns to the other threads in whole extents only.
import { EXTENT_BYTES, type Extents } from "./extents.ts";
import { FREED, FRESH, poison } from "./poison.ts";

const CLASS_MIN_SHIFT = 6; // 64 bytes: one cache line
const CLASS_MAX_SHIFT = 15; // 32 KiB: half an extent

export class Heap {
  private readonly free_: number[][] = Array.from({ length: CLASS_MAX_SHIFT + 1 }, () => []);
  private usedBytes_ = 0;

  /** @param extents where they have an owner, only this heap frees its blocks */
  constructor(readonly extents: Extents) {}

  /** Bytes handed out by this heap and not freed through it. */
  get usedBytes(): number {
    return this.usedBytes_;
  }

  /** Bytes a block of `bytes` really takes. */
  static footprint(bytes: number): number {
    const shift = classOf(bytes);
    return shift === 0 ? Math.max(1, Math.ceil(bytes / EXTENT_BYTES)) * EXTENT_BYTES : 1 << shift;
  }

  /** At least `bytes` bytes at a multiple of 64, contents undefined. @throws TsdbError overloaded */
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

  /** `alloc` with the block set to zero. */
  allocZeroed(bytes: number): number {
    const ptr = this.alloc(bytes);
    new Uint8Array(this.extents.shared.memory.buffer, ptr, bytes).fill(0);
    return ptr;
  }

  /** Gives back a block with the size it was asked for. */
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

/** The size class as a shift; 0 for blocks that are whole extents. */
function classOf(bytes: number): number {
  if (bytes > 1 << CLASS_MAX_SHIFT) return 0;
  return Math.max(CLASS_MIN_SHIFT, 32 - Math.clz32(Math.max(1, bytes) - 1));
}
