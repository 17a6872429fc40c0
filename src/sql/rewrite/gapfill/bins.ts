// The bins between two times, numbered from 0, that a gap-filling query returns for each group. Bins in local time and bins of months have
// different lengths, so bins are stored as runs of equal length.
import type { TimeRange } from "../../../model/query/scan.ts";
import { I64_MIN } from "../../../model/rows/int64.ts";
import { DAY_NS } from "../../../model/time/time-units.ts";
import type { TimeZone } from "../../../model/time/time-zone.ts";
import type { GapFill } from "../../bind/kind.ts";
import { type Interval, intervalNs } from "../../parse/interval.ts";
import { floorDiv } from "../../parse/time-text.ts";
import type { Expression } from "../../parse/tree.ts";
import { bigintConstant, call } from "../../parse/tree.ts";
import { planError } from "../rule.ts";
import { type ClockBins, leastOverlap, monthStart } from "../time/time-bin.ts";
import { choose, chooseByNumber } from "../time/time-choice.ts";

/** Maximum bins per group: a bin per second over 100 days. */
const BINS_MAX = 10_000_000n;

/** `count` bins from `startNs` on, `GapBins.stepNs` apart. */
interface BinRun {
  readonly startNs: bigint;
  readonly count: bigint;
}

export interface BinRequest {
  readonly name: string;
  readonly interval: Interval;
  readonly originNs: bigint;
  /** Null: UTC. */
  readonly zone: TimeZone | null;
}

/** The bins of one gap-filling query. */
export class GapBins {
  /** In order. */
  private readonly runs: BinRun[] = [];
  count = 0n;

  private constructor(
    private readonly name: string,
    private readonly stepNs: bigint,
  ) {}

  /** The bins that cover `range`. @throws TsdbError bad_query for too many */
  static of(range: TimeRange, { name, interval, originNs, zone }: BinRequest): GapBins {
    const isEmpty = range.maxNs < range.minNs;
    if (interval.months !== 0) {
      const bins = new GapBins(name, 1n);
      if (!isEmpty) bins.addMonths(range, BigInt(interval.months), originNs, zone);
      return bins;
    }
    const stepNs = intervalNs(interval);
    if (stepNs <= 0n) throw planError("DATE_BIN stride must be non-zero and positive");
    const bins = new GapBins(name, stepNs);
    if (isEmpty) return bins;
    if (zone === null) bins.addRun(originNs + floorDiv(range.minNs - originNs, stepNs) * stepNs, range.maxNs);
    else bins.addByClock(range, zone, { stepNs, originNs, leastNs: leastOverlap(interval) });
    return bins;
  }

  /** The bins, if there are any and all of them have the same length; null otherwise. */
  get uniform(): Pick<GapFill, "firstNs" | "widthNs" | "count"> | null {
    const [run, ...others] = this.runs;
    if (run === undefined || others.length > 0) return null;
    return { firstNs: run.startNs, widthNs: this.stepNs, count: Number(run.count) };
  }

  /** The number of a bin, from its start. */
  indexOf(start: Expression): Expression {
    const bounds = this.runs.slice(1).map(({ startNs }) => startNs);
    return call("__bin_index", [start, choose(start, bounds, this.bases), bigintConstant(this.stepNs)]);
  }

  /** The start of a bin as BIGINT nanoseconds, from its number. */
  startOf(index: Expression): Expression {
    const chosen = chooseByNumber(index, this.firstIndexes.slice(1), this.bases);
    return call("__bin_at", [index, chosen, bigintConstant(this.stepNs)]);
  }

  /** For each run: the start of bin 0 if the run extended back to it. */
  private get bases(): bigint[] {
    if (this.runs.length === 0) return [0n];
    const indexes = this.firstIndexes;
    return this.runs.map(({ startNs }, i) => startNs - indexes[i]! * this.stepNs);
  }

  private get firstIndexes(): bigint[] {
    let next = 0n;
    return this.runs.map(({ count }) => {
      const first = next;
      next += count;
      return first;
    });
  }

  /** Adds bins from `startNs` on that start at or before `lastNs`. */
  private addRun(startNs: bigint, lastNs: bigint): void {
    // a bin that starts before the least time has no start
    const first = startNs < I64_MIN ? startNs + floorDiv(I64_MIN - startNs + this.stepNs - 1n, this.stepNs) * this.stepNs : startNs;
    if (first > lastNs) return;
    const count = (lastNs - first) / this.stepNs + 1n;
    const previous = this.runs.at(-1);
    const continues = previous !== undefined && previous.startNs + previous.count * this.stepNs === first;
    if (continues) this.runs[this.runs.length - 1] = { startNs: previous.startNs, count: previous.count + count };
    else this.runs.push({ startNs: first, count });
    this.count += count;
    if (this.count <= BINS_MAX) return;
    const [got, most] = [this.count, BINS_MAX].map(String);
    throw planError(
      `${this.name} would make ${got} rows of each group, at most ${most} are possible: use a longer interval or closer time bounds`,
    );
  }

  /** Inserts a bin between others, unless it exists. */
  private insert(startNs: bigint): void {
    if (startNs < I64_MIN) return;
    const index = this.runs.findLastIndex((run) => run.startNs <= startNs);
    const run = this.runs[index];
    const after = run === undefined ? 0n : (startNs - run.startNs) / this.stepNs;
    if (run !== undefined && after < run.count && run.startNs + after * this.stepNs === startNs) return;
    const parts: BinRun[] = [{ startNs, count: 1n }];
    if (run !== undefined) {
      const before = after + 1n < run.count ? after + 1n : run.count;
      parts.unshift({ startNs: run.startNs, count: before });
      if (before < run.count) parts.push({ startNs: run.startNs + before * this.stepNs, count: run.count - before });
    }
    this.runs.splice(Math.max(index, 0), run === undefined ? 0 : 1, ...parts);
    this.count++;
  }

  private addMonths({ minNs, maxNs }: TimeRange, months: bigint, originNs: bigint, zone: TimeZone | null): void {
    if (months <= 0n) throw planError("DATE_BIN stride must be non-zero and positive");
    const localMinNs = minNs + (zone?.offsetAt(minNs) ?? 0n);
    const startAt = (ahead: bigint): bigint => {
      const localNs = monthStart(localMinNs, months, originNs, ahead);
      return zone?.toUtc(localNs) ?? localNs;
    };
    for (let [k, start] = [0n, startAt(0n)]; start <= maxNs; start = startAt(++k)) this.addRun(start, start);
  }

  private addByClock({ minNs, maxNs }: TimeRange, zone: TimeZone, bins: ClockBins): void {
    const { stepNs, originNs, leastNs } = bins;
    const floor = (localNs: bigint): bigint => originNs + floorDiv(localNs - originNs, stepNs) * stepNs;
    const [first, last] = [zone.indexAt(minNs), zone.indexAt(maxNs)];
    const single: bigint[] = [];
    for (let i = first; i <= last; i++) {
      const { fromNs, offsetNs } = zone.spans[i]!;
      const lastLocal = (i === last ? maxNs : zone.spans[i + 1]!.fromNs - 1n) + offsetNs;
      let local = floor((i === first ? minNs : fromNs) + offsetNs);
      // individually, as long as local times are skipped or repeated
      const clear = clearFrom(zone, i, leastNs);
      for (; local < clear && local <= lastLocal; local += stepNs) {
        single.push(zone.toUtc(local, { offsetNs, leastNs }));
      }
      if (local <= lastLocal) this.addRun(local - offsetNs, floor(lastLocal) - offsetNs);
    }
    for (const start of single) this.insert(start);
  }
}

/** The local time from which on a span of the zone contains no repeated or skipped times. */
function clearFrom(zone: TimeZone, index: number, leastNs: bigint): bigint {
  const { fromNs, offsetNs } = zone.spans[index]!;
  const before = zone.spans[index - 1]?.offsetNs;
  if (before === undefined) return I64_MIN - DAY_NS;
  // repeated hours belong to this span if the bins are short enough
  const isOther = before > offsetNs && before - offsetNs < leastNs;
  return fromNs + (isOther ? before : offsetNs);
}
