// A planned SELECT run: blocks of rows of one series after the other, each with its columns.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { inSteps, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import { takeIntegers } from "../functions/int64.ts";
import { type Cells, checkType } from "../functions/operator.ts";
import { REDUCERS } from "../functions/reducers.ts";
import { TRANSFORMS } from "../functions/transforms.ts";
import { isValid } from "../functions/validity.ts";
import { compareText } from "../plan/fields.ts";
import type { PlannedCall, PlannedColumn, SelectPlan, TableSource } from "../plan/select.ts";
import { planWhere } from "../plan/where.ts";
import { AggregateRun } from "./aggregate.ts";
import type { StatementMemory } from "./memory.ts";
import { rawBlocks } from "./raw.ts";
import { takeCells, takeTags } from "./rows/cells.ts";
import type { AnyCells, TagCells } from "./rows/columns.ts";
import { concatRows, type LooseRows, orderedRows, type RowSet, type RowsRequest, readRows, TOO_MANY } from "./rows/rows.ts";
import type { MeasurementTable } from "./rows/table.ts";
import { SubqueryRows } from "./subquery.ts";

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

export class SelectRun {
  constructor(
    readonly kernel: Kernel,
    readonly turns: Turns,
    readonly memory: StatementMemory,
    /** The answer is one table for v3: rows of inner statements come by time. 1.x has some of them group by group. */
    private readonly isByTime: boolean,
  ) {}

  /** Rows of the series of one name. */
  blocks(plan: RunPlan, name: string, scope: SelectScope): AsyncGenerator<RowBlock> {
    if (plan.calls.length > 0) return new AggregateRun(this, plan, name, scope).blocks();
    return rawBlocks(this, plan, name, scope);
  }

  sourcesOf({ sources }: RunPlan, name: string): RunSource[] {
    return sources.filter((source) => (source.kind === "table" ? source.name === name : source.plan.names.includes(name)));
  }

  /** The rows of all sources of a name, in groups. @throws TsdbError query_limit */
  async rows(plan: RunPlan, name: string, request: RowsRequest): Promise<RowSet> {
    const parts: LooseRows[] = [];
    for (const source of this.sourcesOf(plan, name)) {
      const isTable = source.kind === "table";
      let loose = isTable ? await this.tableRows(plan, source, request) : await this.subqueryRows(plan, source.plan, name, request);
      if (loose === TOO_MANY) throw new Error("BUG: there was no limit");
      if (isTable && plan.calls.length === 0) loose = await this.turns.run(withoutEmpty(loose));
      this.memory.take(loose.bytes);
      parts.push(loose);
    }
    const set = await this.turns.run(orderedRows(await this.turns.run(concatRows(parts)), request.descending));
    this.memory.check(set.bytes);
    return set;
  }

  async tableRows(
    plan: RunPlan,
    { table, schema }: TableSource<MeasurementTable>,
    request: RowsRequest,
    rowsMax?: number,
  ): Promise<LooseRows | typeof TOO_MANY> {
    const where = planWhere(plan.checked.condition, schema);
    const predicates = await table.predicates(where, this.turns);
    const { turns, memory } = this;
    return readRows(table, request, predicates, where.rows, { turns, memory, ...(rowsMax === undefined ? {} : { rowsMax }) });
  }

  private async subqueryRows(plan: RunPlan, inner: RunPlan, name: string, request: RowsRequest): Promise<LooseRows> {
    const groupBy = [...new Set([...inner.dimensions, ...request.groupBy])].sort(compareText);
    const { checked } = inner;
    const range = { minNs: later(checked.ownMinNs, request.range.minNs), maxNs: earlier(checked.ownMaxNs, request.range.maxNs) };
    for (const call of plan.calls) checkCall(call);
    const rows = new SubqueryRows(inner, groupBy, this.memory);
    for await (const block of this.blocks(inner, name, { range, groupBy })) rows.add(block);
    return this.turns.run(rows.finish(request, plan.calls.length === 0 && !this.isByTime, plan.checked.condition));
  }
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function earlier(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** @throws TsdbError bad_query: the call takes no such values, even if there should be none */
function checkCall(call: PlannedCall): void {
  if ("args" in call.of) checkCall(call.of);
  const type = "args" in call.of ? call.of.type : call.of.kind;
  const operator = REDUCERS.get(call.name) ?? TRANSFORMS.get(call.name);
  if (operator !== undefined && type !== null) checkType(operator, type === "tag" ? "string" : type);
}

/** Rows of a measurement that show anything but tags: others are none. */
export function* withoutEmpty(loose: LooseRows): Steps<LooseRows> {
  const fields = loose.columns.filter((cells) => cells !== null && cells.type !== "tag") as Cells[];
  if (fields.some(({ validity }) => validity === null)) return loose;
  const shown = new Int32Array(loose.times.length);
  let count = 0;
  yield* inSteps(shown.length, (from, to) => {
    for (let row = from; row < to; row++) if (fields.some(({ validity }) => isValid(validity, row))) shown[count++] = row;
  });
  return count === shown.length ? loose : yield* takeRows(loose, shown.subarray(0, count));
}

function* takeRows({ times, tags, series, columns, bytes }: LooseRows, rows: Int32Array): Steps<LooseRows> {
  const takenTags: TagCells[] = [];
  for (const cells of tags) takenTags.push(yield* takeTags(cells, rows));
  const taken: (AnyCells | null)[] = [];
  for (const cells of columns) taken.push(cells === null ? null : yield* takeCells(cells, rows));
  const takenSeries = series === null ? null : new Uint32Array(rows.length);
  yield* inSteps(rows.length, (from, to) => {
    if (takenSeries !== null) for (let i = from; i < to; i++) takenSeries[i] = series![rows[i]!]!;
  });
  return { times: yield* takeIntegers(times, rows), tags: takenTags, series: takenSeries, columns: taken, bytes };
}

/** Each once. */
export function distinctColumns(columns: readonly PlannedColumn[]): PlannedColumn[] {
  const known = new Map(columns.map((column) => [`${column.kind} ${column.name}`, column]));
  return [...known.values()];
}
