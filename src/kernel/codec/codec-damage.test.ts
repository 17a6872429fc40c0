// Damaged columns: whatever the bytes say, decoding ends, stays within source and target, and gives values or one kind of error.
import { describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { decode, decodeParts, encode, floats, kernel, type Parts, range, type Values } from "../../../test/support/rows/codec-columns.ts";
import { Arena } from "../../../test/support/rows/rows.ts";
import { TsdbError } from "../../model/errors.ts";
import { ColumnType } from "../../model/rows/column.ts";

const { float, integer, unsigned, boolean, string, time } = ColumnType;

/** @param parts the rows to decode; undefined: all */
function attempt(type: ColumnType, rowCount: number, damaged: Uint8Array, behind: number, parts?: Parts) {
  const own = new Arena(kernel);
  try {
    const source = { ptr: own.bytes(new Uint8Array([...damaged, ...new Uint8Array(64).fill(behind)])), bytes: damaged.length, rowCount };
    return parts === undefined ? decode(own, type, source) : decodeParts(own, type, source, parts);
  } catch (error) {
    if (error instanceof TsdbError) return error.kind;
    throw error;
  } finally {
    own.free();
  }
}

/** "decoded" or "corrupt_file"; anything else throws. */
function outcomeOf(type: ColumnType, rowCount: number, damaged: Uint8Array): string {
  const result = attempt(type, rowCount, damaged, 0);
  // what lies behind the bytes changes nothing, so it is not read
  if (!Bun.deepEquals(attempt(type, rowCount, damaged, 255), result)) throw new Error(`reads behind ${damaged.toHex()}`);
  checkParts(type, rowCount, damaged, result);
  if (typeof result !== "string") return "decoded";
  if (result !== "corrupt_file") throw new Error(`${result} from ${damaged.toHex()}`);
  return result;
}

/** Some rows of it: what all rows have there, or an error. */
function checkParts(type: ColumnType, rowCount: number, damaged: Uint8Array, whole: ReturnType<typeof attempt>): void {
  const parts: Parts = [
    [1, 2],
    [Math.floor(rowCount / 2), Math.floor(rowCount / 2) + 1],
    [rowCount - 1, rowCount],
  ].filter(([first, end], i, all) => first! < end! && end! <= rowCount && (i === 0 || first! >= all[i - 1]![1]!)) as never;
  const [some, again] = [0, 255].map((behind) => attempt(type, rowCount, damaged, behind, parts));
  if (!Bun.deepEquals(some, again)) throw new Error(`parts read behind ${damaged.toHex()}`);
  if (typeof some === "string" || some === undefined) {
    if (some !== "corrupt_file") throw new Error(`${some} from ${damaged.toHex()}`);
    return;
  }
  if (typeof whole === "string") return;
  const expected = parts.flatMap(([first, end]) => whole.values.slice(first, end));
  if (!Bun.deepEquals(some.values, expected)) throw new Error(`parts differ of ${damaged.toHex()}`);
}

describe("damaged bytes", () => {
  const SEED = Number(process.env["SEED"] ?? 20);
  const ROUNDS = Number(process.env["ROUNDS"] ?? 150);
  const below = prng(1);
  const SUBJECTS: [type: ColumnType, values: Values][] = [
    [integer, range(300, () => BigInt(below(100)))],
    // a whole block and a bit, in base 100 with exceptions
    [integer, range(400, (i) => (i % 60 === 59 ? 2n ** 40n : BigInt(below(100))))],
    [time, range(300, (i) => (below(20) === 0 ? null : BigInt(i % 100) * 10_000_000_000n))],
    [unsigned, range(200, (i) => BigInt(i) * BigInt(i) * 1000n)],
    [float, floats(range(300, (i) => (i % 40 === 0 ? Number.NaN : below(1000) / 10)))],
    [float, floats(range(300, (i) => Math.sin(i / 1e5)))],
    [boolean, range(3000, (i) => (i % 900 === 0 ? null : BigInt(Math.floor(i / 500) % 2)))],
    [string, range(300, (i) => (i % 10 === 0 ? null : `a state of some length ${i % 5}`))],
    [string, range(100, (i) => `text number ${i * 1001}`)],
  ];
  // short enough to give every byte many values
  const SHORT: [type: ColumnType, values: Values][] = [
    [integer, range(20, (i) => (i === 19 ? 2n ** 40n : BigInt(i % 3)))],
    [time, [10n, 20n, null, 40n, 50n]],
    [float, floats([1.5, Number.NaN, 2.5, 3.5, 4.5, 0.5, 1.5, -0])],
    [boolean, range(130, (i) => (i > 120 ? 1n : 0n))],
    [string, ["one", "a text that is longer", "one", "a text that is longer", "one", null]],
    [string, ["one", "a text that is longer"]],
  ];
  test.each(SHORT.map(([type, values], i) => [i, type, values] as const))("every byte, subject %i", (_, type, values) => {
    const arena = new Arena(kernel);
    const { ptr, bytes, rowCount } = encode(arena, type, values);
    const damaged = kernel.copyOut(ptr, bytes);
    for (let at = 0; at < bytes; at++) {
      const good = damaged[at]!;
      for (const value of [0, 1, 127, 128, 255, good - 1, good + 1, ...range(8, (bit) => good ^ (1 << bit))]) {
        damaged[at] = value;
        outcomeOf(type, rowCount, damaged);
      }
      damaged[at] = good;
    }
    arena.free();
  });

  test.each(SUBJECTS.map(([type, values], i) => [i, type, values] as const))(`subject %i, seed ${SEED}`, (_, type, values) => {
    const below = prng(SEED);
    const arena = new Arena(kernel);
    const { ptr, bytes, rowCount } = encode(arena, type, values);
    const good = kernel.copyOut(ptr, bytes);
    const outcome = (damaged: Uint8Array) => outcomeOf(type, rowCount, damaged);
    expect(outcome(good)).toBe("decoded");
    for (let cut = 0; cut < bytes; cut += 1 + Math.floor(bytes / 200)) expect(outcome(good.subarray(0, cut))).toBe("corrupt_file");
    for (let round = 0; round < ROUNDS; round++) {
      const damaged = good.slice();
      for (let hits = 1 + below(4); hits > 0; hits--) {
        // heads are where the damage does most
        const at = below(below(2) === 0 ? Math.min(bytes, 64) : bytes);
        damaged[at] = below(3) === 0 ? below(256) : damaged[at]! ^ (1 << below(8));
      }
      outcome(damaged);
    }
    arena.free();
  });
});
