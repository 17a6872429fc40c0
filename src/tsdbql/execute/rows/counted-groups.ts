// The groups of a measurement with the numbers of their rows, and how much of its time range has the first ones of each.
import type { AggregateRequest } from "../../../model/query/aggregate.ts";
import { END_WINDOWS, endWindows, type WindowedRows } from "../../../model/query/end-windows.ts";
import type { TimeRange } from "../../../model/query/scan.ts";
import { type ColumnDef, ColumnType } from "../../../model/rows/column.ts";
import { inSteps } from "../../../model/steps.ts";
import type { Turns } from "../../../model/turns.ts";
import { aggregatedColumns } from "./aggregated.ts";
import type { NumberColumn, TagCells } from "./columns.ts";
import { groupRows } from "./order.ts";
import type { RowsRequest } from "./rows.ts";
import type { MeasurementTable, ScanPredicates } from "./table.ts";

/** Rows with a value in any of so many fields are looked for. */
const FIELDS_MAX = 16;

export interface CountedGroup {
  readonly tags: readonly string[];
  /** At most. */
  readonly rowCount: number;
  /** Rows, of which the least show a value. */
  readonly inWindows: WindowedRows;
}

/** Equal parts of a range. */
export interface Windows {
  readonly originNs: bigint;
  readonly widthNs: bigint;
}

/** The existing groups, in order; null: too many. @param windows null: one for all rows @throws TsdbError query_limit, cancelled */
export async function countGroups(
  table: MeasurementTable,
  { range, groupBy, columns: shown }: RowsRequest,
  predicates: ScanPredicates,
  windows: Windows | null,
  turns: Turns,
): Promise<CountedGroup[] | null> {
  const columns = groupBy.map((name) => table.column(name));
  const keys = columns.filter((column) => column?.type === ColumnType.tag) as ColumnDef[];
  const fields = windows === null ? [] : fieldsOf(table, shown);
  const request: AggregateRequest = {
    ...{ range, tags: predicates.tags, fields: predicates.fields, bins: windows, groupBy: keys },
    aggregates: [{ fn: "count", column: null }, ...fields.map((column) => ({ fn: "count", column }) as const)],
  };
  const found = await aggregatedColumns(table, request, turns);
  if (found === null) return null;
  const { rowCount } = found;
  const firstTag = windows === null ? 0 : 1;
  const absent = { type: "tag", codes: new Uint32Array(rowCount), dictionary: [""] } as const;
  const cells: TagCells[] = [];
  for (const column of columns) {
    const place = keys.indexOf(column!);
    cells.push(place < 0 ? absent : ((await turns.run(found.columns[firstTag + place]!.take(null, rowCount))) as TagCells));
  }
  const { tags, groupOf } = await turns.run(groupRows(cells, rowCount));
  const [rows, ...present] = found.columns.slice(firstTag + keys.length).map((column) => (column as NumberColumn).view());
  const starts = windows === null ? null : ((found.columns[0] as NumberColumn).view() as BigInt64Array);
  const groups = tags.map((each) => ({
    tags: each,
    rowCount: 0,
    inWindows: { most: new Float64Array(END_WINDOWS), least: new Float64Array(END_WINDOWS) },
  }));
  await turns.run(
    inSteps(rowCount, (from, to) => {
      for (let row = from; row < to; row++) {
        const group = groups[groupOf[row]!]!;
        const window = starts === null ? 0 : Number((starts[row]! - windows!.originNs) / windows!.widthNs);
        const most = Number(rows![row]!);
        group.rowCount += most;
        group.inWindows.most[window]! += most;
        // of several series, and of several fields, the rows are distinct, or the same
        group.inWindows.least[window]! += present.reduce((least, counts) => Math.max(least, Number(counts[row]!)), 0);
      }
    }),
  );
  return groups;
}

/** Parts of a range for `countGroups`, as far as the table has rows there; null: none. */
export function windowsOf({ scan }: MeasurementTable, range: TimeRange): Windows | null {
  const times = scan.times ?? range;
  const minNs = times.minNs > range.minNs ? times.minNs : range.minNs;
  const maxNs = times.maxNs < range.maxNs ? times.maxNs : range.maxNs;
  return minNs > maxNs ? null : { originNs: minNs, widthNs: (maxNs - minNs) / BigInt(END_WINDOWS) + 1n };
}

/** At most this share of the rows is read once more than needed, at worst. */
const SHARE = 4;

/** A part of the range at one end of it that has so many rows of each of the groups, or all that a group has; null: that is most of it. */
export function endOfGroups(
  groups: readonly CountedGroup[],
  { originNs, widthNs }: Windows,
  range: TimeRange,
  { count, isDescending }: { readonly count: number; readonly isDescending: boolean },
): TimeRange | null {
  const inWindows = groups.map((group) => group.inWindows);
  const reach = endWindows(inWindows, { count, isLatest: isDescending });
  let read = 0;
  for (const { most } of inWindows) {
    for (let step = 0; step < reach; step++) read += most[isDescending ? END_WINDOWS - 1 - step : step]!;
  }
  if (read * SHARE > groups.reduce((sum, { rowCount }) => sum + rowCount, 0)) return null;
  if (isDescending) return { minNs: originNs + BigInt(END_WINDOWS - reach) * widthNs, maxNs: range.maxNs };
  return { minNs: range.minNs, maxNs: originNs + BigInt(reach) * widthNs - 1n };
}

/** Fields that a row has to have one of to be shown. */
function fieldsOf(table: MeasurementTable, shown: RowsRequest["columns"]): ColumnDef[] {
  const fields = shown.flatMap(({ name, kind }) => (table.schema.fields.get(name) === kind ? (table.column(name) ?? []) : []));
  return [...new Set(fields)].slice(0, FIELDS_MAX);
}
