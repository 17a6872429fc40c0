// SELECT with calls: determines the groups of all calls, then for each group joins the calls' results by time into rows.
import type { Steps } from "../../../model/steps.ts";
import { cellsOf } from "../../functions/columns.ts";
import { constantCells, typeOfNumber } from "../../functions/fill.ts";
import { joinByTime } from "../../functions/rows.ts";
import type { PlannedCall } from "../../plan/select.ts";
import { kindIn } from "../../plan/types.ts";
import { wantedGroups } from "../index-groups.ts";
import type { StatementMemory } from "../memory.ts";
import { computeOutputs } from "../outputs.ts";
import { emptyCells, takeCells } from "../rows/cells.ts";
import type { AnyCells } from "../rows/columns.ts";
import { fillCells } from "../rows/fill.ts";
import { keyTypes, shownGroups } from "../rows/group-order.ts";
import { type RowBlock, type RunPlan, type SelectContext, type SelectScope, sourcesOf } from "../select-context.ts";
import { callChain, columnOf, hasFields } from "./call-chain.ts";
import { type CallResult, limit } from "./call-result.ts";
import { CallResults } from "./call-results.ts";
import type { GroupResult } from "./group-request.ts";
import { readGroups } from "./groups.ts";
import { POINT_BYTES } from "./points.ts";
import { type CountedChain, withZeroCounts } from "./zero-counts.ts";

/** The rows of a SELECT with calls, in blocks of one series each. @throws TsdbError query_limit, cancelled */
export async function* aggregateBlocks(
  context: SelectContext,
  plan: RunPlan,
  name: string,
  { range, groupBy }: SelectScope,
): AsyncGenerator<RowBlock> {
  const { checked } = plan;
  const chains = plan.calls.filter((call) => hasPoints(call, plan)).map((call) => callChain(call, range, checked));
  if (chains.length === 0) return;
  const found = await readGroups({ context, plan, name, groupBy, chains });
  const wanted = await wantedGroups(context, plan, name, groupBy);
  const own = wanted === null ? found : found.filter(({ tags }) => wanted.has(tags));
  const order = { ...checked, types: keyTypes(plan, groupBy), ...(wanted === null ? {} : { slimit: 0, soffset: 0 }) };
  const groups = await context.turns.run(shownGroups(own, ({ tags }) => tags, order));
  const schemas = sourcesOf(plan, name).map((source) => (source.kind === "table" ? source.schema : source.plan.schema));
  const counted = chains.map((chain) => ({ ...chain, isAbsent: kindIn(schemas, chain.base.column.name) === null }));
  const blocks = new GroupBlocks(plan, name, counted, context.memory);
  for (const group of groups) {
    const block = await context.turns.run(blocks.block(group));
    if (block !== null) yield block;
    const pause = context.turns.pause();
    if (pause !== null) await pause;
  }
}

/** Tags of a measurement are not points, but those of a subquery are; in v3 they are beside fields. */
function hasPoints(call: PlannedCall, plan: RunPlan): boolean {
  const { kind } = columnOf(call);
  const { isTable } = plan.checked;
  if (kind !== "tag" || (!isTable && plan.sources.some((source) => source.kind === "select"))) return kind !== null;
  return isTable && call.type !== null && hasFields(plan);
}

class GroupBlocks {
  private readonly results: CallResults;

  constructor(
    private readonly plan: RunPlan,
    private readonly name: string,
    private readonly chains: readonly CountedChain[],
    private readonly memory: StatementMemory,
  ) {
    this.results = new CallResults(plan.checked);
  }

  /** The rows of one group; null if there are none. @throws TsdbError query_limit */
  *block({ tags, bases, columnAt }: GroupResult): Steps<RowBlock | null> {
    const { plan, name } = this;
    const { checked } = plan;
    const results: (CallResult | null)[] = [];
    const counted = checked.isTable ? yield* withZeroCounts(this.chains, bases, checked.descending) : bases;
    let pointCount = 0;
    for (const [i, chain] of this.chains.entries()) {
      const result = yield* this.results.of(chain, counted[i] ?? null);
      results.push(result);
      pointCount += result?.points.points.times.length ?? 0;
      // results, and the rows that they become
      this.memory.check(2 * pointCount * POINT_BYTES);
    }
    const present = results.filter((result) => result !== null);
    if (present.length === 0) return null;
    const limited: CallResult[] = [];
    for (const result of present) limited.push(yield* limit(result, checked));
    const rows = yield* joinByTime(
      limited.map(({ points }) => points),
      checked.descending,
    );
    const rowCount = rows.times.length;
    if (rowCount === 0) return null;
    const cells: (AnyCells | null)[] = plan.calls.map((call) => {
      const result = results[this.chains.findIndex((chain) => chain.call === call)] ?? null;
      return result === null ? this.absent(call, rowCount) : rows.columns[present.indexOf(result)]!;
    });
    const beside = limited[0]!.rows;
    for (const { name: column, kind } of plan.columns) {
      const own = columnAt?.(column, kind) ?? null;
      cells.push(own === null || beside === null ? null : yield* takeCells(own, beside));
    }
    const filled: (AnyCells | null)[] = [];
    for (const each of cells)
      filled.push(each === null ? null : yield* fillCells(each, checked.fill, checked.isTable && checked.descending));
    return { name, tags, times: rows.times, columns: yield* computeOutputs(plan, filled, rowCount) };
  }

  /** A call without points in any window is filled with the fill value: in 1.x as a float, whatever the field's type. */
  private absent(call: PlannedCall, rowCount: number): AnyCells | null {
    const { type } = call;
    const { interval, fill, isTable } = this.plan.checked;
    if (isTable && type === null && columnOf(call).kind === "tag") return null;
    if (isTable && interval !== null && fill.kind === "value") return constantCells(type ?? typeOfNumber(fill.value), fill.value, rowCount);
    if (interval !== null && fill.kind === "value") return cellsOf("float", new Float64Array(rowCount).fill(Number(fill.value)), null);
    return type === null ? null : emptyCells(type, rowCount);
  }
}
