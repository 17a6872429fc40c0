// Joins by time against sets of times, fills of types that 1.6.7 cannot write, and what operators refuse.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { finish } from "../../model/steps.ts";
import { pointsOf, valueAt } from "./columns.ts";
import { fillWindows } from "./fill.ts";
import type { Cells, OperatorContext } from "./operator.ts";
import type { Points, WindowPoints } from "./points.ts";
import { REDUCERS } from "./reducers.ts";
import { joinByTime, sliceRows } from "./rows.ts";
import { Texts } from "./texts.ts";
import { TRANSFORMS } from "./transforms.ts";
import { isValid } from "./validity.ts";
import { oneWindow, windowStarts } from "./windows.ts";

const column = (times: bigint[], value: (time: bigint) => number): WindowPoints => ({
  points: pointsOf("float", BigInt64Array.from(times), Float64Array.from(times, value)),
  validity: null,
});
const cellAt = (cells: Cells, row: number) => (isValid(cells.validity, row) ? valueAt(cells.values, row) : null);
const valuesOf = ({ values, times }: Points) => Array.from(times, (_, row) => valueAt(values, row));

for (const seed of [1, 2, 3]) {
  for (const descending of [false, true]) {
    test(`columns of different times are joined, seed ${seed}${descending ? ", descending" : ""}`, () => {
      const below = prng(seed);
      const sets = Array.from(
        { length: 4 },
        () => new Set(Array.from({ length: below(60) }, () => (BigInt(below(80)) - 40n) * 4_000_000_000n)),
      );
      const order = (a: bigint, b: bigint) => (a === b ? 0 : a < b === descending ? 1 : -1);
      const columns = sets.map((set, i) => column([...set].sort(order), (time) => Number(time) + i));
      const { times, columns: joined } = finish(joinByTime(columns, descending));
      const all = [...new Set(sets.flatMap((set) => [...set]))].sort(order);
      expect([...times]).toEqual(all);
      sets.forEach((set, i) => {
        expect(all.map((_, row) => cellAt(joined[i]!, row))).toEqual(all.map((time) => (set.has(time) ? Number(time) + i : null)));
      });
    });
  }
}

test("several points at one time are as many rows", () => {
  const { times, columns } = finish(joinByTime([column([1n, 1n, 3n], () => 1), column([1n, 2n], () => 2)], false));
  expect([...times]).toEqual([1n, 1n, 2n, 3n]);
  expect([0, 1, 2, 3].map((row) => columns.map((cells) => cellAt(cells, row)))).toEqual([
    [1, 2],
    [1, null],
    [null, 2],
    [1, null],
  ]);
});

test("equal times are joined as they are", () => {
  const [a, b] = [column([1n, 2n], () => 1), column([1n, 2n], () => 2)];
  expect(finish(joinByTime([a, b], false)).times).toBe(a.points.times);
});

test("rows are cut by limit and offset", () => {
  const rows = finish(
    joinByTime([column([1n, 2n, 3n, 4n], Number), { ...column([1n, 3n], Number), validity: Uint8Array.of(0b10) }], false),
  );
  const cut = finish(sliceRows(rows, 1, 2));
  expect([...cut.times]).toEqual([2n, 3n]);
  expect([0, 1].map((row) => cellAt(cut.columns[1]!, row))).toEqual([null, 3]);
  expect(finish(sliceRows(rows, 9, 2)).times.length).toBe(0);
  expect(finish(sliceRows(rows, 0, 0))).toEqual(rows);
});

test("unsigned values are filled", () => {
  const points = pointsOf("unsigned", BigInt64Array.of(0n, 30n), BigUint64Array.of(2n ** 64n - 1n, 2n ** 64n - 31n));
  const starts = finish(windowStarts({ intervalNs: 10n, offsetNs: 0n, zone: null }, 0n, 45n, false));
  expect([...starts]).toEqual([0n, 10n, 20n, 30n, 40n]);
  const filled = finish(fillWindows(points, starts, { kind: "value", value: -1 }, 10n));
  expect([...(filled.points.values as BigUint64Array)]).toEqual([2n ** 64n - 1n, 0n, 0n, 2n ** 64n - 31n, 0n]);
  const carried = finish(fillWindows(points, starts, { kind: "previous" }, 10n));
  expect([...(carried.points.values as BigUint64Array)].slice(3)).toEqual([2n ** 64n - 31n, 2n ** 64n - 31n]);
});

test("more windows than memory has room for are refused", () => {
  const grid = { intervalNs: 1n, offsetNs: 0n, zone: null };
  expect(() => finish(windowStarts(grid, 0n, 10n ** 18n, false))).toThrow(
    "max-select-buckets limit exceeded: (1000000000000000001/10000000)",
  );
});

const texts: Points = pointsOf("string", BigInt64Array.of(1n, 2n), Texts.of(["a", "b"]));
const context: OperatorContext = { descending: false, intervalNs: null };
const REFUSED: [name: string, error: string][] = [
  ["derivative", "unsupported derivative iterator type: *query.stringInterruptIterator"],
  ["cumulative_sum", "unsupported cumulative sum iterator type: *query.stringInterruptIterator"],
  ["moving_average", "unsupported moving average iterator type: *query.stringInterruptIterator"],
  ["chande_momentum_oscillator", "unsupported chande momentum oscillator iterator type: *query.stringInterruptIterator"],
  ["mean", "unsupported mean iterator type: *query.stringInterruptIterator"],
  ["percentile", "unsupported percentile iterator type: *query.stringInterruptIterator"],
  ["top", "unsupported top iterator type: *query.stringInterruptIterator"],
  ["spread", "unsupported spread iterator type: *query.stringInterruptIterator"],
  ["integral", "unsupported integral iterator type: *query.stringInterruptIterator"],
];
test.each(REFUSED)("%s refuses texts in 1.x's words", (name, error) => {
  const two = [{ kind: "integer", value: 2n, unsigned: false } as const];
  const windows = oneWindow(2, { startNs: 0n, endNs: 10n });
  const reduceContext = { ...context, keys: null, ownTimes: true, seed: 1 };
  const run = () => {
    const transform = TRANSFORMS.get(name);
    return transform === undefined
      ? finish(REDUCERS.get(name)!.reduce(texts, windows, two, reduceContext))
      : finish(transform.apply(texts, two, context));
  };
  expect(run).toThrow(error);
});

test("a forecast that would take for ever is refused", () => {
  const times = BigInt64Array.from({ length: 1000 }, (_, i) => BigInt(i) * 10n);
  const points = pointsOf("float", times, new Float64Array(1000).fill(1));
  const args = [1n, 900n].map((value) => ({ kind: "integer", value, unsigned: false }) as const);
  expect(() => finish(TRANSFORMS.get("holt_winters")!.apply(points, args, { descending: false, intervalNs: 10n }))).toThrow(
    "takes too long",
  );
});

test("derivatives and sums of unsigned values", () => {
  const points = pointsOf(
    "unsigned",
    BigInt64Array.of(0n, 1_000_000_000n, 2_000_000_000n),
    BigUint64Array.of(2n ** 63n, 2n ** 63n + 10n, 2n ** 63n + 5n),
  );
  const run = (name: string) => valuesOf(finish(TRANSFORMS.get(name)!.apply(points, [], context)));
  expect(run("derivative")).toEqual([10, -5]);
  expect(run("non_negative_derivative")).toEqual([10]);
  expect(run("difference")).toEqual([10n, 2n ** 64n - 5n]);
  expect(run("non_negative_difference")).toEqual([10n]);
  expect(run("cumulative_sum")).toEqual([2n ** 63n, 10n, 2n ** 63n + 15n]);
});

test("every operator gives nothing of no points", () => {
  const none = pointsOf("float", new BigInt64Array(0), new Float64Array(0));
  const windows = oneWindow(0, { startNs: 0n, endNs: 1n });
  const args = [
    { kind: "integer", value: 3n, unsigned: false },
    { kind: "integer", value: 3n, unsigned: false },
  ] as const;
  for (const [name, transform] of TRANSFORMS) {
    const few = name.includes("derivative") && !name.startsWith("triple") ? [] : name === "elapsed" ? [] : args;
    expect(finish(transform.apply(none, few, { descending: false, intervalNs: 10n })).times.length).toBe(0);
  }
  for (const [name, reducer] of REDUCERS) {
    const few = name === "integral" ? [] : args;
    const points = reducer.takes.includes("float") ? none : pointsOf("integer", new BigInt64Array(0), new BigInt64Array(0));
    expect(finish(reducer.reduce(points, windows, few, { ...context, keys: null, ownTimes: true, seed: 1 })).points.times.length).toBe(0);
  }
});

const MODES: [what: string, values: number[], mode: number][] = [
  ["the most frequent", [3, 1, 2, 2], 2],
  ["of equally frequent values the first", [5, 1, 9, 1, 9, 5], 5],
  ["of all different ones the least", [3, 1, 2], 1],
];
test.each(MODES)("mode is %s, whichever way time goes", (_, values, mode) => {
  for (const descending of [false, true]) {
    const order = (of: bigint[]) => BigInt64Array.from(descending ? of.reverse() : of);
    const points = pointsOf("float", order(values.map((_, i) => BigInt(i))), Float64Array.from(descending ? values.toReversed() : values));
    const windows = oneWindow(values.length, { startNs: 0n, endNs: 10n });
    const reduced = finish(
      REDUCERS.get("mode")!.reduce(points, windows, [], {
        descending,
        intervalNs: null,
        keys: null,
        ownTimes: false,
        seed: 1,
      }),
    );
    expect(valuesOf(reduced.points)).toEqual([mode]);
  }
});
