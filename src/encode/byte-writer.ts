// A growable byte buffer with the primitives of the text formats. Bytes rather than strings: joining cells as strings and encoding them
// once per batch is 20 to 50 % slower on measured data (bench/encode.ts), and the engine's UTF-8 would be decoded and encoded again.
import { assert } from "../model/assert.ts";

/** Most writers hold a label or a head; those for rows grow. */
const FIRST_BYTES = 256;
const GROWN_BYTES_MIN = 64 * 1024;
/** The longest write without a length check of its own: an i64, a float, or a timestamp with offset. */
const SMALL_BYTES = 64;
/** From this length on, the runtime's copy is faster than a loop. */
const LOOP_COPY_MAX = 48;
const BILLION = 1e9;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = "0123456789abcdef";

const encoder = new TextEncoder();

/** Maps a byte to the second byte of its JSON escape; 1 if the long form \u00xx is needed, 0 if no escape is needed. */
const JSON_ESCAPES = (() => {
  const table = new Uint8Array(256);
  table.fill(1, 0, 0x20);
  for (const [byte, letter] of [
    [8, "b"],
    [9, "t"],
    [10, "n"],
    [12, "f"],
    [13, "r"],
    [QUOTE, '"'],
    [BACKSLASH, "\\"],
  ] as const) {
    table[byte] = letter.charCodeAt(0);
  }
  return table;
})();

/** A growable byte buffer. */
export class ByteWriter {
  /** The buffer; replaced when it grows, so never keep it across a write. */
  bytes = new Uint8Array(FIRST_BYTES);
  /** Bytes written so far. */
  length = 0;

  /** Makes room for `count` bytes after `length`. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2, GROWN_BYTES_MIN));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }

  /** A copy of the bytes, owned by the caller; empties the writer, which keeps its buffer. */
  take(): Uint8Array {
    const taken = this.bytes.slice(0, this.length);
    this.length = 0;
    return taken;
  }

  /** `take`, but null if empty. */
  takeIfAny(): Uint8Array | null {
    return this.length === 0 ? null : this.take();
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** For short texts of characters below 128. */
  ascii(text: string): void {
    const count = text.length;
    this.reserve(count);
    const { bytes } = this;
    let at = this.length;
    for (let index = 0; index < count; index++) bytes[at++] = text.charCodeAt(index);
    this.length = at;
  }

  /** Any text, as UTF-8. An unpaired surrogate becomes U+FFFD. */
  utf8(text: string): void {
    this.reserve(text.length * 3);
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written;
  }

  /** Copies `source[start, end)`. */
  copy(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    this.reserve(count);
    const { bytes } = this;
    let at = this.length;
    if (count <= LOOP_COPY_MAX) {
      for (let index = start; index < end; index++) bytes[at++] = source[index]!;
      this.length = at;
    } else {
      bytes.set(source.subarray(start, end), at);
      this.length = at + count;
    }
  }

  /** Writes `source[start, end)` (UTF-8) as a JSON string with quotes. Escapes only what JSON requires. */
  jsonString(source: Uint8Array, start: number, end: number): void {
    // At worst six bytes per byte (\u0000), and two quotes.
    this.reserve((end - start) * 6 + 2);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    for (let index = start; index < end; index++) {
      const value = source[index]!;
      const mark = JSON_ESCAPES[value]!;
      if (mark === 0) {
        bytes[at++] = value;
      } else {
        bytes[at++] = BACKSLASH;
        if (mark !== 1) {
          bytes[at++] = mark;
        } else {
          bytes[at++] = 0x75; // u
          bytes[at++] = 0x30;
          bytes[at++] = 0x30;
          bytes[at++] = HEX.charCodeAt(value >> 4);
          bytes[at++] = HEX.charCodeAt(value & 15);
        }
      }
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /** Two lower-case hexadecimal digits per byte. */
  hex(source: Uint8Array, start: number, end: number): void {
    this.reserve((end - start) * 2);
    const { bytes } = this;
    let at = this.length;
    for (let index = start; index < end; index++) {
      const value = source[index]!;
      bytes[at++] = HEX.charCodeAt(value >> 4);
      bytes[at++] = HEX.charCodeAt(value & 15);
    }
    this.length = at;
  }

  /** An integer 0 <= value < 2^53 in decimal. */
  uint(value: number): void {
    this.reserve(SMALL_BYTES);
    if (value >= BILLION) {
      const high = Math.floor(value / BILLION);
      this.uint(high);
      this.padded(value - high * BILLION, 9);
      return;
    }
    this.padded(value, digitCount(value));
  }

  /** An integer 0 <= value < 2^31 in decimal, in one step: most integers of most tables. */
  uint31(value: number): void {
    this.reserve(SMALL_BYTES);
    const { bytes } = this;
    const start = this.length;
    let rest = value | 0;
    const end = start + (rest < 10 ? 1 : rest < 100 ? 2 : rest < BILLION ? digitCount(rest) : 10);
    for (let at = end - 1; at >= start; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = 48 + rest - tenth * 10;
      rest = tenth;
    }
    this.length = end;
  }

  /** An integer -2^53 < value < 2^53 in decimal. */
  int(value: number): void {
    if (value < 0) this.byte(0x2d);
    this.uint(value < 0 ? -value : value);
  }

  /** `value` < 10^9 with exactly `digits` digits, zero-padded. */
  padded(value: number, digits: number): void {
    this.reserve(SMALL_BYTES);
    const { bytes } = this;
    const start = this.length;
    let rest = value | 0;
    for (let at = start + digits - 1; at >= start; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = 48 + rest - tenth * 10;
      rest = tenth;
    }
    this.length = start + digits;
  }

  /** Removes everything written after `length`. */
  truncate(length: number): void {
    assert(length <= this.length, `truncate to ${length} of ${this.length} bytes`);
    this.length = length;
  }
}

/** Decimal digits of an integer below 10^9. */
function digitCount(value: number): number {
  if (value < 10) return 1;
  if (value < 100) return 2;
  if (value < 1000) return 3;
  if (value < 10_000) return 4;
  if (value < 100_000) return 5;
  if (value < 1_000_000) return 6;
  if (value < 10_000_000) return 7;
  return value < 100_000_000 ? 8 : 9;
}
