// The rows with the least or greatest values of all series, from the rows that can be among them.
import type { ReadRequest, SourceSeries } from "../../flux/interpret/flux-source.ts";
import type { FieldPredicate, TagPredicate } from "../../model/query/scan.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import { isPause, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import type { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import type { FieldType } from "../../tsdbql/parse/ast.ts";
import { seriesOf } from "./field-series.ts";
import { seriesRows } from "./series-rows.ts";

export interface ExtremeRequest {
  readonly fn: "min" | "max";
  readonly range: Pick<ReadRequest, "startNs" | "stopNs">;
  readonly field: { readonly name: string; readonly type: FieldType; readonly column: ColumnDef };
  readonly tags: readonly TagPredicate[];
  readonly fields: readonly FieldPredicate[];
  /** Of each series its least or greatest value. */
  readonly values: readonly SourceSeries[];
}

/** Of each series the first row with its value. @throws TsdbError query_limit, cancelled */
export async function extremeRows(
  table: MeasurementTable,
  { fn, range, field, tags, fields, values }: ExtremeRequest,
  reader: { readonly turns: Turns; readonly memory: StatementMemory },
): Promise<SourceSeries[]> {
  const { turns } = reader;
  const { name, type, column } = field;
  const limit = farthest(fn, values);
  if (limit === null) return [];
  const reach: FieldPredicate = { columnId: column.id, operator: fn === "max" ? ">=" : "<=", value: limit };
  const rows = await seriesRows(table, { fields: [column], range, tags, tests: [...fields, reach] }, reader);
  const found = await turns.run(seriesOf(table.scan.name, rows.tagNames, [[name, type]], rows));
  const wanted = new Map(values.map((series) => [seriesKey(series), numbersOf(series)[0]!]));
  return turns.run(firstRows(found, wanted));
}

/** The value that is nearest to those of other rows. */
function farthest(fn: "min" | "max", values: readonly SourceSeries[]): number | bigint | null {
  let found: number | bigint | null = null;
  for (const series of values) {
    const value = numbersOf(series)[0]!;
    if (found === null || (fn === "max" ? value < found : value > found)) found = value;
  }
  return found;
}

/** The scan may have given more rows and series. */
function* firstRows(all: readonly SourceSeries[], wanted: ReadonlyMap<string, number | bigint>): Steps<SourceSeries[]> {
  const found: SourceSeries[] = [];
  for (const series of all) {
    const value = wanted.get(seriesKey(series));
    const values = numbersOf(series);
    for (let row = 0; value !== undefined && row < values.length; row++) {
      if (isPause(row)) yield;
      if (values[row] !== value) continue;
      const cells = series.values as Float64Array;
      found.push({ ...series, timesNs: series.timesNs.subarray(row, row + 1), values: cells.subarray(row, row + 1) });
      break;
    }
  }
  return found;
}

function numbersOf({ values }: SourceSeries): ArrayLike<number | bigint> {
  return values as unknown as ArrayLike<number | bigint>;
}

/** The series with each value. */
export function bySeriesOf(values: readonly SourceSeries[]): Map<number | bigint, Set<string>> {
  const found = new Map<number | bigint, Set<string>>();
  for (const series of values) {
    const value = numbersOf(series)[0]!;
    const known = found.get(value);
    if (known === undefined) found.set(value, new Set([seriesKey(series)]));
    else known.add(seriesKey(series));
  }
  return found;
}

/** Equal for the series of one measurement with equal tags. */
export function seriesKey({ tags }: SourceSeries): string {
  return JSON.stringify(tags);
}
