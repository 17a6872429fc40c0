// Which closed segments of a table are read as one, once their rows are sorted together: a scan of one series costs about as much for each
// run as for a thousand rows. In the query worker.
import type { DictionaryView } from "../../model/rows/dictionary.ts";
import type { Run } from "../../model/rows/run.ts";

/** Segments that follow each other in a snapshot, without possible duplicates. Stands for one unique run without columns. */
export interface SegmentGroup<T> extends Pick<Run, "rowCount" | "minTimeNs" | "maxTimeNs" | "unique" | "overlaps" | "sorted"> {
  readonly members: readonly Run[];
  readonly dictionary: DictionaryView;
  /** The same for every snapshot that has these segments. */
  readonly of: T;
}

interface Known<T> {
  readonly segments: readonly number[];
  readonly of: T;
}

/** The groups of one worker: a segment stays with its group until one of them is gone. */
export class SegmentGroups<T> {
  /** By number of each segment. */
  private readonly known = new Map<number, Known<T>>();

  constructor(
    /** Segments of a group. */
    private readonly size: number,
    private readonly create: () => T,
  ) {}

  /** The runs of a snapshot in their order, groups in the place of their members.
   *  @param isFit whether a run may be in a group: a closed segment that is unique */
  of(runs: readonly Run[], isFit: (run: Run) => boolean): (Run | SegmentGroup<T>)[] {
    const found: (Run | SegmentGroup<T>)[] = [];
    let fit: Run[] = [];
    for (let at = 0; at < runs.length; at++) {
      const run = runs[at]!;
      const group = this.groupAt(runs, at);
      const isNext = group === null && isFit(run) && !this.known.has(run.segment!) && (fit[0] ?? run).dictionary === run.dictionary;
      if (!isNext) found.push(...fit.splice(0));
      if (group !== null) {
        found.push(group);
        at += group.members.length - 1;
      } else if (!isFit(run) || this.known.has(run.segment!)) found.push(run);
      else if (fit.push(run) === this.size) {
        found.push(this.begin(fit));
        fit = [];
      }
    }
    found.push(...fit);
    return found;
  }

  /** A segment is gone. Returns what its group was, if it had one. */
  end(segment: number): T | null {
    const known = this.known.get(segment);
    if (known === undefined) return null;
    for (const each of known.segments) this.known.delete(each);
    return known.of;
  }

  private begin(members: readonly Run[]): SegmentGroup<T> {
    const known = { segments: members.map(({ segment }) => segment!), of: this.create() };
    for (const segment of known.segments) this.known.set(segment, known);
    return groupOf(members, known.of);
  }

  /** Null if no group begins there, or some of it is hidden. */
  private groupAt(runs: readonly Run[], at: number): SegmentGroup<T> | null {
    const { segment, dictionary } = runs[at]!;
    const known = segment === undefined ? undefined : this.known.get(segment);
    if (known === undefined) return null;
    const members = runs.slice(at, at + known.segments.length);
    const isWhole = known.segments.every((each, i) => members[i]?.segment === each && members[i]?.dictionary === dictionary);
    return isWhole ? groupOf(members, known.of) : null;
  }
}

function groupOf<T>(members: readonly Run[], of: T): SegmentGroup<T> {
  const [{ dictionary, minTimeNs, maxTimeNs }] = members as [Run];
  const all = { rowCount: 0, minTimeNs, maxTimeNs };
  for (const run of members) {
    all.rowCount += run.rowCount;
    if (run.minTimeNs < all.minTimeNs) all.minTimeNs = run.minTimeNs;
    if (run.maxTimeNs > all.maxTimeNs) all.maxTimeNs = run.maxTimeNs;
  }
  return { ...all, members, dictionary, of, unique: true, overlaps: undefined, sorted: true };
}
