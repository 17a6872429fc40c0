// The demo's data files as lines: every table has rows, and the first line of some is what the file says.
import { expect, test } from "bun:test";
import { DATASETS, linesOf, rowsToLines } from "./datasets.ts";

/** Rows of each file, counted in the files themselves, less those without a value. */
const ROWS: Readonly<Record<string, number>> = {
  ...{ weather: 2922, seattle_weather: 1461, seattle_hourly: 8759, sp500: 123, sp500_daily: 5105, stocks: 560, ohlc: 44 },
  ...{ us_employment: 120, unemployment: 1708, co2: 741, global_temp: 144, disasters: 803, electricity: 51, github: 955 },
  ...{ gapminder: 682, birdstrikes: 10_000, flights: 20_000 },
};

test("every table loads, with one time a line", async () => {
  const counts: Record<string, number> = {};
  for (const dataset of DATASETS) {
    for await (const lines of linesOf(dataset)) {
      counts[dataset.table] = (counts[dataset.table] ?? 0) + lines.length;
      expect(lines.every((line) => line.startsWith(dataset.table) && / -?\d+$/.test(line))).toBe(true);
    }
  }
  expect(counts).toEqual(ROWS);
});

const FIRST: [table: string, line: string][] = [
  ["stocks", "stocks,symbol=MSFT price=39.81 946684800000000000"],
  ["co2", "co2 CO2=315.7,adjusted\\ CO2=314.44 -373593600000000000"],
  ["disasters", "disasters,Entity=All\\ natural\\ disasters Deaths=1267360i -2208988800000000000"],
  ["flights", "flights,origin=DTW,destination=LAS delay=66i,distance=1750i 978310020000000000"],
];

test.each(FIRST)("%s starts with its first row", async (table, line) => {
  const pieces = await Array.fromAsync(linesOf(DATASETS.find((dataset) => dataset.table === table)!));
  expect(pieces[0]![0]).toBe(line);
});

test("rows without a time or without values are left out", () => {
  const dataset = { table: "t", file: "", time: "at", tags: ["tag"], fields: { v: "float" } } as const;
  const rows = [
    { at: "2000-01-01", tag: "a b", v: 1 },
    { at: "", tag: "a", v: 1 },
    { at: "2000-01-01", tag: "a", v: null },
    { at: "2000-01-02", tag: null, v: "2.5" },
  ];
  expect(rowsToLines(dataset, rows)).toEqual(["t,tag=a\\ b v=1 946684800000000000", "t v=2.5 946771200000000000"]);
});
