// Texts in order of their bytes, against Buffer.compare; rows that are the first with their values, against a list of what was seen.
import { expect, test } from "bun:test";
import type { ResultColumn, ResultType } from "../../../model/query/result-batch.ts";
import { finish } from "../../../model/steps.ts";
import { RowOrder } from "./row-order.ts";

const UTF8: ResultType = { kind: "utf8" };
const ASCENDING = { isDescending: false, nullsFirst: false };

function textColumn(texts: readonly (string | null)[]): ResultColumn {
  const parts = texts.map((text) => Buffer.from(text ?? ""));
  const offsets = new Int32Array(texts.length + 1);
  parts.forEach((part, i) => {
    offsets[i + 1] = offsets[i]! + part.length;
  });
  const validity = new Uint8Array((texts.length + 7) >> 3);
  texts.forEach((text, i) => {
    if (text !== null) validity[i >> 3]! |= 1 << (i & 7);
  });
  return { validity: texts.includes(null) ? validity : null, values: new Uint8Array(0), offsets, data: Buffer.concat(parts) };
}

const CASES: Readonly<Record<string, readonly (string | null)[]>> = {
  "ends before any byte": ["b", "a", "", "a\0", "a\0\0", "\0", "ab"],
  "differ in the sixth and seventh byte": ["abcdef", "abcdeg", "abcdefg", "abcdefa", "abcde", "abcdef\0"],
  "begin alike": ["host_10", "host_9", "host_1", "host_", "host_100000000", "host_10000000a", "host_100000000\0"],
  "begin alike, one is all of that": ["same", "same", "same1", "same"],
  "bytes above 127": ["é", "e", "z", "日本", "日木", "\u{10ffff}", "\uffff"],
  NULL: ["b", null, "a", null, ""],
  one: ["x"],
  "two that are long and equal but for their ends": [`${"x".repeat(1000)}b`, `${"x".repeat(1000)}a`, "y"],
};

for (const [name, texts] of Object.entries(CASES)) {
  test(`texts that ${name}`, () => {
    const bytewise = (a: string | null, b: string | null) =>
      a === null || b === null ? Number(a === null) - Number(b === null) : Buffer.compare(Buffer.from(a), Buffer.from(b));
    const expected = texts.toSorted(bytewise);
    const rows = texts.map((_, row) => row);
    for (const direction of [1, -1]) {
      const given = direction === 1 ? texts : texts.toReversed();
      const order = new RowOrder([textColumn(given)], [UTF8], given.length, [{ column: 0, ...ASCENDING }]);
      const sorted = finish(order.sorted()) ?? Uint32Array.from(rows);
      expect(Array.from(sorted, (row) => given[row] ?? null)).toEqual(expected);
      const first = order.firstOfEach(sorted, [0]);
      expect(Array.from(first, (row) => given[row] ?? null)).toEqual([...new Set(expected)]);
    }
  });
}

test("very many rows, in steps: equal ones stay as they lie", () => {
  const count = 50_000;
  const values = Float64Array.from({ length: count }, (_, row) => (row * 7919) % 1000);
  const order = new RowOrder([{ validity: null, values }], [{ kind: "float", bits: 64 }], count, [{ column: 0, ...ASCENDING }]);
  const expected = Array.from({ length: count }, (_, row) => row).sort((a, b) => values[a]! - values[b]! || a - b);
  expect(Array.from(finish(order.sorted())!)).toEqual(expected);
});

test("the first with their values where these do not lead the order", () => {
  const columns = [textColumn(["x", "y", "x", "y", "z"]), textColumn(["3", "1", "2", "5", "4"])];
  const order = new RowOrder(columns, [UTF8, UTF8], 5, [{ column: 1, ...ASCENDING }]);
  expect([...order.firstOfEach(finish(order.sorted())!, [0])]).toEqual([1, 2, 4]);
});
