// Kernel memory that one owner allocates block by block and frees as a whole.
import { VIEW_BYTES, VIEW_INLINE_MAX } from "../../../assembly/abi.ts";
import type { Kernel } from "./kernel.ts";

/** A set of blocks with one owner. Owned: call `release`. */
export class Blocks {
  private blocks: { ptr: number; bytes: number }[] = [];

  constructor(private readonly kernel: Kernel) {}

  /** Total size of all blocks. */
  get bytes(): number {
    return this.blocks.reduce((sum, block) => sum + block.bytes, 0);
  }

  /** A block with undefined contents. @throws TsdbError overloaded */
  alloc(bytes: number): number {
    const ptr = this.kernel.heap.alloc(bytes);
    this.blocks.push({ ptr, bytes });
    return ptr;
  }

  allocZeroed(bytes: number): number {
    const ptr = this.alloc(bytes);
    this.kernel.call.fillBytes(ptr, 0, bytes);
    return ptr;
  }

  /** String views of `texts` (16 bytes each); text that does not fit its view is allocated here too. */
  allocViews(texts: readonly string[]): number {
    const encoded = texts.map((text) => Buffer.from(text));
    const views = this.allocZeroed(Math.max(1, texts.length) * VIEW_BYTES);
    let at = this.alloc(
      Math.max(
        1,
        encoded.reduce((sum, text) => sum + text.length, 0),
      ),
    );
    const { u8, u32, base } = this.kernel;
    encoded.forEach((text, i) => {
      const view = views + i * VIEW_BYTES;
      u32[view / 4] = text.length;
      if (text.length <= VIEW_INLINE_MAX) {
        u8.set(text, view + 4);
        return;
      }
      u8.set(text, at);
      u8.set(text.subarray(0, 4), view + 4);
      this.kernel.i64[view / 8 + 1] = base + BigInt(at);
      at += text.length;
    });
    return views;
  }

  /** String views of texts one behind the other, which are copied: text i lies between offsets i and i + 1. */
  allocViewsAt({ offsets, bytes }: { readonly offsets: Uint32Array; readonly bytes: Uint8Array }): number {
    const count = offsets.length - 1;
    const views = this.allocZeroed(Math.max(1, count) * VIEW_BYTES);
    const text = this.alloc(Math.max(1, bytes.length));
    const { u8, u32, i64, base } = this.kernel;
    u8.set(bytes, text);
    for (let i = 0; i < count; i++) {
      const from = offsets[i]!;
      const length = offsets[i + 1]! - from;
      const view = views + i * VIEW_BYTES;
      u32[view / 4] = length;
      const shown = length <= VIEW_INLINE_MAX ? length : 4;
      for (let at = 0; at < shown; at++) u8[view + 4 + at] = bytes[from + at]!;
      if (length > VIEW_INLINE_MAX) i64[view / 8 + 1] = base + BigInt(text + from);
    }
    return views;
  }

  /** Frees all blocks; the owner may allocate again. */
  release(): void {
    for (const { ptr, bytes } of this.blocks) this.kernel.heap.free(ptr, bytes);
    this.blocks = [];
  }
}
