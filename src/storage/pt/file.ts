// Writing of `.pt` files as flushes produce them, and their description for the manifest. Reading: reader.ts.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { BlockMeta } from "../manifest/manifest-entry.ts";
import { columnIdsOf, dayStartNs, type PtBlock, type PtGroupedBlock } from "./format.ts";
import { encodePt, type PtTableInput } from "./writer.ts";

export type { PtTableInput } from "./writer.ts";

/** The blocks of a file, in directory order. */
export interface PtDirectory {
  readonly blocks: readonly BlockMeta[];
}

/** Writes the rows of `tables` as one file; the result fills its buffer exactly. Tables without rows have no block. The runs are
 *  borrowed for the call. @throws TsdbError overloaded */
export function writePt(kernel: Kernel, tables: readonly PtTableInput[]): { bytes: Uint8Array<ArrayBuffer>; directory: PtDirectory } {
  const { bytes, directory } = encodePt(kernel, tables);
  return { bytes, directory: { blocks: directory.blocks.map(blockMeta) } };
}

/** The manifest's description of a block; the caller adds when its rows were flushed. */
export function blockMeta(block: PtBlock | PtGroupedBlock, index: number): BlockMeta {
  const { databaseId, tableId, rowCount, minTimeNs, maxTimeNs, seqMin, seqMax, unique, overlaps, seriesCount } = block;
  const columnIds = columnIdsOf(block);
  const span = { dayStartNs: dayStartNs(block), minTimeNs, maxTimeNs, seqMin, seqMax };
  const history = { flushedMinMs: 0, flushedMaxMs: 0 };
  return {
    index,
    databaseId,
    tableId,
    rowCount,
    seriesCount,
    ...span,
    unique,
    ...(overlaps === undefined ? {} : { overlaps }),
    columnIds,
    ...history,
  };
}
