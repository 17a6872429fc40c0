// What a bound leaves out of a scan: rows whose rank is beyond it, and no others where ranks tell keys apart.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../../test/support/prng.ts";
import { evaluate } from "../../../../test/support/rows/naive-expression.ts";
import { ColumnType } from "../../../model/rows/column.ts";
import { KeyBound } from "./key-bound.ts";
import { KeyRanks } from "./key-ranks.ts";

const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const FLOATS = [null, Number.NaN, Infinity, -Infinity, 0, -0, 1.5, -1.5, 5e-324, 1e308, -1e308];
const INTEGERS = [
  null,
  I64_MIN,
  I64_MIN + 1n,
  I64_MAX,
  I64_MAX - 1n,
  0n,
  -1n,
  2n ** 53n,
  2n ** 53n + 1n,
  -(2n ** 53n) - 1n,
  2n ** 62n + 513n,
];
const ORDERS = [false, true].flatMap((isDescending) => [false, true].map((nullsFirst) => ({ isDescending, nullsFirst })));

const rankOf = (ranks: KeyRanks, value: number | bigint | null) =>
  ranks.of(
    {
      validity: Uint8Array.of(value === null ? 0 : 1),
      values: typeof value === "bigint" ? BigInt64Array.of(value) : Float64Array.of(value ?? 0),
    },
    0,
  );

describe.each([
  ["float", ColumnType.float, FLOATS],
  ["integer", ColumnType.integer, INTEGERS],
] as [string, ColumnType, (number | bigint | null)[]][])("%s", (_, type, special) => {
  test.each(ORDERS)("descending %p", (order) => {
    const below = prng(3);
    const near = special.flatMap((value): (number | bigint)[] => {
      if (typeof value === "bigint") return [1n, 700n, 3000n].flatMap((step) => [value - step, value + step]);
      return value === null ? [] : [value + 1, value - 1, below(100) - 50];
    });
    const values = [...special, ...near].filter((value) => typeof value !== "bigint" || (value >= I64_MIN && value <= I64_MAX));
    const ranks = new KeyRanks(type, order, 1);
    const bound = KeyBound.of({ id: 7, name: "x", type }, order)!;
    const passes = (value: number | bigint | null) => evaluate(bound.expression, () => value) === true;
    expect(values.map(passes)).toEqual(values.map(() => true));
    for (const last of values) {
      const rank = rankOf(ranks, last);
      for (const isStrict of [false, true]) {
        if (isStrict && !ranks.isExact(rank)) continue;
        bound.bound = { rank, isStrict };
        for (const value of values) {
          const own = rankOf(ranks, value);
          const isWithin = isStrict ? own < rank : own <= rank;
          const isTold = ranks.isExact(rank) && (value === null || ranks.isExact(own) || Math.abs(own - rank) > 1e6);
          // where it is not known, rows may stay
          if (isWithin) expect([last, value, isStrict, passes(value)]).toEqual([last, value, isStrict, true]);
          else if (isTold) expect([last, value, isStrict, passes(value)]).toEqual([last, value, isStrict, false]);
        }
      }
    }
  });
});

test("other keys have no bound", () => {
  for (const type of [ColumnType.time, ColumnType.tag, ColumnType.unsigned, ColumnType.string, ColumnType.boolean])
    expect(KeyBound.of({ id: 7, name: "x", type }, { isDescending: false, nullsFirst: false })).toBeNull();
});
