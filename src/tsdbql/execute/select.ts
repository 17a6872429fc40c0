// Runs a planned SELECT: produces blocks of rows, series by series.
import { compareTexts } from "../../model/rows/text-order.ts";
import type { Turns } from "../../model/turns.ts";
import { checkType } from "../functions/operator.ts";
import { REDUCERS } from "../functions/reducers.ts";
import { TRANSFORMS } from "../functions/transforms.ts";
import { isRenamedTag, type PlannedCall, shownTagsIn, type TableSource } from "../plan/select.ts";
import { settledCondition } from "../plan/settled.ts";
import { planWhere } from "../plan/where.ts";
import { aggregateBlocks } from "./aggregate/aggregate.ts";
import { columnOf, hasFields } from "./aggregate/call-chain.ts";
import type { StatementMemory } from "./memory.ts";
import { rawBlocks } from "./raw.ts";
import { withoutEmpty } from "./rows/present-rows.ts";
import { concatRows, type LooseRows, orderedRows, type RowSet, type RowsRequest, readRows, TOO_MANY } from "./rows/rows.ts";
import type { MeasurementTable } from "./rows/table.ts";
import { type RowBlock, type RunPlan, type SelectContext, type SelectScope, sourcesOf } from "./select-context.ts";
import { SubqueryRows } from "./subquery.ts";

/** Approximate memory of a group and its results. */
const GROUP_BYTES = 512;

/** The execution of one SELECT and its subqueries. */
export class SelectRun implements SelectContext {
  constructor(
    readonly turns: Turns,
    readonly memory: StatementMemory,
    /** True for v3, whose answer is one table: rows of subqueries are ordered by time. Version 1.x returns some of them group by group. */
    private readonly isTable: boolean,
  ) {}

  /** Rows of the series with one name. */
  blocks(plan: RunPlan, name: string, scope: SelectScope): AsyncIterable<RowBlock> {
    if (plan.checked.isNothing) return NO_BLOCKS;
    if (plan.calls.length > 0) return aggregateBlocks(this, plan, name, scope);
    return rawBlocks(this, plan, name, scope);
  }

  /** The rows of all sources with a name, in groups. @throws TsdbError query_limit */
  async rows(plan: RunPlan, name: string, request: RowsRequest): Promise<RowSet> {
    const parts: LooseRows[] = [];
    for (const source of sourcesOf(plan, name)) {
      const isTable = source.kind === "table";
      const loose = isTable ? await this.tableRows(plan, source, request) : await this.subqueryRows(plan, source.plan, name, request);
      this.memory.take(loose.bytes);
      parts.push(loose);
    }
    const set = await this.turns.run(orderedRows(await this.turns.run(concatRows(parts)), request.descending));
    this.memory.take(set.groups.length * GROUP_BYTES);
    this.memory.check(set.bytes);
    return set;
  }

  private async tableRows(plan: RunPlan, { table, schema }: TableSource<MeasurementTable>, request: RowsRequest): Promise<LooseRows> {
    const { turns, memory } = this;
    const where = planWhere(plan.checked, schema);
    const predicates = await table.predicates(where, turns);
    const loose = await readRows(table, request, predicates, where.rows, { turns, memory, groupsByFields: this.isTable });
    if (loose === TOO_MANY) throw new Error("BUG: there was no limit");
    // calls of tags see the rows that have a field of the statement
    const areRowsShown = plan.calls.length === 0 || (this.isTable && plan.calls.some((call) => columnOf(call).kind === "tag"));
    return areRowsShown ? turns.run(withoutEmpty(loose)) : loose;
  }

  private async subqueryRows(plan: RunPlan, inner: RunPlan, name: string, request: RowsRequest): Promise<LooseRows> {
    // 1.x does not know tags by other names
    const wanted = this.isTable ? request.groupBy.filter((tag) => !isRenamedTag(inner, tag)) : request.groupBy;
    const groupBy = [...new Set([...inner.dimensions, ...wanted])].sort(compareTexts);
    const { checked } = inner;
    const range = { minNs: later(checked.ownMinNs, request.range.minNs), maxNs: earlier(checked.ownMaxNs, request.range.maxNs) };
    for (const call of plan.calls) checkCall(call, this.isTable);
    const rows = new SubqueryRows(inner, groupBy, this.memory);
    for await (const block of this.blocks(inner, name, { range, groupBy })) rows.add(block);
    const { condition } = plan.checked;
    const tags = inner.schema.tags.union(shownTagsIn([{ kind: "select", plan: inner }]));
    const settled = condition !== null && this.isTable ? settledCondition(condition, inner.schema, tags) : condition;
    return this.turns.run(rows.finish(request, plan.calls.length === 0 && !this.isTable, settled));
  }
}

const NO_BLOCKS: AsyncIterable<RowBlock> = {
  async *[Symbol.asyncIterator]() {},
};

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** @throws TsdbError bad_query if the call does not accept the type, even without any values */
function checkCall(call: PlannedCall, isTable: boolean): void {
  if ("args" in call.of) checkCall(call.of, isTable);
  const type = "args" in call.of ? call.of.type : call.of.kind;
  const operator = REDUCERS.get(call.name) ?? TRANSFORMS.get(call.name);
  if (operator !== undefined && type !== null) checkType(operator, type === "tag" ? "string" : type, isTable);
}

/** v3 refuses calls of wrong types before it reads rows. Calls of tags have values only beside fields. @throws TsdbError bad_query as
 *  `checkCall` */
export function checkTypes(plan: RunPlan): void {
  const { calls, sources } = plan;
  const isOfTables = sources.every(({ kind }) => kind === "table");
  const hasTexts = isOfTables && hasFields(plan);
  for (const call of calls) if (columnOf(call).kind !== "tag" || (hasTexts && call.type !== null)) checkCall(call, true);
  for (const source of sources) if (source.kind === "select") checkTypes(source.plan);
}
