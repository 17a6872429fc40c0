// The raw bytes of binary answers: batches of every type in which everything that no row shows holds a pattern.
import { describe, expect, test } from "bun:test";
import { tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { ArrowEncoder } from "../../src/encode/arrow/arrow-encoder.ts";
import { wholeTable } from "../../src/encode/encoder.ts";
import { ParquetEncoder } from "../../src/encode/parquet/parquet-encoder.ts";
import type { ResultField, ResultType } from "../../src/model/query/result-batch.ts";
import { readColumn } from "../support/flight/arrow-read.ts";
import { checkIpcStream } from "../support/flight/ipc-bytes.ts";
import { prng } from "../support/prng.ts";
import { DIRT, dirtyBatch } from "../support/rows/dirty-batch.ts";
import { EVERY_KIND, everyKindRows } from "../support/rows/every-kind.ts";
import { batchOf, Dictionaries, type Plain, schemaOf } from "../support/rows/result-batch.ts";

const SEED = Number(process.env["SEED"] ?? 13);
const TAG: ResultField = { name: "label", type: { kind: "utf8" }, columnKind: "iox::column_type::tag" };
const FLOAT: ResultType = { kind: "float", bits: 64 };
const DEEP: ResultType = {
  kind: "struct",
  children: [
    { name: "n", type: { kind: "int", bits: 64, signed: true } },
    { name: "t", type: { kind: "utf8" } },
    { name: "s", type: { kind: "struct", children: [{ name: "d", type: { kind: "decimal", precision: 38, scale: 2 } }] } },
    { name: "l", type: { kind: "list", child: { name: "item", type: { kind: "list", child: { name: "item", type: FLOAT } } } } },
  ],
};
const FIELDS: readonly ResultField[] = [...EVERY_KIND, TAG, { name: "deep", type: DEEP }, { name: "none", type: { kind: "null" } }];

function deepValue(below: (n: number) => number): Plain {
  const maybe = (make: () => Plain): Plain => (below(3) === 0 ? null : make());
  const lists = () =>
    Array.from({ length: below(3) }, () => maybe(() => Array.from({ length: below(4) }, () => maybe(() => below(9) / 2))));
  return {
    n: maybe(() => BigInt(below(1e9))),
    t: maybe(() => "t".repeat(below(20))),
    s: maybe(() => ({ d: maybe(() => 7n) })),
    l: maybe(lists),
  };
}

/** `share` of 10 values of each column are NULL. */
function rowsOf(count: number, share: number): Plain[][] {
  const below = prng(SEED + count + share);
  return everyKindRows(below, count).map((row) =>
    [...row, `tag ${below(30)}`, deepValue(below), null].map((value) => (below(10) < share ? null : value)),
  );
}

const SHAPES: [rows: number, nullShare: number][] = [
  ...[1, 7, 8, 9, 63, 64, 65, 200].flatMap((rows): [number, number][] => [[rows, 5]]),
  [100, 10],
  [100, 1],
];

function encodeDirty(encoder: ArrowEncoder | ParquetEncoder, rows: readonly Plain[][]): Buffer {
  const dictionaries = new Dictionaries();
  const halves = [rows.slice(0, rows.length >> 1), rows.slice(rows.length >> 1)];
  const parts = [encoder.begin(schemaOf("t", FIELDS))];
  for (const half of halves) parts.push(encoder.rows(dirtyBatch(batchOf(FIELDS, half, dictionaries), FIELDS)));
  parts.push(encoder.end());
  return Buffer.concat(parts.filter((part) => part !== null));
}

function encodeClean(rows: readonly Plain[][]): Buffer {
  return Buffer.from(wholeTable(new ArrowEncoder(), schemaOf("t", FIELDS), [batchOf(FIELDS, rows)]));
}

const plainRows = (stream: Uint8Array) => {
  const table = tableFromIPC(stream);
  return FIELDS.map((_, index) => readColumn(table, index));
};

describe(`what no row shows does not leave (seed ${SEED})`, () => {
  test.each(SHAPES)("Arrow: %d rows, %d of 10 NULL", (count, share) => {
    const rows = rowsOf(count, share);
    const stream = encodeDirty(new ArrowEncoder(), rows);
    const { rows: seen, nullSlots } = checkIpcStream(stream);
    expect(seen).toBe(count);
    if (count > 8) expect(nullSlots).toBeGreaterThan(count);
    // and what rows do show is all there
    expect(plainRows(stream)).toEqual(plainRows(encodeClean(rows)));
  });

  test.each([200, 4000])("Arrow, cut into messages of at most %d bytes", (bytes) => {
    const rows = rowsOf(200, 4);
    const stream = encodeDirty(new ArrowEncoder("ipc", { bytesMax: bytes }), rows);
    expect(checkIpcStream(stream).batches).toBeGreaterThan(2);
    expect(plainRows(stream)).toEqual(plainRows(encodeClean(rows)));
  });

  test("what Parquet is made of, and that it has neither the pattern's texts nor its numbers", async () => {
    const rows = rowsOf(200, 5);
    expect(checkIpcStream(encodeDirty(new ArrowEncoder("parquet"), rows)).rows).toBe(200);
    const file = encodeDirty(await ParquetEncoder.create(), rows);
    const stream = readParquet(file).intoIPCStream();
    expect(Buffer.from(stream).includes(Buffer.alloc(8, DIRT))).toBe(false);
    expect(Buffer.from(stream).includes("nobody's")).toBe(false);
    // statistics are in the footer, uncompressed
    expect(file.includes(Buffer.alloc(4, DIRT))).toBe(false);
  });
});
