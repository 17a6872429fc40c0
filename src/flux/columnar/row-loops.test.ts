// Which bodies of row functions are loops over columns, and which go to the interpreter.
import { expect, test } from "bun:test";
import { CodeCompiler } from "../interpret/compile.ts";
import { CodeScope, Frame } from "../interpret/scope.ts";
import { ScriptRun } from "../interpret/script-run.ts";
import { fluxLibrary } from "../library/packages.ts";
import type { VariableAssignment } from "../parse/ast.ts";
import { parseFile } from "../parse/parser.ts";
import { FluxColumn } from "../tables/column.ts";
import { FluxTable, GroupKey } from "../tables/table.ts";
import { type FluxFunction, FluxRecord, Time } from "../values/value.ts";
import { foldedRecord } from "./fold.ts";
import { NotCompiled } from "./lanes.ts";
import { mappedTable, matchingRows } from "./row-loops.ts";

const SOURCE = { organization: () => ({ id: "", name: "" }), buckets: () => [], bucket: () => undefined, *read() {} };

function functionOf(text: string): FluxFunction {
  const run = new ScriptRun(new Time(0n), SOURCE, fluxLibrary());
  const frame = new Frame([], null, run);
  const compiler = new CodeCompiler((name) => fluxLibrary().global(name, run));
  const { init } = parseFile(`f = ${text}`).body[0] as VariableAssignment;
  return compiler.expression(init, new CodeScope(null))(frame) as FluxFunction;
}

function table(ints: readonly bigint[]): FluxTable {
  const length = ints.length;
  const columns = [
    FluxColumn.constant("host", "string", "a", length),
    new FluxColumn("i", "int", BigInt64Array.from(ints), null, length),
    new FluxColumn(
      "f",
      "float",
      Float64Array.from(ints, Number),
      Uint8Array.from(ints, (each) => (each === 0n ? 0 : 1)),
      length,
    ),
  ];
  return new FluxTable(new GroupKey([{ label: "host", type: "string", value: "a" }]), columns, length);
}

function finish<T>(steps: Generator<null, T>): T | "interpreted" {
  try {
    for (;;) {
      const next = steps.next();
      if (next.done === true) return next.value;
    }
  } catch (error) {
    if (error instanceof NotCompiled) return "interpreted";
    throw error;
  }
}

const ROWS = Array.from({ length: 20_000 }, (_, i) => BigInt(i - 3));

test.each([
  "r.f > 10.0",
  'r.i % 2 == 0 and not (r.f < 1.0 or r.host != "a")',
  "exists r.f and r.host =~ /^a/",
  "if r.i > 5 then true else float(v: r.i) == r.f",
  "not exists r.missing",
])("filter: %s", (body) => {
  expect(finish(matchingRows(table(ROWS), functionOf(`(r) => ${body}`)))).toBeInstanceOf(Uint32Array);
});

test.each([
  '{r with f: r.f * 2.0 + 1.0, level: if r.f > 90.0 then "crit" else "ok"}',
  `{i: r.i, text: "\${r.i} of " + r.host, n: int(v: 2.5)}`,
  '{r with host: r.host + "!"}',
])("map: %s", (body) => {
  expect(finish(mappedTable(table(ROWS), functionOf(`(r) => (${body})`), true))).toBeInstanceOf(FluxTable);
});

test("reduce: sums, counts and extremes", () => {
  const fn = functionOf(
    "(r, accumulator) => ({sum: accumulator.sum + r.i, n: accumulator.n + 1, max: if r.i > accumulator.max then r.i else accumulator.max})",
  );
  const record = finish(foldedRecord(table(ROWS), fn, FluxRecord.of({ sum: 0n, n: 0n, max: 0n }))) as FluxRecord;
  expect(record.get("sum")).toBe(ROWS.reduce((sum, each) => sum + each, 0n));
  expect(record.get("n")).toBe(20_000n);
  expect(record.get("max")).toBe(19_996n);
});

/** What only the interpreter knows: errors, integers of 64 bits, functions with effects, records that differ from row to row. */
test.each([
  ["r.i / 0 == 1", ROWS],
  ["r.i + 1 > 0", [1n << 60n]],
  ["r.i * r.i > 0", [1n << 40n]],
  ["now() > 2024-01-01T00:00:00Z", ROWS],
  [`"\${r.f}" == ""`, ROWS],
] as const)("interpreted: %s", (body, ints) => {
  expect(finish(matchingRows(table(ints), functionOf(`(r) => ${body}`)))).toBe("interpreted");
});

test("interpreted: rows of one table that come to several", () => {
  expect(finish(mappedTable(table(ROWS), functionOf("(r) => ({r with host: string(v: r.i)})"), true))).toBe("interpreted");
});
