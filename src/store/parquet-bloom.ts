// Parquet's split block bloom filter over the distinct values of a column chunk.
// Source: apache/parquet-format, BloomFilter.md.
import { ThriftWriter } from "./thrift-writer.ts";

const BLOCK_BYTES = 32;
/** One value in a hundred that is not there seems to be: 9.6 bits a value in blocks of this kind. */
const BITS_PER_VALUE = 10;
const BYTES_MAX = 1 << 20;
const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31] as const;

export class BloomFilter {
  private readonly words: Uint32Array;

  constructor(valueCount: number) {
    const wanted = Math.min(BYTES_MAX, Math.max(BLOCK_BYTES, (valueCount * BITS_PER_VALUE) / 8));
    // a power of two, as some readers want it
    this.words = new Uint32Array(2 ** Math.ceil(Math.log2(wanted)) / 4);
  }

  /** `value` as its text alone. */
  add(value: Uint8Array): void {
    const hash = BigInt(Bun.hash.xxHash64(value, 0n));
    const blocks = BigInt(this.words.length / 8);
    const block = Number(((hash >> 32n) * blocks) >> 32n);
    const key = Number(hash & 0xffffffffn);
    SALTS.forEach((salt, i) => {
      this.words[block * 8 + i]! |= 1 << (Math.imul(key, salt) >>> 27);
    });
  }

  /** Header and bits, as they stand in a file. */
  encode(): Uint8Array {
    const bits = new Uint8Array(this.words.buffer);
    const header = new ThriftWriter()
      .i32(1, bits.length)
      .struct(2, (algorithm) => algorithm.struct(1, () => {}))
      .struct(3, (hash) => hash.struct(1, () => {}))
      .struct(4, (compression) => compression.struct(1, () => {}))
      .end();
    const encoded = new Uint8Array(header.length + bits.length);
    encoded.set(header);
    encoded.set(bits, header.length);
    return encoded;
  }
}
