// Round trips of every encoding on columns made to be awkward, and which encoding is chosen.
import { describe, expect, test } from "bun:test";
import {
  BITS_CONSTANT,
  BITS_PLAIN,
  BITS_RUNS,
  CODEC_HEADER_BYTES,
  FLOATS_ALP,
  FLOATS_CONSTANT,
  FLOATS_PLAIN,
  FLOATS_XOR,
  INTS_CONSTANT,
  INTS_DELTA,
  INTS_DELTA2,
  INTS_FRAME,
  INTS_PLAIN,
  STRINGS_DICTIONARY,
  STRINGS_PLAIN,
} from "../../../assembly/abi.ts";
import { prng } from "../../../test/support/prng.ts";
import {
  bitsOf,
  checkRoundTrip,
  codec,
  decode,
  encode,
  floats,
  kernel,
  range,
  type Values,
} from "../../../test/support/rows/codec-columns.ts";
import { Arena } from "../../../test/support/rows/rows.ts";
import { ColumnType } from "../../model/rows/column.ts";

const { float, integer, unsigned, boolean, string, time } = ColumnType;
const I64_MIN = -(2n ** 63n);
const I64_MAX = 2n ** 63n - 1n;
const U64_MAX = 2n ** 64n - 1n;

// Counts on both sides of packs (128 values), blocks (384), words of bitmaps (64) and pages.
const COUNTS = [1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 130, 131, 257, 383, 384, 385, 386, 1000, 16385];
const below = prng(7);
const random64 = () => (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));

const INTEGERS: Record<string, (i: number) => bigint> = {
  zero: () => 0n,
  "one value": () => -5n,
  alternating: (i) => (i % 2 === 0 ? I64_MIN : I64_MAX),
  "alternating by one": (i) => I64_MAX - BigInt(i % 2),
  counter: (i) => BigInt(i) * 3n - 7n,
  "counter down across zero": (i) => 100n - BigInt(i) * 1000003n,
  "small random": () => BigInt(below(100)),
  "random signs": () => BigInt(below(2001) - 1000),
  "random 64 bits": random64,
  "random widths": () => random64() >> BigInt(below(64)),
  // an exception behind a gap of more than 255
  "one giant a block": (i) => (i % 384 === 300 ? 2n ** 40n : BigInt(below(3))),
  "base 201": () => BigInt(below(201)),
  "base 1625": (i) => (i % 50 === 0 ? 99_999n : BigInt(below(1625))),
  "base 1626": () => BigInt(below(1626)),
  "rare giants": () => (below(100) === 0 ? random64() : BigInt(below(8))),
  "jump in the last row": (i) => (i > 2 ? I64_MIN : BigInt(i)),
  "seconds with jitter": (i) => BigInt(1_700_000_000 + i * 10 + below(2)) * 1_000_000_000n,
  "common divisor": () => BigInt(below(50)) * 4096n - 77n,
  "divisor with one offender": (i) => BigInt(i) * 4096n + (i === 200 ? 1n : 0n),
  "two intervals": (i) => BigInt(i < 500 ? i * 10 : 5000 + (i - 500) * 600) * 1_000_000n,
  squares: (i) => BigInt(i) * BigInt(i),
};
const FLOATS: Record<string, (i: number) => number> = {
  "positive zero": () => 0,
  "negative zero": () => -0,
  "mixed zeros": (i) => (i % 3 === 0 ? -0 : 0),
  "one decimal": () => below(1000) / 10,
  "two decimals with signs": () => (below(20001) - 10000) / 100,
  "decimals with holes": (i) => (i % 50 === 0 ? Number.NaN : below(1000) / 10),
  "decimals of growing length": (i) => below(10 ** (i % 9)) / 10 ** (i % 9),
  infinities: (i) => (i % 2 === 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY),
  subnormals: (i) => Number.MIN_VALUE * (i + 1),
  largest: (i) => (i % 2 === 0 ? Number.MAX_VALUE : -Number.MAX_VALUE),
  "many digits": () => below(2 ** 32) / 7 + below(1000),
  sine: (i) => Math.sin(i / 100),
  "whole and large": (i) => (i + 1) * 1e15,
  "2^51": (i) => 2 ** 51 - 4 + i,
  thirds: (i) => i / 3,
};

describe("integers", () => {
  test.each(Object.entries(INTEGERS))("%s", (_, value) => {
    for (const count of COUNTS) {
      const values = range(count, value);
      checkRoundTrip(integer, values);
      checkRoundTrip(unsigned, values);
      checkRoundTrip(
        time,
        values.map((value, i) => (i % 7 === 3 ? null : value)),
      );
    }
  });

  test("one value that the sample misses, among many of the smallest", () => {
    for (const count of [129, 1000])
      for (const at of [5, count - 1])
        checkRoundTrip(
          integer,
          range(count, (i) => (i === at ? 77n : 3n)),
        );
  });

  test("extremes of u64", () => {
    checkRoundTrip(unsigned, [0n, U64_MAX, 2n ** 63n, 2n ** 63n - 1n, 1n, U64_MAX - 1n]);
    // neighbours of 2^63 are far apart only when they are taken for signed
    expect(
      checkRoundTrip(
        unsigned,
        range(128, (i) => 2n ** 63n - 64n + BigInt(i % 2 === 0 ? i : 127 - i)),
      ).bytes,
    ).toBeLessThan(200);
  });
});

describe("floats", () => {
  test.each(Object.entries(FLOATS))("%s", (_, value) => {
    for (const count of COUNTS) {
      const values = floats(range(count, value));
      checkRoundTrip(float, values);
      checkRoundTrip(
        float,
        values.map((value, i) => (i % 5 === 2 ? null : value)),
      );
    }
  });

  test("any bits, NaN payloads among them", () => {
    for (const count of COUNTS) checkRoundTrip(float, range(count, random64));
    checkRoundTrip(float, [0x7ff8000000000001n, 0xfff8000000000002n, 0x7ff0000000000001n, 0x7ff8000000000000n, bitsOf(1.5)]);
  });
});

describe("booleans and presence", () => {
  const PRESENT: Record<string, (i: number) => boolean> = {
    all: () => true,
    none: () => false,
    alternating: (i) => i % 2 === 0,
    "first only": (i) => i === 0,
    "last absent": (i) => i % 1000 !== 999,
    "long runs": (i) => Math.floor(i / 700) % 2 === 1,
    random: () => below(2) === 0,
  };
  test.each(Object.entries(PRESENT))("%s", (_, present) => {
    for (const count of COUNTS) {
      const bits = range(count, present);
      checkRoundTrip(
        boolean,
        bits.map((bit) => (bit ? 1n : 0n)),
      );
      checkRoundTrip(
        boolean,
        bits.map((bit, i) => (bit ? BigInt(i % 2) : null)),
      );
      checkRoundTrip(
        integer,
        bits.map((bit, i) => (bit ? BigInt(i) : null)),
      );
      checkRoundTrip(
        string,
        bits.map((bit, i) => (bit ? `value ${i}`.repeat(1 + (i % 3)) : null)),
      );
    }
  });
});

describe("strings", () => {
  const STRINGS: Record<string, (i: number) => string> = {
    empty: () => "",
    "one value": () => "the same text in every row",
    "few values": (i) => ["ok", "warning", "a state with a long name", "ошибка"][i % 4]!,
    distinct: (i) => `host_${i}`,
    "around the inline length": (i) => "x".repeat(10 + (i % 6)),
    unicode: (i) => "é漢🙂".repeat(i % 4),
    "same prefix, same length": (i) => `prefix prefix prefix ${String(i % 10).padStart(3, "0")}`,
  };
  test.each(Object.entries(STRINGS))("%s", (_, value) => {
    for (const count of COUNTS) {
      checkRoundTrip(string, range(count, value));
      checkRoundTrip(
        string,
        range(count, (i) => (i % 3 === 1 ? null : value(i))),
      );
    }
  });

  test("1 MiB beside the empty one", () => {
    checkRoundTrip(string, ["", "x".repeat(1 << 20), null, "é".repeat(1 << 19), ""]);
  });

  test("zero bytes count", () => {
    checkRoundTrip(string, ["a", "a\0", "a\0\0", "", "\0", "a", "a\0", ""]);
  });
});

test("a column without rows is a header alone", () => {
  for (const type of [time, float, integer, unsigned, string, boolean]) {
    const arena = new Arena(kernel);
    const source = encode(arena, type, []);
    expect(source.bytes).toBe(CODEC_HEADER_BYTES);
    expect(decode(arena, type, source)).toEqual({ values: [], hasNulls: false });
    arena.free();
  }
});

test("u32 columns are encoded and decoded", () => {
  for (const value of [
    (i: number) => i,
    (i: number) => i % 100,
    () => below(2 ** 32),
    () => 2 ** 32 - 1,
    (i: number) => Math.floor(i / 300),
  ]) {
    for (const count of COUNTS) {
      const arena = new Arena(kernel);
      const values = range(count, value);
      const ptr = arena.alloc(codec.u32BytesMax(count));
      const bytes = codec.encodeU32(arena.u32(values), count, ptr);
      const back = arena.alloc(count * 4);
      codec.decodeU32({ ptr, bytes, rowCount: count }, back);
      expect([...kernel.u32.subarray(back / 4, back / 4 + count)]).toEqual(values);
      arena.free();
    }
  }
});

// The encoding that each kind of data is for, and a size that it should reach: bytes of 16,384 rows, 16 of them the head.
const CHOICES: [name: string, type: ColumnType, values: Values, encoding: number, bytesMax: number][] = [
  ["constant", integer, range(16384, () => 12n), INTS_CONSTANT, 30],
  // 7 bits a value, 20 bits for three in base 100
  ["0..99 unordered", integer, range(16384, () => BigInt(below(100))), INTS_FRAME, 13_900],
  ["0..200 unordered", integer, range(16384, () => BigInt(below(201))), INTS_FRAME, 16_000],
  // equal intervals cost the heads of 43 blocks
  ["regular times", time, range(16384, (i) => 1_700_000_000_000_000_000n + BigInt(i) * 10_000_000_000n), INTS_DELTA, 150],
  // 100 rows a series: an exception a series in blocks of nothing else
  ["times of 164 series", time, range(16384, (i) => BigInt(i % 100) * 10_000_000_000n), INTS_DELTA, 500],
  // an interval per 400 rows, each another: an exception a change
  ["times of many intervals", time, range(16384, (i) => BigInt((i % 400) * ((i / 400) | 0) * 1013 * 1_000_000)), INTS_DELTA2, 600],
  ["random", integer, range(16384, random64), INTS_PLAIN, 16384 * 8 + 20],
  ["float constant", float, floats(range(16384, () => 0.1)), FLOATS_CONSTANT, 30],
  // 0.0 .. 99.9: 10 bits
  ["one decimal", float, floats(range(16384, () => below(1000) / 10)), FLOATS_ALP, 21_000],
  ["smooth", float, floats(range(16384, (i) => 1 + Math.sin(i / 1e5))), FLOATS_XOR, 16384 * 7],
  ["random bits", float, range(16384, random64), FLOATS_PLAIN, 16384 * 8 + 20],
  ["true", boolean, range(16384, () => 1n), BITS_CONSTANT, 20],
  ["random booleans", boolean, range(16384, () => BigInt(below(2))), BITS_PLAIN, 2048 + 20],
  ["long runs", boolean, range(16384, (i) => BigInt(Math.floor(i / 2000) % 2)), BITS_RUNS, 50],
  ["few strings", string, range(16384, (i) => `state ${i % 5}`), STRINGS_DICTIONARY, 16384 * 0.4 + 400],
  ["distinct strings", string, range(16384, (i) => `${i}`), STRINGS_PLAIN, 16384 * 6],
];
test.each(CHOICES)("encoding of: %s", (_, type, values, encoding, bytesMax) => {
  const got = checkRoundTrip(type, values);
  expect(got.encoding).toBe(encoding);
  expect(got.bytes).toBeLessThanOrEqual(bytesMax);
});

test("absent rows cost their bit only", () => {
  const dense = checkRoundTrip(
    integer,
    range(8192, () => BigInt(below(100))),
  );
  const sparse = checkRoundTrip(
    integer,
    range(16384, (i) => (i % 2 === 0 ? BigInt(below(100)) : null)),
  );
  expect(sparse.bytes).toBeLessThan(dense.bytes + 16384 / 8 + 64);
});

describe("random columns", () => {
  const SEED = Number(process.env["SEED"] ?? 4);
  const ROUNDS = Number(process.env["ROUNDS"] ?? 400);

  /** Stretches of different habits, each on its own scale: what no single table row would think of. */
  function randomBits(below: (n: number) => number, count: number): bigint[] {
    const values: bigint[] = [];
    const bits64 = () => (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));
    while (values.length < count) {
      const scale = [1n, 1n, 10n, 4096n, 1_000_000_000n, 3n ** 30n][below(6)]!;
      const base = below(3) === 0 ? bits64() : BigInt(below(1000));
      const step = BigInt(below(5)) * scale;
      const habit = below(6);
      for (let i = 0, rows = 1 + below(below(2) === 0 ? 400 : 5); i < rows && values.length < count; i++) {
        const noise = BigInt(below(10)) * scale;
        const next = [base, base + BigInt(i) * step, base + BigInt(i) * step + noise, base + BigInt(i * i) * scale, bits64(), noise][
          habit
        ]!;
        values.push(BigInt.asIntN(64, next));
      }
    }
    return values;
  }

  test(`seed ${SEED}`, () => {
    const below = prng(SEED);
    for (let round = 0; round < ROUNDS; round++) {
      const type = [integer, unsigned, time, float, boolean, string][below(6)]!;
      const bits = randomBits(below, 1 + below(below(4) === 0 ? 3000 : 40));
      const decimals = 10 ** below(5);
      const value = (bit: bigint) => {
        if (type === float) return below(50) > 0 ? bitsOf(Number(bit >> 16n) / decimals) : bit;
        if (type === boolean) return bit & 1n;
        return type === string ? String(bit).slice(0, 1 + below(20)) : bit;
      };
      const nulls = below(3);
      checkRoundTrip(
        type,
        bits.map((bit) => (nulls > 0 && below(nulls * 4) === 0 ? null : value(bit))),
      );
    }
  }, 120_000);
});
