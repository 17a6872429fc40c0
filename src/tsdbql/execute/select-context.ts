// The shared context of a running SELECT: its plan, the blocks it produces, and access to rows and memory.
import type { TimeRange } from "../../model/query/scan.ts";
import type { Turns } from "../../model/turns.ts";
import type { SelectPlan } from "../plan/select.ts";
import type { Schema } from "../plan/types.ts";
import type { StatementMemory } from "./memory.ts";
import type { AnyCells } from "./rows/columns.ts";
import type { RowSet, RowsRequest } from "./rows/rows.ts";
import type { MeasurementTable } from "./rows/table.ts";

export type RunPlan = SelectPlan<MeasurementTable>;
export type RunSource = RunPlan["sources"][number];

/** Rows of one series, ordered by time. Blocks of a series are consecutive. */
export interface RowBlock {
  readonly name: string;
  /** Values of the grouping tags, ordered by tag name. */
  readonly tags: readonly string[];
  readonly times: BigInt64Array;
  /** One per output; null: no row has a value. */
  readonly columns: readonly (AnyCells | null)[];
}

export interface SelectScope {
  readonly range: TimeRange;
  /** Grouping tags in order: the statement's own and those of outer statements. */
  readonly groupBy: readonly string[];
}

export interface SelectContext {
  readonly turns: Turns;
  readonly memory: StatementMemory;
  /** The rows of all sources with a name, in groups. @throws TsdbError query_limit */
  rows(plan: RunPlan, name: string, request: RowsRequest): Promise<RowSet>;
}

/** True if rows of a measurement are grouped by values that they have, which the scan does not group by. */
export function isGroupedByField({ checked }: RunPlan, { schema }: { readonly schema: Schema }, groupBy: readonly string[]): boolean {
  return checked.isTable && groupBy.some((name) => schema.fields.has(name));
}

/** Measurements with a name, and subqueries that produce series of it. */
export function sourcesOf({ sources }: RunPlan, name: string): RunSource[] {
  return sources.filter((source) => (source.kind === "table" ? source.name === name : source.plan.names.includes(name)));
}
