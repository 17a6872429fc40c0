// The values at some places against a sort of all: floats of any kind, integers of 64 bits, few and many equal ones.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { finish } from "../steps.ts";
import { nthValues } from "./nth-values.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const COUNTS = [1, 2, 1000, 16_384, 60_000];

type Below = (limit: number) => number;

const FLOATS: readonly (readonly [name: string, make: (below: Below) => number])[] = [
  ["percents", (below) => below(10_000) / 100],
  ["integers", (below) => below(2 ** 32) - 2 ** 31],
  ["near each other", (below) => 50 + below(1 << 20) * 2 ** -47],
  ["of any size", (below) => (below(2) === 0 ? -1 : 1) * below(1 << 20) * 2 ** (below(1200) - 600)],
  ["equal", () => 0.1],
  ["special", (below) => [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 5e-324, -5e-324, 1.7e308][below(7)]!],
];

const INTEGERS: readonly (readonly [name: string, make: (below: Below) => bigint])[] = [
  ["small", (below) => BigInt(below(100))],
  ["large", (below) => (BigInt(below(2 ** 32)) << 31n) | BigInt(below(2 ** 31))],
  ["that differ in their low bits", (below) => (1n << 62n) + BigInt(below(2 ** 20))],
];

function placesOf(count: number, below: Below): number[] {
  return [0, count - 1, count >>> 1, (count - 1) >>> 1, below(count), below(count)];
}

test.each(FLOATS)(`floats, %s (seed ${SEED})`, (_name, make) => {
  const below = prng(SEED);
  for (const count of COUNTS) {
    const values = Float64Array.from({ length: count + 7 }, () => make(below));
    // the sign of NaN has no meaning, but it has a bit
    new Uint8Array(values.buffer).forEach((byte, i, bytes) => {
      if (i % 8 === 7 && Number.isNaN(values[i >>> 3]!) && below(2) === 0) bytes[i] = byte | 0x80;
    });
    const before = values.slice();
    const places = placesOf(count, below);
    const sorted = values.slice(3, 3 + count).sort();
    expect(finish(nthValues(values, 3, 3 + count, places))).toEqual(places.map((place) => sorted[place]!));
    expect([...values]).toEqual([...before]);
  }
});

test.each(INTEGERS)(`integers, %s (seed ${SEED})`, (_name, make) => {
  const below = prng(SEED);
  for (const count of COUNTS) {
    const signed = BigInt64Array.from({ length: count }, () => make(below) * (below(2) === 0 ? -1n : 1n));
    const unsigned = BigUint64Array.from({ length: count }, () => make(below) + BigInt(below(2)) * 2n ** 63n);
    const places = placesOf(count, below);
    for (const values of [signed, unsigned]) {
      const sorted = values.slice().sort();
      expect(finish(nthValues<BigInt64Array | BigUint64Array>(values, 0, count, places))).toEqual(places.map((place) => sorted[place]!));
    }
  }
});
