// Computes the result of each call of a group from its base points: fills windows, then applies transforms.
import type { TimeRange } from "../../../model/query/scan.ts";
import type { Steps } from "../../../model/steps.ts";
import { fillNaN, fillWindows } from "../../functions/fill.ts";
import type { Points, WindowPoints } from "../../functions/points.ts";
import { REDUCERS } from "../../functions/reducers.ts";
import { haveEqualTimes } from "../../functions/rows.ts";
import { TRANSFORMS } from "../../functions/transforms.ts";
import { windowAt, windowStarts } from "../../functions/windows.ts";
import type { Fill } from "../../parse/ast.ts";
import { TIME_MIN_NS } from "../../plan/time-range.ts";
import type { RunPlan } from "../select-context.ts";
import type { CallChain } from "./call-chain.ts";
import { type CallResult, spread, upTo, withoutNulls } from "./call-result.ts";
import type { BasePoints } from "./points.ts";

/** Where clocks change, windows are longer or shorter. */
const SPARE_WINDOWS = 4;

/** Computes the results of one statement's calls, group by group. */
export class CallResults {
  /** Window starts, cached: they are mostly the same for all groups. */
  private starts: { readonly minNs: bigint; readonly maxNs: bigint; readonly startsNs: BigInt64Array } | null = null;

  constructor(private readonly checked: RunPlan["checked"]) {}

  /** Null: the call has no points in this group. */
  *of(chain: CallChain, found: BasePoints | null): Steps<CallResult | null> {
    if (found === null) return null;
    const { points: filled, rows } = yield* this.filled(chain, found);
    if (chain.transforms.length === 0) return { points: filled, rows };
    const { interval, descending, isTable } = this.checked;
    let points: Points = yield* withoutNulls(filled);
    for (const { name, args } of chain.transforms) {
      points = yield* TRANSFORMS.get(name)!.apply(points, args, { descending, intervalNs: interval?.durationNs ?? null, isTable });
    }
    return points.times.length === 0 ? null : { points: { points, validity: null }, rows: null };
  }

  /** Adds the points that fill() creates for empty windows. */
  private *filled({ base: { call }, transforms, range }: CallChain, { points, rows }: BasePoints): Steps<CallResult> {
    const { interval, fill, limit, offset, isTable, descending } = this.checked;
    const isList = call === null || REDUCERS.get(call.name)!.isList;
    if (interval === null || isList || fill.kind === "none") return { points: { points, validity: null }, rows };
    const wanted = limit > 0 && transforms.length === 0 ? limit + offset : null;
    const starts = yield* this.windowStarts(points, range, wanted);
    const shown = wanted === null ? points : yield* upTo(points, starts, wanted);
    // windows without values count as 0
    const ownFill: Fill = call.name === "count" && fill.kind === "null" ? { kind: "value", value: 0n } : fill;
    const isWhole = yield* haveEqualTimes(shown.times, starts);
    const windows: WindowPoints = isWhole
      ? { points: shown, validity: null }
      : yield* fillWindows(shown, starts, ownFill, interval.durationNs, isTable && descending);
    const filled = isTable ? yield* fillNaN(windows, ownFill, descending) : windows;
    return { points: filled, rows: rows === null ? null : yield* spread(rows, shown.times, filled.points.times) };
  }

  /** The window starts of the range, or only of the first windows needed and a few more. */
  private *windowStarts({ times }: Points, range: TimeRange, wanted: number | null): Steps<BigInt64Array> {
    const { interval, timeZone, descending } = this.checked;
    const grid = { intervalNs: interval!.durationNs, offsetNs: interval!.offsetNs, zone: timeZone };
    const least = descending ? times[times.length - 1]! : times[0]!;
    let minNs = range.minNs === TIME_MIN_NS ? windowAt(grid, least).startNs : range.minNs;
    let { maxNs } = range;
    if (wanted !== null) {
      const reachNs = BigInt(wanted + SPARE_WINDOWS) * grid.intervalNs;
      if (descending && maxNs - minNs > reachNs) minNs = maxNs - reachNs;
      else if (maxNs - minNs > reachNs) maxNs = minNs + reachNs;
    }
    if (this.starts?.minNs !== minNs || this.starts.maxNs !== maxNs) {
      this.starts = { minNs, maxNs, startsNs: yield* windowStarts(grid, minNs, maxNs, descending) };
    }
    return this.starts!.startsNs;
  }
}
