// The interface of group readers: request and result.
import type { TimeRange } from "../../../model/query/scan.ts";
import type { TableSource } from "../../plan/select.ts";
import { TIME_MIN_NS } from "../../plan/time-range.ts";
import type { MeasurementTable } from "../rows/table.ts";
import type { RunPlan, SelectContext } from "../select-context.ts";
import type { CallChain } from "./call-chain.ts";
import type { BasePoints, ColumnAt } from "./points.ts";

/** The base calls on one measurement name that read the same range. */
export interface GroupRequest {
  readonly context: SelectContext;
  readonly plan: RunPlan;
  readonly name: string;
  readonly groupBy: readonly string[];
  readonly range: TimeRange;
  /** At least one. */
  readonly chains: readonly CallChain[];
}

/** A request whose only source is a measurement. */
export interface TableRequest extends GroupRequest {
  readonly source: TableSource<MeasurementTable>;
}

export interface GroupResult {
  readonly tags: readonly string[];
  /** One per chain; null: the group has no points for it. */
  readonly bases: readonly (BasePoints | null)[];
  /** Finds the columns shown next to a single selector; null: there are none. */
  readonly columnAt: ColumnAt | null;
}

/** A way to compute groups that is cheaper than reading all rows. */
export interface GroupReader {
  /** True if the plan allows it. */
  readonly suits: (request: TableRequest) => boolean;
  /** Returns null if the stored data does not allow it. */
  readonly read: (request: TableRequest) => Promise<readonly GroupResult[] | null>;
}

/** True for a single selector without windows: its points keep the times of their rows. */
export function hasOwnTimes({ isSelector, checked }: RunPlan): boolean {
  return isSelector && checked.interval === null;
}

/** Time of a result without windows. */
export function startOf({ minNs }: TimeRange): bigint {
  return minNs === TIME_MIN_NS ? 0n : minNs;
}
