// Strings out of a DuckDB vector: offsets and bytes from string views (assembly/abi.ts), without a JavaScript string between.
//   | byteLength u32 | 12 bytes of text |          byteLength <= 12
//   | byteLength u32 | prefix | address u64 |      longer: the text lies in DuckDB's heap
import { type Pointer, toArrayBuffer } from "bun:ffi";
import { TsdbError } from "../model/errors.ts";

const VIEW_WORDS = 4;
/** Offsets have 31 bits, and no client can use more in one piece. */
const TEXT_BYTES_MAX = 1 << 30;
const INLINE_MAX = 12;
/** Two valid bytes less than a page apart have no unmapped page between them, so the gap may be read. */
const GAP_MAX = 2048;
/** Below this a loop is faster than TypedArray.set. */
const LOOP_MAX = 24;

export interface StringColumn {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

/** Texts of `rowCount` views (borrowed); rows that are NULL in `validity` become empty. Owned by the caller. */
export function readStrings(views: Uint8Array, rowCount: number, validity: Uint8Array | null): StringColumn {
  const words = new Uint32Array(views.buffer, views.byteOffset, rowCount * VIEW_WORDS);
  const offsets = new Int32Array(rowCount + 1);
  let total = 0;
  for (let row = 0; row < rowCount; row++) {
    if (validity === null || (validity[row >>> 3]! >>> (row & 7)) & 1) total += words[row * VIEW_WORDS]!;
    offsets[row + 1] = total;
  }
  if (total > TEXT_BYTES_MAX) {
    throw new TsdbError("query_limit", `Resources exhausted: texts of ${total} bytes in one value or group of rows`, { bytes: total });
  }
  const data = new Uint8Array(total);
  const heap = new HeapWindow(words, offsets);
  for (let row = 0; row < rowCount; ) {
    const at = offsets[row]!;
    const bytes = offsets[row + 1]! - at;
    if (bytes <= INLINE_MAX) {
      const from = row * 16 + 4;
      for (let i = 0; i < bytes; i++) data[at + i] = views[from + i]!;
      row++;
    } else row = heap.copy(row, data);
  }
  return { offsets, data };
}

/** A window on the part of DuckDB's heap that holds the next long strings. Consecutive strings are mostly contiguous, so one window
 *  serves many rows, and often one copy does. */
class HeapWindow {
  private start = 0;
  private bytes: Uint8Array = new Uint8Array(0);

  constructor(
    private readonly words: Uint32Array,
    private readonly offsets: Int32Array,
  ) {}

  /** Copies the string of `row` and those of the following rows that directly follow in memory. Returns the next row. */
  copy(row: number, target: Uint8Array): number {
    const { offsets } = this;
    const at = offsets[row]!;
    const address = this.address(row);
    let from = address - this.start;
    if (from < 0 || from + offsets[row + 1]! - at > this.bytes.length) {
      this.open(row, address);
      from = 0;
    }
    let next = row + 1;
    let bytes = offsets[next]! - at;
    for (; next < offsets.length - 1; next++) {
      const nextBytes = offsets[next + 1]! - offsets[next]!;
      if (nextBytes === 0) continue; // empty or NULL: nothing to copy
      if (nextBytes <= INLINE_MAX || this.address(next) !== address + bytes || from + bytes + nextBytes > this.bytes.length) break;
      bytes += nextBytes;
    }
    const source = this.bytes;
    if (bytes > LOOP_MAX) target.set(source.subarray(from, from + bytes), at);
    else for (let i = 0; i < bytes; i++) target[at + i] = source[from + i]!;
    return next;
  }

  private address(row: number): number {
    return this.words[row * VIEW_WORDS + 3]! * 4294967296 + this.words[row * VIEW_WORDS + 2]!;
  }

  /** Opens the window at `address`, as far as the following rows continue upwards. */
  private open(row: number, address: number): void {
    let end = address + this.offsets[row + 1]! - this.offsets[row]!;
    const rowCount = this.offsets.length - 1;
    for (let next = row + 1; next < rowCount; next++) {
      const nextBytes = this.offsets[next + 1]! - this.offsets[next]!;
      if (nextBytes <= INLINE_MAX) continue;
      const nextAddress = this.address(next);
      if (nextAddress < address || nextAddress > end + GAP_MAX) break;
      if (nextAddress + nextBytes > end) end = nextAddress + nextBytes;
    }
    this.start = address;
    this.bytes = new Uint8Array(toArrayBuffer(address as Pointer, 0, end - address));
  }
}
