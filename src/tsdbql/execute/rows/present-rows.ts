// Removes rows without any field value: to a statement without calls they are not rows, because tags alone show nothing.
import { inSteps, type Steps } from "../../../model/steps.ts";
import { takeIntegers } from "../../functions/int64.ts";
import type { Cells } from "../../functions/operator.ts";
import { isValid } from "../../functions/validity.ts";
import { takeCells, takeTags } from "./cells.ts";
import type { AnyCells, TagCells } from "./columns.ts";
import type { LooseRows } from "./rows.ts";

/** The rows with a value in any column other than tags. */
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
