// The order of keys, as the recorded answers of `drop` show it.
import { expect, test } from "bun:test";
import { pick, prng } from "../../../test/support/prng.ts";
import type { FluxColumnType } from "../values/column-type.ts";
import { NULL, Time, UInt, type Value } from "../values/value.ts";
import { compareKeys, inKeyOrder } from "./key-order.ts";
import { GroupKey } from "./table.ts";

const TYPES: Readonly<Record<string, FluxColumnType>> = { bigint: "int", number: "float", boolean: "bool" };

function key(values: Readonly<Record<string, Value>>): GroupKey {
  const type = (value: Value) => {
    if (value instanceof Time) return "time";
    if (value instanceof UInt) return "uint";
    return TYPES[typeof value] ?? "string";
  };
  return new GroupKey(Object.entries(values).map(([label, value]) => ({ label, type: type(value), value })));
}

const ASCENDING = [
  { _field: "f", dc: "x", host: "a" },
  { _field: "f", dc: "x", host: "b" },
  { _field: "f", dc: "y", host: "b" },
  { _field: "g" },
  { _field: "g", "my tag": "c d" },
  { _field: "g", host: "a" },
  { _field: "g", dc: NULL },
  { _field: "g", dc: "\u{ffff}" },
  { _field: "g", dc: "\u{1f422}" },
];

test("keys are in the order of their columns, and what lacks a column comes before what has it", () => {
  const keys = ASCENDING.map(key);
  for (const [i, a] of keys.entries()) {
    for (const [j, b] of keys.entries()) expect([i, j, Math.sign(compareKeys(a, b))]).toEqual([i, j, Math.sign(i - j)]);
  }
});

test("items in the order of their keys, whatever their columns are, equal ones as they stood", () => {
  const below = prng(6);
  const texts = ["", "a", "b", "z9", "\u{ffff}", "\u{1f422}"];
  const others: readonly (readonly Value[])[] = [
    [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n].map((ns) => new Time(ns)),
    [-(2n ** 63n), -1n, 9n, 10n],
    [0n, 9n, 10n, 2n ** 64n - 1n].map((value) => new UInt(value)),
    [Number.NEGATIVE_INFINITY, -1.5, -0, 0, 9, 10],
    [false, true],
    // of several types
    [1n, 1.5, "1", new Time(1n)],
  ];
  const bound = { label: "_a", type: "time", value: new Time(1n) } as const;
  for (let round = 0; round < 300; round++) {
    const [hasGaps, hasOthers, hasNulls] = [below(3) === 0, below(2) === 0, below(3) === 0];
    const values = pick(below, others);
    const items = Array.from({ length: below(40) }, (_, i) => {
      const given: Record<string, Value> = below(4) === 0 && hasGaps ? {} : { _field: pick(below, texts) };
      if (!hasGaps || below(2) === 0) given["host"] = hasNulls && below(3) === 0 ? NULL : pick(below, texts);
      if (hasOthers) given["t"] = pick(below, values);
      return { i, key: new GroupKey([bound, ...key(given).columns]) };
    });
    const expected = [...items].sort((a, b) => compareKeys(a.key, b.key) || a.i - b.i);
    expect(inKeyOrder(items).map(({ i }) => i)).toEqual(expected.map(({ i }) => i));
  }
});

test("times and integers are in the order of their values", () => {
  const times = [9n, 10n, 100n].map((ns) => key({ t: new Time(ns), n: ns }));
  expect(times.toReversed().sort(compareKeys)).toEqual(times);
});
