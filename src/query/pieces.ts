// The rows of a table that a scan can want, as runs in memory: buffer segments and pages of blocks as they lie, and merges of what may hold
// a series and time twice. One after the other, so that little is held at a time.
import { HiddenRows } from "../kernel/hidden-rows.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { mergeRuns } from "../kernel/run-merge.ts";
import { planMerges } from "../kernel/scan-plan.ts";
import { SeriesFilter } from "../kernel/series-filter.ts";
import type { Run } from "../model/run.ts";
import type { TimeRange } from "../model/scan.ts";
import type { BlockCache } from "../store/block-cache.ts";
import { BlockIndex } from "./block-index.ts";
import { BlockVisit, type RunNeeds } from "./block-visit.ts";
import { ScanTally } from "./scan-tally.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

export interface PieceRequest extends RunNeeds {
  /** Runs' text is looked at after the next piece was asked for: it stays until `release`. */
  readonly keepsText: boolean;
}

export interface Piece {
  /** Holds rows that are not wanted too, unless it is merged. Valid until the next piece. */
  readonly run: Run;
  /** All rows are within the range, of wanted series, and not hidden. */
  readonly isMerged: boolean;
  /** Of the tag predicates. */
  readonly filter: SeriesFilter;
  /** Rows that deletions hide. */
  readonly hidden: HiddenRows;
}

/** A part of the table in log order: rows in memory, or a block that is read when its turn comes. */
type Part = { readonly run: Run } | { readonly block: BlockSnapshot };

type Releasable = { release(): void };

export class TablePieces {
  readonly tally: ScanTally;
  /** Rows at most that the parts within the range have. */
  readonly rowCountMax: number;
  private readonly parts: readonly Part[];
  /** Segments share dictionaries, and so what is found of them. */
  private readonly filter: SeriesFilter;
  private readonly hidden: HiddenRows;
  private readonly kept: BlockVisit[] = [];

  constructor(
    private readonly kernel: Kernel,
    private readonly cache: BlockCache,
    private readonly snapshot: TableSnapshot,
    private readonly request: PieceRequest,
  ) {
    const { minNs, maxNs } = request.range;
    this.tally = new ScanTally(snapshot);
    this.parts = [
      ...BlockIndex.of(snapshot.blocks)
        .within(request.range)
        .map((block) => ({ block })),
      ...snapshot.runs.filter((run) => minNs <= maxNs && run.minTimeNs <= maxNs && run.maxTimeNs >= minNs).map((run) => ({ run })),
    ];
    this.rowCountMax = this.parts.reduce((sum, part) => sum + rowsOf(part).rowCount, 0);
    this.filter = new SeriesFilter(kernel, request.tags);
    this.hidden = new HiddenRows(kernel, snapshot.tombstones);
  }

  /** Times of all rows that can come; null when none can. */
  get times(): TimeRange | null {
    const clipped = this.parts.map((part) => clip(part, this.request.range));
    const [first] = clipped;
    if (first === undefined) return null;
    let { minTimeNs: minNs, maxTimeNs: maxNs } = first;
    for (const { minTimeNs, maxTimeNs } of clipped) {
      if (minTimeNs < minNs) minNs = minTimeNs;
      if (maxTimeNs > maxNs) maxNs = maxTimeNs;
    }
    return { minNs, maxNs };
  }

  /** Of what is kept for its text. */
  get keptBytes(): number {
    return this.kept.reduce((sum, visit) => sum + visit.bytes, 0);
  }

  /** Once. @throws TsdbError corrupt_file naming file and offset, io, overloaded */
  *all(): Generator<Piece> {
    const { range } = this.request;
    // rows outside the range are left out of a merge, so overlaps outside it do not count
    const plan = planMerges(this.parts.map((part) => clip(part, range)));
    for (const index of plan.alone) {
      const part = this.parts[index]!;
      if ("block" in part) yield* this.pages(part.block);
      else if (this.takesSegment(part.run)) yield { run: part.run, isMerged: false, filter: this.filter, hidden: this.hidden };
    }
    for (const group of plan.groups) yield* this.merged(group.map((index) => this.parts[index]!));
  }

  /** Frees everything; idempotent. */
  release(): void {
    for (const visit of this.kept.splice(0)) visit.release();
    this.filter.release();
    this.hidden.release();
  }

  /** Pages of a block that shares no series and time with another part. */
  private *pages(block: BlockSnapshot): Generator<Piece> {
    const visit = this.visit(block, this.request);
    try {
      const { filter, hidden } = visit;
      for (const run of visit.runs(this.request.range)) {
        yield { run, isMerged: false, filter, hidden };
        if (!this.request.keepsText) visit.releasePage();
      }
    } finally {
      this.leave(visit);
    }
  }

  /** Parts that may hold the same series and time. The result points into the text of what it was made of. */
  private *merged(parts: readonly Part[]): Generator<Piece> {
    const { range, tags, fields } = this.request;
    const visits: BlockVisit[] = [];
    const owned: Releasable[] = [];
    try {
      const hidden = new HiddenRows(this.kernel, this.snapshot.tombstones);
      owned.push(hidden);
      const runs = parts.flatMap((part): readonly Run[] => {
        if ("run" in part) return this.takesSegment(part.run) ? [part.run] : [];
        // a merge looks at series and time of every row
        const visit = this.visit(part.block, { ...this.request, series: true, time: true });
        visits.push(visit);
        return [...visit.runs(range)];
      });
      if (runs.length === 0) return;
      const run = this.cache.withRoom(() => mergeRuns(this.kernel, runs, fields, { range, tags, hidden }));
      owned.push(run);
      yield { run, isMerged: true, filter: this.filter, hidden };
    } finally {
      for (const each of owned.reverse()) each.release();
      for (const visit of visits) this.leave(visit);
    }
  }

  private visit(block: BlockSnapshot, needs: RunNeeds): BlockVisit {
    const { kernel, cache, tally } = this;
    return new BlockVisit({ kernel, cache, tally, tombstones: this.snapshot.tombstones }, block, needs);
  }

  private leave(visit: BlockVisit): void {
    if (this.request.keepsText) this.kept.push(visit);
    else visit.release();
  }

  private takesSegment(run: Run): boolean {
    if (this.filter.wanted(run.dictionary).none) return false;
    this.tally.segment(run);
    return true;
  }
}

function rowsOf(part: Part): Run | BlockSnapshot {
  return "run" in part ? part.run : part.block;
}

function clip(part: Part, { minNs, maxNs }: TimeRange) {
  const { minTimeNs, maxTimeNs, unique } = rowsOf(part);
  const sorted = "run" in part ? part.run.sorted : true;
  return { minTimeNs: minTimeNs < minNs ? minNs : minTimeNs, maxTimeNs: maxTimeNs > maxNs ? maxNs : maxTimeNs, unique, sorted };
}
