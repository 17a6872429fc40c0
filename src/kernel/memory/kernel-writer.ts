// A growable byte buffer in kernel memory, for output that mixes headers written by the host with columns encoded by the kernel.
import type { Kernel } from "./kernel.ts";
import { FRESH, poison } from "./poison.ts";

/** Appends to a growable block of kernel memory. Owned: call `release`. */
export class KernelWriter {
  private ptr = 0;
  private capacity = 0;
  private length_ = 0;

  constructor(private readonly kernel: Kernel) {}

  /** Bytes written since the last `clear`. */
  get length(): number {
    return this.length_;
  }

  /** Address of the first byte; valid until the next `reserve`. */
  get startPtr(): number {
    return this.ptr;
  }

  clear(): void {
    poison(this.kernel.memory, this.ptr, this.length_, FRESH);
    this.length_ = 0;
  }

  /** Makes room for `bytes` more bytes and returns their address: borrowed until the next `reserve`. */
  reserve(bytes: number): number {
    const needed = this.length_ + bytes;
    if (needed > this.capacity) {
      const capacity = Math.max(needed, this.capacity * 2, 64 * 1024);
      const ptr = this.kernel.heap.alloc(capacity);
      if (this.capacity > 0) {
        this.kernel.u8.copyWithin(ptr, this.ptr, this.ptr + this.length_);
        this.kernel.heap.free(this.ptr, this.capacity);
      }
      this.ptr = ptr;
      this.capacity = capacity;
    }
    return this.ptr + this.length_;
  }

  /** Marks `bytes` bytes at the reserved address as written. */
  advance(bytes: number): void {
    this.length_ += bytes;
  }

  writeU8(value: number): void {
    const at = this.reserve(1);
    this.kernel.u8[at] = value;
    this.length_ += 1;
  }

  writeU32(value: number): void {
    this.patchU32(this.skipU32(), value);
  }

  /** A 53-bit number as u64. */
  writeU64(value: number): void {
    this.writeU32(value >>> 0);
    this.writeU32(Math.floor(value / 2 ** 32));
  }

  /** Reserves a u32 that is known later; returns its offset for `patchU32`. */
  skipU32(): number {
    this.reserve(4);
    const offset = this.length_;
    this.length_ += 4;
    return offset;
  }

  patchU32(offset: number, value: number): void {
    const { u8 } = this.kernel;
    const at = this.ptr + offset;
    u8[at] = value & 0xff;
    u8[at + 1] = (value >>> 8) & 0xff;
    u8[at + 2] = (value >>> 16) & 0xff;
    u8[at + 3] = value >>> 24;
  }

  /** All bytes written, in place: borrowed until the next change of this writer. */
  get bytes(): Uint8Array {
    return this.kernel.u8.subarray(this.ptr, this.ptr + this.length_);
  }

  /** A copy of all bytes written: owned by the caller. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.kernel.copyOut(this.ptr, this.length_);
  }

  release(): void {
    if (this.capacity > 0) this.kernel.heap.free(this.ptr, this.capacity);
    this.capacity = 0;
    this.length_ = 0;
  }
}
