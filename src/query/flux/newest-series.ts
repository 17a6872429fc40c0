// The last values of all series from their newest rows alone.
import type { ReadRequest, SourceSeries } from "../../flux/interpret/flux-source.ts";
import type { TagPredicate } from "../../model/query/scan.ts";
import { StepCounter, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import type { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import { isValid } from "../../tsdbql/functions/validity.ts";
import type { FieldType } from "../../tsdbql/parse/ast.ts";
import { seriesOf } from "./field-series.ts";
import { type SeriesRows, seriesRows } from "./series-rows.ts";

export interface NewestRequest {
  readonly range: Pick<ReadRequest, "startNs" | "stopNs">;
  readonly fields: readonly (readonly [string, FieldType])[];
  readonly tags: readonly TagPredicate[];
}

/** Null: some newest row lacks a field, so an older one may have its last value. @throws TsdbError query_limit, cancelled */
export async function newestSeries(
  table: MeasurementTable,
  { range, fields, tags }: NewestRequest,
  reader: { readonly turns: Turns; readonly memory: StatementMemory },
): Promise<SourceSeries[] | null> {
  const { turns } = reader;
  const columns = fields.map(([name]) => table.column(name)!);
  const rows = await seriesRows(table, { fields: columns, range, tags, newestOnly: true }, reader);
  const last = await turns.run(lastRows(rows));
  return last === null ? null : turns.run(seriesOf(table.scan.name, rows.tagNames, fields, { ...rows, ...last }));
}

/** Of each series its last row; null: one of them lacks a field. */
function* lastRows({ groups, starts, columns }: SeriesRows): Steps<{ readonly starts: Uint32Array; readonly ends: Uint32Array } | null> {
  const [first, ends] = [new Uint32Array(groups.length), new Uint32Array(groups.length)];
  const counter = new StepCounter();
  for (let group = 0; group < groups.length; group++) {
    const row = starts[group + 1]! - 1;
    const isFull = columns.every(({ cells }) => isValid(cells.validity, row));
    if (!isFull) return null;
    first[group] = row;
    ends[group] = row + 1;
    if (counter.isDue(columns.length)) yield;
  }
  return { starts: first, ends };
}
