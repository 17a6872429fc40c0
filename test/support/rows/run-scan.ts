// Scans one run, or a table whose runs are all in memory: a query's scan without files, caches and records.
import type { Aggregator } from "../../../src/kernel/aggregate/aggregate.ts";
import type { Kernel } from "../../../src/kernel/memory/kernel.ts";
import type { HiddenRows } from "../../../src/kernel/scan/hidden-rows.ts";
import { mergeRuns } from "../../../src/kernel/scan/run-merge.ts";
import { openRunCursor } from "../../../src/kernel/scan/scan.ts";
import { planSlices } from "../../../src/kernel/scan/slices.ts";
import { SeriesFilter } from "../../../src/kernel/series/series-filter.ts";
import { assert } from "../../../src/model/assert.ts";
import { predicateColumns, type ScanRequest, type TagPredicate, type TimeRange } from "../../../src/model/query/scan.ts";
import type { ScanChunk, ScanCursor } from "../../../src/model/query/scan-table.ts";
import type { ColumnDef } from "../../../src/model/rows/column.ts";
import type { Run } from "../../../src/model/rows/run.ts";

const EMPTY: ScanCursor = { next: () => null, close: () => {} };

/** One run: the rows selected by the request and `hidden`, with a filter owned by the cursor. */
export function openOne(kernel: Kernel, run: Run, request: ScanRequest, hidden?: HiddenRows): ScanCursor {
  const filter = new SeriesFilter(kernel, request.tags);
  try {
    const cursor = openRunCursor(kernel, { run, selection: { range: request.range, filter, hidden } }, request);
    return closing(cursor, filter);
  } catch (error) {
    filter.release();
    throw error;
  }
}

/** Adds the rows of a run that an aggregation's request selects. */
export function addOne(
  kernel: Kernel,
  aggregator: Aggregator,
  run: Run,
  { tags, range, hidden }: { tags: readonly TagPredicate[]; range: TimeRange; hidden?: HiddenRows },
): boolean {
  const filter = new SeriesFilter(kernel, tags);
  try {
    return aggregator.add({ run, selection: { range, filter, hidden } });
  } finally {
    filter.release();
  }
}

/** Scans a table's pinned runs: those without duplicates are read directly, the others are merged in turn. Every (series, time) occurs
 *  once. The runs, and `hidden`, must remain valid until `close`. */
export function openScan(kernel: Kernel, runs: readonly Run[], request: ScanRequest, hidden?: HiddenRows): ScanCursor {
  const plan = planSlices(runs, request.range);
  const filter = new SeriesFilter(kernel, request.tags);
  const runsOf = (members: readonly number[]) => members.map((i) => runs[i]!);
  return new Cursors(
    [
      ...plan.alone.map(
        ({ index, range, except }) =>
          () =>
            openRunCursor(kernel, { run: runs[index]!, selection: { range, filter, hidden, except } }, request),
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
    return closing(openRunCursor(kernel, { run: merged, selection: "all" }, { columns, fields, newestOnly }), merged);
  } catch (error) {
    merged.release();
    throw error;
  }
}

/** Releases `owned` with the cursor. */
function closing(cursor: ScanCursor, owned: { release(): void }): ScanCursor {
  const close = () => {
    cursor.close();
    owned.release();
  };
  return { next: () => cursor.next(), close };
}

/** Cursors in sequence, each opened on demand. */
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

/** The columns that a merge for `request` must produce: the projected ones, and those that field predicates test, because predicates
 *  apply to merged rows. */
function columnsToMerge(runs: readonly Run[], { columns, fields = [] }: Pick<ScanRequest, "columns" | "fields">): ColumnDef[] {
  const wanted = [...columns];
  for (const columnId of fields.flatMap(predicateColumns)) {
    if (wanted.some(({ id }) => id === columnId)) continue;
    const found = runs.flatMap((run) => run.columns).find((column) => column.columnId === columnId);
    if (found !== undefined) wanted.push({ id: columnId, name: "", type: found.type });
  }
  return wanted;
}
