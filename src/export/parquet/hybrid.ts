// Parquet's RLE / bit-packing hybrid: levels and indexes of dictionaries. Runs of eight equal values and more are a count and the value,
// all others are packed in groups of eight. Source: apache/parquet-format, Encodings.md.
//
//   run      | count << 1: varint | value, as many bytes as its bits need |
//   literals | groups << 1 | 1: varint | groups of eight values, packed from the lowest bit |

const RUN_MIN = 8;
const GROUP = 8;
const LENGTH_BYTES = 4;

/** Definition levels of a column without nested values, behind their length as pages have them: borrowed from `out`. `validity`:
 *  LSB-first, 1 = present; null: every row is. */
export function levelBytes(out: HybridBytes, validity: Uint8Array | null, rowCount: number): Uint8Array {
  out.begin();
  for (let i = 0; i < LENGTH_BYTES; i++) out.byte(0);
  if (validity === null) out.run(1, rowCount, 1);
  else out.bits(validity, rowCount);
  const bytes = out.take();
  new DataView(bytes.buffer).setUint32(0, bytes.length - LENGTH_BYTES, true);
  return bytes;
}

/** Indexes below `count`, behind the byte that says how many bits each has: borrowed from `out`. */
export function indexBytes(out: HybridBytes, indexes: Uint32Array, count: number): Uint8Array {
  const width = count <= 1 ? 0 : 32 - Math.clz32(count - 1);
  out.begin();
  out.byte(width);
  let literals = 0;
  for (let at = 0; at < indexes.length; ) {
    const value = indexes[at]!;
    let end = at + 1;
    while (end < indexes.length && indexes[end] === value) end++;
    // a group of literals is always full: the run gives it what it lacks
    const lacking = (GROUP - ((at - literals) % GROUP)) % GROUP;
    if (end - at - lacking >= RUN_MIN) {
      out.literals(indexes, literals, at + lacking, width);
      out.run(value, end - at - lacking, width);
      literals = end;
    }
    at = end;
  }
  out.literals(indexes, literals, indexes.length, width);
  return out.take();
}

/** Runs and literals of one page after another. */
export class HybridBytes {
  private length = 0;
  private bytes = new Uint8Array(256);

  /** A page, over the bytes of the previous one. */
  begin(): void {
    this.length = 0;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** @param width bits of the value */
  run(value: number, count: number, width: number): void {
    this.varint(count * 2);
    for (let shift = 0; shift < width; shift += 8) this.byte((value >>> shift) & 0xff);
  }

  /** The values from `from` to `end`; those that the last group lacks are 0. */
  literals(values: Uint32Array, from: number, end: number, width: number): void {
    if (end === from) return;
    const groups = Math.ceil((end - from) / GROUP);
    this.varint(groups * 2 + 1);
    this.reserve(groups * width + 8);
    let pending = 0;
    let bits = 0;
    let at = this.length;
    const { bytes } = this;
    const last = at + groups * width;
    for (let i = from; i < end; i++) {
      // at most 7 + 32 bits: beyond what the operators of integers can hold
      pending += values[i]! * 2 ** bits;
      bits += width;
      while (bits >= 8) {
        bytes[at++] = pending % 256;
        pending = Math.floor(pending / 256);
        bits -= 8;
      }
    }
    if (bits > 0) bytes[at++] = pending;
    bytes.fill(0, at, last);
    this.length = last;
  }

  /** A bitmap as literals of one bit. */
  bits(bitmap: Uint8Array, count: number): void {
    const groups = Math.ceil(count / GROUP);
    this.varint(groups * 2 + 1);
    this.reserve(groups);
    this.bytes.set(bitmap.subarray(0, groups), this.length);
    // what lies behind the last row says nothing
    if (count % GROUP !== 0) this.bytes[this.length + groups - 1]! &= (1 << (count % GROUP)) - 1;
    this.length += groups;
  }

  /** Borrowed. */
  take(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  private varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 128);
    this.byte(rest);
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}
