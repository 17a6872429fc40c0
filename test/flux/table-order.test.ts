// The order in which functions give their tables to a function that merges them. Expected: the answers of InfluxDB 2.8.
import { describe, expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;
const START = "start: 2024-03-05T10:00:00Z";

/** Tables of hosts b, c, a, ax, of three rows each. */
const CSV = [
  "#datatype,string,long,dateTime:RFC3339,string,double,long,string,double",
  "#group,false,false,false,true,false,false,false,false",
  "#default,_result,,,,,,,",
  ",result,table,_time,host,v,w,s,_value",
  ...["b", "c", "a", "ax"].flatMap((host, table) =>
    [0, 1, 2].map((i) => `,,${table},2024-03-05T10:00:0${i}Z,${host},${i + 0.5},${i},${"xyx"[i]},${i}`),
  ),
].join("\n");

/** The hosts of the rows that `steps` and a group make. */
function hosts(steps: string): string {
  let text = "";
  const script = `import "csv"\ncsv.from(csv: ${JSON.stringify(CSV)}) |> ${steps} |> group() |> keep(columns: ["host"])`;
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  for (const piece of answerQuery({ text: script, now: NOW, dialect }, fluxLibrary(), new MemorySource())) {
    if (piece !== null && !(piece instanceof Promise)) text += typeof piece === "string" ? piece : Buffer.from(piece).toString();
  }
  const rows = text.split("\r\n").filter((line) => line.startsWith(",,"));
  return [...new Set(rows.map((row) => row.split(",").at(-1)))].join(" ");
}

describe("in the order of keys", () => {
  test.each([
    'distinct(column: "s")',
    'unique(column: "s")',
    'difference(columns: ["w"])',
    "tail(n: 2)",
    'first(column: "w")',
    'max(column: "w")',
    'sample(n: 2, column: "w")',
    'count(column: "w")',
    'mean(column: "w")',
    'median(column: "v")',
    'quantile(column: "v", q: 0.5, method: "exact_selector")',
    'mode(column: "w")',
    "elapsed()",
    "reduce(identity: {n: 0}, fn: (r, accumulator) => ({n: accumulator.n + 1}))",
    'pivot(rowKey: ["_time"], columnKey: ["s"], valueColumn: "v")',
    `range(${START})`,
    'increase(columns: ["w"])',
    "exponentialMovingAverage(n: 2)",
    "hourSelection(start: 0, stop: 23)",
    'drop(columns: ["v"])',
    "keys()",
    // what passes tables on keeps that order
    'count(column: "w") |> map(fn: (r) => ({r with z: 1})) |> limit(n: 1)',
  ])("%s", (steps) => expect(hosts(steps)).toBe("a ax b c"));
});

describe("as they come", () => {
  test.each([
    'cumulativeSum(columns: ["v"])',
    'sort(columns: ["v"])',
    "limit(n: 2)",
    'fill(column: "w", value: 0)',
    "map(fn: (r) => ({r with z: 1}))",
    "filter(fn: (r) => r.w >= 0)",
    'top(n: 2, columns: ["w"])',
    'derivative(columns: ["v"], unit: 1s)',
    "timeShift(duration: 1h)",
    'group(columns: ["s"])',
  ])("%s", (steps) => expect(hosts(steps)).toBe("b c a ax"));
});
