// Rows of one measurement by series. The scan tells the series of its rows, so no tag is read row by row.
import type { ReadRequest } from "../../flux/interpret/flux-source.ts";
import type { TagPredicate, TimeRange } from "../../model/query/scan.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import { inSteps, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import { takeTimes } from "../../tsdbql/execute/rows/cells.ts";
import { type AnyCells, type GrowingColumn, growingColumn, NumberColumn } from "../../tsdbql/execute/rows/columns.ts";
import { orderRows } from "../../tsdbql/execute/rows/order.ts";
import { RowSeries } from "../../tsdbql/execute/rows/row-series.ts";
import { rowsOf, stretchesOf } from "../../tsdbql/execute/rows/stretches.ts";
import type { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import type { FieldCells } from "./field-series.ts";

export interface SeriesRowsRequest {
  readonly fields: readonly ColumnDef[];
  readonly range: Pick<ReadRequest, "startNs" | "stopNs">;
  /** Hints: rows of other series may be returned too. */
  readonly tags: readonly TagPredicate[];
  /** Only the newest row of every series is wanted; older ones may be returned too. */
  readonly newestOnly?: boolean;
}

/** Rows of series, each in order of time. */
export interface SeriesRows {
  /** Names of all tags, in order. */
  readonly tagNames: readonly string[];
  /** Of each series: the values of its tags, "" for absent. In any order. */
  readonly groups: readonly (readonly string[])[];
  /** Series i has the rows starts[i] .. starts[i + 1] - 1. */
  readonly starts: Uint32Array;
  readonly times: BigInt64Array;
  /** In the order of the request. */
  readonly columns: readonly FieldCells[];
  readonly bytes: number;
}

/** Room for more is made as rows come: the statement's memory may have an end before theirs. */
const CELLS_AT_ONCE = 1 << 23;

/** @throws TsdbError query_limit, cancelled */
export async function seriesRows(
  table: MeasurementTable,
  request: SeriesRowsRequest,
  { turns, memory }: { readonly turns: Turns; readonly memory: StatementMemory },
): Promise<SeriesRows> {
  const { fields, range, tags, newestOnly = false } = request;
  const { kernel, scan, timeColumn } = table;
  const tagColumns = [...table.tagColumns].sort((a, b) => compareTexts(a.name, b.name));
  const tagNames = tagColumns.map(({ name }) => name);
  const defs = [timeColumn, ...fields];
  const isAll = tags.length === 0 && !newestOnly && contains(range, scan.times);
  // arrays that grow are copied as they do
  const capacity = isAll && scan.rowCountMax * defs.length <= CELLS_AT_ONCE ? scan.rowCountMax : 0;
  const columns = defs.map(({ type }) => growingColumn(kernel, type, capacity));
  using series = new RowSeries(kernel, tagColumns);
  const bytesOf = () => columns.reduce((sum, column) => sum + column.bytes, series.bytes);
  const cursor = scan.open({
    columns: defs,
    range: { minNs: range.startNs, maxNs: range.stopNs - 1n },
    ...{ tags, fields: [], newestOnly, withSeries: true },
  });
  try {
    for (let chunk = cursor.next(); chunk !== null; chunk = cursor.next()) {
      for (let i = 0; i < columns.length; i++) columns[i]!.append(chunk.columns[i]!, chunk.rowCount);
      series.append(chunk.series!, chunk.rowCount);
      memory.check(bytesOf() * 2);
      const pause = turns.pause();
      if (pause !== null) await pause;
    }
  } finally {
    cursor.close();
  }
  const groups = await turns.run(tagsOf(series));
  const [timesColumn, ...fieldColumns] = columns as [NumberColumn, ...GrowingColumn[]];
  return await turns.run(ordered(tagNames, groups, series.view(), { times: timesColumn, fields: fieldColumns, bytes: bytesOf() }));
}

/** The tags of every series. */
function* tagsOf(series: RowSeries): Steps<string[][]> {
  const groups: string[][] = Array.from({ length: series.count }, () => []);
  for (const tag of yield* series.tagsOfSeries()) {
    yield* inSteps(groups.length, (from, to) => {
      for (let group = from; group < to; group++) groups[group]!.push(tag === null ? "" : tag.texts[tag.codes[group]!]!);
    });
  }
  return groups;
}

function* ordered(
  tagNames: readonly string[],
  groups: readonly (readonly string[])[],
  groupOf: Uint32Array,
  { times, fields, bytes }: { readonly times: NumberColumn; readonly fields: readonly GrowingColumn[]; readonly bytes: number },
): Steps<SeriesRows> {
  const all = times.view() as BigInt64Array;
  const stretches = yield* stretchesOf(groupOf, groups.length, all);
  const byRow = stretches === null ? yield* orderRows({ tags: groups, groupOf }, all, false, null) : null;
  const copied = stretches === null ? null : yield* times.takeStretches(stretches);
  const own = copied === null ? yield* takeTimes(all, byRow!.rows) : (copied.values as BigInt64Array);
  let rows = byRow?.rows ?? null;
  const columns: FieldCells[] = [];
  for (const field of fields) {
    let cells: AnyCells | null = null;
    if (stretches !== null) {
      if (field instanceof NumberColumn) cells = yield* field.takeStretches(stretches);
      if (cells === null) rows ??= yield* rowsOf(stretches);
    }
    cells ??= yield* field.take(rows, all.length);
    if (cells.type !== "tag") columns.push({ cells, times: own, counts: null });
  }
  return { tagNames, groups, starts: (stretches ?? byRow!).starts, times: own, columns, bytes };
}

function contains({ startNs, stopNs }: SeriesRowsRequest["range"], times: TimeRange | undefined): boolean {
  return times !== undefined && startNs <= times.minNs && stopNs > times.maxNs;
}
