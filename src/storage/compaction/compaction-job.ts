// The next piece of compaction's work, out of what the plans of all tables ask for. Pure.
import type { DataFormat } from "../data-file.ts";
import type { BlockOfTable } from "../manifest/manifest.ts";
import type { CompactionLimits, CompactionTask, TablePlan } from "./plan-compaction.ts";

/** One file to be made. */
export interface FilePlan {
  readonly format: DataFormat;
  /** Of a `.pt` file any number, by table and day; of a Parquet file one. */
  readonly tasks: readonly CompactionTask[];
}

/** What one entry of the manifest makes true. */
export interface CompactionJob {
  readonly files: readonly FilePlan[];
  /** Blocks of which no row exists any more. */
  readonly dropped: readonly BlockOfTable[];
}

/** Null when there is nothing to do. */
export function nextJob(plans: Iterable<TablePlan>, limits: CompactionLimits): CompactionJob | null {
  const dropped: BlockOfTable[] = [];
  const tasks: CompactionTask[] = [];
  for (const plan of plans) {
    for (const block of plan.dropped) dropped.push(block);
    for (const task of plan.tasks) tasks.push(task);
  }
  if (dropped.length > 0) return { files: [], dropped: dropped.slice(0, limits.jobBlocksMax) };
  const sharing = sharingTables(tasks, limits);
  const isSmall = ({ rowCount }: CompactionTask) => rowCount < limits.smallRows;
  const toPt = tasks.filter((task) => task.output === "pt" || (sharing.has(dayKey(task)) && isSmall(task) && !task.isResting));
  if (toPt.length > 0) return { files: [{ format: "pt", tasks: takeRows(toPt, limits).sort(byTableAndDay) }], dropped };
  const toParquet = tasks.filter((task) => !(sharing.has(dayKey(task)) && isSmall(task)));
  if (toParquet.length === 0) return null;
  return { files: takeRows(toParquet, limits).map((task) => ({ format: "parquet", tasks: [task] })), dropped };
}

/** Days of which so many tables have few rows that these tables share a file. */
function sharingTables(tasks: readonly CompactionTask[], { smallRows, smallTablesMax }: CompactionLimits): Set<string> {
  const counts = new Map<string, number>();
  for (const task of tasks) {
    if (task.output !== "closed" || task.rowCount >= smallRows) continue;
    counts.set(dayKey(task), (counts.get(dayKey(task)) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([day, count]) => (count > smallTablesMax ? [day] : [])));
}

/** Tasks whose output is not the closed day's are never of a sharing day. */
function dayKey({ dayStartNs, output }: CompactionTask): string {
  return output === "closed" ? String(dayStartNs) : "";
}

/** The smallest tasks up to what a job may have, one at least. */
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
