// Decomposes a call of a SELECT from the inside out: a column's points or an aggregate per group and window, then transforms.
import type { TimeRange } from "../../../model/query/scan.ts";
import { TRANSFORMS } from "../../functions/transforms.ts";
import type { PlannedCall, PlannedColumn } from "../../plan/select.ts";
import { TIME_MAX_NS, TIME_MIN_NS } from "../../plan/time-range.ts";
import type { RunPlan } from "../select-context.ts";
import type { BaseCall } from "./points.ts";

type Checked = RunPlan["checked"];

export interface CallChain {
  readonly call: PlannedCall;
  readonly base: BaseCall;
  /** Innermost first. */
  readonly transforms: readonly PlannedCall[];
  /** The range to read: the statement's, extended by earlier windows for transforms that look back. */
  readonly range: TimeRange;
}

/** Decomposes a call. */
export function callChain(call: PlannedCall, range: TimeRange, checked: Checked): CallChain {
  const transforms: PlannedCall[] = [];
  let inner = call;
  while (inner.isTransform && "args" in inner.of) {
    transforms.unshift(inner);
    inner = inner.of;
  }
  const base: BaseCall = inner.isTransform ? { call: null, column: inner.of as PlannedColumn } : { call: inner, column: columnOf(inner) };
  if (inner.isTransform) transforms.unshift(inner);
  return { call, base, transforms, range: extendedRange(transforms, range, checked) };
}

/** `range` extended by the windows before it (after it, if time descends) that the transforms need. */
function extendedRange(transforms: readonly PlannedCall[], range: TimeRange, { interval, descending }: Checked): TimeRange {
  const windows = transforms.reduce((sum, { name, args }) => sum + TRANSFORMS.get(name)!.windowsBefore(args), 0);
  if (interval === null || windows === 0 || !Number.isFinite(windows)) return range;
  const byNs = BigInt(windows) * interval.durationNs;
  if (descending) return { minNs: range.minNs, maxNs: range.maxNs > TIME_MAX_NS - byNs ? TIME_MAX_NS : range.maxNs + byNs };
  return { minNs: range.minNs < TIME_MIN_NS + byNs ? TIME_MIN_NS : range.minNs - byNs, maxNs: range.maxNs };
}

/** True if a plan reads columns that are no tags. */
export function hasFields({ calls, columns }: RunPlan): boolean {
  return [...calls.map(columnOf), ...columns].some(({ kind }) => kind !== null && kind !== "tag");
}

/** The column of the innermost call. */
export function columnOf(call: PlannedCall): PlannedColumn {
  return "args" in call.of ? columnOf(call.of) : call.of;
}
