// 64- and 128-bit integers as text, around every power at which the method changes.
import { expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { ByteWriter } from "../byte-writer.ts";
import { decimalText, readInt128, writeInt64, writeUint64 } from "./wide-text.ts";

const SEED = Number(process.env["SEED"] ?? 22);

function int64(value: bigint): string {
  const out = new ByteWriter();
  const low = Number(value & 0xffffffffn);
  if (value > 2n ** 63n - 1n) writeUint64(out, low, Number(value >> 32n));
  else writeInt64(out, low, Number(value >> 32n));
  return new TextDecoder().decode(out.take());
}

const AROUND = [
  0n,
  1n,
  9n,
  10n,
  999_999_999n,
  10n ** 9n,
  2n ** 31n,
  2n ** 32n,
  10n ** 15n,
  2n ** 53n,
  10n ** 18n,
  2n ** 63n - 1n,
  2n ** 64n - 2n,
];

test.each(AROUND.flatMap((value) => [value - 1n, value, value + 1n, -value]).filter((value) => value >= -(2n ** 63n)))("%p", (value) => {
  expect(int64(value)).toBe(value.toString());
});

test(`random 64-bit integers, seed ${SEED}`, () => {
  const below = prng(SEED);
  for (let count = 0; count < 10_000; count++) {
    const value = BigInt.asIntN(64, (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32))) >> BigInt(below(64));
    expect(int64(value)).toBe(value.toString());
  }
});

test.each([
  [150n, 2, "1.50"],
  [-5n, 2, "-0.05"],
  [0n, 3, "0.000"],
  [7n, 0, "7"],
  [7n, -2, "700"],
  [10n ** 37n, 37, `1.${"0".repeat(37)}`],
] as [bigint, number, string][])("%p with %p decimals is %s", (unscaled, scale, text) => expect(decimalText(unscaled, scale)).toBe(text));

test.each([
  [new Uint8Array(16).fill(255), true, -1n],
  [new Uint8Array(16).fill(255), false, 2n ** 128n - 1n],
  [Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 1), true, 2n ** 64n],
] as [Uint8Array, boolean, bigint][])("128 bits %p, signed %p", (bytes, signed, value) => {
  const view = new DataView(new ArrayBuffer(17));
  for (const [index, byte] of bytes.entries()) view.setUint8(index + 1, byte);
  expect(readInt128(view, 1, signed)).toBe(value);
});
