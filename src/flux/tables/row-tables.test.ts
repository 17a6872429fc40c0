// Hash tables over rows, orders of rows and columns filled in any order, compared with obvious versions over generated columns.
import { expect, test } from "bun:test";
import { type Below, pick, prng } from "../../../test/support/prng.ts";
import { compareValues } from "../interpret/operators.ts";
import { COLUMN_TYPES, type FluxColumnType } from "../values/column-type.ts";
import { Null, Time, UInt, type Value } from "../values/value.ts";
import type { FluxColumn } from "./column.ts";
import { ColumnBuilder } from "./column-builder.ts";
import { RowNumbers } from "./row-numbers.ts";
import { rowOrder } from "./row-order.ts";
import { ScatteredColumn } from "./scattered-column.ts";
import { finished } from "./stream.ts";
import { cellText } from "./table.ts";

const VALUES: Readonly<Record<FluxColumnType, readonly Value[]>> = {
  bool: [true, false],
  float: [0, -0, 1.5, -3, Number.POSITIVE_INFINITY, 1e300],
  int: [0n, -1n, 5n, (1n << 63n) - 1n, -(1n << 63n), 1n << 32n],
  uint: [new UInt(0n), new UInt(7n), new UInt((1n << 64n) - 1n), new UInt(1n << 33n)],
  string: ["", "a", "b", "żółw", "🐢", "ｚ"],
  time: [new Time(0n), new Time(-1n), new Time(1_700_000_000_000_000_001n), new Time(1_700_000_000_000_000_000n)],
};

function column(below: Below, type: FluxColumnType, rowCount: number): FluxColumn {
  const builder = new ColumnBuilder("c", type);
  const hasNulls = below(2) === 0;
  for (let i = 0; i < rowCount; i++) builder.append(hasNulls && below(4) === 0 ? Null.of(type) : pick(below, VALUES[type]));
  return builder.build();
}

/** Zeros of both signs are one number. */
const text = (columns: readonly FluxColumn[], row: number): string =>
  JSON.stringify(columns.map((each) => (each.isNull(row) ? null : [cellText(each.get(row))])));

test("rows get the numbers of their first appearance", () => {
  const below = prng(1);
  for (let round = 0; round < 300; round++) {
    const types = Array.from({ length: 1 + below(4) }, () => pick(below, COLUMN_TYPES));
    const [first, second] = [below(200), below(200)].map((rows) => ({ rows, columns: types.map((type) => column(below, type, rows)) }));
    const numbers = new RowNumbers(types.length);
    const known = new Map<string, number>();
    const expected = Array.from({ length: first!.rows }, (_, row) => {
      const key = text(first!.columns, row);
      if (!known.has(key)) known.set(key, known.size);
      return known.get(key)!;
    });
    const half = first!.rows >> 1;
    expect([...numbers.add(first!.columns, 0, half), ...numbers.add(first!.columns, half, first!.rows)]).toEqual(expected);
    expect(numbers.count).toBe(known.size);
    const found = Array.from({ length: second!.rows }, (_, row) => known.get(text(second!.columns, row)) ?? 0xffff_ffff);
    expect([...numbers.find(second!.columns, 0, second!.rows)]).toEqual(found);
  }
});

test("rows that come again in the same order, with gaps and repetitions", () => {
  const below = prng(4);
  for (let round = 0; round < 40; round++) {
    const types = Array.from({ length: 1 + below(40) }, () => pick(below, COLUMN_TYPES));
    const columns = types.map((type) => column(below, type, 400));
    const rows = Uint32Array.from({ length: 400 }, (_, i) => (below(20) === 0 ? below(400) : Math.max(0, i - (i >> 6))));
    const again = columns.map((each) => each.take(rows));
    const numbers = new RowNumbers(types.length);
    const first = numbers.add(columns, 0, 400);
    const byText = new Map(Array.from(first, (number, row) => [text(columns, row), number]));
    const expected = Array.from({ length: 400 }, (_, row) => byText.get(text(again, row))!);
    expect([...numbers.add(again, 0, 400)]).toEqual(expected);
    expect([...numbers.find(again, 100, 300)]).toEqual(expected.slice(100, 300));
    expect(numbers.count).toBe(byText.size);
  }
});

test("40 columns with nulls", () => {
  const columns = Array.from({ length: 40 }, () => column(prng(3), "int", 20));
  expect(new Set(new RowNumbers(40).add(columns, 0, 20)).size).toBe(
    new Set(Array.from({ length: 20 }, (_, row) => text(columns, row))).size,
  );
});

test("rows in the order of columns, nulls first, equal rows as they stood", () => {
  const below = prng(2);
  for (let round = 0; round < 300; round++) {
    const rowCount = below(60);
    const columns = Array.from({ length: 1 + below(3) }, () => column(below, pick(below, COLUMN_TYPES), rowCount));
    const isDescending = below(2) === 0;
    const order = finished(rowOrder(columns, rowCount, isDescending));
    const expected = Array.from({ length: rowCount }, (_, row) => row).sort((a, b) => {
      for (const each of columns) {
        if (each.isNull(a) || each.isNull(b)) {
          if (each.isNull(a) !== each.isNull(b)) return each.isNull(a) ? -1 : 1;
          continue;
        }
        const [x, y] = [each.get(a), each.get(b)];
        const compared = typeof x === "boolean" ? Number(x) - Number(y) : compareValues(x, y)!;
        if (compared !== 0) return isDescending ? -compared : compared;
      }
      return a - b;
    });
    expect([...(order ?? expected)]).toEqual(expected);
    expect(order === null).toBe(expected.every((row, i) => row === i));
  }
});

test("a column of values, repetitions, nulls and parts of columns", () => {
  const below = prng(5);
  for (let round = 0; round < 300; round++) {
    const type = pick(below, COLUMN_TYPES);
    const builder = new ColumnBuilder("c", type);
    const expected: Value[] = [];
    const other = column(below, type, 20);
    const others = type === "string" ? 7n : "text";
    let value: Value = pick(below, VALUES[type]);
    for (let step = 0; step < 60; step++) {
      const kind = below(12);
      if (kind === 0) {
        builder.appendNull();
        expected.push(Null.of(type));
      } else if (kind === 1) {
        const [from, count] = [below(10), below(10)];
        builder.appendColumn(other, from, from + count);
        for (let row = from; row < from + count; row++) expected.push(other.get(row));
      } else if (kind === 2) expect([builder.tryAppend(others), builder.tryAppend(Null.of(type))]).toEqual([false, false]);
      else {
        if (kind < 5) value = pick(below, VALUES[type]);
        if (kind === 5) builder.append(value);
        else expect(builder.tryAppend(value)).toBe(true);
        expected.push(value);
      }
      expect(builder.length).toBe(expected.length);
    }
    const built = builder.build();
    expect(Array.from({ length: built.length }, (_, row) => built.get(row))).toStrictEqual(expected);
  }
});

test("a column that is filled in any order", () => {
  const below = prng(4);
  for (const type of COLUMN_TYPES) {
    const made = new ScatteredColumn("c", type, 0);
    const expected: Value[] = Array.from({ length: 300 }, () => Null.of(type));
    for (let part = 0; part < 4; part++) {
      const source = column(below, type, 50);
      const targets = Uint32Array.from({ length: 40 }, () => below(75 * (part + 1)));
      targets.forEach((target, i) => {
        expected[target] = source.get(i + 10);
      });
      made.put(source, 10, targets, 75 * (part + 1));
    }
    const built = made.build(300);
    expect(Array.from({ length: 300 }, (_, row) => built.get(row))).toEqual(expected);
  }
});
