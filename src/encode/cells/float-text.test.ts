// Floats as text: the layout by table, and that every text reads back to the same bits.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ByteWriter } from "../byte-writer.ts";
import { DoubleText, doubleText, type FloatLayout, JSON_LAYOUT, nonFiniteText, singleText } from "./float-text.ts";

const SEED = Number(process.env["SEED"] ?? 20);

/** `values` through one writer, so that what it remembers of a column takes part. */
function column(values: readonly number[], layout?: FloatLayout): string[] {
  const out = new ByteWriter();
  const text = new DoubleText(out, layout);
  return values.map((value) => {
    text.write(value);
    return new TextDecoder().decode(out.take());
  });
}

const LAYOUT: [value: number, text: string][] = [
  // whole numbers show a fraction
  [0, "0.0"],
  [-0, "-0.0"],
  [1, "1.0"],
  [-17, "-17.0"],
  [999999999999999, "999999999999999.0"],
  [1e15, "1000000000000000.0"],
  [2 ** 53, "9007199254740992.0"],
  // exponents from 1e16 on
  [9999999999999998, "9999999999999998.0"],
  [1e16, "1e16"],
  [12345678901234567000, "1.2345678901234567e19"],
  [1e21, "1e21"],
  [1.7976931348623157e308, "1.7976931348623157e308"],
  // and below 1e-5
  [0.5, "0.5"],
  [0.05, "0.05"],
  [0.00001, "0.00001"],
  [0.000012, "0.000012"],
  [0.000001, "1e-6"],
  [-0.0000015, "-1.5e-6"],
  [5e-324, "5e-324"],
  // shortest digits
  [0.1, "0.1"],
  [0.1 + 0.2, "0.30000000000000004"],
  [100.25, "100.25"],
  [1e-7 * 3, "3e-7"],
  [123456.789, "123456.789"],
  [4.35, "4.35"],
  [1.005, "1.005"],
  [2 ** 53 / 10, "900719925474099.2"],
];

describe("doubles", () => {
  test.each(LAYOUT)("%p is %s", (value, text) => {
    expect(doubleText(value)).toBe(text);
    expect(column([value])).toEqual([text]);
  });

  // Source of where an exponent begins in JSON: arrow-json writes with lexical-core, whose exponent break is 9
  const JSON_TEXTS: [value: number, text: string][] = [
    [9999999999.5, "9999999999.5"],
    [1e10, "1.0e10"],
    [-12345678901.25, "-1.234567890125e10"],
    [0.00001, "0.00001"],
    [0.000001, "1.0e-6"],
    [1e21, "1.0e21"],
    [5e-324, "5.0e-324"],
    [-0, "-0.0"],
  ];
  test.each(JSON_TEXTS)("%p is %s in JSON", (value, text) => {
    expect(doubleText(value, JSON_LAYOUT)).toBe(text);
    expect(column([value, 0.5, value], JSON_LAYOUT)).toEqual([text, "0.5", text]);
  });

  test("a column's memory changes no text", () => {
    const values = LAYOUT.map(([value]) => value);
    const texts = LAYOUT.map(([, text]) => text);
    expect(column([...values, ...values, ...values.toReversed()])).toEqual([...texts, ...texts, ...texts.toReversed()]);
  });

  test(`random bits read back, seed ${SEED}`, () => {
    const below = prng(SEED);
    const bits = new DataView(new ArrayBuffer(8));
    const values: number[] = [];
    for (let count = 0; count < 20_000; count++) {
      bits.setUint32(0, below(2 ** 32));
      bits.setUint32(4, below(2 ** 32));
      if (Number.isFinite(bits.getFloat64(0))) values.push(bits.getFloat64(0));
    }
    const texts = column(values);
    for (const [index, value] of values.entries()) {
      expect(Number(texts[index])).toBe(value);
      expect(texts[index]).toMatch(/^-?\d+(\.\d+)?(e-?\d+)?$/);
    }
  });

  test(`random decimals come out with their own digits, seed ${SEED}`, () => {
    const below = prng(SEED + 1);
    const expected: string[] = [];
    for (let count = 0; count < 20_000; count++) {
      const decimals = 1 + below(9);
      const fraction = String(below(10 ** decimals))
        .padStart(decimals, "0")
        .replace(/0+$/, "");
      const whole = below(10 ** (1 + below(6)));
      if (whole === 0) continue; // the exponent's threshold has its table above
      expected.push(`${below(2) === 0 ? "" : "-"}${whole}.${fraction === "" ? "0" : fraction}`);
    }
    expect(column(expected.map(Number))).toEqual(expected);
  });
});

const SINGLES: [value: number, text: string][] = [
  [0.1, "0.1"],
  [16777216, "16777216.0"],
  [3.4028234663852886e38, "3.4028235e38"],
  [1.401298464324817e-45, "1e-45"],
  [1.1754943508222875e-38, "1.1754944e-38"],
  [-2.5, "-2.5"],
  [0.3, "0.3"],
  [1 / 3, "0.33333334"],
  [-0, "-0.0"],
  // from here on as Arrow's cast of a Float32 to text has them
  [1e-6, "0.000001"],
  [1.5e-6, "0.0000015"],
  [-1e-5, "-0.00001"],
  [9e-7, "9e-7"],
  [1e12, "1000000000000.0"],
  [1e13, "1e13"],
  [1.1e13, "1.1e13"],
];

describe("singles", () => {
  test.each(SINGLES)("%p is %s", (value, text) => expect(singleText(Math.fround(value))).toBe(text));

  test("singles in JSON have the vendor's exponents", () => {
    expect([1e10, 1e-45, 2.5].map((value) => singleText(Math.fround(value), JSON_LAYOUT))).toEqual(["1.0e10", "1.0e-45", "2.5"]);
  });

  test(`random bits read back, seed ${SEED}`, () => {
    const below = prng(SEED + 2);
    const bits = new DataView(new ArrayBuffer(4));
    for (let count = 0; count < 20_000; count++) {
      bits.setUint32(0, below(2 ** 32));
      const value = bits.getFloat32(0);
      if (Number.isFinite(value)) expect(Math.fround(Number(singleText(value)))).toBe(value);
    }
  });
});

test("NaN and infinities have the vendor's words", () => {
  expect([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(nonFiniteText)).toEqual(["NaN", "inf", "-inf"]);
});
