// Ranges and windows of tables that are windows already. Expected: the answers of InfluxDB 2.8.
import { describe, expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;
const DATA = `import "array"
array.from(rows: [{_time: 2024-01-02T01:00:00Z, _value: 1.0}, {_time: 2024-01-03T01:00:00Z, _value: 1.0}])
  |> range(start: 2024-01-01, stop: 2024-01-05) `;

/** The rows of the answer, without the columns of result and table and with days and hours alone; or the error. */
function rowsOf(script: string): string[] | string {
  let text = "";
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  try {
    for (const piece of answerQuery({ text: DATA + script, now: NOW, dialect }, fluxLibrary(), new MemorySource())) {
      if (piece !== null && !(piece instanceof Promise))
        text += typeof piece === "string" ? piece : Buffer.from(piece as Uint8Array).toString();
    }
  } catch (error) {
    if (!(error instanceof FluxError)) throw error;
    return error.message;
  }
  const rows = text.split("\r\n").filter((line) => line.startsWith(",,"));
  return rows.map((row) => row.split(",").slice(3).join(" ").replaceAll("2024-01-0", "").replaceAll(":00:00Z", ""));
}

describe("windows of windows", () => {
  test("with equal bounds are one", () => {
    const wanted = ["1T00 3T00 1", "2T00 4T00 2", "3T00 5T00 1"];
    expect(rowsOf("|> window(every: 1d) |> window(every: 1d, period: 2d) |> count()")).toEqual(wanted);
  });

  test("empty ones too", () => {
    const wanted = ["1T00 2T00 0", "2T00 3T00 1", "3T00 4T00 1", "4T00 5T00 0"];
    expect(rowsOf("|> window(every: 12h, createEmpty: true) |> window(every: 1d, createEmpty: true) |> count()")).toEqual(wanted);
  });

  test("a selector over them", () => {
    const wanted = ["2T00 ", "3T00 1", "4T00 1", "5T00 "].map((end) => `1T00 5T00 ${end}`);
    expect(rowsOf("|> window(every: 1d, period: 36h) |> aggregateWindow(every: 1d, fn: last)")).toEqual(wanted);
  });

  test("an aggregate over them is one of each", () => {
    const wanted = ["2T00", "3T00", "4T00", "5T00"].map((end) => `${end} 1T00 5T00`);
    const counts = [
      [0, 1, 0, 0],
      [0, 0, 1, 0],
    ];
    const rows = counts.flatMap((each) => each.map((count, i) => `${wanted[i]} ${count}`));
    expect(rowsOf("|> window(every: 1d) |> aggregateWindow(every: 1d, fn: count)")).toEqual(rows);
  });
});

describe("a range of windows", () => {
  test("ends the windows that it cuts", () => {
    const wanted = ["2T00:30:00Z 3T00 2T01 1", "3T00 4T00 3T01 1"];
    expect(rowsOf("|> window(every: 1d) |> range(start: 2024-01-02T00:30:00Z, stop: 2024-01-04T12:00:00Z)")).toEqual(wanted);
  });

  test("is that of windows beside it", () => {
    const cut = rowsOf("|> window(every: 1d) |> range(start: 2024-01-02T02:00:00Z, stop: 2024-01-05) |> count()");
    expect(cut).toEqual(["2T02 3T00 0", "3T00 4T00 1"]);
    expect(rowsOf("|> window(every: 1d) |> range(start: 2024-01-03, stop: 2024-01-05) |> count()")).toEqual(["3T00 5T00 0", "3T00 4T00 1"]);
  });

  test("refuses two windows beside it", () => {
    expect(rowsOf("|> window(every: 1d) |> range(start: 2024-01-04, stop: 2024-01-05)")).toContain(
      "range: range found duplicate table with key: {_start=2024-01-03T00:00:00.000000000Z,_stop=2024-01-04T00:00:00.000000000Z}",
    );
  });

  test("keeps one bound that stands alone in the key", () => {
    const day = "_start: 2024-01-01T00:00:00Z, _stop: 2024-01-02T00:00:00Z, _time: 2024-01-01T01:00:00Z, _value: 1.0";
    const of = (columns: string) =>
      rowsOf(`|> limit(n: 0) |> yield(name: "none")
        array.from(rows: [{${day}}]) |> group(columns: [${columns}]) |> range(start: 2024-01-01T00:30:00Z, stop: 2024-01-03)`);
    expect(of(`"_start"`)).toEqual(["1T00 3T00 1T01 1"]);
    expect(of(`"_stop"`)).toEqual(["1T00:30:00Z 2T00 1T01 1"]);
    expect(of("")).toEqual(["1T00:30:00Z 3T00 1T01 1"]);
  });
});
