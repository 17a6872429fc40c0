// Short-lived kernel memory: the blocks of one step, freed together. The memory itself is kept for the next step.
import type { Kernel } from "./kernel.ts";
import { FREED, FRESH, poison } from "./poison.ts";

const CHUNK_BYTES_MIN = 256 * 1024;
/** Maximum kept between steps, so that one huge body does not occupy memory forever. */
const KEPT_BYTES_MAX = 64 * 1024 * 1024;

/** A bump allocator that is reset after every step. Owned: call `release`. */
export class Scratch {
  private chunks: { ptr: number; bytes: number }[] = [];
  private at = 0;
  private end = 0;

  constructor(private readonly kernel: Kernel) {}

  /** A block of at least `bytes` bytes at a multiple of 64, with undefined contents; valid until `reset`. @throws TsdbError overloaded */
  alloc(bytes: number): number {
    // not by bits: those of numbers in JavaScript are 32 and signed
    const rounded = Math.ceil(bytes / 64) * 64;
    if (this.end - this.at < rounded) this.addChunk(rounded);
    const ptr = this.at;
    poison(this.kernel.memory, ptr, rounded, FRESH);
    this.at += rounded;
    return ptr;
  }

  /** Frees every block. If a step needed several chunks, the next one gets a single chunk of their total size. */
  reset(): void {
    if (this.chunks.length > 1 || (this.chunks[0]?.bytes ?? 0) > KEPT_BYTES_MAX) {
      const total = this.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
      this.release();
      if (total <= KEPT_BYTES_MAX) this.addChunk(total);
    }
    const chunk = this.chunks[0];
    if (chunk !== undefined) poison(this.kernel.memory, chunk.ptr, chunk.bytes, FREED);
    this.at = chunk?.ptr ?? 0;
    this.end = chunk === undefined ? 0 : chunk.ptr + chunk.bytes;
  }

  release(): void {
    for (const { ptr, bytes } of this.chunks) this.kernel.heap.free(ptr, bytes);
    this.chunks = [];
    this.at = 0;
    this.end = 0;
  }

  private addChunk(bytesMin: number): void {
    const bytes = Math.max(bytesMin, CHUNK_BYTES_MIN);
    const ptr = this.kernel.heap.alloc(bytes);
    this.chunks.push({ ptr, bytes });
    this.at = ptr;
    this.end = ptr + bytes;
  }
}
