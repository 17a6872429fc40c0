// Finds the values that sorting would put at given places, without sorting: the values are counted by the leading bits of their order, and
// only those with the bits of the wanted one are looked at again.
import { inRange, type Steps, sortValues } from "../steps.ts";

export type Numbers = Float64Array | BigInt64Array | BigUint64Array;

/** Fewer are sorted. */
const COUNTED_MIN = 16_384;
const DIGITS = 1 << 16;

/** The values that sorting values[from .. end) puts at `places`, 0 to end - from - 1; NaN comes last. */
export function* nthValues<T extends Numbers>(values: T, from: number, end: number, places: readonly number[]): Steps<T[number][]> {
  if (end - from < COUNTED_MIN) {
    const sorted = values.slice(from, end);
    yield* sortValues(sorted);
    return places.map((place) => sorted[place]!);
  }
  const orders = new Orders(values);
  const counts = new Uint32Array(DIGITS);
  yield* inRange(from, end, (start, stop) => {
    for (let i = start; i < stop; i++) counts[orders.of(i) >>> 16]!++;
  });
  const found: T[number][] = [];
  const known = new Map<number, Within>();
  for (const place of places) {
    const { digit, before } = digitOf(counts, place);
    const own = known.get(digit) ?? (yield* within(orders, from, end, digit));
    known.set(digit, own);
    found.push(yield* nthWithin(values, own, place - before));
  }
  return found;
}

/** The values whose order begins with a digit: where they are, and how many of them have each next digit. */
interface Within {
  readonly positions: Uint32Array;
  readonly counts: Uint32Array;
  readonly orders: Orders;
}

function* within(orders: Orders, from: number, end: number, digit: number): Steps<Within> {
  const counts = new Uint32Array(DIGITS);
  let count = 0;
  yield* inRange(from, end, (start, stop) => {
    for (let i = start; i < stop; i++) {
      const order = orders.of(i);
      if (order >>> 16 !== digit) continue;
      counts[order & (DIGITS - 1)]!++;
      count++;
    }
  });
  const positions = new Uint32Array(count);
  count = 0;
  yield* inRange(from, end, (start, stop) => {
    for (let i = start; i < stop; i++) if (orders.of(i) >>> 16 === digit) positions[count++] = i;
  });
  return { positions, counts, orders };
}

function* nthWithin<T extends Numbers>(values: T, { positions, counts, orders }: Within, place: number): Steps<T[number]> {
  const { digit, before } = digitOf(counts, place);
  const own = new (values.constructor as new (length: number) => T)(counts[digit]!);
  let count = 0;
  let areEqual = true;
  yield* inRange(0, positions.length, (start, stop) => {
    for (let i = start; i < stop; i++) {
      if ((orders.of(positions[i]!) & (DIGITS - 1)) !== digit) continue;
      own[count] = values[positions[i]!]!;
      if (own[count] !== own[0]) areEqual = false;
      count++;
    }
  });
  if (!areEqual) yield* sortValues(own);
  return own[place - before]!;
}

/** The digit of the value at a place, and the number of values with lesser ones. */
function digitOf(counts: Uint32Array, place: number): { readonly digit: number; readonly before: number } {
  let before = 0;
  let digit = 0;
  while (before + counts[digit]! <= place) before += counts[digit++]!;
  return { digit, before };
}

/** The 32 leading bits of 64-bit numbers, so that unsigned integers have their order. */
class Orders {
  private readonly words: Uint32Array;
  private readonly kind: "float" | "signed" | "unsigned";

  constructor(values: Numbers) {
    this.words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    this.kind = values instanceof Float64Array ? "float" : values instanceof BigInt64Array ? "signed" : "unsigned";
  }

  of(i: number): number {
    const high = this.words[2 * i + 1]!;
    if (this.kind === "unsigned") return high;
    if (this.kind === "signed") return (high ^ 0x8000_0000) >>> 0;
    // NaN of either sign
    if ((high & 0x7fff_ffff) >= 0x7ff0_0000 && ((high & 0xf_ffff) !== 0 || this.words[2 * i] !== 0)) return 0xffff_ffff;
    return high >= 0x8000_0000 ? ~high >>> 0 : (high | 0x8000_0000) >>> 0;
  }
}
