// Parquet's split block bloom filter over the distinct values of a column chunk: assembly/parquet/bloom.ts, with its size and its header.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ThriftWriter } from "./thrift-writer.ts";

const BLOCK_BYTES = 32;
/** One value in a hundred that is not there seems to be: 9.6 bits a value in blocks of this kind. */
const BITS_PER_VALUE = 10;
const BYTES_MAX = 1 << 20;

/** Header and bits for the texts of `count` views, as they stand in a file. @throws TsdbError overloaded */
export function encodeBloomFilter(kernel: Kernel, viewsPtr: number, count: number): Uint8Array {
  const wanted = Math.min(BYTES_MAX, Math.max(BLOCK_BYTES, (count * BITS_PER_VALUE) / 8));
  // a power of two, as some readers want it
  const bytes = 2 ** Math.ceil(Math.log2(wanted));
  const header = new ThriftWriter()
    .i32(1, bytes)
    .struct(2, (algorithm) => algorithm.struct(1, () => {}))
    .struct(3, (hash) => hash.struct(1, () => {}))
    .struct(4, (compression) => compression.struct(1, () => {}))
    .end();
  const blocks = new Blocks(kernel);
  try {
    const filter = blocks.allocZeroed(bytes);
    kernel.call.parquetBloomAdd(viewsPtr, count, filter, bytes / BLOCK_BYTES);
    const encoded = new Uint8Array(header.length + bytes);
    encoded.set(header);
    encoded.set(kernel.u8.subarray(filter, filter + bytes), header.length);
    return encoded;
  } finally {
    blocks.release();
  }
}
