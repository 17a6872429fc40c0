// The last values of all series from their newest rows alone.
import type { ReadRequest, SourceSeries } from "../../flux/interpret/flux-source.ts";
import type { TagPredicate } from "../../model/query/scan.ts";
import { StepCounter, type Steps } from "../../model/steps.ts";
import type { Turns } from "../../model/turns.ts";
import type { StatementMemory } from "../../tsdbql/execute/memory.ts";
import { orderedRows, type RowSet, readRows, TOO_MANY } from "../../tsdbql/execute/rows/rows.ts";
import type { MeasurementTable } from "../../tsdbql/execute/rows/table.ts";
import { isValid } from "../../tsdbql/functions/validity.ts";
import type { FieldType } from "../../tsdbql/parse/ast.ts";
import { type FieldCells, seriesOf } from "./field-series.ts";

export interface NewestRequest {
  readonly range: Pick<ReadRequest, "startNs" | "stopNs">;
  readonly fields: readonly (readonly [string, FieldType])[];
  /** Ordered by name. */
  readonly tagNames: readonly string[];
  readonly tags: readonly TagPredicate[];
}

/** Null: some newest row lacks a field, so an older one may have its last value. @throws TsdbError query_limit, cancelled */
export async function newestSeries(
  table: MeasurementTable,
  { range, fields, tagNames, tags }: NewestRequest,
  { turns, memory }: { readonly turns: Turns; readonly memory: StatementMemory },
): Promise<SourceSeries[] | null> {
  const loose = await readRows(
    table,
    {
      columns: fields.map(([name, kind]) => ({ name, kind })),
      groupBy: tagNames,
      range: { minNs: range.startNs, maxNs: range.stopNs - 1n },
      ...{ descending: false, bySeries: false, newestOnly: true },
    },
    { tags, fields: [], leftTags: [], isEmpty: false },
    [],
    { turns, memory },
  );
  if (loose === TOO_MANY) throw new Error("BUG: no limit of rows was given");
  const set = await turns.run(orderedRows(loose, false));
  const last = await turns.run(lastRows(set));
  if (last === null) return null;
  const columns = set.columns.map((cells): FieldCells | null => {
    return cells === null || cells.type === "tag" ? null : { cells, times: set.times, counts: null };
  });
  return turns.run(seriesOf(table.scan.name, tagNames, fields, { groups: set.groups, ...last, columns }));
}

/** Of each series its last row; null: one of them lacks a field. */
function* lastRows({ groups, starts, columns }: RowSet): Steps<{ readonly starts: Uint32Array; readonly ends: Uint32Array } | null> {
  const [first, ends] = [new Uint32Array(groups.length), new Uint32Array(groups.length)];
  const counter = new StepCounter();
  for (let group = 0; group < groups.length; group++) {
    const row = starts[group + 1]! - 1;
    const isFull = columns.every((cells) => cells !== null && cells.type !== "tag" && isValid(cells.validity, row));
    if (!isFull) return null;
    [first[group], ends[group]] = [row, row + 1];
    if (counter.isDue(columns.length)) yield;
  }
  return { starts: first, ends };
}
