// The scan of a table whose runs all lie in memory: what a query's scan does, without files, caches and records.
import type { HiddenRows } from "../../src/kernel/hidden-rows.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { mergeRuns } from "../../src/kernel/run-merge.ts";
import { columnsToMerge, openRunCursor } from "../../src/kernel/scan.ts";
import { planSlices } from "../../src/kernel/scan-slices.ts";
import { SeriesFilter } from "../../src/kernel/series-filter.ts";
import { assert } from "../../src/model/assert.ts";
import type { Run } from "../../src/model/run.ts";
import { ALL_TIME, type ScanChunk, type ScanCursor, type ScanRequest } from "../../src/model/scan.ts";

const EMPTY: ScanCursor = { next: () => null, close: () => {} };

/** The whole scan of a table's pinned runs: what cannot hold duplicates is read as it lies, the rest is merged when its turn comes.
 *  Every (series, time) appears once. The runs, and `hidden`, must stay until `close`. */
export function openScan(kernel: Kernel, runs: readonly Run[], request: ScanRequest, hidden?: HiddenRows): ScanCursor {
  const plan = planSlices(runs, request.range);
  const filter = new SeriesFilter(kernel, request.tags);
  const runsOf = (members: readonly number[]) => members.map((i) => runs[i]!);
  return new Cursors(
    [
      ...plan.alone.map(
        ({ index, range, except }) =>
          () =>
            openRunCursor(kernel, runs[index]!, { ...request, range }, { filter, hidden, except }),
      ),
      ...plan.merges.map(
        ({ members, range }) =>
          () =>
            openMerged(kernel, runsOf(members), { ...request, range }, hidden),
      ),
    ],
    () => filter.release(),
  );
}

function openMerged(kernel: Kernel, runs: readonly Run[], request: ScanRequest, hidden: HiddenRows | undefined): ScanCursor {
  const { columns, range, tags, fields = [], newestOnly = false } = request;
  const merged = mergeRuns(kernel, runs, columnsToMerge(runs, request), { range, tags, hidden });
  try {
    const cursor = openRunCursor(kernel, merged, { columns, range: ALL_TIME, tags: [], fields, newestOnly });
    const close = () => {
      cursor.close();
      merged.release();
    };
    return { next: () => cursor.next(), close };
  } catch (error) {
    merged.release();
    throw error;
  }
}

/** Cursors one after the other, each opened when its turn comes. */
class Cursors implements ScanCursor {
  private current: ScanCursor = EMPTY;
  private at = 0;
  private closed = false;

  constructor(
    private readonly openers: readonly (() => ScanCursor)[],
    private readonly release: () => void,
  ) {}

  next(): ScanChunk | null {
    assert(!this.closed, "a closed cursor was asked for rows");
    for (;;) {
      const chunk = this.current.next();
      if (chunk !== null) return chunk;
      this.current.close();
      this.current = EMPTY;
      if (this.at === this.openers.length) return null;
      this.current = this.openers[this.at++]!();
    }
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.current.close();
    this.release();
  }
}
