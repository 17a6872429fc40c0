// Rows by the kernel against rows cell by cell: every type, with and without nulls, values at the edges.
import { expect, test } from "bun:test";
import { type Below, prng } from "../../../test/support/prng.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { KernelRowText } from "../../kernel/text/row-text.ts";
import { FluxColumn, newCells, setCell } from "../tables/column.ts";
import { FluxTable, GroupKey } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { Time, UInt, type Value } from "../values/value.ts";
import { CsvResult, type Dialect, type KernelRows } from "./annotated-csv.ts";

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const VALUES: Readonly<Record<FluxColumnType, readonly Value[]>> = {
  bool: [true, false],
  int: [0n, -1n, MIN, MAX, 1_000_000_007n],
  uint: [0n, 1n, 2n ** 64n - 1n].map((value) => new UInt(value)),
  float: [0, -0, 1.5, -2.25, 0.1, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 123456.789, Number.NaN, Infinity, -Infinity],
  string: ["", "a", 'say "no"', "a,b", "a;b", " lead", "two\nlines", "cr\r\nlf", "żółw 🐢", "x".repeat(40), "tab\t"],
  time: [0n, 1n, -1n, MIN, MAX, 1_709_632_800_000_000_000n, 1_709_632_800_120_000_000n].map((ns) => new Time(ns)),
};
const TYPES = Object.keys(VALUES) as FluxColumnType[];
const DIALECTS: readonly Dialect[] = [
  { header: true, delimiter: ",", annotations: ["datatype", "group", "default"] },
  { header: true, delimiter: ";", annotations: [] },
];

const maker = new KernelRowText(Kernel.create());

function csv(table: FluxTable, dialect: Dialect, kernelRows: KernelRows | null): string {
  const result = new CsvResult("a, b", dialect, kernelRows);
  let text = "";
  for (let i = 0; i < 2; i++) {
    for (const piece of result.table(table)) text += typeof piece === "string" ? piece : new TextDecoder().decode(piece);
  }
  return text + result.end();
}

/** @param next the values' numbers @param isNull which rows are null */
function column(label: string, type: FluxColumnType, rows: number, next: Below, nulls: boolean): FluxColumn {
  const cells = newCells(type, rows);
  const valid = nulls ? new Uint8Array(rows) : null;
  for (let row = 0; row < rows; row++) {
    const values = VALUES[type];
    setCell(cells, row, values[next(values.length)]!);
    if (valid !== null) valid[row] = next(3) === 0 ? 0 : 1;
  }
  return new FluxColumn(label, type, cells, valid, rows);
}

test("both write the same, whatever the columns", () => {
  const next = prng(7);
  for (const rows of [1, 7, 8, 9, 100, 8192, 8193]) {
    for (const nulls of [false, true]) {
      const varying = TYPES.map((type) => column(`v ${type}`, type, rows, next, nulls));
      const constants = TYPES.map((type) => FluxColumn.constant(`c,${type}`, type, VALUES[type][next(VALUES[type].length)]!, rows));
      const columns = [...varying, ...constants].sort(() => next(3) - 1);
      const key = new GroupKey(constants.map(({ label, type, get }, i) => ({ label, type, value: get.call(constants[i]!, 0) })));
      for (const kept of rows > 1000 ? [columns] : [columns, constants, varying, columns.slice(0, 3)]) {
        const table = new FluxTable(key, kept, rows);
        for (const dialect of rows > 1000 ? DIALECTS.slice(0, 1) : DIALECTS)
          expect(csv(table, dialect, { maker, rowsMin: 1 })).toBe(csv(table, dialect, null));
      }
    }
  }
});

test("where the kernel writes nothing, cells are written one by one", () => {
  const table = new FluxTable(GroupKey.NONE, [column("v", "int", 200, (below) => below - 1, false)], 200);
  const unable = { make: () => ({ rows: () => null }) };
  expect(csv(table, DIALECTS[0]!, { maker: unable, rowsMin: 1 })).toBe(csv(table, DIALECTS[0]!, null));
});
