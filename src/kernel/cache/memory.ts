// The kernel memory of one cache, counted against its limit.
import type { Kernel } from "../memory/kernel.ts";

/** The cache would exceed its memory limit. */
export class NoRoomError extends Error {}

/** Allocates kernel memory for one cache and counts it. */
export class CacheMemory {
  private taken = 0;

  constructor(
    private readonly kernel: Kernel,
    /** Bytes that this cache may still allocate. */
    private readonly roomBytes: () => number,
    /** Runs an allocation; if the kernel's memory is full, other caches are shrunk and it runs again. */
    private readonly withRoom: (make: () => number) => number,
  ) {}

  get bytes(): number {
    return this.taken;
  }

  /** A block with undefined contents. @throws NoRoomError, TsdbError overloaded */
  alloc(bytes: number): number {
    const wanted = Math.max(1, bytes);
    if (wanted > this.roomBytes()) throw new NoRoomError();
    const ptr = this.withRoom(() => this.kernel.heap.alloc(wanted));
    this.taken += wanted;
    return ptr;
  }

  /** A block of zeros. @throws as alloc */
  allocZeroed(bytes: number): number {
    const ptr = this.alloc(bytes);
    this.kernel.call.fillBytes(ptr, 0, bytes);
    return ptr;
  }

  /** Frees a block; `bytes` is the size it was allocated with. */
  free(ptr: number, bytes: number): void {
    const given = Math.max(1, bytes);
    this.kernel.heap.free(ptr, given);
    this.taken -= given;
  }

  /** Counts memory that was allocated elsewhere. @throws NoRoomError if the limit is exceeded; the bytes are counted nevertheless */
  note(deltaBytes: number): void {
    this.taken += deltaBytes;
    if (deltaBytes > 0 && this.roomBytes() < 0) throw new NoRoomError();
  }

  /** The same, but `bytes` are not counted if the limit is exceeded. @throws NoRoomError */
  take(bytes: number): void {
    try {
      this.note(bytes);
    } catch (error) {
      this.note(-bytes);
      throw error;
    }
  }
}

/** A growable array of fixed-width elements. Growing moves it: read `ptr` again after `reserve`. */
export class GrowingBlock {
  private address = 0;
  private capacity = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly memory: CacheMemory,
    /** Bytes of an element; 1/8 for a bitmap. */
    private readonly elementBytes: number,
    /** Initial value of elements; other than 0 only for elements of 8 bytes. */
    private readonly empty = 0n,
  ) {}

  get ptr(): number {
    return this.address;
  }

  /** Makes room for `count` elements. @throws NoRoomError, TsdbError overloaded; nothing has changed then */
  reserve(count: number): void {
    if (count <= this.capacity) return;
    const { kernel, memory, elementBytes, empty } = this;
    // capacity in whole 64-bit words of a bitmap
    const capacity = Math.ceil(Math.max(count, this.capacity * 1.5, 64) / 64) * 64;
    const before = this.capacity * elementBytes;
    const ptr = memory.alloc(capacity * elementBytes);
    if (before > 0) kernel.call.copyBytes(ptr, this.address, before);
    if (empty === 0n) kernel.call.fillBytes(ptr + before, 0, capacity * elementBytes - before);
    else kernel.i64.fill(empty, ptr / 8 + this.capacity, ptr / 8 + capacity);
    this.release();
    this.address = ptr;
    this.capacity = capacity;
  }

  /** Resets the elements from `count` on to their initial value. */
  cut(count: number): void {
    const { kernel, capacity, elementBytes, empty, address } = this;
    if (count >= capacity) return;
    if (empty !== 0n) kernel.i64.fill(empty, address / 8 + count, address / 8 + capacity);
    else if (elementBytes >= 1) kernel.call.fillBytes(address + count * elementBytes, 0, (capacity - count) * elementBytes);
    else {
      // `only` has cleared the remaining bits of the last partial byte
      const from = Math.ceil(count / 8);
      kernel.call.fillBytes(address + from, 0, capacity / 8 - from);
    }
  }

  /** Idempotent. */
  release(): void {
    if (this.capacity > 0) this.memory.free(this.address, this.capacity * this.elementBytes);
    this.capacity = 0;
    this.address = 0;
  }
}
