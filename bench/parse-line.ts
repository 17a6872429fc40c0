// Compares the kernel's line protocol parser with the same algorithm in TypeScript and with a plain reference parser. All three read the
// same bodies in the same run, after their results were found equal.
//   bun bench/parse-line.ts [smoke|real]
import { Kernel } from "../src/kernel/memory/kernel.ts";
import { LineParser } from "../src/kernel/parse/line-parser.ts";
import type { ParsedTable } from "../src/kernel/parse/parser-view.ts";
import { assert } from "../src/model/assert.ts";
import { Precision } from "../src/model/time/precision.ts";
import { KernelReader } from "../test/conformance/parsed-lines.ts";
import { parseReference } from "../test/conformance/reference-parser.ts";
import { BaselineParser, type BaselineTable } from "./baseline/line-parser.ts";
import { type TsbsCpuOptions, tsbsCpu } from "./data/tsbs-cpu.ts";
import { type Answer, alternate, type Bench, formatTable, type Size, short } from "./support/bench.ts";

const OPTIONS = { precision: Precision.nanosecond, receiveTimeNs: 0n };
/** The reference is so slow that it gets only a part of the lines. */
const REFERENCE_ROWS = 1_000;

const DATA: readonly (readonly [what: string, options: Partial<TsbsCpuOptions> & { hosts: number }])[] = [
  ["integers, 100 hosts", { hosts: 100 }],
  ["floats, 100 hosts", { hosts: 100, floats: true }],
  ["integers, 10,000 hosts", { hosts: 10_000 }],
  ["integers, 100 hosts, bodies of 10 lines", { hosts: 100, bodyLines: 10 }],
];

export const parseLine: Bench = {
  name: "parse-line",
  async run(size: Size, say: (line: string) => void): Promise<Answer[]> {
    const rows = size === "smoke" ? 2_000 : 200_000;
    const answers: Answer[] = [];
    for (const [what, options] of DATA) {
      say(what);
      answers.push(...(await compare(what, { rows, seed: 1, ...options }, size === "smoke" ? 1 : 9)));
    }
    return answers;
  },
};

async function compare(what: string, options: TsbsCpuOptions, rounds: number): Promise<Answer[]> {
  const bodies = [...tsbsCpu(options)];
  const kernel = Kernel.create();
  const parser = new LineParser(kernel);
  const baseline = new BaselineParser();
  const few = [...tsbsCpu({ ...options, rows: REFERENCE_ROWS })];
  // twice: the second time, series, columns and shapes are known, as during the measurement
  for (let i = 0; i < 2; i++) for (const body of bodies) checkBaseline(kernel, parser, baseline, body);
  const reader = new KernelReader(kernel, new LineParser(kernel));
  for (const body of few)
    assert(Bun.deepEquals(reader.parse(body, OPTIONS), parseReference(body, OPTIONS)), `${what}: not the reference's rows`);
  reader.parser.release();

  const [kernelRate, baselineRate, referenceRate] = (await alternate(rounds, [
    async () => linesPerSecond(bodies, (body) => parser.parse(body, OPTIONS).rowCount),
    async () => linesPerSecond(bodies, (body) => baseline.parse(body, 0n)),
    async () => linesPerSecond(few, (body) => parseReference(body, OPTIONS).rowCount),
  ])) as [number, number, number];
  parser.release();
  return [
    {
      what: `parse: kernel ÷ baseline; ${what}`,
      value: kernelRate / baselineRate,
      unit: "×",
      goal: { atLeast: 3 },
      detail: `${short(kernelRate)} ÷ ${short(baselineRate)} lines/s`,
    },
    {
      what: `parse: kernel ÷ reference; ${what}`,
      value: kernelRate / referenceRate,
      unit: "×",
      goal: { atLeast: 15 },
      detail: `${short(kernelRate)} ÷ ${short(referenceRate)} lines/s`,
    },
  ];
}

function linesPerSecond(bodies: readonly Uint8Array[], parse: (body: Uint8Array) => number): number {
  const start = performance.now();
  let lines = 0;
  for (const body of bodies) lines += parse(body);
  return (lines * 1000) / (performance.now() - start);
}

/** Verifies that series, times and values of both parsers are equal. */
function checkBaseline(kernel: Kernel, parser: LineParser, baseline: BaselineParser, body: Uint8Array): void {
  const parsed = parser.parse(body, OPTIONS);
  assert(baseline.parse(body, 0n) === parsed.rowCount && parsed.errors.length === 0, "row counts differ");
  for (const table of parsed.tables) checkTable(kernel, table, baseline.tables.get(table.name)!);
}

function checkTable({ memory }: Kernel, table: ParsedTable, other: BaselineTable): void {
  const rows = table.rowCount;
  const same = (ours: Uint8Array | Int32Array | Uint32Array, theirs: Int32Array | Uint32Array, what: string) => {
    const bytes = Buffer.from(theirs.buffer, theirs.byteOffset, ours.byteLength);
    assert(Buffer.compare(Buffer.from(ours.buffer, ours.byteOffset, ours.byteLength), bytes) === 0, `${table.name}: ${what} differ`);
  };
  assert(rows === other.rowCount, `${table.name}: row counts differ`);
  same(new Uint32Array(memory.buffer, table.seriesPtr, rows), other.series, "series");
  same(new Uint32Array(memory.buffer, table.lineOffsetsPtr, rows), other.lines, "lines");
  same(new Int32Array(memory.buffer, table.timePtr, rows * 2), other.times, "times");
  for (const column of table.columns) {
    const theirs = other.columns.find(({ key }) => new TextDecoder().decode(key) === `${column.name}=`)!;
    same(new Int32Array(memory.buffer, column.dataPtr, rows * 2), theirs.words, column.name);
  }
}

if (import.meta.main) {
  const size = process.argv[2] ?? "real";
  if (size !== "smoke" && size !== "real") throw new Error(`usage: parse-line.ts [smoke|real], not ${size}`);
  console.log(formatTable(await parseLine.run(size, () => {})));
}
