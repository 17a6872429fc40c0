// Measures encoding of batches into answers. One table: rows and bytes per second by format, for three columns (time, tag, float) in
// batches of one DuckDB vector, verified by reading the answer back; also the text formats as written by the kernel (with the tag as text,
// as it does not handle dictionaries), and the same rows by string concatenation.
//   bun bench/encode.ts [rows]
import { createEncoder } from "../src/encode/encode.ts";
import { wholeTable } from "../src/encode/encoder.ts";
import { Kernel } from "../src/kernel/memory/kernel.ts";
import { KernelRowText } from "../src/kernel/text/row-text.ts";
import { assert } from "../src/model/assert.ts";
import { LIMITS } from "../src/model/limits.ts";
import type { QueryFormat } from "../src/model/query/query.ts";
import type { ResultBatch, ResultSchema } from "../src/model/query/result-batch.ts";
import { prng } from "../test/support/prng.ts";

const HOSTS = 100;
const ROUNDS = 3;
const SCHEMA: ResultSchema = {
  tableName: "cpu",
  fields: [
    { name: "time", type: { kind: "timestamp", unit: "ns", zone: null } },
    { name: "host", type: { kind: "dictionary" } },
    { name: "usage", type: { kind: "float", bits: 64 } },
  ],
};
const FORMATS: readonly QueryFormat[] = ["seed", "json", "jsonl", "csv", "pretty", "arrow", "parquet"];

type Floats = "two decimals" | "all digits";

/** One batch, encoded repeatedly: ten-second steps, a hundred hosts in turn. */
function makeBatch(floats: Floats): ResultBatch {
  const rowCount = LIMITS.vectorRows;
  const below = prng(1);
  const dictionary = Array.from({ length: HOSTS }, (_, host) => `host_${host}`);
  const time = BigInt64Array.from({ length: rowCount }, (_, row) => 1_700_000_000_000_000_000n + BigInt(row) * 10_000_000_000n);
  const usage = Float64Array.from({ length: rowCount }, () => (floats === "two decimals" ? below(10_000) / 100 : below(2 ** 32) / 2 ** 26));
  return {
    rowCount,
    columns: [
      { validity: null, values: time },
      { validity: null, values: Uint32Array.from({ length: rowCount }, (_, row) => row % HOSTS), dictionary },
      { validity: null, values: usage },
    ],
  };
}

interface Result {
  readonly seconds: number;
  readonly bytes: number;
}

/** The same rows with every second tag and float NULL, in random order. */
function withNulls({ rowCount, columns }: ResultBatch): ResultBatch {
  const below = prng(2);
  const bits = () => Uint8Array.from({ length: rowCount / 8 }, () => below(256));
  return { rowCount, columns: columns.map((column, i) => (i === 0 ? column : { ...column, validity: bits() })) };
}

/** The same rows with the tag as text. */
function withText({ rowCount, columns }: ResultBatch): ResultBatch {
  const texts = Array.from({ length: rowCount }, (_, row) => `host_${row % HOSTS}`);
  const offsets = Int32Array.from({ length: rowCount + 1 }, (_, row) => texts.slice(0, row).join("").length);
  const tag = { validity: null, values: new Uint8Array(0), offsets, data: new TextEncoder().encode(texts.join("")) };
  return { rowCount, columns: [columns[0]!, tag, columns[2]!] };
}

async function encode(format: QueryFormat, batch: ResultBatch, batchCount: number, kernel?: KernelRowText): Promise<Result> {
  const isText = batch.columns[1]!.data !== undefined;
  const fields = SCHEMA.fields.map((field) => (isText && field.name === "host" ? { ...field, type: { kind: "utf8" as const } } : field));
  const encoder = await createEncoder(format, kernel);
  let bytes = 0;
  const start = performance.now();
  bytes += encoder.begin({ ...SCHEMA, fields })?.length ?? 0;
  for (let index = 0; index < batchCount; index++) bytes += encoder.rows(batch)?.length ?? 0;
  bytes += encoder.end()?.length ?? 0;
  return { seconds: (performance.now() - start) / 1000, bytes };
}

/** The rejected alternative: one string per batch, encoded once. It caches dates and names like the real encoder. */
function encodeByStrings(batch: ResultBatch, batchCount: number): Result {
  const encoder = new TextEncoder();
  const [times, hosts, usages] = batch.columns.map(({ values }) => values) as [BigInt64Array, Uint32Array, Float64Array];
  const words = new Uint32Array(times.buffer);
  const names = batch.columns[1]!.dictionary!.map((name) => JSON.stringify(name));
  const two = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, "0"));
  let day = Number.NaN;
  let date = "";
  const clock = (row: number): string => {
    const seconds = Math.floor((words[row * 2 + 1]! * 2 ** 32 + words[row * 2]!) / 1e9); // whole seconds in this data
    if (Math.floor(seconds / 86_400) !== day) {
      day = Math.floor(seconds / 86_400);
      date = new Date(day * 86_400_000).toISOString().slice(0, 11);
    }
    const ofDay = seconds - day * 86_400;
    return `${date}${two[(ofDay / 3600) | 0]}:${two[((ofDay % 3600) / 60) | 0]}:${two[ofDay % 60]}`;
  };
  let bytes = 0;
  const start = performance.now();
  for (let index = 0; index < batchCount; index++) {
    let text = "";
    for (let row = 0; row < batch.rowCount; row++) {
      text += `${row === 0 ? "" : ","}{"time":"${clock(row)}","host":${names[hosts[row]!]!},"usage":${usages[row]!}}`;
    }
    bytes += encoder.encode(text).length;
  }
  return { seconds: (performance.now() - start) / 1000, bytes };
}

/** The fastest of a few rounds: slower ones ran under other load, or before compilation. */
async function bestOf(round: () => Promise<Result>): Promise<Result> {
  const results: Result[] = [];
  for (let index = 0; index < ROUNDS; index++) results.push(await round());
  return results.reduce((best, result) => (result.seconds < best.seconds ? result : best));
}

async function check(batch: ResultBatch): Promise<void> {
  const encoder = await createEncoder("json");
  const rows = JSON.parse(new TextDecoder().decode(wholeTable(encoder, SCHEMA, [batch]))) as { usage: number }[];
  assert(
    rows.every(({ usage }, row) => Object.is(usage, (batch.columns[2]!.values as Float64Array)[row])),
    "every float reads back",
  );
}

/** Encodes `rowCount` rows (rounded up to whole batches) in every format and prints the table. */
async function run(rowCount: number): Promise<void> {
  const batchCount = Math.ceil(rowCount / LIMITS.vectorRows);
  const rows = batchCount * LIMITS.vectorRows;
  for (const floats of ["two decimals", "all digits"] as const) {
    const batch = makeBatch(floats);
    await check(batch);
    const line = (name: string, { seconds, bytes }: Result) =>
      console.log(
        `${name.padEnd(22)} ${(rows / seconds / 1e6).toFixed(2).padStart(8)} M rows/s ${(bytes / seconds / 1e6).toFixed(0).padStart(6)} MB/s`,
      );
    console.log(`time, tag, float with ${floats}: ${rows} rows`);
    for (const format of FORMATS) {
      line(format, await bestOf(() => encode(format, batch, batchCount)));
    }
    line("arrow, half NULL", await bestOf(() => encode("arrow", withNulls(batch), batchCount)));
    const kernel = new KernelRowText(Kernel.create());
    const text = withText(batch);
    for (const format of FORMATS.slice(0, 4)) {
      line(`${format} by the kernel`, await bestOf(() => encode(format, text, batchCount, kernel)));
    }
    line("json by strings", await bestOf(async () => encodeByStrings(batch, batchCount)));
  }
}

if (import.meta.main) await run(Number(process.argv[2] ?? 500_000));
