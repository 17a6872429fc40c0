// SELECT without calls: rows as they are. One measurement that is grouped by nothing is read in slices of time, each put in order and
// handed on before the next is read, so that a long answer needs no more memory than a short one; groups are read some at a time.

import type { TimeRange } from "../model/scan.ts";
import type { Expression } from "../tsdbql/ast.ts";
import type { TableSource } from "../tsdbql/plan-select.ts";
import { planWhere, type Where } from "../tsdbql/plan-where.ts";
import { emptyCells, takeCells } from "./tsdbql-cells.ts";
import type { AnyCells } from "./tsdbql-columns.ts";
import { fillCells } from "./tsdbql-fill.ts";
import { computeOutput } from "./tsdbql-outputs.ts";
import { type LooseRows, orderedRows, type RowSet, type RowsRequest, readRows, TOO_MANY } from "./tsdbql-rows.ts";
import { type RowBlock, type RunPlan, type SelectRun, type SelectScope, withoutEmpty } from "./tsdbql-select.ts";
import { TimeSlices } from "./tsdbql-slices.ts";
import { symbolOf } from "./tsdbql-symbols.ts";
import type { MeasurementTable, ScanPredicates } from "./tsdbql-table.ts";

/** Below it everything is read at once. */
const ROWS_AT_ONCE = 16_384;

export async function* rawBlocks(run: SelectRun, plan: RunPlan, name: string, scope: SelectScope): AsyncGenerator<RowBlock> {
  // tags alone are no rows
  if (!plan.columns.some(({ kind }) => kind !== null && kind !== "tag") && !isOverSelect(plan)) return;
  const { checked } = plan;
  const { range, groupBy } = scope;
  const request: RowsRequest = { columns: plan.columns, groupBy, range, descending: checked.descending };
  const raw = new RawBlocks(plan, name);
  const [source, ...others] = run.sourcesOf(plan, name);
  if (source === undefined) return;
  const isSliced = source.kind === "table" && others.length === 0 && groupBy.length === 0 && source.table.scan.rowCountMax > ROWS_AT_ONCE;
  if (!isSliced) {
    yield* raw.blocks(await run.rows(plan, name, request));
    return;
  }
  for await (const set of slicedRows(run, plan, source, request)) {
    yield* raw.blocks(set);
    if (raw.isFull) return;
  }
}

function isOverSelect({ sources, columns }: RunPlan): boolean {
  return sources.some(({ kind }) => kind === "select") && columns.some(({ kind }) => kind !== null);
}

async function* slicedRows(
  run: SelectRun,
  plan: RunPlan,
  { table, schema }: TableSource<MeasurementTable>,
  request: RowsRequest,
): AsyncGenerator<RowSet> {
  const where: Where = planWhere(plan.checked.condition, schema);
  const predicates: ScanPredicates = await table.predicates(where, request.range, run.turns);
  if (predicates.isEmpty) return;
  const condition: readonly Expression[] = where.rows;
  const { turns, memory } = run;
  const read = (range: TimeRange, rowsMax: number): Promise<LooseRows | typeof TOO_MANY> =>
    readRows(table, { ...request, range }, predicates, condition, { turns, memory, rowsMax });
  const slices = new TimeSlices(request.range, table.scan.times ?? null, table.scan.rowCountMax, request.descending);
  for (let slice = slices.next(); slice !== null; slice = slices.next()) {
    const loose = await read(slice.range, slice.rowsMax);
    if (loose === TOO_MANY) slices.retry();
    else {
      slices.done(loose.times.length);
      const shown = withoutEmpty(loose);
      if (shown.times.length > 0) yield orderedRows(shown, request.descending);
    }
  }
}

/** Blocks of row sets, with what LIMIT and OFFSET leave of each series. */
class RawBlocks {
  private left: number;
  private skip: number;
  /** The only series has as many rows as it may. */
  isFull = false;

  constructor(
    private readonly plan: RunPlan,
    private readonly name: string,
  ) {
    const { limit, offset } = plan.checked;
    this.left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
    this.skip = offset;
  }

  *blocks(set: RowSet): Generator<RowBlock> {
    const { limit, offset, slimit, soffset, descending } = this.plan.checked;
    const isOneSeries = set.groups.length === 1 && set.groups[0]!.length === 0;
    let groups = Array.from(set.groups.keys());
    if (slimit > 0 || soffset > 0) groups = groups.slice(soffset, slimit === 0 ? undefined : soffset + slimit);
    if (descending) groups.reverse();
    for (const group of groups) {
      if (!isOneSeries) {
        this.left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
        this.skip = offset;
      }
      const rows = this.rowsOf(set.starts[group]!, set.starts[group + 1]!);
      if (rows.length > 0) yield this.block(set, set.groups[group]!, rows);
    }
    if (isOneSeries && this.left === 0) this.isFull = true;
  }

  /** From the offset to the limit. */
  private rowsOf(from: number, to: number): Int32Array {
    const rows = new Int32Array(to - from);
    let count = 0;
    for (let row = from; row < to && this.left > 0; row++) {
      if (this.skip > 0) this.skip--;
      else {
        rows[count++] = row;
        this.left--;
      }
    }
    return rows.subarray(0, count);
  }

  private block(set: RowSet, tags: readonly string[], rows: Int32Array): RowBlock {
    const { plan, name } = this;
    const rowCount = rows.length;
    const isAll = rowCount === set.times.length;
    const cells = set.columns.map((column, i) => this.filled(column === null || isAll ? column : takeCells(column, rows), i, rowCount));
    return {
      name,
      tags,
      times: isAll ? set.times : BigInt64Array.from(rows, (row) => set.times[row]!),
      columns: plan.outputs.map(({ expression }) => computeOutput(expression, (node) => symbolOf(plan, cells, node), rowCount)),
    };
  }

  private filled(cells: AnyCells | null, index: number, rowCount: number): AnyCells | null {
    const { fill } = this.plan.checked;
    const { kind } = this.plan.columns[index]!;
    if (cells === null && (fill.kind !== "value" || kind === null || kind === "tag")) return null;
    return fillCells(cells ?? emptyCells(kind as Exclude<typeof kind, "tag" | null>, rowCount), fill);
  }
}
