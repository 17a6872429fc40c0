// What is kept of a script that was seen before says nothing about the next run: names of filters may have other values then.
import { expect, test } from "bun:test";
import type { ReadRequest, SourceSeries } from "../../src/flux/interpret/flux-source.ts";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import type { File } from "../../src/flux/parse/ast.ts";
import { parseFile } from "../../src/flux/parse/parser.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { MemorySource } from "./memory-source.ts";

const DIALECT = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
const EARLY = "2024-01-01T00:00:00Z";
const LATE = "2025-01-01T00:00:00Z";

/** Leaves out what filters say is not wanted, as the stored source does. */
class ChoosingSource extends MemorySource {
  override *read(request: ReadRequest): Iterable<SourceSeries | null> {
    const { wanted } = request;
    for (const series of super.read(request)) {
      if (series === null || wanted === undefined) yield series;
      else if (wanted.mayBe(series.measurement, series.field) && hasTags(series, wanted.tags)) yield series;
    }
  }
}

function hasTags({ tags }: SourceSeries, wanted: ReadonlyMap<string, readonly string[]>): boolean {
  return [...wanted].every(([name, values]) => values.includes(tags.find(([label]) => label === name)?.[1] ?? ""));
}

function source(): ChoosingSource {
  const made = new ChoosingSource();
  made.addBucket("b", "m,host=a x=1,y=10 1000\nm,host=b x=2,y=20 1000\nm,host=c x=3,y=30 1000\nn,host=a x=4 1000\n");
  return made;
}

function answer(text: string, now: string, extern: readonly File[] = []): string {
  let body = "";
  for (const piece of answerQuery({ text, now: parseTime(now)!, dialect: DIALECT, extern }, fluxLibrary(), source())) body += piece ?? "";
  return body;
}

/** The values of the answer's rows, in order. */
function valuesOf(csv: string): number[] {
  const rows = csv.split("\r\n").filter((line) => line.startsWith(",,"));
  return rows.map((row) => Number(/1970-01-01T00:00:00\.000001Z,(\d+)/.exec(row)![1])).sort((a, b) => a - b);
}

const rowsWhere = (condition: string) => `from(bucket: "b") |> range(start: 1970-01-01T00:00:00Z) |> filter(fn: (r) => ${condition})`;

/** By the clock: what the names of the condition are early and late, and the rows that pass. */
const BY_CLOCK: readonly (readonly [names: string, condition: string, early: readonly number[], late: readonly number[]])[] = [
  ['h = if isLate then "b" else "a"', "r.host == h", [1, 4, 10], [2, 20]],
  ['h = if isLate then "b" else "a"', 'r._measurement == "m" and r.host != h', [2, 3, 20, 30], [1, 3, 10, 30]],
  ['f = if isLate then "y" else "x"', "r._field == f", [1, 2, 3, 4], [10, 20, 30]],
  ["p = if isLate then /[bc]/ else /a/", 'r._field == "x" and r.host =~ p', [1, 4], [2, 3]],
  ["limit = if isLate then 9.0 else 2.5", "r._value > limit", [3, 4, 10, 20, 30], [10, 20, 30]],
  ['o = {host: if isLate then "c" else "b"}', "r.host == o.host", [2, 20], [3, 30]],
  ["all = isLate", 'r.host == "a" or all', [1, 4, 10], [1, 2, 3, 4, 10, 20, 30]],
];

test("names of a filter that depend on the clock", () => {
  for (const [i, [names, condition, early, late]] of BY_CLOCK.entries()) {
    const text = `isLate = now() > 2024-06-01T00:00:00Z\n${names}\n${rowsWhere(condition)}`;
    for (const round of [1, 2]) {
      expect([condition, round, valuesOf(answer(text, EARLY))]).toEqual([condition, round, [...early]]);
      expect([condition, round, valuesOf(answer(text, LATE))]).toEqual([condition, round, [...late]]);
    }
    // as a script that was not seen
    for (const now of [EARLY, LATE]) expect(answer(text, now)).toBe(answer(`${text}\n// ${i} ${now}`, now));
  }
});

test("one filter with several values in one run", () => {
  const text = `rows = (h) => ${rowsWhere("r.host == h")} |> keep(columns: ["_time", "_value"])
rows(h: "a") |> yield(name: "a")
rows(h: "c") |> yield(name: "c")`;
  const seen = [answer(text, EARLY), answer(text, EARLY)];
  expect(seen.map(valuesOf)).toEqual([
    [1, 3, 4, 10, 30],
    [1, 3, 4, 10, 30],
  ]);
});

test("names that files before the script have", () => {
  const text = rowsWhere('r.host == v and r._measurement == "m"');
  for (const [host, values] of [
    ["a", [1, 10]],
    ["b", [2, 20]],
    ["a", [1, 10]],
  ] as const)
    expect(valuesOf(answer(text, EARLY, [parseFile(`v = "${host}"`)]))).toEqual([...values]);
});

test("labels are no names: a variable that is called as a column decides nothing", () => {
  const text = `host = if now() > 2024-06-01T00:00:00Z then "b" else "a"\n${rowsWhere('r.host == "c" and r["_field"] == "x"')}`;
  expect([valuesOf(answer(text, EARLY)), valuesOf(answer(text, LATE))]).toEqual([[3], [3]]);
});

test("a member without a value is a name", () => {
  const text = `host = if now() > 2024-06-01T00:00:00Z then "b" else "a"
${rowsWhere('r._field == "x" and {host}.host == r.host')}`;
  expect([valuesOf(answer(text, EARLY)), valuesOf(answer(text, LATE))]).toEqual([[1, 4], [2]]);
});

test("what an option sets is seen by the library", () => {
  const text = `option now = () => 1970-01-01T00:00:01Z\nfrom(bucket: "b") |> range(start: -1s) |> filter(fn: (r) => r.host == "b")`;
  const other = text.replace(":01Z", ":02Z");
  expect([answer(text, EARLY), answer(text, LATE)].map(valuesOf)).toEqual([
    [2, 20],
    [2, 20],
  ]);
  expect(valuesOf(answer(other, EARLY))).toEqual([]);
});
