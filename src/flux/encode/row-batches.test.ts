// Rows by the kernel against rows cell by cell: every type, with and without nulls, values at the edges.
import { expect, test } from "bun:test";
import { type Below, prng } from "../../../test/support/prng.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { KernelRowText } from "../../kernel/text/row-text.ts";
import { FluxColumn, newCells, setCell } from "../tables/column.ts";
import { FluxTable, GroupKey } from "../tables/table.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { Null, Time, UInt, type Value } from "../values/value.ts";
import { type CsvPiece, CsvResult, type Dialect, type KernelRows } from "./annotated-csv.ts";

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

function csv(tables: readonly FluxTable[], dialect: Dialect, kernelRows: KernelRows | null): string {
  const result = new CsvResult("a, b", dialect, kernelRows);
  let text = "";
  const add = (pieces: Iterable<CsvPiece>) => {
    for (const piece of pieces) text += typeof piece === "string" ? piece : new TextDecoder().decode(piece);
  };
  for (const table of tables) add(result.table(table));
  add(result.end());
  return text;
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

test("rows of so many columns that a piece has few of them are written the same", () => {
  const next = prng(8);
  for (const count of [1300, 1400, 3000]) {
    const columns = Array.from({ length: count }, (_, i) => column(`c${i}`, TYPES[i % TYPES.length]!, 40, next, i % 3 === 0));
    const table = new FluxTable(new GroupKey([]), columns, 40);
    for (const dialect of DIALECTS) {
      const expected = csv([table], dialect, null);
      expect(csv([table], dialect, { maker })).toBe(expected);
      expect(expected.split(dialect.delimiter).length).toBeGreaterThan(40 * count);
    }
  }
});

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
          for (const joinsTables of [false, true])
            expect(csv([table, table], dialect, { maker, rowsMin: 1, joinsTables })).toBe(csv([table, table], dialect, null));
      }
    }
  }
});

test("tables that are written together are as each alone", () => {
  const next = prng(8);
  const constant = (label: string, type: FluxColumnType, rows: number) => {
    const value = next(4) === 0 ? Null.of(type) : VALUES[type][next(VALUES[type].length)]!;
    return FluxColumn.constant(label, type, value, rows);
  };
  for (let round = 0; round < 150; round++) {
    let schema: FluxColumnType[] = [];
    const shared = TYPES.flatMap((type) => [1, 3].map((rows) => constant("s", type, rows)));
    const tables = Array.from({ length: 1 + next(12) }, () => {
      if (schema.length === 0 || next(9) === 0) schema = Array.from({ length: 1 + next(7) }, () => TYPES[next(TYPES.length)]!);
      const rows = next(12) === 0 ? [0, 255, 256, 257][next(4)]! : 1 + 2 * next(2);
      const columns = schema.map((type, i) => {
        const same = shared.find((each) => each.type === type && each.length === rows);
        if (same !== undefined && next(3) === 0) return same.labelled(`c${i}`);
        // a place may vary in one table and have one value in the next
        return next(3) === 0 ? column(`c${i}`, type, rows, next, next(2) === 0) : constant(`c${i}`, type, rows);
      });
      return new FluxTable(GroupKey.NONE, columns, rows);
    });
    // tables of one series share their columns as objects
    for (let i = 1; i < tables.length; i++) {
      const [table, other] = [tables[i]!, tables[next(i)]!];
      if (next(2) === 0 || table.rowCount !== other.rowCount || table.columns.length !== other.columns.length) continue;
      if (table.columns.some(({ type }, c) => type !== other.columns[c]!.type)) continue;
      tables[i] = table.with(table.columns.map((each, c) => (next(3) > 0 ? other.columns[c]! : each)));
    }
    for (const dialect of DIALECTS) {
      const together = csv(tables, dialect, { maker, rowsMin: 1 });
      expect(together).toBe(csv(tables, dialect, null));
      expect(csv(tables, dialect, { maker, rowsMin: 1, joinsTables: false })).toBe(together);
    }
  }
});

test("tables of long texts leave in pieces", () => {
  const long = new FluxColumn("s", "string", Array<string>(9).fill("x,".repeat(15_000)), null, 9);
  const tables = Array.from({ length: 9 }, () => new FluxTable(GroupKey.NONE, [long], 9));
  const result = new CsvResult("r", DIALECTS[0]!, { maker });
  const lengths = [...tables.flatMap((table) => [...result.table(table)]), ...result.end()].map(({ length }) => length);
  expect(Math.max(...lengths)).toBeLessThan(1 << 20);
  expect(csv(tables, DIALECTS[0]!, { maker })).toBe(csv(tables, DIALECTS[0]!, null));
});

test("where the kernel writes nothing, cells are written one by one", () => {
  const table = new FluxTable(GroupKey.NONE, [column("v", "int", 200, (below) => below - 1, false)], 200);
  const unable = { make: () => ({ rows: () => null }) };
  for (const joinsTables of [false, true])
    expect(csv([table], DIALECTS[0]!, { maker: unable, rowsMin: 1, joinsTables })).toBe(csv([table], DIALECTS[0]!, null));
});
