// Counts the steps of built-in collections during synchronous work: lookups, copies and searches count one per element that they may touch.
// A deterministic measure, independent of machine and load.

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Cost = (target: { readonly length: number; readonly size: number }, made: unknown) => number;

const one: Cost = () => 1;
const each: Cost = ({ length }) => length;

const ARRAY_METHODS =
  "concat every fill filter find findIndex findLast flat flatMap forEach includes indexOf join map reduce reduceRight reverse some sort splice toReversed toSorted unshift shift";

/** The counted methods, by their object. */
const COUNTED: readonly (readonly [owner: object, names: string, cost: Cost])[] = [
  [Array.prototype, ARRAY_METHODS, each],
  [Array.prototype, "push pop", one],
  [Array.prototype, "slice", (_, made) => (made as readonly unknown[]).length],
  [Map.prototype, "get set has delete", one],
  [Set.prototype, "add has delete", one],
  [Map.prototype, "entries values keys forEach", ({ size }) => size],
  [Set.prototype, "entries values keys forEach", ({ size }) => size],
  [String.prototype, "split replace replaceAll", ({ length }) => Math.ceil(length / 64)],
];

/** Steps of `work`, which must be synchronous. An exception ends it, and the steps up to there count. */
export function countSteps(work: () => void): number {
  let steps = 0;
  const restore: (() => void)[] = [];
  const count = (owner: object, name: string | symbol, cost: Cost) => {
    const original = Reflect.get(owner, name) as Method;
    const counted: Method = function (...args) {
      const made = original.apply(this, args);
      steps += cost(this as never, made);
      return made;
    };
    Object.defineProperty(owner, name, { value: counted, configurable: true, writable: true, enumerable: false });
    restore.push(() => Object.defineProperty(owner, name, { value: original, configurable: true, writable: true, enumerable: false }));
  };
  for (const [owner, names, cost] of COUNTED) for (const name of names.split(" ")) count(owner, name, cost);
  // spreads and for … of; `[first] = list` takes one step
  const iterate = Array.prototype[Symbol.iterator];
  const counted = function* (this: unknown[]) {
    for (let i = 0; i < this.length; i++) {
      steps++;
      yield this[i];
    }
  };
  const define = (value: unknown) =>
    Object.defineProperty(Array.prototype, Symbol.iterator, { value, configurable: true, writable: true, enumerable: false });
  define(counted);
  restore.push(() => define(iterate));
  count(Map.prototype, Symbol.iterator, ({ size }) => size);
  count(Set.prototype, Symbol.iterator, ({ size }) => size);
  try {
    work();
  } catch {
    // rejected: the steps before count
  } finally {
    for (const undo of restore.reverse()) undo();
  }
  return steps;
}
