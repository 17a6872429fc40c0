// Tables that share columns against the same tables with columns of their own: the texts are the same.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { FluxColumn } from "../tables/column.ts";
import { FluxTable, GroupKey } from "../tables/table.ts";
import { Null } from "../values/value.ts";
import { CsvResult, type Dialect } from "./annotated-csv.ts";

const DIALECT: Dialect = { header: true, delimiter: ",", annotations: ["datatype", "group", "default"] };

function csv(tables: readonly FluxTable[]): string {
  const result = new CsvResult("r", DIALECT);
  let text = "";
  for (const table of tables) for (const piece of result.table(table)) text += piece;
  for (const piece of result.end()) text += piece;
  return text;
}

/** With no column that another table has. */
function alone({ key, columns, rowCount }: FluxTable): FluxTable {
  return new FluxTable(
    key,
    columns.map(({ label, type, cells, valid, length, mask }) => new FluxColumn(label, type, cells, valid, length, mask)),
    rowCount,
  );
}

const constant = (label: string, value: string, rows: number) => FluxColumn.constant(label, "string", value, rows);
const numbers = (label: string, first: number, rows: number) =>
  new FluxColumn(
    label,
    "float",
    Float64Array.from({ length: rows }, (_, i) => first + i),
    null,
    rows,
  );
const tableOf = (columns: readonly FluxColumn[]) => new FluxTable(GroupKey.NONE, columns, columns[0]!.length);

test("a shared tail, and what stands before it", () => {
  const [host, zone, other] = [constant("host", 'a "b", c', 1), constant("zone", "", 1), constant("host", "d", 1)];
  const empty = FluxColumn.constant("zone", "string", Null.of("string"), 1);
  const tables = [
    tableOf([numbers("v", 1, 1), host, zone]),
    tableOf([numbers("v", 2, 1), host, zone]),
    tableOf([numbers("v", 3, 1), other, zone]),
    tableOf([numbers("v", 4, 1), other, empty]),
    tableOf([numbers("v", 5, 1), host, empty]),
  ];
  const rows = csv(tables).split("\r\n").slice(4, 9);
  expect(rows).toEqual([',,0,1,"a ""b"", c",', ',,1,2,"a ""b"", c",', ",,2,3,d,", ",,3,4,d,", ',,4,5,"a ""b"", c",']);
});

test("any tables of shared columns are written as those of their own", () => {
  const next = prng(11);
  for (let round = 0; round < 200; round++) {
    const rows = 1 + next(3);
    const pool = ["a", "b", "c", "d"].flatMap((label) => ["x", "y, z", ""].map((value) => constant(label, value, rows)));
    const made: FluxTable[] = [];
    for (let i = 0; i < 12; i++) {
      const width = 1 + next(4);
      const columns = Array.from({ length: width }, (_, c) =>
        next(5) === 0 ? numbers("abcd"[c]!, next(9), rows) : pool[c * 3 + next(3)]!,
      );
      made.push(tableOf(columns));
    }
    expect(csv(made)).toBe(csv(made.map(alone)));
  }
});
