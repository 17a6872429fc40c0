// What the parts of a running SELECT share: its plan, the blocks that it yields, and the access to rows and memory that they read with.
import type { TimeRange } from "../../model/query/scan.ts";
import type { Turns } from "../../model/turns.ts";
import type { SelectPlan } from "../plan/select.ts";
import type { StatementMemory } from "./memory.ts";
import type { AnyCells } from "./rows/columns.ts";
import type { RowSet, RowsRequest } from "./rows/rows.ts";
import type { MeasurementTable } from "./rows/table.ts";

export type RunPlan = SelectPlan<MeasurementTable>;
export type RunSource = RunPlan["sources"][number];

/** Rows of one series, in order of time. Blocks of a series follow each other. */
export interface RowBlock {
  readonly name: string;
  /** Values of the tags that are grouped by, in order of the tags' names. */
  readonly tags: readonly string[];
  readonly times: BigInt64Array;
  /** One an output; null: no row has a value. */
  readonly columns: readonly (AnyCells | null)[];
}

export interface SelectScope {
  readonly range: TimeRange;
  /** Tags to group by, in order: the statement's own and those of the ones around it. */
  readonly groupBy: readonly string[];
}

export interface SelectContext {
  readonly turns: Turns;
  readonly memory: StatementMemory;
  /** The rows of all sources of a name, in groups. @throws TsdbError query_limit */
  rows(plan: RunPlan, name: string, request: RowsRequest): Promise<RowSet>;
}

/** Measurements of a name, and inner statements that yield series of it. */
export function sourcesOf({ sources }: RunPlan, name: string): RunSource[] {
  return sources.filter((source) => (source.kind === "table" ? source.name === name : source.plan.names.includes(name)));
}
