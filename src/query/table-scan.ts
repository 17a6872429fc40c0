// A table of a snapshot as the engine sees it: the buffer segments and file blocks that can hold wanted rows, duplicates merged where there
// can be any, handed on chunk by chunk. Runs in the query worker.
import { HiddenRows } from "../kernel/hidden-rows.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { mergeRuns } from "../kernel/run-merge.ts";
import { columnsToMerge, openRunCursor } from "../kernel/scan.ts";
import { planMerges } from "../kernel/scan-plan.ts";
import { SeriesFilter } from "../kernel/series-filter.ts";
import { type ColumnDef, ColumnType } from "../model/column.ts";
import type { Run } from "../model/run.ts";
import { ALL_TIME, type ScanChunk, type ScanCursor, type ScanRequest, type ScanTable, type TimeRange } from "../model/scan.ts";
import type { ScanRecord } from "../model/scan-record.ts";
import { BlockCache } from "../store/block-cache.ts";
import { BlockVisit, type RunNeeds, type ScanParts } from "./block-visit.ts";
import { ScanTally } from "./scan-tally.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

/** A part of the table in log order: rows in memory, or a block that is read when its turn comes. */
type Part = { readonly run: Run } | { readonly block: BlockSnapshot };

export class TableScan implements ScanTable {
  readonly name: string;
  readonly columns: readonly ColumnDef[];
  readonly rowCountMax: number;
  private readonly cursors = new Set<ScanCursor>();
  private readonly tallies: ScanTally[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly snapshot: TableSnapshot,
    private readonly cache = new BlockCache(kernel, 0),
  ) {
    this.name = snapshot.table.name;
    this.columns = snapshot.table.columns;
    this.rowCountMax = sum(snapshot.runs.map((run) => run.rowCount)) + sum(snapshot.blocks.map((block) => block.rowCount));
  }

  open(request: ScanRequest): ScanCursor {
    const { minNs, maxNs } = request.range;
    const { retentionMinNs } = this.snapshot;
    const range = { minNs: minNs < retentionMinNs ? retentionMinNs : minNs, maxNs };
    const tally = new ScanTally(this.snapshot);
    this.tallies.push(tally);
    const parts = { kernel: this.kernel, cache: this.cache, tally };
    const cursor = new ChainedCursor(this.pieces({ ...request, range }, parts), tally);
    this.cursors.add(cursor);
    return cursor;
  }

  /** What the scans have done so far, in the order in which they were opened. */
  records(): ScanRecord[] {
    return this.tallies.map(({ record }) => record);
  }

  /** Frees everything the scans hold. */
  close(): void {
    for (const cursor of this.cursors) cursor.close();
    this.cursors.clear();
  }

  /** Cursors over what the table is made of, each opened when the one before has been read and closed. */
  private *pieces(request: ScanRequest, parts: ScanParts): Generator<ScanCursor> {
    const { range } = request;
    if (range.minNs > range.maxNs) return;
    const overlaps = (rows: { minTimeNs: bigint; maxTimeNs: bigint }) => rows.minTimeNs <= range.maxNs && rows.maxTimeNs >= range.minNs;
    const candidates: Part[] = [
      ...this.snapshot.blocks.filter(overlaps).map((block) => ({ block })),
      ...this.snapshot.runs.filter(overlaps).map((run) => ({ run })),
    ];
    // rows outside the range are left out of a merge, so overlaps outside it do not count
    const plan = planMerges(candidates.map((part) => summary(part, range)));
    const needs = this.needs(request);
    const filter = new SeriesFilter(this.kernel, request.tags);
    const hidden = new HiddenRows(this.kernel, this.snapshot.tombstones);
    try {
      for (const index of plan.alone) {
        const part = candidates[index]!;
        if ("run" in part) {
          if (filter.wanted(part.run.dictionary).none) continue;
          parts.tally.segment(part.run);
          yield openRunCursor(this.kernel, part.run, request, { filter, hidden });
        } else yield* this.blockPieces(part.block, request, needs, parts);
      }
      for (const group of plan.groups) {
        const members = group.map((index) => candidates[index]!);
        yield* this.mergedPieces(members, request, needs, { ...parts, filter });
      }
    } finally {
      filter.release();
      hidden.release();
    }
  }

  /** Pages of a block that shares no series and time with another part, one after the other. */
  private *blockPieces(meta: BlockSnapshot, request: ScanRequest, needs: RunNeeds, parts: ScanParts): Generator<ScanCursor> {
    const visit = new BlockVisit(parts, meta, needs);
    try {
      const { filter, hidden } = visit;
      for (const run of visit.runs(request.range)) yield openRunCursor(this.kernel, run, request, { filter, hidden });
    } finally {
      visit.release();
    }
  }

  /** Parts that may hold the same series and time are merged when their turn comes. The result points into the text of its inputs. */
  private *mergedPieces(
    members: readonly Part[],
    request: ScanRequest,
    needs: RunNeeds,
    { filter, ...parts }: ScanParts & { filter: SeriesFilter },
  ): Generator<ScanCursor> {
    const { columns, range, tags, fields } = request;
    const hidden = new HiddenRows(this.kernel, this.snapshot.tombstones);
    const owned: { release(): void }[] = [hidden];
    try {
      const runs = members.flatMap((part): readonly Run[] => {
        if ("run" in part) {
          if (filter.wanted(part.run.dictionary).none) return [];
          parts.tally.segment(part.run);
          return [part.run];
        }
        // a merge looks at series and time of every row
        const visit = new BlockVisit(parts, part.block, { ...needs, series: true, time: true });
        owned.push(visit);
        return visit.allRuns(range);
      });
      if (runs.length === 0) return;
      const merged = this.cache.withRoom(() => mergeRuns(this.kernel, runs, columnsToMerge(runs, request), { range, tags, hidden }));
      owned.push(merged);
      yield openRunCursor(this.kernel, merged, { columns, range: ALL_TIME, tags: [], ...(fields === undefined ? {} : { fields }) });
    } finally {
      for (const each of owned.reverse()) each.release();
    }
  }

  private needs({ columns, range, tags, fields = [] }: ScanRequest): RunNeeds {
    const ids = new Set([...columns.map(({ id }) => id), ...fields.map(({ columnId }) => columnId)]);
    const wanted = this.columns.filter(({ id }) => ids.has(id));
    return {
      range,
      tags,
      tombstones: this.snapshot.tombstones,
      fields: wanted.filter(({ type }) => type !== ColumnType.tag && type !== ColumnType.time),
      // rows are chosen by fields series by series
      series: fields.length > 0 || wanted.some(({ type }) => type === ColumnType.tag),
      time: wanted.some(({ type }) => type === ColumnType.time),
    };
  }
}

function summary(part: Part, { minNs, maxNs }: TimeRange) {
  const { minTimeNs, maxTimeNs, unique } = "run" in part ? part.run : part.block;
  const sorted = "run" in part ? part.run.sorted : true;
  return { minTimeNs: minTimeNs < minNs ? minNs : minTimeNs, maxTimeNs: maxTimeNs > maxNs ? maxNs : maxTimeNs, unique, sorted };
}

/** Cursors one after the other; each is closed before the next is opened. */
class ChainedCursor implements ScanCursor {
  private current: ScanCursor | null = null;
  private isDone = false;

  constructor(
    private readonly cursors: Generator<ScanCursor>,
    private readonly tally: ScanTally,
  ) {}

  next(): ScanChunk | null {
    while (!this.isDone) {
      const chunk = this.current?.next() ?? null;
      if (chunk !== null) {
        this.tally.returned(chunk.rowCount);
        return chunk;
      }
      this.current?.close();
      this.current = null;
      const { value, done } = this.cursors.next();
      if (done) this.isDone = true;
      else this.current = value;
    }
    return null;
  }

  close(): void {
    this.isDone = true;
    this.current?.close();
    this.current = null;
    this.cursors.return(undefined);
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
