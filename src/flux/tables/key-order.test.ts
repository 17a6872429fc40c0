// The order of keys, as the recorded answers of `drop` show it.
import { expect, test } from "bun:test";
import { pick, prng } from "../../../test/support/prng.ts";
import { NULL, Time, type Value } from "../values/value.ts";
import { compareKeys, inKeyOrder } from "./key-order.ts";
import { GroupKey } from "./table.ts";

function key(values: Readonly<Record<string, Value>>): GroupKey {
  const type = (value: Value) => (value instanceof Time ? "time" : typeof value === "bigint" ? "int" : "string");
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
  const bound = { label: "_a", type: "time", value: new Time(1n) } as const;
  for (let round = 0; round < 300; round++) {
    const [hasGaps, hasTimes, hasNulls] = [below(3) === 0, below(3) === 0, below(3) === 0];
    const items = Array.from({ length: below(40) }, (_, i) => {
      const given: Record<string, Value> = below(4) === 0 && hasGaps ? {} : { _field: pick(below, texts) };
      if (!hasGaps || below(2) === 0) given["host"] = hasNulls && below(3) === 0 ? NULL : pick(below, texts);
      if (hasTimes) given["t"] = new Time(BigInt(below(3)));
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
