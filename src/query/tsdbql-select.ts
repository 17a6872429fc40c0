// A planned SELECT run: blocks of rows of one series after the other, each with its columns.
import type { Kernel } from "../kernel/kernel.ts";
import type { TimeRange } from "../model/scan.ts";
import { MIN_TIME_NS } from "../tsdbql/plan-condition.ts";
import type { PlannedCall, SelectPlan, TableSource } from "../tsdbql/plan-select.ts";
import { planWhere } from "../tsdbql/plan-where.ts";
import { type AnyCells, isPresent } from "./tsdbql-columns.ts";
import { joinByTime } from "./tsdbql-join.ts";
import { type CallGroup, type CallRequest, kernelCalls } from "./tsdbql-kernel.ts";
import type { MeasurementTable } from "./tsdbql-table.ts";
import type { Turns } from "./tsdbql-turns.ts";

export type RunPlan = SelectPlan<MeasurementTable>;

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

export class SelectRun {
  constructor(
    readonly kernel: Kernel,
    readonly turns: Turns,
  ) {}

  /** Rows of the series of one name. */
  async *blocks(plan: RunPlan, name: string, scope: SelectScope): AsyncGenerator<RowBlock> {
    const groups = await this.callGroups(plan, name, scope);
    if (plan.checked.descending) groups.reverse();
    for (const { tags, points } of groups) {
      const joined = joinByTime(points, plan.checked.descending);
      if (joined.times.length === 0) continue;
      yield {
        name,
        tags,
        times: joined.times,
        columns: plan.outputs.map(({ expression }) => joined.cells[plan.symbols.get(expression)!]!),
      };
    }
  }

  private async callGroups(plan: RunPlan, name: string, { range, groupBy }: SelectScope): Promise<CallGroup[]> {
    const { checked } = plan;
    const tables = plan.sources.filter(
      (source): source is TableSource<MeasurementTable> => source.kind === "table" && source.name === name,
    );
    const [source] = tables;
    if (source === undefined) return [];
    const request: CallRequest = {
      calls: plan.calls as readonly PlannedCall[],
      groupBy,
      range,
      interval: checked.interval,
      zone: checked.timeZone,
      startNs: range.minNs === MIN_TIME_NS ? 0n : range.minNs,
      ownTimes: plan.isSelector && checked.interval === null,
      descending: checked.descending,
    };
    const where = planWhere(checked.condition, source.schema);
    const predicates = await source.table.predicates(where, range, this.turns);
    if (predicates.isEmpty) return [];
    return [...((await kernelCalls(source.table, request, predicates, this.turns)) ?? [])];
  }
}

export { isPresent };
