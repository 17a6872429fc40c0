// The pages of a block that can hold wanted rows, decoded: a run each, all on the block's dictionary.
import { Blocks } from "../kernel/blocks.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { SeriesFilter } from "../kernel/series-filter.ts";
import { TIME_COLUMN } from "../model/column.ts";
import type { Run } from "../model/run.ts";
import type { TimeRange } from "../model/scan.ts";
import type { BlockPage, DataBlock } from "../store/data-block.ts";
import type { BlockSnapshot } from "./snapshot.ts";

export interface BlockRuns {
  readonly runs: readonly Run[];
  /** Frees the memory; idempotent. */
  release(): void;
}

/** Decodes what a request can need of a block; no runs when no page can hold a wanted row. Fields that the block does not have are left
 *  out, tags are in the dictionary. @throws TsdbError corrupt_file naming file and offset, overloaded, io */
export function decodeBlock(
  kernel: Kernel,
  block: DataBlock,
  { meta, fieldIds, range, filter }: { meta: BlockSnapshot; fieldIds: readonly number[]; range: TimeRange; filter: SeriesFilter },
): BlockRuns {
  const memory = new Blocks(kernel);
  try {
    const { dictionary, offsetsPtr } = block.readSeries(memory);
    const { none, wantedPtr } = filter.wanted(dictionary);
    const runs = block.pages.flatMap((page, number): Run[] => {
      if (none || !canHold(kernel, page, range, wantedPtr)) return [];
      const { rowCount, firstRow, minTimeNs, maxTimeNs } = page;
      const seriesPtr = memory.alloc(rowCount * 4);
      kernel.call.fillSeries(
        offsetsPtr,
        kernel.call.seriesOfRow(offsetsPtr, dictionary.seriesCount, firstRow),
        firstRow,
        rowCount,
        seriesPtr,
      );
      const timePtr = block.readColumn(number, TIME_COLUMN.id, memory)!.dataPtr;
      const columns = fieldIds.flatMap((id) => block.readColumn(number, id, memory) ?? []);
      const { unique, seqMin, seqMax } = meta;
      return [{ rowCount, seriesPtr, timePtr, columns, dictionary, sorted: true, unique, minTimeNs, maxTimeNs, seqMin, seqMax }];
    });
    return { runs, release: () => memory.release() };
  } catch (error) {
    memory.release();
    throw error;
  }
}

function canHold({ u8 }: Kernel, page: BlockPage, { minNs, maxNs }: TimeRange, wantedPtr: number): boolean {
  if (page.minTimeNs > maxNs || page.maxTimeNs < minNs) return false;
  return wantedPtr === 0 || u8.subarray(wantedPtr + page.firstSeries, wantedPtr + page.lastSeries + 1).includes(1);
}
