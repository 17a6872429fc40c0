// The order of keys, as the recorded answers of `drop` show it.
import { expect, test } from "bun:test";
import { NULL, Time, type Value } from "../values/value.ts";
import { compareKeys } from "./key-order.ts";
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

test("times and integers are in the order of their values", () => {
  const times = [9n, 10n, 100n].map((ns) => key({ t: new Time(ns), n: ns }));
  expect(times.toReversed().sort(compareKeys)).toEqual(times);
});
