// Scripts that differ in times alone share their code: each has its own times, and its own errors.
import { expect, test } from "bun:test";
import { fluxLibrary } from "../library/packages.ts";
import type { File } from "../parse/ast.ts";
import { parseFile } from "../parse/parser.ts";
import { PiecesError } from "../values/flux-error.ts";
import { Time } from "../values/value.ts";
import { ProgramCache } from "./program-cache.ts";
import { ScriptRun } from "./script-run.ts";

const NOW = new Time(0n);
const NO_SOURCE = { organization: () => null, buckets: () => [], bucket: () => null, *read() {} } as never;

/** The cells of all rows, column by column. */
function cellsOf(cache: ProgramCache, text: string, extern: readonly File[] = []): unknown[] {
  const run = new ScriptRun(NOW, NO_SOURCE, fluxLibrary());
  return cache
    .program(text, extern)
    .run(run)
    .flatMap(({ stream }) => {
      const tables = [...stream.open(run)].filter((table) => table !== null);
      return tables.flatMap(({ columns }) =>
        columns.flatMap((column) => Array.from({ length: column.length }, (_, row) => column.get(row))),
      );
    });
}

const time = (text: string) => new Time(BigInt(Date.parse(text)) * 1_000_000n);

/** By places of times: what the script gives. */
const TOP = (a: string, b: string) => `import "array"\nx = ${a}\narray.from(rows: [{a: x, b: ${b}}])`;

test("each script has its own times", () => {
  const cache = new ProgramCache(fluxLibrary());
  const [day, second, zoned] = ["2024-02-29", "2024-03-05T10:30:00.5Z", "2024-03-05T10:30:00+02:00"];
  expect(cellsOf(cache, TOP(day, second))).toEqual([time("2024-02-29T00:00:00Z"), time("2024-03-05T10:30:00.5Z")]);
  expect(cellsOf(cache, TOP("2023-02-28", "1969-12-31T23:59:59.9Z"))).toEqual([
    time("2023-02-28T00:00:00Z"),
    time("1969-12-31T23:59:59.9Z"),
  ]);
  expect(cache.size).toBe(1);
  expect(cellsOf(cache, TOP(day, zoned))).toEqual([time("2024-02-29T00:00:00Z"), time("2024-03-05T08:30:00Z")]);
  expect(cellsOf(cache, TOP(day, "2024-03-06T10:30:00+02:00"))[1]).toEqual(time("2024-03-06T08:30:00Z"));
  expect(cellsOf(cache, TOP(day, "2024-03-06T10:30:00+03:00"))[1]).toEqual(time("2024-03-06T07:30:00Z"));
  // the first one again, with the times that its code was made with
  expect(cellsOf(cache, TOP(day, second))).toEqual([time("2024-02-29T00:00:00Z"), time("2024-03-05T10:30:00.5Z")]);
});

/** A script with one thing that looks like a time, what it gives with the first and with the second, and whether they share code. */
const PLACES: readonly (readonly [place: string, script: (time: string) => string, value: (time: string) => unknown, isShared: boolean])[] =
  [
    ["a record", (t) => `[{a: ${t}}]`, time, true],
    ["an operation", (t) => `[{a: ${t} > 2023-06-01T00:00:00Z}]`, (t) => t > "2023-06", true],
    ["a text", (t) => `[{a: "${t}"}]`, (t) => t, false],
    ["an interpolated text", (t) => `[{a: "\${${t}}!"}]`, (t) => `${t.slice(0, 19)}.000000000Z!`, true],
    ["a function", (t) => `[{a: (() => ${t})()}]`, time, false],
    ["a default", (t) => `[{a: ((x=${t}) => x)()}]`, time, false],
    ["a block", (t) => `[{a: (() => { y = ${t}\n return y })()}]`, time, false],
    ["a row function", (t) => `[{a: 1}]) |> map(fn: (r) => ({a: ${t}})`, time, false],
    ["a subtraction behind an integer", (t) => `[{a: 1${t.slice(0, 10)}}]`, (t) => BigInt(`1${t.slice(0, 4)}`) - 10n - 10n, false],
  ];

test("what looks like a time", () => {
  for (const [place, script, value, isShared] of PLACES) {
    const cache = new ProgramCache(fluxLibrary());
    const times = place.startsWith("a subtraction") ? ["2024-10-10", "2023-10-10"] : ["2024-01-01T00:00:00Z", "2023-01-01T00:00:00Z"];
    for (const each of [...times, ...times]) {
      const text = `import "array"\narray.from(rows: ${script(each)})`;
      expect([place, cellsOf(cache, text)]).toEqual([place, [value(each)]]);
    }
    expect([place, cache.size]).toEqual([place, isShared ? 1 : 2]);
  }
});

test("a comment, and times that do not exist", () => {
  const cache = new ProgramCache(fluxLibrary());
  const text = (comment: string, time: string) => `import "array"\n// ${comment}\narray.from(rows: [{a: ${time}}])`;
  expect(cellsOf(cache, text("2024-01-01", "2024-01-01"))).toEqual([time("2024-01-01T00:00:00Z")]);
  expect(cellsOf(cache, text("2024-01-02", "2024-01-03"))).toEqual([time("2024-01-03T00:00:00Z")]);
  for (const wrong of ["2023-02-29", "2024-13-01", "2024-00-10"]) {
    expect(() => cellsOf(cache, text("2024-01-01", wrong))).toThrow("compilation failed");
  }
  expect(() => cellsOf(cache, text("2024-01-01", "2024-01-01T24:00:00Z"))).toThrow("compilation failed");
  expect(cellsOf(cache, text("2024-01-01", "2024-02-29"))).toEqual([time("2024-02-29T00:00:00Z")]);
});

test("errors are those of the script, at its places", () => {
  const cache = new ProgramCache(fluxLibrary());
  const text = (start: string) => `import "date"\nx = date.truncate(t: ${start}, unit: 0s)\nx`;
  const messageOf = (script: string): string => {
    try {
      cellsOf(cache, script);
    } catch (error) {
      return error instanceof PiecesError ? String(error.own?.message) : (error as Error).message;
    }
    return "";
  };
  const first = messageOf(text("2024-01-01T00:00:00Z"));
  expect(first).toContain('error calling function "truncate" @2:5');
  expect(messageOf(text("2023-05-05T00:00:00Z"))).toBe(first);
});

test("files before a script belong to the request", () => {
  const cache = new ProgramCache(fluxLibrary());
  const text = (start: string) => `import "array"\narray.from(rows: [{a: ${start}, b: y}])`;
  expect(cellsOf(cache, text("2024-01-01"), [parseFile("y = 2022-01-01")])).toEqual(["2024", "2022"].map((year) => time(`${year}-01-01`)));
  expect(cellsOf(cache, text("2023-01-01"), [parseFile("y = 2021-01-01")])).toEqual(["2023", "2021"].map((year) => time(`${year}-01-01`)));
  expect(() => cellsOf(cache, text("2020-01-01"))).toThrow("undefined identifier y");
});

test("the code goes with the script that it was made for", () => {
  const cache = new ProgramCache(fluxLibrary());
  const long = (date: string, n: number) => `import "array"\narray.from(rows: [{a: ${date}, b: ${n}}]) //${"x".repeat(20_000)}`;
  for (let n = 0; n < 40; n++) cache.program(long("2024-01-01", n));
  for (let n = 0; n < 40; n++) expect(cellsOf(cache, long("2023-01-01", n))).toEqual([time("2023-01-01T00:00:00Z"), BigInt(n)]);
  expect(cache.size).toBeLessThan(28);
});
