// Combines the plans of all tables into the next compaction job. Pure.
import type { BlockOfTable } from "../manifest/manifest.ts";
import type { CompactionLimits, CompactionTask, TablePlan } from "./plan-compaction.ts";

/** A file to write. */
export interface FilePlan {
  /** Ordered by table and day. */
  readonly tasks: readonly CompactionTask[];
}

/** The work of one manifest entry. */
export interface CompactionJob {
  readonly files: readonly FilePlan[];
  /** Blocks without a remaining row. */
  readonly dropped: readonly BlockOfTable[];
}

/** The next job; null if there is nothing to do. */
export function nextJob(plans: Iterable<TablePlan>, limits: CompactionLimits): CompactionJob | null {
  const dropped: BlockOfTable[] = [];
  const tasks: CompactionTask[] = [];
  for (const plan of plans) {
    for (const block of plan.dropped) dropped.push(block);
    for (const task of plan.tasks) tasks.push(task);
  }
  if (dropped.length > 0) return { files: [], dropped: dropped.slice(0, limits.jobBlocksMax) };
  if (tasks.length === 0) return null;
  return { files: filesOf(takeRows(tasks, limits), limits), dropped };
}

/** Groups tasks into files. A file is deleted with its last block, so its blocks should have similar lifetimes: those of open days are
 *  soon merged again; among closed days only small ones share a file, because late rows rewrite a block and leave its bytes in the file. */
function filesOf(tasks: readonly CompactionTask[], { smallRows }: CompactionLimits): FilePlan[] {
  const shared = { merged: [] as CompactionTask[], closed: [] as CompactionTask[] };
  const files: FilePlan[] = [];
  for (const task of tasks) {
    if (!task.isClosed) shared.merged.push(task);
    else if (task.rowCount < smallRows) shared.closed.push(task);
    else files.push({ tasks: [task] });
  }
  for (const together of Object.values(shared)) if (together.length > 0) files.push({ tasks: together.sort(byTableAndDay) });
  return files;
}

/** The smallest tasks up to a job's limits, at least one. */
function takeRows(tasks: readonly CompactionTask[], { jobRowsMax, jobBlocksMax }: CompactionLimits): CompactionTask[] {
  let rows = 0;
  let blocks = 0;
  return tasks
    .toSorted((a, b) => a.rowCount - b.rowCount || byTableAndDay(a, b))
    .filter(({ rowCount, inputs }, i) => {
      rows += rowCount;
      blocks += inputs.length;
      return i === 0 || (rows <= jobRowsMax && blocks <= jobBlocksMax);
    });
}

function byTableAndDay(a: CompactionTask, b: CompactionTask): number {
  return a.tableId - b.tableId || (a.dayStartNs < b.dayStartNs ? -1 : 1);
}
