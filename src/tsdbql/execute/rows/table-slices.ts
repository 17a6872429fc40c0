// Reads a large measurement in parts, in the order of the answer: groups first, then times. A large group is read in time slices; small
// ones are read together.

import type { TagPredicate, TimeRange } from "../../../model/query/scan.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import type { TableSource } from "../../plan/select.ts";
import { planWhere, type Where } from "../../plan/where.ts";
import type { WantedGroups } from "../index-groups.ts";
import type { RunPlan, SelectContext } from "../select-context.ts";
import { type CountedGroup, countGroups, endOfGroups, type Windows, windowsOf } from "./counted-groups.ts";
import { shownGroups } from "./group-order.ts";
import { withoutEmpty } from "./present-rows.ts";
import { orderedRows, type RowSet, type RowsRequest, readRows, TOO_MANY } from "./rows.ts";
import { TimeSlices } from "./slices.ts";
import type { MeasurementTable, ScanPredicates } from "./table.ts";

/** Rows of groups that are read together. */
const BATCH_ROWS = 262_144;
const LIMITED_BATCH_ROWS = 16_384;

interface ShownGroups {
  readonly groups: readonly CountedGroup[];
  /** No group was left out. */
  readonly isAll: boolean;
  /** What the groups' rows were counted by; null: by nothing. */
  readonly windows: Windows | null;
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
    /** Those within SLIMIT and SOFFSET; null: all. */
    private readonly wanted: WantedGroups | null,
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
    const shown = await this.shown(predicates);
    if (shown === null) {
      yield* this.all(predicates);
      return;
    }
    const { groups: wanted, isAll, windows } = shown;
    const end = windows === null ? null : this.endOf(wanted, windows);
    if (end !== null) {
      const tags = isAll ? predicates.tags : [...predicates.tags, ...this.predicatesOf(wanted)];
      for await (const set of this.all({ ...predicates, tags }, end)) yield onlyGroups(set, wanted);
      return;
    }
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

  /** The wanted groups; only these are counted by windows. Null: there are too many. */
  private async shown(predicates: ScanPredicates): Promise<ShownGroups | null> {
    const { table, request, run, plan, wanted } = this;
    const count = (own: ScanPredicates, windows: Windows | null) => countGroups(table, request, own, windows, run.turns);
    const windows = this.isLimited(predicates) ? windowsOf(table, request.range) : null;
    const isCut = wanted !== null;
    const order = { ...plan.checked, slimit: 0, soffset: 0 };
    const shown = (groups: readonly CountedGroup[]) => {
      const own = wanted === null ? groups : groups.filter(({ tags }) => wanted.has(tags));
      return run.turns.run(shownGroups(own, ({ tags }) => tags, order));
    };
    const inWindows = windows === null || isCut ? null : await count(predicates, windows);
    if (inWindows !== null) return { groups: await shown(inWindows), isAll: true, windows };
    const all = await count(predicates, null);
    if (all === null) return null;
    const groups = await shown(all);
    const isAll = groups.length === all.length;
    if (windows === null || !isCut || groups.length === 0) return { groups, isAll, windows: null };
    const tags = [...predicates.tags, ...this.predicatesOf(groups)];
    const again = await count({ ...predicates, tags }, windows);
    if (again === null) return { groups, isAll, windows: null };
    const byKey = new Map(again.map((group) => [group.tags.join("\0"), group]));
    return { groups: groups.map((group) => byKey.get(group.tags.join("\0"))!), isAll, windows };
  }

  /** Whether the rows that the scan gives are those of the answer, and there is a limit for each group. */
  private isLimited({ leftTags }: ScanPredicates): boolean {
    return this.plan.checked.limit > 0 && this.where.rows.length === 0 && leftTags.length === 0;
  }

  private endOf(groups: readonly CountedGroup[], windows: Windows): TimeRange | null {
    const { limit, offset } = this.plan.checked;
    const { range, descending: isDescending } = this.request;
    return endOfGroups(groups, windows, range, { count: limit + offset, isDescending });
  }

  /** All rows that satisfy the predicates. */
  private async *all(predicates: ScanPredicates, range = this.request.range): AsyncGenerator<RowSet> {
    const { turns, memory } = this.run;
    const loose = await readRows(this.table, { ...this.request, range }, predicates, this.where.rows, { turns, memory });
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
