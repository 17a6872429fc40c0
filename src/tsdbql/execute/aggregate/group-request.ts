// What is asked of the readers of groups, and what they answer.
import type { TimeRange } from "../../../model/query/scan.ts";
import type { TableSource } from "../../plan/select.ts";
import { TIME_MIN_NS } from "../../plan/time-range.ts";
import type { MeasurementTable } from "../rows/table.ts";
import type { RunPlan, SelectContext } from "../select-context.ts";
import type { CallChain } from "./call-chain.ts";
import type { BasePoints, ColumnAt } from "./points.ts";

/** The base calls of one name that read the same range. */
export interface GroupRequest {
  readonly context: SelectContext;
  readonly plan: RunPlan;
  readonly name: string;
  readonly groupBy: readonly string[];
  readonly range: TimeRange;
  /** At least one. */
  readonly chains: readonly CallChain[];
}

/** One whose only source is a measurement. */
export interface TableRequest extends GroupRequest {
  readonly source: TableSource<MeasurementTable>;
}

export interface GroupResult {
  readonly tags: readonly string[];
  /** One for each chain; null: the group has no points of it. */
  readonly bases: readonly (BasePoints | null)[];
  /** Finds the columns that are shown beside a single selector; null: there are none. */
  readonly columnAt: ColumnAt | null;
}

/** A way to get groups that is cheaper than reading all rows. */
export interface GroupReader {
  /** Whether the plan permits it. */
  readonly suits: (request: TableRequest) => boolean;
  /** Null: what is stored does not permit it. */
  readonly read: (request: TableRequest) => Promise<readonly GroupResult[] | null>;
}

/** Points of a single selector without windows are at the times of their rows. */
export function hasOwnTimes({ isSelector, checked }: RunPlan): boolean {
  return isSelector && checked.interval === null;
}

/** The time of a result without windows. */
export function startOf({ minNs }: TimeRange): bigint {
  return minNs === TIME_MIN_NS ? 0n : minNs;
}
