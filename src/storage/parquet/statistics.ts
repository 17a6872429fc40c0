// What a column chunk's statistics say, and its metadata in the footer.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { timeRange } from "../../kernel/scan/rows.ts";
import { ColumnType } from "../../model/rows/column.ts";
import type { PtExtent } from "../pt/format.ts";
import type { WrittenChunk } from "./chunk.ts";
import { Parquet, type ParquetColumn, PHYSICAL_TYPE } from "./schema.ts";
import type { ThriftWriter } from "./thrift-writer.ts";

/** Bounds as PLAIN values without a length; null when there is none. */
export interface ChunkStatistics {
  readonly nullCount: number;
  readonly range: { readonly min: Uint8Array; readonly max: Uint8Array } | null;
}

/** Longer texts are no bounds: a footer is read as a whole. */
const BOUND_BYTES_MAX = 256;

/** Of `count` present values. @throws TsdbError overloaded */
export function statisticsOf(
  kernel: Kernel,
  type: ColumnType,
  valuesPtr: number,
  { count, nullCount }: { count: number; nullCount: number },
): ChunkStatistics {
  return { nullCount, range: count === 0 ? null : rangeOf(kernel, type, valuesPtr, count) };
}

function rangeOf(kernel: Kernel, type: ColumnType, valuesPtr: number, count: number): ChunkStatistics["range"] {
  const blocks = new Blocks(kernel);
  try {
    const found = blocks.alloc(16);
    const words = () => ({ min: kernel.copyOut(found, 8), max: kernel.copyOut(found + 8, 8) });
    switch (type) {
      case ColumnType.time:
      case ColumnType.integer: {
        const { minNs, maxNs } = timeRange(kernel, valuesPtr, count);
        kernel.i64.set([minNs, maxNs], found / 8);
        return words();
      }
      case ColumnType.unsigned:
        kernel.call.parquetRangeUnsigned(valuesPtr, count, found);
        return words();
      case ColumnType.float:
        return kernel.call.parquetRangeFloat(valuesPtr, count, found) === 0 ? null : words();
      case ColumnType.boolean: {
        const values = kernel.u8.subarray(valuesPtr, valuesPtr + count);
        return { min: Uint8Array.of(values.includes(0) ? 0 : 1), max: Uint8Array.of(values.includes(1) ? 1 : 0) };
      }
      default: {
        kernel.call.parquetRangeText(valuesPtr, count, found);
        const [least, most] = [kernel.u32[found / 4]!, kernel.u32[found / 4 + 1]!];
        return textRange(textOf(kernel, valuesPtr, least), textOf(kernel, valuesPtr, most));
      }
    }
  } finally {
    blocks.release();
  }
}

/** Null when a bound is too long. */
export function textRange(min: Uint8Array, max: Uint8Array): ChunkStatistics["range"] {
  return min.length > BOUND_BYTES_MAX || max.length > BOUND_BYTES_MAX ? null : { min, max };
}

/** The text of a view, owned. */
export function textOf(kernel: Kernel, viewsPtr: number, number: number): Uint8Array {
  const blocks = new Blocks(kernel);
  try {
    const view = viewsPtr + number * 16;
    const bytes = kernel.call.parquetTextBytes(view, 1);
    const target = blocks.alloc(Math.max(1, bytes));
    kernel.call.parquetTexts(view, 1, target);
    return kernel.copyOut(target, bytes);
  } finally {
    blocks.release();
  }
}

/** A ColumnChunk of the footer. Returns its bytes. */
export function chunkMetadata(writer: ThriftWriter, column: ParquetColumn, chunk: WrittenChunk, bloom: PtExtent | null): Uint8Array {
  const { encoding, dictionary, pages, valueCount, statistics } = chunk;
  const all = dictionary === null ? pages : [dictionary, ...pages];
  const sum = (of: (page: (typeof all)[number]) => number) => all.reduce((total, page) => total + of(page), 0);
  writer.i64(2, 0).struct(3, (meta) => {
    meta
      .i32(1, PHYSICAL_TYPE[column.type])
      .i32List(2, dictionary === null ? [Parquet.rle, encoding] : [Parquet.rle, Parquet.plain, encoding])
      .textList(3, [column.name])
      .i32(4, Parquet.zstd)
      .i64(5, valueCount)
      .i64(
        6,
        sum(({ plainBytes }) => plainBytes),
      )
      .i64(
        7,
        sum(({ bytes }) => bytes),
      )
      .i64(9, pages[0]!.offset);
    if (dictionary !== null) meta.i64(11, dictionary.offset);
    meta.struct(12, (told) => {
      told.i64(3, statistics.nullCount);
      if (statistics.range !== null) {
        const { min, max } = statistics.range;
        told.binary(5, max).binary(6, min).boolean(7, true).boolean(8, true);
      }
    });
    if (bloom !== null) meta.i64(14, bloom.offset).i32(15, bloom.bytes);
  });
  return writer.end();
}
