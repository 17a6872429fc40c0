// The demo's command line, its progress line and the address it reads: each from data.
import { expect, test } from "bun:test";
import { parseOptions } from "./options.ts";
import { ProgressBar, progressLine } from "./progress.ts";
import { urlIn } from "./server.ts";

test("options without arguments", () => {
  expect(parseOptions([])).toEqual({ host: null, database: "showcase", seconds: 5, follow: false, flights: false, help: false });
});

test.each([
  [["--host", "http://localhost:8181/"], { host: "http://localhost:8181" }],
  [["--host=box:8086"], { host: "http://box:8086" }],
  [["--database", "x", "--seconds", "0", "--follow", "--flights"], { database: "x", seconds: 0, follow: true, flights: true }],
  [["-h"], { help: true }],
] as [string[], object][])("%j", (args, part) => expect(parseOptions(args)).toMatchObject(part));

test.each([
  [["--seconds", "soon"], "--seconds must be a whole number, got 'soon'"],
  [["--host", "http://"], "--host must be a URL"],
  [["--hots", "x"], "--hots"],
  [["extra"], "extra"],
] as [string[], string][])("%j is refused on one line", (args, message) => {
  expect(() => parseOptions(args)).toThrow(message);
});

const HALF = { done: 0.5, rowCount: 12_345, bytes: 1_250_000, seconds: 0.5, what: "weather" };

test("progressLine shows a bar, rows, bytes and rate", () => {
  expect(progressLine(HALF)).toBe("[############............]  12,345 rows  1.3 MB  24,690 rows/s  weather");
  expect(progressLine({ ...HALF, done: 2, seconds: 0 })).toBe("[########################]  12,345 rows  1.3 MB  0 rows/s  weather");
});

test("a terminal is redrawn now and then, a file gets the end alone", () => {
  for (const [isTTY, expected] of [
    [true, 3],
    [false, 1],
  ] as const) {
    const written: string[] = [];
    const bar = new ProgressBar({ isTTY, write: (text) => written.push(text) });
    for (const nowMs of [0, 1, 2, 60]) bar.draw(HALF, nowMs);
    bar.finish(HALF);
    expect(written).toHaveLength(expected);
    expect(written.at(-1)).toEndWith("weather\n");
  }
});

test.each([
  ["127.0.0.1:8181\n", "http://127.0.0.1:8181"],
  ["http://127.0.0.1:80/", "http://127.0.0.1:80"],
  ["[::1]:8181", "http://[::1]:8181"],
  ["", undefined],
])("the address file %j", (text, url) => expect(urlIn(text)).toBe(url));
