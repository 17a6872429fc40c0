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
import { type FluxFunction, FluxRecord, Null, Time } from "../values/value.ts";
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

/** A row in one of three parts each: texts are put together part by part, and nulls may come late. */
test("map: texts of several parts, with nulls in the last ones only", () => {
  const length = ROWS.length;
  const isNull = (row: number) => row > 17_000 && row % 3 === 0;
  const flags = new FluxColumn(
    "b",
    "bool",
    Uint8Array.from(ROWS, (_, row) => row & 1),
    Uint8Array.from(ROWS, (_, row) => (isNull(row) ? 0 : 1)),
    length,
  );
  const texts = new FluxColumn(
    "t",
    "string",
    ROWS.map((i) => `${i}`),
    Uint8Array.from(ROWS, (_, row) => (row > 19_000 ? 0 : 1)),
    length,
  );
  const rows = table(ROWS).with([...table(ROWS).columns, flags, texts]);
  const fn = functionOf(`(r) => ({
    level: if r.i > 10000 then "crit" else "ok",
    own: if r.b then r.host else string(v: r.i),
    flag: string(v: exists r.b),
    late: if r.b then r.t else r.host,
    value: if r.b then r.f else 0.5,
    time: if r.i > 9000 then 2024-01-01T00:00:00Z else 2023-01-01T00:00:00Z,
  })`);
  const made = finish(mappedTable(rows, fn, true)) as FluxTable;
  expect(made.rowCount).toBe(length);
  const cells = (label: string) => ROWS.map((_, row) => made.column(label)!.get(row));
  const isTrue = (row: number) => !isNull(row) && row % 2 === 1;
  expect(cells("level")).toEqual(ROWS.map((i) => (i > 10_000n ? "crit" : "ok")));
  expect(cells("own")).toEqual(ROWS.map((i, row) => (isTrue(row) ? "a" : `${i}`)));
  expect(cells("flag")).toEqual(ROWS.map((_, row) => String(!isNull(row))));
  expect(cells("late")).toEqual(ROWS.map((i, row) => (!isTrue(row) ? "a" : row > 19_000 ? Null.of("string") : `${i}`)));
  // null where the integer is 0
  expect(cells("value")).toEqual(ROWS.map((i, row) => (isTrue(row) ? (i === 0n ? Null.of("float") : Number(i)) : 0.5)));
  expect(cells("time")).toEqual(ROWS.map((i) => new Time(BigInt(Date.UTC(i > 9000n ? 2024 : 2023, 0)) * 1_000_000n)));
});

test("reduce: a constant is added to integers as often as there are rows, while they are exact", () => {
  const fold = (body: string, start: bigint) =>
    finish(foldedRecord(table(ROWS), functionOf(`(r, accumulator) => ({n: accumulator.n ${body}})`), FluxRecord.of({ n: start })));
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  const rows = BigInt(ROWS.length);
  expect((fold("+ 7", 5n) as FluxRecord).get("n")).toBe(5n + 7n * rows);
  expect((fold("- 7", 5n) as FluxRecord).get("n")).toBe(5n - 7n * rows);
  expect((fold("+ 0", 0n) as FluxRecord).get("n")).toBe(0n);
  expect((fold("+ 1", limit - rows) as FluxRecord).get("n")).toBe(limit);
  expect(fold("+ 1", limit - rows + 1n)).toBe("interpreted");
  expect(fold("- 1", rows - limit - 1n)).toBe("interpreted");
  // one step is more than a float holds
  expect(fold("- 9000000000000000", limit)).toBe("interpreted");
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
