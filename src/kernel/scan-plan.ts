// Which runs of a table can be read one by one, and which have to be merged because they may hold the same series and time twice.
import type { Run } from "../model/run.ts";

export type RunSummary = Pick<Run, "minTimeNs" | "maxTimeNs" | "unique" | "sorted">;

/** Indices into the list that was planned. */
export interface MergePlan {
  /** Runs that share no (series, time) with any other and hold none twice. */
  readonly alone: number[];
  /** Runs to merge with each other, ascending. A group of one holds duplicates within itself. */
  readonly groups: number[][];
}

/** A run that is not unique goes together with every run that overlaps it in time (both ends inclusive), and transitively on; so two unique
 *  runs meet only through one that is not. A sorted run has no duplicates within itself and needs no merge when nothing overlaps it. */
export function planMerges(runs: readonly RunSummary[]): MergePlan {
  const parents = runs.map((_, i) => i);
  const rootOf = (i: number): number => {
    while (parents[i] !== i) i = parents[i] = parents[parents[i]!]!;
    return i;
  };
  // A sweep by begin. Of the runs met so far, those that reach to the present begin matter: all that are not unique are one component
  // there, stood for by the one with the latest end; of the unique ones each is still on its own.
  const order = runs.map((_, i) => i).sort((a, b) => compare(runs[a]!.minTimeNs, runs[b]!.minTimeNs) || a - b);
  let marked = -1;
  let unique: number[] = [];
  for (const i of order) {
    const run = runs[i]!;
    if (marked >= 0 && runs[marked]!.maxTimeNs >= run.minTimeNs) parents[rootOf(i)] = rootOf(marked);
    if (run.unique) {
      unique.push(i);
      continue;
    }
    let latest = -1;
    for (const other of unique) {
      if (runs[other]!.maxTimeNs < run.minTimeNs) continue;
      parents[rootOf(other)] = rootOf(i);
      if (latest < 0 || runs[other]!.maxTimeNs > runs[latest]!.maxTimeNs) latest = other;
    }
    // They are one component now: the one that ends last can link it to a later run, the others cannot link more.
    unique = latest < 0 ? [] : [latest];
    if (marked < 0 || run.maxTimeNs > runs[marked]!.maxTimeNs) marked = i;
  }
  return collect(runs, rootOf);
}

function collect(runs: readonly RunSummary[], rootOf: (i: number) => number): MergePlan {
  const members = new Map<number, number[]>();
  runs.forEach((_, i) => {
    const root = rootOf(i);
    const group = members.get(root);
    if (group === undefined) members.set(root, [i]);
    else group.push(i);
  });
  const alone: number[] = [];
  const groups: number[][] = [];
  for (const group of members.values()) {
    const only = group.length === 1 ? runs[group[0]!]! : undefined;
    if (only !== undefined && (only.unique || only.sorted)) alone.push(group[0]!);
    else groups.push(group);
  }
  return { alone, groups };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
