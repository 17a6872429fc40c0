// Writes the dictionary section of a block: the rows of each series, and the series' tags.
import { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnEmitter } from "./column-emitter.ts";
import type { PtTag } from "./format.ts";
import type { RankedTag } from "./order.ts";
import type { PtExtent } from "./stored-column.ts";

/** The series of a block, in file order. */
export interface NumberedSeries {
  readonly count: number;
  /** Their ids, which index the codes of the tags. */
  readonly idsPtr: number;
  /** u32[count + 1]: first row of each series within the block. */
  readonly offsetsPtr: number;
}

/** Appends row offsets of the series, then codes and values of each tag column that any of them has. @throws TsdbError overloaded */
export function writeDictionary(
  kernel: Kernel,
  emitter: ColumnEmitter,
  { count, idsPtr, offsetsPtr }: NumberedSeries,
  tags: readonly RankedTag[],
): { dictionary: PtExtent; tags: PtTag[] } {
  const offset = emitter.output.bytes;
  let { crc } = emitter.u32(offsetsPtr, count + 1);
  const written: PtTag[] = [];
  for (const { columnId, codesPtr, ranksPtr, sortedPtr, valueCount, valuesPtr } of tags) {
    const scratch = new Blocks(kernel);
    try {
      const mapPtr = scratch.alloc(valueCount * 4);
      const codes = scratch.alloc(count * 4);
      const views = scratch.alloc(valueCount * 4);
      const { call } = kernel;
      const used = call.blockCodes(codesPtr, idsPtr, count, ranksPtr, sortedPtr, valueCount, mapPtr, codes, views) >>> 0;
      if (used === 0) continue;
      const values = scratch.alloc(used * VALUE_BYTES[ColumnType.tag]);
      call.gather16(valuesPtr, views, used, values);
      ({ crc } = emitter.u32(codes, count, crc));
      ({ crc } = emitter.column({ type: ColumnType.tag, dataPtr: values, validityPtr: 0, rowCount: used }, crc));
      written.push({ columnId, valueCount: used });
    } finally {
      scratch.release();
    }
  }
  return { dictionary: { offset, bytes: emitter.output.bytes - offset, crc }, tags: written };
}
