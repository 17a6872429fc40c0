// Row numbers sorted by key against a sort of plain arrays: stretches of many series, keys at random, and keys that crowd in one place.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { finish, STEP_ROWS } from "../steps.ts";
import { sortByKey } from "./key-order.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const ROWS = 20_000;

type KeyOf = (row: number, below: (limit: number) => number) => number;

const KEYS: readonly (readonly [name: string, keyOf: KeyOf])[] = [
  ["of one series", (row) => row * 10],
  ["of three series", (row) => (row % 7000) * 10],
  ["of 500 series at the same times", (row) => (row % 40) * 10],
  ["of 500 series at their own times", (row, below) => (row % 40) * 1e10 + below(1e9)],
  ["at random", (_, below) => below(2 ** 32)],
  ["at random, negative", (_, below) => -below(1000)],
  ["equal", () => 7],
  ["that descend", (row) => -row],
  ["with one far away", (row, below) => (row === 777 ? 2 ** 52 : below(1000))],
  ["that crowd more and more", (_, below) => 2 ** below(52) + below(3)],
];

test.each(KEYS)(`keys %s (seed ${SEED})`, (_name, keyOf) => {
  const below = prng(SEED);
  const keys = Float64Array.from({ length: ROWS }, (_, row) => keyOf(row, below));
  // of a part of the rows, in any order
  const own = Uint32Array.from({ length: ROWS }, (_, i) => (i * 7919) % ROWS);
  for (const before of [Uint32Array.from(keys.keys()), own]) {
    const [from, end] = [100, ROWS - 50];
    const rows = before.slice();
    finish(sortByKey({ rows, scratch: new Uint32Array(ROWS), keys }, from, end));
    const sorted = [...before.subarray(from, end)].sort((a, b) => keys[a]! - keys[b]!);
    expect([...rows]).toEqual([...before.subarray(0, from), ...sorted, ...before.subarray(end)]);
  }
});

test("rows that crowd in a few buckets are sorted with pauses", () => {
  const below = prng(SEED);
  const rowCount = 16 * STEP_ROWS;
  // one key far away leaves all others, some thousands each, to the first of the buckets
  const keys = Float64Array.from({ length: rowCount }, (_, row) => (row === 5 ? 1e12 : below(1e9)));
  let reads = 0;
  const counted = new Proxy(keys, {
    get: (target, name) => {
      reads++;
      return target[name as unknown as number];
    },
  });
  const rows = Uint32Array.from(keys.keys());
  const steps = sortByKey({ rows, scratch: new Uint32Array(rowCount), keys: counted }, 0, rowCount);
  let most = 0;
  for (let isDone = false; !isDone; reads = 0) {
    isDone = steps.next().done === true;
    most = Math.max(most, reads);
  }
  expect(most).toBeLessThan(32 * STEP_ROWS);
  expect(rows.every((row, i) => i === 0 || keys[rows[i - 1]!]! <= keys[row]!)).toBeTrue();
});
