// A field of every result type, and seeded random rows for them: the input for comparisons of encoders' readers.

import type { ResultField, ResultType } from "../../../src/model/query/result-batch.ts";
import type { Below } from "../prng.ts";
import type { Plain } from "./result-batch.ts";

const ITEM: ResultField = { name: "item", type: { kind: "int", bits: 32, signed: true } };
const LIST: ResultType = { kind: "list", child: ITEM };
const FLOATS = [0, -0, 1.5, -1e300, 5e-324, Number.MAX_VALUE];
const TEXTS = ["", "a", "Zürich 🏔", "x".repeat(40), "line\nbreak", '"quoted", too'];

/** Name, type and a maker of values that are not null. */
const KINDS: [name: string, type: ResultType, make: (below: Below) => Plain][] = [
  ["bool", { kind: "bool" }, (below) => below(2) === 1],
  ["i8", { kind: "int", bits: 8, signed: true }, (below) => below(256) - 128],
  ["u8", { kind: "int", bits: 8, signed: false }, (below) => below(256)],
  ["i16", { kind: "int", bits: 16, signed: true }, (below) => below(65536) - 32768],
  ["u16", { kind: "int", bits: 16, signed: false }, (below) => below(65536)],
  ["i32", { kind: "int", bits: 32, signed: true }, (below) => below(2 ** 32) - 2 ** 31],
  ["u32", { kind: "int", bits: 32, signed: false }, (below) => below(2 ** 32)],
  ["i64", { kind: "int", bits: 64, signed: true }, (below) => BigInt.asIntN(64, bits64(below))],
  ["u64", { kind: "int", bits: 64, signed: false }, bits64],
  ["huge", { kind: "hugeint", signed: true }, (below) => (BigInt.asIntN(64, bits64(below)) * bits64(below)) / 10n],
  ["uhuge", { kind: "hugeint", signed: false }, (below) => bits64(below) * BigInt(below(2 ** 32))],
  ["f32", { kind: "float", bits: 32 }, (below) => Math.fround((below(2 ** 32) - 2 ** 31) / 1024)],
  ["f64", { kind: "float", bits: 64 }, (below) => FLOATS[below(FLOATS.length)]!],
  ["decimal", { kind: "decimal", precision: 18, scale: 3 }, (below) => BigInt(below(2 ** 32)) - 2n ** 31n],
  ["text", { kind: "utf8" }, (below) => TEXTS[below(TEXTS.length)]!],
  ["binary", { kind: "binary" }, (below) => Uint8Array.from({ length: below(5) }, () => below(256))],
  ["tag", { kind: "dictionary" }, (below) => `host_${below(50)}`],
  ["time", { kind: "timestamp", unit: "ns", zone: null }, (below) => BigInt.asIntN(64, bits64(below))],
  ["time_us", { kind: "timestamp", unit: "us", zone: "Europe/Berlin" }, (below) => BigInt(below(2 ** 32)) * 1_000_001n],
  ["time_ms", { kind: "timestamp", unit: "ms", zone: null }, (below) => BigInt(below(2 ** 32)) - 2n ** 31n],
  ["time_s", { kind: "timestamp", unit: "s", zone: null }, (below) => BigInt(below(2 ** 32)) - 2n ** 31n],
  ["date", { kind: "date" }, (below) => below(100_000) - 50_000],
  ["clock_us", { kind: "time", unit: "us" }, (below) => BigInt(below(2 ** 32)) * 20n],
  ["clock_ns", { kind: "time", unit: "ns" }, (below) => BigInt(below(2 ** 32)) * 20_000n],
  ["clock_ms", { kind: "time", unit: "ms" }, (below) => BigInt(below(86_400_000))],
  ["clock_s", { kind: "time", unit: "s" }, (below) => BigInt(below(86_400))],
  ["took_ns", { kind: "duration", unit: "ns" }, (below) => BigInt.asIntN(64, bits64(below))],
  ["took_s", { kind: "duration", unit: "s" }, (below) => BigInt(below(2 ** 32)) - 2n ** 31n],
  ["interval", { kind: "interval" }, (below) => [below(100) - 50, below(100) - 50, BigInt(below(2 ** 32)) - 2n ** 31n]],
  ["list", LIST, (below) => listOf(below)],
  [
    "struct",
    {
      kind: "struct",
      children: [
        { name: "a", type: { kind: "bool" } },
        { name: "b", type: LIST },
      ],
    },
    (below) => ({ a: below(3) === 0 ? null : below(2) === 1, b: below(3) === 0 ? null : listOf(below) }),
  ],
  [
    "map",
    { kind: "map", key: { name: "key", type: { kind: "utf8" } }, value: { name: "value", type: { kind: "float", bits: 64 } } },
    (below) => Array.from({ length: below(3) }, (_, entry) => [`k${entry}`, below(4) === 0 ? null : below(100) / 4] as const),
  ],
  [
    "tags",
    { kind: "list", child: { name: "item", type: { kind: "dictionary" } } },
    (below) => Array.from({ length: below(3) }, () => `t${below(9)}`),
  ],
  ["null", { kind: "null" }, () => null],
];

export const EVERY_KIND: readonly ResultField[] = KINDS.map(([name, type]) => ({ name, type }));

/** `count` rows; about every fifth value is NULL, but none in row 0. */
export function everyKindRows(below: Below, count: number): Plain[][] {
  return Array.from({ length: count }, (_, row) => KINDS.map(([, , make]) => (row > 0 && below(5) === 0 ? null : make(below))));
}

function bits64(below: Below): bigint {
  return (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));
}

function listOf(below: Below): Plain[] {
  return Array.from({ length: below(4) }, () => (below(4) === 0 ? null : below(1000)));
}
