// Windows of a range with numbers, as runs of one width that a source can compute.
import type { WindowRun } from "../../interpret/flux-source.ts";
import type { TimeBounds } from "../../tables/stream.ts";
import type { Windows } from "../universe/window-bounds.ts";

/** More windows of differing widths, or of a zone's clock, are left to the operators. */
const LISTED_MAX = 2000;
/** Bounds that are kept. */
const KEPT_MAX = 100_000;

/** The windows of one range, numbered in the order of time. */
export class NumberedWindows {
  private kept: { readonly startsNs: BigInt64Array; readonly stopsNs: BigInt64Array } | null = null;
  /** What `timesOf` gave last: tables beside each other mostly have the same windows, and then share one array. */
  private latest: BigInt64Array | null = null;

  private constructor(
    readonly runs: readonly WindowRun[],
    readonly count: number,
    private readonly range: TimeBounds,
  ) {}

  /** Windows that overlap the range; null when they overlap each other or leave gaps, or are too many. */
  static of(windows: Windows, range: TimeBounds): NumberedWindows | null {
    const listed = windows.overlapping(range.startNs, range.stopNs);
    if (!windows.areFixed) return NumberedWindows.listed(listed, range);
    const { value: first } = listed.next();
    if (first === undefined) return null;
    const widthNs = windows.every.ns;
    const count = Number((range.stopNs - first.startNs + widthNs - 1n) / widthNs);
    if (!Number.isSafeInteger(count)) return null;
    return new NumberedWindows([{ firstNumber: 0, startNs: first.startNs, widthNs, count }], count, range);
  }

  private static listed(windows: ReturnType<Windows["overlapping"]>, range: TimeBounds): NumberedWindows | null {
    const runs: WindowRun[] = [];
    let count = 0;
    let endNs: bigint | null = null;
    for (const { startNs, stopNs } of windows) {
      if (count >= LISTED_MAX || stopNs <= startNs || (endNs !== null && endNs !== startNs)) return null;
      const run = runs.at(-1);
      if (run?.widthNs === stopNs - startNs) runs[runs.length - 1] = { ...run, count: run.count + 1 };
      else runs.push({ firstNumber: count, startNs, widthNs: stopNs - startNs, count: 1 });
      count++;
      endNs = stopNs;
    }
    return count === 0 ? null : new NumberedWindows(runs, count, range);
  }

  /** Beginnings or ends of these windows, within the range. @param numbers in order @returns not to be changed */
  timesOf(numbers: Float64Array, side: "_start" | "_stop"): BigInt64Array {
    const times = new BigInt64Array(numbers.length);
    const kept = this.keptBounds();
    if (kept === null) {
      for (let i = 0; i < numbers.length; i++) times[i] = this.bound(numbers[i]!, side);
      return times;
    }
    const first = numbers[0] ?? 0;
    // no gaps
    if (numbers.length > 0 && numbers[numbers.length - 1]! - first === numbers.length - 1) {
      const all = side === "_start" ? kept.startsNs : kept.stopsNs;
      const { latest } = this;
      const offset = first * all.BYTES_PER_ELEMENT;
      if (latest?.buffer === all.buffer && latest.byteOffset === offset && latest.length === numbers.length) return latest;
      this.latest = all.subarray(first, first + numbers.length);
      return this.latest;
    }
    // a bigint for each would take longer than the rest
    const source = new Int32Array((side === "_start" ? kept.startsNs : kept.stopsNs).buffer);
    const target = new Int32Array(times.buffer);
    for (let i = 0; i < numbers.length; i++) {
      target[2 * i] = source[2 * numbers[i]!]!;
      target[2 * i + 1] = source[2 * numbers[i]! + 1]!;
    }
    return times;
  }

  private keptBounds() {
    if (this.kept !== null || this.count > KEPT_MAX) return this.kept;
    const [startsNs, stopsNs] = [new BigInt64Array(this.count), new BigInt64Array(this.count)];
    for (let number = 0; number < this.count; number++) {
      startsNs[number] = this.bound(number, "_start");
      stopsNs[number] = this.bound(number, "_stop");
    }
    this.kept = { startsNs, stopsNs };
    return this.kept;
  }

  private bound(number: number, side: "_start" | "_stop"): bigint {
    const run = this.runs.find(({ firstNumber, count }) => number < firstNumber + count)!;
    const startNs = run.startNs + BigInt(number - run.firstNumber) * run.widthNs;
    if (side === "_start") return startNs > this.range.startNs ? startNs : this.range.startNs;
    const stopNs = startNs + run.widthNs;
    return stopNs < this.range.stopNs ? stopNs : this.range.stopNs;
  }
}
