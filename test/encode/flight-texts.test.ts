// Arrow for clients of Flight: texts are texts, whether they come as text or by code, and no message is as large as a client refuses.
import { describe, expect, test } from "bun:test";
import { tableFromIPC } from "apache-arrow";
import { splitWhole } from "../../src/api/flight/wire/ipc-messages.ts";
import { createEncoder } from "../../src/encode/encode.ts";
import type { ResultColumn, ResultField } from "../../src/model/query/result-batch.ts";
import { prng } from "../support/prng.ts";
import { schemaOf } from "../support/rows/result-batch.ts";

const SEED = Number(process.env["SEED"] ?? 23);

const FIELDS: readonly ResultField[] = [
  { name: "code", type: { kind: "dictionary" }, columnKind: "iox::column_type::tag" },
  { name: "text", type: { kind: "utf8" }, columnKind: "iox::column_type::tag" },
  { name: "n", type: { kind: "int", bits: 64, signed: true } },
];
/** What gRPC clients take of a message unless they are told otherwise. */
const MESSAGE_BYTES_MAX = 4 << 20;

type Row = readonly [code: string | null, text: string | null, n: bigint | null];

function columnsOf(rows: readonly Row[], dictionary: readonly string[]): ResultColumn[] {
  const validityOf = (at: number) => {
    const bits = new Uint8Array((rows.length + 7) >> 3);
    rows.forEach((row, i) => {
      if (row[at] !== null) bits[i >> 3]! |= 1 << (i & 7);
    });
    return bits;
  };
  const texts = rows.map(([, text]) => Buffer.from(text ?? ""));
  const offsets = Int32Array.from([0, ...texts.keys()].map((_, i) => texts.slice(0, i).reduce((sum, { length }) => sum + length, 0)));
  // a NULL's code is anything
  const codes = Uint32Array.from(rows, ([code]) => (code === null ? 4_000_000_000 : dictionary.indexOf(code)));
  return [
    { validity: validityOf(0), values: codes, dictionary },
    { validity: validityOf(1), values: new Uint8Array(0), offsets, data: Buffer.concat(texts) },
    { validity: validityOf(2), values: BigInt64Array.from(rows, ([, , n]) => n ?? 0n) },
  ];
}

/** The stream of batches, each with a dictionary of its own. */
async function streamOf(batches: readonly { rows: readonly Row[]; dictionary: readonly string[] }[]): Promise<Buffer> {
  const encoder = await createEncoder("flight");
  const parts = [encoder.begin(schemaOf("t", FIELDS))];
  for (const { rows, dictionary } of batches) parts.push(encoder.rows({ rowCount: rows.length, columns: columnsOf(rows, dictionary) }));
  parts.push(encoder.end());
  return Buffer.concat(parts.filter((part) => part !== null));
}

function rowsIn(stream: Buffer): Row[] {
  return tableFromIPC(stream)
    .toArray()
    .map((row) => [...row].map(([, value]) => value) as unknown as Row);
}

test("the columns are plain, and keep their kinds", async () => {
  const table = tableFromIPC(await streamOf([]));
  expect(table.schema.fields.map(({ type, metadata }) => [String(type), metadata.get("iox::column::type")])).toEqual([
    ["Utf8", "iox::column_type::tag"],
    ["Utf8", "iox::column_type::tag"],
    ["Int64", undefined],
  ]);
});

const BATCHES: [name: string, rows: Row[]][] = [
  ["one string", [["a", "x", 1n], ["a", "x", 2n], ["a", "x", 3n]]],
  ["runs with NULLs within", [["a", null, 1n], [null, "x", 2n], ["a", "x", 3n], ["é", "", null], [null, null, null]]],
  ["empty strings", [["", "", 1n], ["", "", 2n], ["b", "", 3n], ["", "b", 4n]]],
  ["nothing but NULLs", [[null, null, null], [null, null, null]]],
]; // biome-ignore format: rows side by side

describe("rows", () => {
  test.each(BATCHES)("%s", async (_name, rows) => {
    const dictionary = ["é", "", "a", "b"];
    expect(rowsIn(await streamOf([{ rows, dictionary }]))).toEqual(rows);
  });

  test(`of random batches come back, seed ${SEED}`, async () => {
    const below = prng(SEED);
    const word = () => ["", "a", "host_1", "ünï", "x".repeat(below(40))][below(5)]!;
    const batches = Array.from({ length: 20 }, () => {
      const dictionary = [...new Set(Array.from({ length: 1 + below(6) }, word))];
      const rows = Array.from({ length: below(70) }, (_, i): Row => {
        const code = below(4) === 0 ? null : dictionary[below(dictionary.length)]!;
        return [code, below(3) === 0 ? null : word(), below(9) === 0 ? null : BigInt(i)];
      });
      return { rows, dictionary };
    });
    expect(rowsIn(await streamOf(batches))).toEqual(batches.flatMap(({ rows }) => rows));
  });
});

test("long strings by code make several messages, none of them too large", async () => {
  // 64 KiB a string, 1,003 rows: 64 MiB of what came as 4 KiB of codes
  const dictionary = ["a".repeat(65_536), "b".repeat(65_536), "short"];
  const rows = Array.from({ length: 1003 }, (_, i): Row => [dictionary[i % 7 === 3 ? 2 : i % 2]!, null, BigInt(i)]);
  const stream = await streamOf([{ rows, dictionary }]);
  const messages = splitWhole(stream);
  expect(messages.length).toBeGreaterThan(20);
  expect(Math.max(...messages.map(({ header, body }) => header.length + body.length))).toBeLessThan(MESSAGE_BYTES_MAX);
  const found = rowsIn(stream);
  expect(found.length).toBe(rows.length);
  expect(found.every(([code, , n], i) => code === rows[i]![0] && n === rows[i]![2])).toBe(true);
});
