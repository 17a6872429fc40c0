// Kernel memory of one cache, counted.
import type { Kernel } from "../memory/kernel.ts";

/** What a cache may not grow by. */
export class NoRoomError extends Error {}

export class CacheMemory {
  private taken = 0;

  constructor(
    private readonly kernel: Kernel,
    /** What there is room for. */
    private readonly roomBytes: () => number,
    /** Others give way when the kernel's memory is full. */
    private readonly withRoom: (make: () => number) => number,
  ) {}

  get bytes(): number {
    return this.taken;
  }

  /** Contents undefined. @throws NoRoomError, TsdbError overloaded */
  alloc(bytes: number): number {
    const wanted = Math.max(1, bytes);
    if (wanted > this.roomBytes()) throw new NoRoomError();
    const ptr = this.withRoom(() => this.kernel.heap.alloc(wanted));
    this.taken += wanted;
    return ptr;
  }

  /** @throws as alloc */
  allocZeroed(bytes: number): number {
    const ptr = this.alloc(bytes);
    this.kernel.call.fillBytes(ptr, 0, bytes);
    return ptr;
  }

  /** A block with the size it was asked for. */
  free(ptr: number, bytes: number): void {
    const given = Math.max(1, bytes);
    this.kernel.heap.free(ptr, given);
    this.taken -= given;
  }

  /** What was allocated otherwise. @throws NoRoomError when it is too much, all the same counted */
  note(deltaBytes: number): void {
    this.taken += deltaBytes;
    if (deltaBytes > 0 && this.roomBytes() < 0) throw new NoRoomError();
  }
}

/** A block whose elements stay where they are counted from, while it grows. */
export class GrowingBlock {
  private address = 0;
  private capacity = 0;

  constructor(
    private readonly kernel: Kernel,
    private readonly memory: CacheMemory,
    /** Of an element; 1/8: a bit. */
    private readonly elementBytes: number,
    /** What new elements are; of another one but 0 an element has 8 bytes. */
    private readonly empty = 0n,
  ) {}

  get ptr(): number {
    return this.address;
  }

  /** @throws NoRoomError, TsdbError overloaded: with nothing changed */
  reserve(count: number): void {
    if (count <= this.capacity) return;
    const { kernel, memory, elementBytes, empty } = this;
    // whole words of a bitmap
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

  /** Makes elements from `count` on empty ones. */
  cut(count: number): void {
    const { kernel, capacity, elementBytes, empty, address } = this;
    if (count >= capacity) return;
    if (empty !== 0n) kernel.i64.fill(empty, address / 8 + count, address / 8 + capacity);
    else if (elementBytes >= 1) kernel.call.fillBytes(address + count * elementBytes, 0, (capacity - count) * elementBytes);
    else {
      // the bits behind the last one of a byte are 0 already
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
