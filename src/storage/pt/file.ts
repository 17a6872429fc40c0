// The `.pt` file as a flush writes it and the manifest lists it. Reading: reader.ts.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { BlockMeta } from "../manifest/manifest-entry.ts";
import { columnIdsOf, dayStartNs, type PtBlock, type PtGroupedBlock } from "./format.ts";
import { encodePt, type PtTableInput } from "./writer.ts";

export type { PtTableInput } from "./writer.ts";

/** The blocks of a file, in its own order. */
export interface PtDirectory {
  readonly blocks: readonly BlockMeta[];
}

/** Writes the rows of `tables` as one file, whose bytes are all of their buffer; tables without rows leave no block. The runs are borrowed
 *  for the call. @throws TsdbError overloaded */
export function writePt(kernel: Kernel, tables: readonly PtTableInput[]): { bytes: Uint8Array<ArrayBuffer>; directory: PtDirectory } {
  const { bytes, directory } = encodePt(kernel, tables);
  return { bytes, directory: { blocks: directory.blocks.map(blockMeta) } };
}

/** What the manifest takes from a file's directory; when its rows came is for the caller to say. */
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
