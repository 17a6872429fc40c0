// Reads a large measurement in parts, in the order of the answer: groups first, then times. A large group is read in time slices; small
// ones are read together.

import type { TagPredicate, TimeRange } from "../../../model/query/scan.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import { inSteps } from "../../../model/steps.ts";
import type { TableSource } from "../../plan/select.ts";
import { planWhere, type Where } from "../../plan/where.ts";
import type { RunPlan, SelectContext } from "../select-context.ts";
import { aggregatedColumns } from "./aggregated.ts";
import type { NumberColumn, TagCells } from "./columns.ts";
import { shownGroups } from "./group-order.ts";
import { groupRows } from "./order.ts";
import { withoutEmpty } from "./present-rows.ts";
import { orderedRows, type RowSet, type RowsRequest, readRows, TOO_MANY } from "./rows.ts";
import { TimeSlices } from "./slices.ts";
import type { MeasurementTable, ScanPredicates } from "./table.ts";

/** Rows of groups that are read together. */
const BATCH_ROWS = 262_144;
const LIMITED_BATCH_ROWS = 16_384;

interface CountedGroup {
  readonly tags: readonly string[];
  readonly rowCount: number;
}

/** The row sets of one measurement, in the order of the answer. */
export class TableSlices {
  private readonly table: MeasurementTable;
  private readonly where: Where;

  constructor(
    private readonly run: SelectContext,
    private readonly plan: RunPlan,
    { table, schema }: TableSource<MeasurementTable>,
    private readonly request: RowsRequest,
  ) {
    this.table = table;
    this.where = planWhere(plan.checked, schema);
  }

  /** The newest row of each series, if each has a value to show; null: older rows must be examined. */
  async newest(): Promise<RowSet | null> {
    if (this.where.fields.length > 0 || this.where.rows.length > 0) return null;
    const { turns, memory } = this.run;
    const predicates = await this.table.predicates(this.where, turns);
    const loose = await readRows(this.table, { ...this.request, newestOnly: true }, predicates, [], { turns, memory });
    if (loose === TOO_MANY || (await turns.run(withoutEmpty(loose))).times.length < loose.times.length) return null;
    return turns.run(orderedRows(loose, this.request.descending));
  }

  /** @param isEnough true if a group with these tags needs no more rows */
  async *sets(isEnough: (tags: readonly string[]) => boolean): AsyncGenerator<RowSet> {
    const predicates = await this.table.predicates(this.where, this.run.turns);
    if (predicates.isEmpty) return;
    if (this.request.groupBy.length === 0) {
      yield* this.byTime(predicates, this.table.scan.rowCountMax, () => isEnough([]));
      return;
    }
    const groups = await this.countGroups(predicates);
    if (groups === null) {
      yield* this.all(predicates);
      return;
    }
    const wanted = await this.run.turns.run(shownGroups(groups, ({ tags }) => tags, this.plan.checked));
    // with a limit, most rows of a group are not used
    const most = this.plan.checked.limit > 0 ? LIMITED_BATCH_ROWS : BATCH_ROWS;
    for (const batch of batchesOf(wanted, most)) {
      const tags = [...predicates.tags, ...this.predicatesOf(batch)];
      const own: ScanPredicates = { ...predicates, tags };
      const rowCount = batch.reduce((sum, group) => sum + group.rowCount, 0);
      const isLong = batch.length === 1 && rowCount > most;
      for await (const set of isLong ? this.byTime(own, rowCount, () => isEnough(batch[0]!.tags)) : this.all(own))
        yield onlyGroups(set, batch);
    }
  }

  /** All rows that satisfy the predicates. */
  private async *all(predicates: ScanPredicates): AsyncGenerator<RowSet> {
    const { turns, memory } = this.run;
    const loose = await readRows(this.table, this.request, predicates, this.where.rows, { turns, memory });
    if (loose === TOO_MANY) throw new Error("BUG: there was no limit");
    yield await turns.run(orderedRows(await turns.run(withoutEmpty(loose)), this.request.descending));
  }

  private async *byTime(predicates: ScanPredicates, rowCountMax: number, isEnough: () => boolean): AsyncGenerator<RowSet> {
    const { table, request, run } = this;
    const { turns, memory } = run;
    const read = (range: TimeRange, rowsMax: number) =>
      readRows(table, { ...request, range }, predicates, this.where.rows, { turns, memory, rowsMax });
    const slices = new TimeSlices(request.range, table.scan.times ?? null, rowCountMax, request.descending);
    for (let slice = slices.next(); slice !== null; slice = slices.next()) {
      const loose = await read(slice.range, slice.rowsMax);
      if (loose === TOO_MANY) slices.retry();
      else {
        slices.done(loose.times.length);
        const shown = await turns.run(withoutEmpty(loose));
        if (shown.times.length > 0) {
          yield await turns.run(orderedRows(shown, request.descending));
          if (isEnough()) return;
        }
      }
      turns.check();
    }
  }

  /** The existing groups in order, with upper bounds of their rows; null: too many. */
  private async countGroups(predicates: ScanPredicates): Promise<CountedGroup[] | null> {
    const { table, request } = this;
    const columns = request.groupBy.map((name) => table.column(name));
    const keys = columns.filter((column) => column?.type === ColumnType.tag) as NonNullable<(typeof columns)[number]>[];
    const aggregates = [{ fn: "count", column: null }] as const;
    const wanted = { range: request.range, tags: predicates.tags, fields: predicates.fields, bins: null, groupBy: keys, aggregates };
    const found = await aggregatedColumns(table, wanted, this.run.turns);
    if (found === null) return null;
    const { rowCount } = found;
    const counts = found.columns[keys.length] as NumberColumn;
    const absent = { type: "tag", codes: new Uint32Array(rowCount), dictionary: [""] } as const;
    const cells: TagCells[] = [];
    for (const column of columns) {
      const place = keys.indexOf(column!);
      cells.push(place < 0 ? absent : ((await this.run.turns.run(found.columns[place]!.take(null, rowCount))) as TagCells));
    }
    const groups = await this.run.turns.run(groupRows(cells, rowCount));
    const sizes = new Float64Array(groups.tags.length);
    const view = counts.view();
    const counted = inSteps(rowCount, (from, to) => {
      for (let row = from; row < to; row++) sizes[groups.groupOf[row]!]! += Number(view[row]!);
    });
    await this.run.turns.run(counted);
    return groups.tags.map((each, i) => ({ tags: each, rowCount: sizes[i]! }));
  }

  /** Predicates for the rows of these groups, and of some others if there are several grouping tags. */
  private predicatesOf(batch: readonly CountedGroup[]): TagPredicate[] {
    return this.request.groupBy.flatMap((name, i) => {
      const column = this.table.column(name);
      if (column?.type !== ColumnType.tag) return [];
      const values = new Set(batch.map(({ tags }) => tags[i]!));
      return [{ columnId: column.id, values: [...values].map((value) => (value === "" ? null : value)) }];
    });
  }
}

function* batchesOf(groups: readonly CountedGroup[], rowsMax: number): Generator<CountedGroup[]> {
  let batch: CountedGroup[] = [];
  let rowCount = 0;
  for (const group of groups) {
    if (batch.length > 0 && rowCount + group.rowCount > rowsMax) {
      yield batch;
      batch = [];
      rowCount = 0;
    }
    batch.push(group);
    rowCount += group.rowCount;
  }
  if (batch.length > 0) yield batch;
}

function onlyGroups(set: RowSet, batch: readonly CountedGroup[]): RowSet {
  const wanted = new Set(batch.map(({ tags }) => tags.join("\0")));
  return { ...set, shown: Array.from(set.groups.keys()).filter((group) => wanted.has(set.groups[group]!.join("\0"))) };
}
