// Reducers that select points: the first, the greatest, the middle ones, a random sample. They report the selected rows, so that other
// columns can be included.
import { nthValues } from "../../model/rows/nth-values.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import { inRange, inSteps, StepCounter, type Steps, sortInSteps, sortTexts } from "../../model/steps.ts";
import type { FieldType, Literal } from "../parse/ast.ts";
import { SORT_COST, sortKeys } from "./aggregates.ts";
import { integerOf, numberOf } from "./arguments.ts";
import { pointsOf, takeValues } from "./columns.ts";
import { areEqual, type Integers, takeIntegers, wordsOf } from "./int64.ts";
import { ALL_TYPES, checkType, NUMBERS, type ReduceContext, type Reduced, type Reducer, type Windows } from "./operator.ts";
import type { Points, PointValues } from "./points.ts";

/** Numbers, texts, or 0 and 1: comparable by `<` as the language requires. */
type Keys = Float64Array | Uint8Array | Integers | readonly string[];

/** The selected rows of one window, in order of time. */
type Choose = (rows: { readonly from: number; readonly end: number }) => Steps<ArrayLike<number>>;

interface SelectorKind {
  readonly name: string;
  readonly takes: readonly FieldType[];
  /** In v3, where this is more. */
  readonly takesInTable?: readonly FieldType[];
  readonly arity: Reducer["arity"];
  readonly times: Reducer["times"];
  readonly isList: boolean;
  /** Called once for all windows. */
  prepare(points: Points, args: readonly Literal[], context: ReduceContext): Steps<Choose>;
}

function selector({ name, takes, takesInTable = takes, arity, times, isList, prepare }: SelectorKind): Reducer {
  const reducer: Reducer = {
    ...{ name, takes, takesInTable, arity, times, isList, label: name, selects: true },
    resultType: (type) => type,
    *reduce(points, windows, args, context) {
      checkType(reducer, points.type, context.isTable);
      return yield* choose(points, windows, yield* prepare(points, args, context), context, times);
    },
  };
  return reducer;
}

function* choose(points: Points, windows: Windows, rowsOf: Choose, context: ReduceContext, times: Reducer["times"]): Steps<Reduced> {
  const rows: number[] = [];
  const of: number[] = [];
  const counter = new StepCounter();
  for (let window = 0; window < windows.startsNs.length; window++) {
    const from = windows.offsets[window]!;
    const end = windows.offsets[window + 1]!;
    const chosen = yield* rowsOf({ from, end });
    yield* inSteps(chosen.length, (first, stop) => {
      for (let i = first; i < stop; i++) {
        rows.push(chosen[i]!);
        of.push(window);
      }
    });
    if (counter.isDue(1 + end - from)) yield;
  }
  const chosen = Int32Array.from(rows);
  const windowIndexes = Int32Array.from(of);
  const keepsTimes = times === "own" || (times === "point" && context.ownTimes);
  const resultTimes = keepsTimes ? yield* takeIntegers(points.times, chosen) : yield* takeIntegers(windows.startsNs, windowIndexes);
  const values = (yield* takeValues(points.values, chosen)) as PointValues[typeof points.type];
  return { points: pointsOf(points.type, resultTimes, values), windows: windowIndexes, rows: chosen };
}

function* keysOf(points: Points): Steps<Keys> {
  if (points.type === "string") return yield* points.values.toArray();
  return points.type === "boolean" ? points.values : yield* sortKeys(points);
}

/** The least or greatest value; among equal ones the earliest. */
function extreme(name: "min" | "max"): SelectorKind {
  return {
    ...{ name, takes: ALL_TYPES, arity: [1, 1], times: "point", isList: false },
    *prepare(points, _args, { descending }) {
      const keys = yield* keysOf(points);
      const times = wordsOf(points.times);
      return function* ({ from, end }) {
        let best = from;
        yield* inRange(from + 1, end, (first, stop) => {
          for (let row = first; row < stop; row++) {
            const key = keys[row]!;
            const bestKey = keys[best]!;
            if (name === "min" ? key < bestKey : key > bestKey) best = row;
            else if (descending && key === bestKey && !areEqual(times, row, best)) best = row;
          }
        });
        return [best];
      };
    },
  };
}

/** The point with the least or greatest time; among several at that time the one with the greatest value; `first` prefers false to true. */
function outermost(name: "first" | "last"): SelectorKind {
  return {
    ...{ name, takes: ALL_TYPES, arity: [1, 1], times: "point", isList: false },
    *prepare(points, _args, { descending }) {
      const keys = yield* keysOf(points);
      const times = wordsOf(points.times);
      const prefersLess = name === "first" && points.type === "boolean";
      return function* ({ from, end }) {
        const isAtEnd = (name === "last") !== descending;
        const edge = isAtEnd ? end - 1 : from;
        let best = edge;
        const step = isAtEnd ? -1 : 1;
        const counter = new StepCounter();
        for (let row = edge + step; row >= from && row < end && areEqual(times, row, edge); row += step) {
          const key = keys[row]!;
          const bestKey = keys[best]!;
          if (prefersLess ? key < bestKey : key > bestKey) best = row;
          if (counter.isDue(1)) yield;
        }
        return [best];
      };
    },
  };
}

/** The point of the nearest rank; none if the rank is out of range. Equal values are ordered by row, those that are no number come last. */
const PERCENTILE: SelectorKind = {
  ...{ name: "percentile", takes: NUMBERS, takesInTable: ALL_TYPES, arity: [2, 2], times: "point", isList: false },
  *prepare(points, args) {
    const keys = yield* keysOf(points);
    const percent = numberOf(args[0]!);
    const counter = new StepCounter();
    return function* ({ from, end }) {
      const rank = Math.floor(((end - from) * percent) / 100 + 0.5) - 1;
      if (!(rank >= 0 && rank < end - from)) return [];
      const value = yield* nthKey(keys, from, end, rank);
      if (counter.isDue((end - from) * SORT_COST)) yield;
      // NaN too, which equals nothing, and is not less than anything
      const isNaNChosen = Number.isNaN(value);
      const isChosen = (key: Keys[number]) => key === value || (isNaNChosen && Number.isNaN(key));
      const isBefore = (key: Keys[number]) => (isNaNChosen ? !Number.isNaN(key) : isLess(key, value));
      let before = 0;
      yield* inRange(from, end, (start, stop) => {
        for (let row = start; row < stop; row++) if (isBefore(keys[row]!)) before++;
      });
      let row = from;
      for (let skip = rank - before; ; row++) {
        if (isChosen(keys[row]!) && skip-- === 0) return [row];
        if (counter.isDue(1)) yield;
      }
    };
  },
};

/** The key that sorting puts at `rank`. */
function* nthKey(keys: Keys, from: number, end: number, rank: number): Steps<Keys[number]> {
  if (Array.isArray(keys)) {
    const texts: string[] = keys.slice(from, end);
    yield* sortTexts(texts);
    return texts[rank]!;
  }
  const numbers = keys as Exclude<Keys, readonly string[]>;
  if (!(numbers instanceof Uint8Array)) return (yield* nthValues<Float64Array | Integers>(numbers, from, end, [rank]))[0]!;
  let trues = 0;
  yield* inRange(from, end, (start, stop) => {
    for (let row = start; row < stop; row++) trues += numbers[row]!;
  });
  return rank < end - from - trues ? 0 : 1;
}

function isLess(a: Keys[number], b: Keys[number]): boolean {
  return typeof a === "string" ? compareTexts(a, b as string) < 0 : a < (b as number | bigint);
}

/** The n greatest or least; among equal values the earlier, in descending tables of v3 the later. If tags are given, only the best of
 *  points with equal tag values. */
function best(name: "top" | "bottom"): SelectorKind {
  return {
    ...{ name, takes: NUMBERS, takesInTable: ALL_TYPES, arity: [2, Number.POSITIVE_INFINITY], times: "own", isList: true },
    *prepare(points, args, context) {
      const keys = yield* keysOf(points);
      const { descending, isTable = false } = context;
      const ofShown = timeOrder(points.times, descending ? -1 : 1);
      const ofEqual = timeOrder(points.times, descending && isTable ? -1 : 1);
      const count = integerOf(args.at(-1)!);
      const isBetter = (a: number, b: number) => {
        const x = keys[a]!;
        const y = keys[b]!;
        if (x !== y) return name === "top" ? x > y : x < y;
        return ofEqual(a, b) < 0;
      };
      return function* ({ from, end }) {
        const candidates = context.keys === null ? yield* rowRange(from, end) : yield* bestOfKeys(context.keys, from, end, isBetter);
        const chosen = candidates.length <= count ? candidates : yield* bestRows(candidates, count, isBetter);
        yield* sortInSteps(chosen, (a, b) => ofShown(a, b) || (isBetter(a, b) ? -1 : isBetter(b, a) ? 1 : a - b));
        return chosen;
      };
    },
  };
}

function timeOrder(times: BigInt64Array, sign: 1 | -1 = 1): (a: number, b: number) => number {
  const words = wordsOf(times);
  return (a, b) => sign * (words[2 * a + 1]! - words[2 * b + 1]! || (words[2 * a]! >>> 0) - (words[2 * b]! >>> 0));
}

function* rowRange(start: number, end: number): Steps<Uint32Array> {
  const rows = new Uint32Array(end - start);
  yield* inSteps(rows.length, (from, to) => {
    for (let i = from; i < to; i++) rows[i] = start + i;
  });
  return rows;
}

function* bestOfKeys(keys: Uint32Array, start: number, end: number, isBetter: (a: number, b: number) => boolean): Steps<Uint32Array> {
  const bests = new Map<number, number>();
  yield* inRange(start, end, (from, to) => {
    for (let row = from; row < to; row++) {
      const known = bests.get(keys[row]!);
      if (known === undefined || isBetter(row, known)) bests.set(keys[row]!, row);
    }
  });
  return Uint32Array.from(bests.values());
}

/** The best `count` candidates, in any order: a heap whose root is the worst one kept. */
function* bestRows(candidates: Uint32Array, count: number, isBetter: (a: number, b: number) => boolean): Steps<Uint32Array> {
  const heap = candidates.slice(0, count);
  if (count === 0) return heap;
  const counter = new StepCounter();
  const sink = (start: number) => {
    for (let at = start; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < count && isBetter(heap[worst]!, heap[child]!)) worst = child;
      if (worst === at) return;
      const row = heap[at]!;
      heap[at] = heap[worst]!;
      heap[worst] = row;
      at = worst;
    }
  };
  for (let at = (count >>> 1) - 1; at >= 0; at--) {
    sink(at);
    if (counter.isDue(SORT_COST)) yield;
  }
  for (let i = count; i < candidates.length; i++) {
    if (counter.isDue(1)) yield;
    if (!isBetter(candidates[i]!, heap[0]!)) continue;
    heap[0] = candidates[i]!;
    sink(0);
    if (counter.isDue(SORT_COST)) yield;
  }
  return heap;
}

/** Each distinct value once, in order of first occurrence. */
const DISTINCT: SelectorKind = {
  ...{ name: "distinct", takes: ALL_TYPES, arity: [1, 1], times: "window", isList: true },
  *prepare(points, _args, { descending, isTable = false }) {
    const keys = yield* keysOf(points);
    return function* ({ from, end }) {
      const rows = new Map<number | bigint | string, number>();
      yield* inRange(from, end, (first, stop) => {
        for (let row = first; row < stop; row++) if (!rows.has(keys[row]!)) rows.set(keys[row]!, row);
      });
      const found = [...rows.values()];
      return descending && isTable ? found.reverse() : found;
    };
  },
};

/** n points of each window, selected with equal probability. */
const SAMPLE: SelectorKind = {
  ...{ name: "sample", takes: ALL_TYPES, arity: [2, 2], times: "own", isList: true },
  *prepare(points, args, { seed, descending }) {
    const count = integerOf(args[0]!);
    const random = randomIntegers(seed);
    const compareTimes = timeOrder(points.times, descending ? -1 : 1);
    return function* ({ from, end }) {
      const kept = yield* rowRange(from, Math.min(end, from + count));
      yield* inRange(from + count, end, (first, stop) => {
        for (let row = first; row < stop; row++) {
          const at = random(row - from + 1);
          if (at < count) kept[at] = row;
        }
      });
      yield* sortInSteps(kept, (a, b) => compareTimes(a, b) || a - b);
      return kept;
    };
  },
};

/** Random numbers from 0 to `below` - 1 (xorshift32). */
function randomIntegers(seed: number): (below: number) => number {
  let state = seed | 0 || 0x9e3779b9;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}

export const SELECTORS: readonly Reducer[] = [
  extreme("min"),
  extreme("max"),
  outermost("first"),
  outermost("last"),
  PERCENTILE,
  best("top"),
  best("bottom"),
  DISTINCT,
  SAMPLE,
].map(selector);
