// Reducers that choose points: the first, the greatest, the middle ones, some at random. They say which rows they chose, so that other
// columns can be taken along.
import type { FieldType, Literal } from "../ast.ts";
import type { Points, PointValues } from "../points.ts";
import { sortKeys } from "./aggregates.ts";
import { integerOf, numberOf } from "./arguments.ts";
import { pointsOf, takeValues } from "./columns.ts";
import { ALL_TYPES, checkType, NUMBERS, type ReduceContext, type Reduced, type Reducer, type Windows } from "./operator.ts";
import { areEqual, takeIntegers, wordsOf } from "./words.ts";

/** Numbers, texts, or 0 and 1: what `<` compares as the language does. */
type Keys = ArrayLike<number | bigint | string>;

/** The chosen rows of one window, in order of time. */
type Choose = (rows: { readonly from: number; readonly end: number }, context: ReduceContext) => Iterable<number>;

interface SelectorKind {
  readonly name: string;
  readonly takes: readonly FieldType[];
  readonly arity: Reducer["arity"];
  readonly times: Reducer["times"];
  readonly isList: boolean;
  /** Called once for all windows. */
  prepare(points: Points, args: readonly Literal[], context: ReduceContext): Choose;
}

function selector({ name, takes, arity, times, isList, prepare }: SelectorKind): Reducer {
  const reducer: Reducer = {
    ...{ name, takes, arity, times, isList, label: name, selects: true },
    resultType: (type) => type,
    reduce(points, windows, args, context) {
      checkType(reducer, points.type);
      return choose(points, windows, prepare(points, args, context), context, times);
    },
  };
  return reducer;
}

function choose(points: Points, windows: Windows, rowsOf: Choose, context: ReduceContext, times: Reducer["times"]): Reduced {
  const rows: number[] = [];
  const of: number[] = [];
  for (let window = 0; window < windows.startsNs.length; window++) {
    for (const row of rowsOf({ from: windows.offsets[window]!, end: windows.offsets[window + 1]! }, context)) {
      rows.push(row);
      of.push(window);
    }
  }
  const chosen = Int32Array.from(rows);
  const windowIndexes = Int32Array.from(of);
  const keepsTimes = times === "own" || (times === "point" && context.ownTimes);
  const resultTimes = keepsTimes ? takeIntegers(points.times, chosen) : takeIntegers(windows.startsNs, windowIndexes);
  const values = takeValues(points.values, chosen) as PointValues[typeof points.type];
  return { points: pointsOf(points.type, resultTimes, values), windows: windowIndexes, rows: chosen };
}

function keysOf(points: Points): Keys {
  return points.type === "string" || points.type === "boolean" ? points.values : sortKeys(points);
}

/** The least or greatest value; of equal ones the one with the least time. */
function extreme(name: "min" | "max"): SelectorKind {
  return {
    ...{ name, takes: [...NUMBERS, "boolean"], arity: [1, 1], times: "point", isList: false },
    prepare(points, _args, { descending }) {
      const keys = keysOf(points);
      const times = wordsOf(points.times);
      return ({ from, end }) => {
        let best = from;
        for (let row = from + 1; row < end; row++) {
          const [key, bestKey] = [keys[row]!, keys[best]!];
          if (name === "min" ? key < bestKey : key > bestKey) best = row;
          else if (descending && key === bestKey && !areEqual(times, row, best)) best = row;
        }
        return [best];
      };
    },
  };
}

/** The point with the least or greatest time; of several at that time the one with the greatest value; `first` prefers false to true. */
function outermost(name: "first" | "last"): SelectorKind {
  return {
    ...{ name, takes: ALL_TYPES, arity: [1, 1], times: "point", isList: false },
    prepare(points, _args, { descending }) {
      const keys = keysOf(points);
      const times = wordsOf(points.times);
      const prefersLess = name === "first" && points.type === "boolean";
      return ({ from, end }) => {
        const isAtEnd = (name === "last") !== descending;
        const edge = isAtEnd ? end - 1 : from;
        let best = edge;
        const step = isAtEnd ? -1 : 1;
        for (let row = edge + step; row >= from && row < end && areEqual(times, row, edge); row += step) {
          const [key, bestKey] = [keys[row]!, keys[best]!];
          if (prefersLess ? key < bestKey : key > bestKey) best = row;
        }
        return [best];
      };
    },
  };
}

/** The point of the nearest rank; none where the rank is none of a point's. Of equal values the n-th is the n-th in order of rows. */
const PERCENTILE: SelectorKind = {
  ...{ name: "percentile", takes: NUMBERS, arity: [2, 2], times: "point", isList: false },
  prepare(points, args) {
    const keys = sortKeys(points);
    const percent = numberOf(args[0]!);
    return ({ from, end }) => {
      const rank = Math.floor(((end - from) * percent) / 100 + 0.5) - 1;
      if (!(rank >= 0 && rank < end - from)) return [];
      const sorted = keys.slice(from, end).sort();
      const value = sorted[rank]!;
      let before = rank;
      while (before > 0 && sorted[before - 1] === value) before--;
      let row = from;
      for (let skip = rank - before; ; row++) if (keys[row] === value && skip-- === 0) return [row];
    };
  },
};

/** The n greatest or least; of equal values the earlier. Of points with equal tags, if tags are named, only the best. */
function best(name: "top" | "bottom"): SelectorKind {
  return {
    ...{ name, takes: NUMBERS, arity: [2, Number.POSITIVE_INFINITY], times: "own", isList: true },
    prepare(points, args, context) {
      const keys = sortKeys(points);
      const compareTimes = timeOrder(points.times);
      const count = integerOf(args.at(-1)!);
      const isBetter = (a: number, b: number) => {
        const [x, y] = [keys[a]!, keys[b]!];
        if (x !== y) return name === "top" ? x > y : x < y;
        return compareTimes(a, b) < 0;
      };
      return ({ from, end }) => {
        const candidates = context.keys === null ? rowRange(from, end) : bestOfKeys(context.keys, from, end, isBetter);
        const chosen = candidates.length <= count ? candidates : bestRows(candidates, count, isBetter);
        return chosen.sort((a, b) => compareTimes(a, b) || (isBetter(a, b) ? -1 : isBetter(b, a) ? 1 : a - b));
      };
    },
  };
}

function timeOrder(times: BigInt64Array): (a: number, b: number) => number {
  const words = wordsOf(times);
  return (a, b) => words[2 * a + 1]! - words[2 * b + 1]! || (words[2 * a]! >>> 0) - (words[2 * b]! >>> 0);
}

function rowRange(from: number, end: number): number[] {
  return Array.from({ length: end - from }, (_, i) => from + i);
}

function bestOfKeys(keys: Int32Array, from: number, end: number, isBetter: (a: number, b: number) => boolean): number[] {
  const bests = new Map<number, number>();
  for (let row = from; row < end; row++) {
    const known = bests.get(keys[row]!);
    if (known === undefined || isBetter(row, known)) bests.set(keys[row]!, row);
  }
  return [...bests.values()];
}

/** The best `count` of the candidates, in any order: a heap whose root is the worst that is kept. */
function bestRows(candidates: readonly number[], count: number, isBetter: (a: number, b: number) => boolean): number[] {
  const heap = candidates.slice(0, count);
  const sink = (start: number) => {
    for (let at = start; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < count && isBetter(heap[worst]!, heap[child]!)) worst = child;
      if (worst === at) return;
      [heap[at], heap[worst]] = [heap[worst]!, heap[at]!];
      at = worst;
    }
  };
  for (let at = (count >>> 1) - 1; at >= 0; at--) sink(at);
  for (let i = count; i < candidates.length; i++) {
    if (!isBetter(candidates[i]!, heap[0]!)) continue;
    heap[0] = candidates[i]!;
    sink(0);
  }
  return heap;
}

/** Each value once, in order of the times at which they are first met. */
const DISTINCT: SelectorKind = {
  ...{ name: "distinct", takes: ALL_TYPES, arity: [1, 1], times: "window", isList: true },
  prepare(points, _args, { descending }) {
    const keys = keysOf(points);
    return ({ from, end }) => {
      const rows = new Map<number | bigint | string, number>();
      for (let row = from; row < end; row++) if (!rows.has(keys[row]!)) rows.set(keys[row]!, row);
      const found = [...rows.values()];
      return descending ? found.reverse() : found;
    };
  },
};

/** n points of each window, each as likely as another. */
const SAMPLE: SelectorKind = {
  ...{ name: "sample", takes: ALL_TYPES, arity: [2, 2], times: "own", isList: true },
  prepare(points, args, { seed }) {
    const count = integerOf(args[0]!);
    const random = randomIntegers(seed);
    const compareTimes = timeOrder(points.times);
    return ({ from, end }) => {
      const kept = rowRange(from, Math.min(end, from + count));
      for (let row = from + count; row < end; row++) {
        const at = random(row - from + 1);
        if (at < count) kept[at] = row;
      }
      return kept.sort((a, b) => compareTimes(a, b) || a - b);
    };
  },
};

/** Numbers from 0 to, exclusively, what is asked for (xorshift32). */
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
