// Numbers strings in order of first occurrence: a hash table on UTF-8 bytes, because creating JavaScript strings costs several times as
// much as looking up bytes.
import { ByteWriter } from "../byte-writer.ts";

const SLOTS_MIN = 64;

/** One key per byte of a text; random, so that clients cannot construct colliding texts. */
const KEYS = crypto.getRandomValues(new Int32Array(256));

/** A growing set of strings with codes from 0. */
export class StringCodes {
  /** Number of strings. */
  count = 0;
  private readonly text = new ByteWriter();
  /** End of each string in `text`; it starts at the end of the previous one. */
  private ends = new Int32Array(SLOTS_MIN / 2);
  private hashes = new Int32Array(SLOTS_MIN / 2);
  /** Code + 1 by hash, 0 = free; load factor at most one half. */
  private slots = new Int32Array(SLOTS_MIN);
  /** The last code: rows are sorted by series, so strings mostly repeat. */
  private last = -1;

  /** The code of the string at `source[start, end)`; adds it if it is new. */
  codeOf(source: Uint8Array, start: number, end: number): number {
    if (this.last >= 0 && this.isString(this.last, source, start, end)) return this.last;
    const hash = hashOf(source, start, end);
    const mask = this.slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const code = this.slots[slot]! - 1;
      if (code < 0) {
        this.last = this.add(slot, hash, source, start, end);
        return this.last;
      }
      if (this.hashes[code] === hash && this.isString(code, source, start, end)) {
        this.last = code;
        return code;
      }
    }
  }

  /** All strings back to back, and their offsets; copies. */
  copy(): { offsets: Int32Array; bytes: Uint8Array } {
    const offsets = new Int32Array(this.count + 1);
    offsets.set(this.ends.subarray(0, this.count), 1);
    return { offsets, bytes: this.text.bytes.slice(0, this.text.length) };
  }

  clear(): void {
    this.count = 0;
    this.last = -1;
    this.text.truncate(0);
    this.slots.fill(0);
  }

  private isString(code: number, source: Uint8Array, start: number, end: number): boolean {
    let at = code === 0 ? 0 : this.ends[code - 1]!;
    if (this.ends[code]! - at !== end - start) return false;
    const { bytes } = this.text;
    for (let from = start; from < end; from++, at++) if (bytes[at] !== source[from]) return false;
    return true;
  }

  private add(slot: number, hash: number, source: Uint8Array, start: number, end: number): number {
    const code = this.count++;
    this.text.copy(source, start, end);
    this.slots[slot] = code + 1;
    if (code === this.ends.length) {
      this.ends = grown(this.ends);
      this.hashes = grown(this.hashes);
    }
    this.ends[code] = this.text.length;
    this.hashes[code] = hash;
    if (this.count * 2 > this.slots.length) this.rehash();
    return code;
  }

  private rehash(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    const mask = this.slots.length - 1;
    for (let code = 0; code < this.count; code++) {
      let slot = this.hashes[code]! & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = code + 1;
    }
  }
}

function hashOf(source: Uint8Array, start: number, end: number): number {
  let hash = end - start;
  for (let from = start; from < end; ) {
    const to = Math.min(end, from + KEYS.length);
    // + 1, so that zero bytes count
    for (let i = 0; from < to; i++, from++) hash = (hash + Math.imul(KEYS[i]!, source[from]! + 1)) | 0;
    // texts longer than the keys continue with the intermediate hash
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  }
  return hash ^ (hash >>> 16);
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}
