// Option `profiler.enabledProfilers`: the recorded form of its result, and times that fit each other.
import { expect, test } from "bun:test";
import { Profile } from "../../src/flux/interpret/profile.ts";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { csvRows } from "../../src/flux/library/csv/parse-csv.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { StreamNode } from "../../src/flux/tables/stream.ts";
import { GroupKey, TableBuilder } from "../../src/flux/tables/table.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { bucketLines, type FluxCase, fluxCases } from "./cases.ts";
import { MemorySource } from "./memory-source.ts";

const RECORDED = fluxCases().filter(({ id }) => id.startsWith("internal/profiler"));

function answerOf(text: string): string {
  const source = new MemorySource();
  source.addBucket("hosts", bucketLines("hosts"));
  let body = "";
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  for (const piece of answerQuery({ text, now: parseTime("2024-03-05T10:30:00Z")!, dialect }, fluxLibrary(), source)) {
    if (typeof piece === "string") body += piece;
  }
  return body;
}

function busy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

function* noTables(): Generator<never, void, void> {}

/** Rows of a profiler by label. */
function rowsOf(body: string, profiler: "query" | "operator"): Record<string, string>[] {
  const rows: Record<string, string>[] = [];
  let header: readonly string[] = [];
  for (const cells of csvRows(body)) {
    if (cells[1] === "result") header = cells;
    else if (cells[3] === `profiler/${profiler}`) rows.push(Object.fromEntries(header.map((label, i) => [label, cells[i]!])));
  }
  return rows;
}

/** Without the profiled times and names. */
function form(body: string): string[] {
  return body.split("\r\n").filter((line) => !/^,,\d,profiler\/|^ |^\}?"?$|^digraph/.test(line));
}

test("the recorded form, also for unknown profilers and none", () => {
  expect(RECORDED.length).toBe(5);
  for (const { script, body } of RECORDED) expect(form(answerOf(script))).toEqual(form(body));
});

const SCRIPT = `import "profiler"
option profiler.enabledProfilers = ["operator", "query", "operator", "other"]
a = from(bucket: "hosts") |> range(start: -1h) |> filter(fn: (r) => r._measurement == "cpu" and r._field == "usage") |> map(fn: (r) => ({r with x: 1}))
a |> count() |> yield(name: "counts")
a |> group() |> yield(name: "rows")`;

test("times are whole nanoseconds that fit each other, and operators count their own time only", () => {
  const body = answerOf(SCRIPT);
  const [query] = rowsOf(body, "query") as [Record<string, string>];
  const at = (label: string) => Number(query[label]);
  const inPhases = at("CompileDuration") + at("PlanDuration") + at("ExecuteDuration");
  expect(at("CompileDuration")).toBeGreaterThan(0);
  expect(at("ExecuteDuration")).toBeGreaterThan(0);
  expect(Math.abs(inPhases - at("TotalDuration"))).toBeLessThan(1000);
  expect(at("MaxAllocated")).toBeGreaterThan(0);

  const operators = rowsOf(body, "operator");
  const labels = operators.map(({ Label }) => Label!);
  expect(labels).toEqual(expect.arrayContaining(["map3", "count4", "yield5", "group6", "yield7"]));
  expect(new Set(labels).size).toBe(labels.length);
  let sum = 0;
  for (const { Type, Label, Count, MinDuration, MaxDuration, DurationSum, MeanDuration } of operators) {
    expect(Label).toStartWith(Type!);
    const [count, least, most, whole, mean] = [Count, MinDuration, MaxDuration, DurationSum, MeanDuration].map(Number) as number[];
    expect(count).toBeGreaterThan(0);
    expect(least!).toBeLessThanOrEqual(most!);
    expect(most!).toBeLessThanOrEqual(whole!);
    expect(Math.abs(whole! - mean! * count!)).toBeLessThan(count!);
    sum += whole!;
  }
  // two results read `a`, each by itself, and no time counts twice
  expect(sum).toBeLessThanOrEqual(at("ExecuteDuration"));
  expect(query["flux/query-plan"]).toContain('  "map3" -> "count4"\n');
  expect(query["flux/query-plan"]).toContain('  "map3" -> "group6"\n');
});

test("the time of a pause counts once, however many operators pass it through", () => {
  const profile = new Profile();
  const inner = new StreamNode("inner", [], null, noTables);
  const outer = new StreamNode("outer", [inner], null, noTables);
  const table = new TableBuilder(new GroupKey([])).build();
  const source = profile.timed(inner, [null, table, null]);
  const passed = (function* () {
    for (const each of source) {
      busy(3);
      yield each;
    }
  })();
  const beginMs = performance.now();
  for (const each of profile.timed(outer, passed)) if (each === null) busy(4);
  const wholeNs = (performance.now() - beginMs) * 1e6;
  const sums = profile.operators([{ name: "r", stream: outer }]).column("DurationSum")!;
  const ns = [0, 1].map((row) => Number(sums.get(row)));
  // 2 pauses of 4 ms are the inner's, 3 times 3 ms the outer's
  expect(ns[0]).toBeGreaterThanOrEqual(8e6);
  expect(ns[1]).toBeGreaterThanOrEqual(9e6);
  expect(ns[0]! + ns[1]!).toBeLessThanOrEqual(wholeNs);
});

test("what fails has an error and no profile", () => {
  const failing = `${SCRIPT}\na |> map(fn: (r) => ({v: die(msg: "no")})) |> yield(name: "last")`;
  const body = answerOf(failing);
  expect(body).toContain(",error,reference\r\n");
  expect(body).not.toContain("_profiler");
});

test("profiled answers are the same answers", () => {
  const others = fluxCases().filter(
    ({ id, status, script }: FluxCase, i) => i % 20 === 0 && status === 200 && !script.includes("option") && !id.startsWith("internal"),
  );
  const inHosts = others.filter(
    ({ data, fresh, extern, script }) =>
      data.every((name) => name === "hosts") && fresh === undefined && extern === undefined && !/now\(\)|import/.test(script),
  );
  expect(inHosts.length).toBeGreaterThan(10);
  for (const { script } of inHosts) {
    const plain = answerOf(script);
    const profiled = answerOf(`import "profiler"\noption profiler.enabledProfilers = ["query", "operator"]\n${script}`);
    expect(profiled.slice(0, plain.length)).toBe(plain);
  }
});
