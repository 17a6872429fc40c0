// A table of a snapshot as the engine sees it: the buffer segments and file blocks that can hold wanted rows, duplicates merged where there
// can be any, handed on chunk by chunk. Runs in the query worker.
import type { Kernel } from "../kernel/kernel.ts";
import { mergeRuns } from "../kernel/run-merge.ts";
import { openRunCursor } from "../kernel/scan.ts";
import { planMerges } from "../kernel/scan-plan.ts";
import { SeriesFilter } from "../kernel/series-filter.ts";
import { type ColumnDef, ColumnType } from "../model/column.ts";
import type { Run } from "../model/run.ts";
import { ALL_TIME, type ScanChunk, type ScanCursor, type ScanRequest, type ScanTable, type TimeRange } from "../model/scan.ts";
import { openByteSource } from "../store/byte-source.ts";
import type { DataFile } from "../store/data-block.ts";
import { openDataFile } from "../store/data-file.ts";
import { type BlockRuns, decodeBlock } from "./block-runs.ts";
import type { BlockSnapshot, TableSnapshot } from "./snapshot.ts";

/** A part of the table in log order: rows in memory, or a block that is read when its turn comes. */
type Part = { readonly run: Run } | { readonly block: BlockSnapshot };

export class TableScan implements ScanTable {
  readonly name: string;
  readonly columns: readonly ColumnDef[];
  readonly rowCountMax: number;
  private readonly files = new Map<number, DataFile>();
  private readonly cursors = new Set<ScanCursor>();

  constructor(
    private readonly kernel: Kernel,
    private readonly snapshot: TableSnapshot,
  ) {
    this.name = snapshot.table.name;
    this.columns = snapshot.table.columns;
    this.rowCountMax = sum(snapshot.runs.map((run) => run.rowCount)) + sum(snapshot.blocks.map((block) => block.rowCount));
  }

  open(request: ScanRequest): ScanCursor {
    const { minNs, maxNs } = request.range;
    const overlaps = (rows: { minTimeNs: bigint; maxTimeNs: bigint }) => rows.minTimeNs <= maxNs && rows.maxTimeNs >= minNs;
    const parts: Part[] = [
      ...this.snapshot.blocks.filter(overlaps).map((block) => ({ block })),
      ...this.snapshot.runs.filter(overlaps).map((run) => ({ run })),
    ];
    // rows outside the range are left out of a merge, so overlaps outside it do not count
    const plan = planMerges(parts.map((part) => summary(part, request.range)));
    const cursor = new TableCursor([
      ...plan.alone.map((index) => () => this.openAlone(parts[index]!, request)),
      ...plan.groups.map(
        (group) => () =>
          this.openMerged(
            group.map((index) => parts[index]!),
            request,
          ),
      ),
    ]);
    this.cursors.add(cursor);
    return cursor;
  }

  /** Frees everything the scans hold. */
  close(): void {
    for (const cursor of this.cursors) cursor.close();
    for (const file of this.files.values()) file.close();
    this.cursors.clear();
    this.files.clear();
  }

  /** A part that shares no series and time with another is read in place. */
  private openAlone(part: Part, request: ScanRequest): ScanCursor | null {
    if ("run" in part) return openRunCursor(this.kernel, part.run, request);
    const { runs, release } = this.decode(part.block, request);
    const cursor = new TableCursor(runs.map((run) => () => openRunCursor(this.kernel, run, request)));
    const close = () => {
      cursor.close();
      release();
    };
    return { next: () => cursor.next(), close };
  }

  /** Parts that may hold the same series and time are merged when their turn comes. The result points into the text of its inputs. */
  private openMerged(parts: readonly Part[], request: ScanRequest): ScanCursor | null {
    const owned: { release(): void }[] = [];
    const release = () => {
      for (const run of owned.splice(0)) run.release();
    };
    try {
      const runs: Run[] = [];
      for (const part of parts) {
        if ("run" in part) runs.push(part.run);
        else {
          const block = this.decode(part.block, request);
          owned.push(block);
          runs.push(...block.runs);
        }
      }
      if (runs.length === 0) return null;
      const { columns, range, tags } = request;
      const merged = mergeRuns(this.kernel, runs, columns, { range, tags });
      owned.push(merged);
      const cursor = openRunCursor(this.kernel, merged, { columns, range: ALL_TIME, tags: [] });
      const close = () => {
        cursor.close();
        release();
      };
      return { next: () => cursor.next(), close };
    } catch (error) {
      release();
      throw error;
    }
  }

  private decode(meta: BlockSnapshot, request: ScanRequest): BlockRuns {
    let file = this.files.get(meta.fileId);
    if (file === undefined) {
      file = openDataFile(this.kernel, openByteSource(meta.source), meta.format);
      this.files.set(meta.fileId, file);
    }
    const fieldIds = request.columns.filter(({ type }) => type !== ColumnType.tag && type !== ColumnType.time).map(({ id }) => id);
    const filter = new SeriesFilter(this.kernel, request.tags);
    try {
      return decodeBlock(this.kernel, file.block(meta.blockIndex), { meta, fieldIds, range: request.range, filter });
    } finally {
      filter.release();
    }
  }
}

function summary(part: Part, { minNs, maxNs }: TimeRange) {
  const { minTimeNs, maxTimeNs, unique } = "run" in part ? part.run : part.block;
  const sorted = "run" in part ? part.run.sorted : true;
  return { minTimeNs: minTimeNs < minNs ? minNs : minTimeNs, maxTimeNs: maxTimeNs > maxNs ? maxNs : maxTimeNs, unique, sorted };
}

/** Goes through groups one after the other; each is opened when its turn comes and freed before the next. */
class TableCursor implements ScanCursor {
  private current: ScanCursor | null = null;
  private at = 0;

  constructor(private readonly groups: readonly (() => ScanCursor | null)[]) {}

  next(): ScanChunk | null {
    for (;;) {
      const chunk = this.current?.next() ?? null;
      if (chunk !== null) return chunk;
      this.current?.close();
      this.current = null;
      const open = this.groups[this.at];
      if (open === undefined) return null;
      this.at += 1;
      this.current = open();
    }
  }

  close(): void {
    this.current?.close();
    this.current = null;
    this.at = this.groups.length;
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
