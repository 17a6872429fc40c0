// Text columns, which are codes into a dictionary, become strings of series, with and without nulls.
import { expect, test } from "bun:test";
import { finish } from "../../model/steps.ts";
import { cellsOf } from "../../tsdbql/functions/columns.ts";
import { Texts } from "../../tsdbql/functions/texts.ts";
import { rowsOf, seriesOf } from "./field-series.ts";

const times = BigInt64Array.of(1n, 2n, 3n, 4n);
const set = (validity: Uint8Array | null) => ({
  ...{ groups: [["a"], ["b"]], starts: Uint32Array.of(0, 2, 4), times, tags: ["host"], fields: [["f", "string"]] as const },
  columns: [{ cells: cellsOf("string", Texts.of(["x", "", "y", "x"]), validity), times, counts: null }],
});

test.each([
  [
    null,
    [
      ["x", ""],
      ["y", "x"],
    ],
  ],
  [Uint8Array.of(0b1010), [[""], ["x"]]],
] as const)("texts with the presence %p", (validity, wanted) => {
  const all = set(validity as Uint8Array | null);
  const series = finish(seriesOf("m", all.tags, all.fields, all));
  expect(series.map(({ values }) => values)).toEqual(wanted as never);
  const rows = finish(rowsOf("m", all.tags, all.fields, all));
  expect(rows.map(({ fields }) => fields[0]!.values)).toEqual(wanted as never);
});
