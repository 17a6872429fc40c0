// Rows of many tables, split together and table by table: the same groups.
import { expect, test } from "bun:test";
import { groupTables } from "../../src/flux/library/group-tables.ts";
import { inOneTable } from "../../src/flux/library/merge-tables.ts";
import { FluxColumn } from "../../src/flux/tables/column.ts";
import { ColumnBuilder } from "../../src/flux/tables/column-builder.ts";
import { drain, finished } from "../../src/flux/tables/stream.ts";
import { FluxTable, GroupKey } from "../../src/flux/tables/table.ts";
import type { FluxColumnType } from "../../src/flux/values/column-type.ts";
import { Null, Time, UInt, type Value } from "../../src/flux/values/value.ts";
import { type Below, pick, prng } from "../support/prng.ts";

const TYPES: readonly FluxColumnType[] = ["string", "float", "int", "uint", "bool", "time"];

function cellOf(below: Below, type: FluxColumnType): Value {
  if (below(5) === 0) return Null.of(type);
  switch (type) {
    case "string":
      return pick(below, ["", "a", "b"]);
    case "float":
      return pick(below, [Number.NaN, -0, 0, Number.POSITIVE_INFINITY, 1.5]);
    case "int":
      return BigInt(below(3)) - 1n;
    case "uint":
      return new UInt(BigInt(below(3)));
    case "bool":
      return below(2) === 0;
    case "time":
      return new Time(BigInt(below(3)));
  }
}

function tableOf(below: Below, number: number): FluxTable {
  const rowCount = pick(below, [1, 3, 40]);
  const column = (label: string, type: FluxColumnType): FluxColumn => {
    // some have one value for all rows
    if (below(3) === 0) return FluxColumn.constant(label, type, cellOf(below, type), rowCount);
    const builder = new ColumnBuilder(label, type);
    for (let row = 0; row < rowCount; row++) builder.append(cellOf(below, type));
    return builder.build();
  };
  const key = new GroupKey([{ label: "table", type: "int", value: BigInt(number) }]);
  const columns = [FluxColumn.constant("table", "int", BigInt(number), rowCount), FluxColumn.constant("same", "string", "x", rowCount)];
  return new FluxTable(key, [...columns, ...TYPES.map((type) => column(type, type))], rowCount);
}

/** Keys, labels and cells. */
function shown(tables: readonly FluxTable[]): unknown {
  return tables.map(({ key, columns, rowCount }) => ({
    key: key.columns.map(({ label }) => label),
    text: key.text,
    columns: columns.map((column) => [
      column.label,
      column.type,
      ...Array.from({ length: rowCount }, (_, row) => (column.isNull(row) ? null : column.get(row))),
    ]),
  }));
}

test.each(Array.from({ length: 20 }, (_, seed) => seed))("rows of tables by their values, seed %d", (seed) => {
  const below = prng(seed);
  const tables = Array.from({ length: 1 + below(6) }, (_, i) => tableOf(below, i));
  const labels = ["same", ...TYPES.filter(() => below(3) === 0), pick(below, TYPES), ...(below(4) === 0 ? ["table"] : [])];
  // a table with another order of columns and no rows: those behind it are split one by one
  const other = new FluxTable(GroupKey.NONE, tables[0]!.slice(0, 0).columns.toReversed(), 0);
  const grouped = (input: readonly FluxTable[]) => shown(drain(groupTables(input, (label) => labels.includes(label), "first rows")));
  const together = grouped(tables);
  expect(together).toEqual(grouped([other, ...tables]));
  const expected = new Set(tables.flatMap((table) => rowKeys(table, labels)));
  expect((together as unknown[]).length).toBe(expected.size);
});

/** Of each row its values of the labels; both zeros are one. */
function rowKeys(table: FluxTable, labels: readonly string[]): string[] {
  const columns = table.columns.filter(({ label }) => labels.includes(label));
  const cell = (value: Value) => (value instanceof Time ? value.ns : value instanceof UInt ? value.value : value);
  return Array.from({ length: table.rowCount }, (_, row) =>
    columns.map((column) => (column.isNull(row) ? "null" : `${String(cell(column.get(row)))}.`)).join(" "),
  );
}

test.each([[[0, -0]], [[-0, 0]], [[-0, -0]], [[Number.NaN, Number.NaN]], [[Number.NaN, 0]]])("tables of one value each: %p", (values) => {
  const tables = values.map((value, i) => {
    const key = new GroupKey([{ label: "table", type: "int", value: BigInt(i) }]);
    return new FluxTable(key, [FluxColumn.constant("_value", "float", value, 1)], 1);
  });
  const column = finished(inOneTable(tables)).column("_value")!;
  expect([column.get(0), column.get(1)]).toEqual(values);
});
