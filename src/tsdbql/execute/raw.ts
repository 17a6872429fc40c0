// SELECT without calls: returns rows. A single ungrouped measurement is read in time slices, each sorted and returned before the next is
// read, so that a long answer needs no more memory than a short one; groups are read a few at a time.
import { isPause, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import { takeIntegers } from "../functions/int64.ts";
import { type WantedGroups, wantedGroups } from "./index-groups.ts";
import { computeOutputs } from "./outputs.ts";
import { emptyCells, takeCells } from "./rows/cells.ts";
import type { AnyCells } from "./rows/columns.ts";
import { fillCells } from "./rows/fill.ts";
import { keyTypes, shownGroups } from "./rows/group-order.ts";
import { compareTags } from "./rows/order.ts";
import type { RowSet, RowsRequest } from "./rows/rows.ts";
import { TableSlices } from "./rows/table-slices.ts";
import { isGroupedByField, type RowBlock, type RunPlan, type SelectContext, type SelectScope, sourcesOf } from "./select-context.ts";

/** Below this, everything is read at once. */
const ROWS_AT_ONCE = 16_384;

/** The rows of a SELECT without calls, in blocks of one series each. @throws TsdbError query_limit, cancelled */
export async function* rawBlocks(run: SelectContext, plan: RunPlan, name: string, scope: SelectScope): AsyncGenerator<RowBlock> {
  // tags alone do not make a row
  if (!plan.columns.some(({ kind }) => kind !== null && kind !== "tag") && !isOverSelect(plan)) return;
  const { checked } = plan;
  const request: RowsRequest = {
    ...{ columns: plan.columns, groupBy: scope.groupBy, range: scope.range, descending: checked.descending },
    // like 1.x, which compares the displayed texts and otherwise leaves the heap order of equal times
    ...{ bySeries: true, byColumnsFirst: true },
  };
  const wanted = await wantedGroups(run, plan, name, scope.groupBy);
  const raw = new RawBlocks(plan, name, scope.groupBy, wanted);
  const [source, ...others] = sourcesOf(plan, name);
  if (source === undefined) return;
  const isSliced = source.kind === "table" && others.length === 0 && !isGroupedByField(plan, source, scope.groupBy);
  if (!isSliced || source.table.scan.rowCountMax <= ROWS_AT_ONCE) {
    yield* raw.blocks(run.turns, await run.rows(plan, name, request));
    return;
  }
  const slices = new TableSlices(run, plan, source, request, wanted);
  const newest = checked.descending && checked.limit === 1 && checked.offset === 0 ? await slices.newest() : null;
  if (newest !== null) {
    yield* raw.blocks(run.turns, newest);
    return;
  }
  for await (const set of slices.sets((tags) => raw.hasLimit(tags))) {
    yield* raw.blocks(run.turns, set);
    if (raw.isFull) return;
  }
}

/** In 1.x the tags of a subquery make rows, also those that it does not show. */
function isOverSelect({ checked, sources, columns }: RunPlan): boolean {
  return !checked.isTable && sources.some(({ kind }) => kind === "select") && columns.some(({ kind }) => kind !== null);
}

/** The blocks of row sets after LIMIT and OFFSET per series. */
class RawBlocks {
  private left = 0;
  private skip = 0;
  private tags: readonly string[] | null = null;
  private readonly types: ReturnType<typeof keyTypes>;

  constructor(
    private readonly plan: RunPlan,
    private readonly name: string,
    groupBy: readonly string[],
    /** Null: SLIMIT and SOFFSET count those with rows. */
    private readonly wanted: WantedGroups | null,
  ) {
    this.types = keyTypes(plan, groupBy);
  }

  /** True if the series with these tags was the last one returned and has reached its limit. */
  hasLimit(tags: readonly string[]): boolean {
    return this.tags !== null && this.left === 0 && compareTags(this.tags, tags) === 0;
  }

  /** True if, in addition, it is the only one. */
  get isFull(): boolean {
    return this.tags?.length === 0 && this.left === 0;
  }

  async *blocks(turns: Turns, set: RowSet): AsyncGenerator<RowBlock> {
    const { checked } = this.plan;
    const { limit, offset } = checked;
    const { wanted } = this;
    const order = { ...checked, types: this.types, ...(wanted === null ? {} : { slimit: 0, soffset: 0 }) };
    const given = set.shown ?? Array.from(set.groups.keys());
    const all = wanted === null ? given : given.filter((group) => wanted.has(set.groups[group]!));
    const groups = await turns.run(shownGroups(all, (group) => set.groups[group]!, order));
    for (const group of groups) {
      const tags = set.groups[group]!;
      if (this.tags === null || compareTags(this.tags, tags) !== 0) {
        this.tags = tags;
        this.left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
        this.skip = offset;
      }
      const rows = await turns.run(this.rowsOf(set.starts[group]!, set.starts[group + 1]!));
      if (rows.length > 0) yield await turns.run(this.block(set, tags, rows));
    }
  }

  /** Rows from the offset to the limit. */
  private *rowsOf(from: number, to: number): Steps<Int32Array> {
    const rows = new Int32Array(to - from);
    let count = 0;
    for (let row = from; row < to && this.left > 0; row++) {
      if (isPause(row)) yield;
      if (this.skip > 0) this.skip--;
      else {
        rows[count++] = row;
        this.left--;
      }
    }
    return rows.subarray(0, count);
  }

  private *block(set: RowSet, tags: readonly string[], rows: Int32Array): Steps<RowBlock> {
    const { plan, name } = this;
    const rowCount = rows.length;
    const isAll = rowCount === set.times.length;
    const cells: (AnyCells | null)[] = [];
    for (const [i, column] of set.columns.entries()) {
      const own = column === null || isAll ? column : yield* takeCells(column, rows);
      cells.push(yield* this.filled(own, i, rowCount));
    }
    const times = isAll ? set.times : yield* takeIntegers(set.times, rows);
    return { name, tags, times, columns: yield* computeOutputs(plan, cells, rowCount) };
  }

  private *filled(cells: AnyCells | null, index: number, rowCount: number): Steps<AnyCells | null> {
    const { fill, isTable } = this.plan.checked;
    const { kind } = this.plan.columns[index]!;
    // in v3 a row has no value before it
    if (isTable && fill.kind === "previous") return cells;
    if (cells === null && (fill.kind !== "value" || kind === null || kind === "tag")) return null;
    return yield* fillCells(cells ?? emptyCells(kind as Exclude<typeof kind, "tag" | null>, rowCount), fill);
  }
}
