// The comparison that every number of the query bench rests on: what it takes for the same, and what not.
import { expect, test } from "bun:test";
import { answerOfInflux, answerOfSql, difference } from "./answers.ts";

const BINNED = { sql: "", influxql: "", timeColumn: "hour", valueColumns: ["mean_a", "mean_b"] };
const PLAIN = { sql: "", influxql: "", timeColumn: "time", valueColumns: undefined };

const influx = (...series: object[]) => JSON.stringify({ results: [{ series }] });
const OURS = answerOfSql('[{"hour":"2016-01-01T00:00:00","hostname":"h","mean_a":1.5,"mean_b":null}]', BINNED);

test("bins without values and absent values are no difference", () => {
  const theirs = influx({
    tags: { hostname: "h" },
    columns: ["time", "mean", "mean_1"],
    values: [
      ["2016-01-01T00:00:00Z", 1.5000000001, null],
      ["2016-01-01T01:00:00Z", null, null],
    ],
  });
  expect(difference(OURS, answerOfInflux(theirs, BINNED))).toBeUndefined();
});

test("a column of a plain selection is known by its name, in whatever order", () => {
  const ours = answerOfSql('[{"b":"x","time":"2016-01-01T00:00:10","hostname":"h","a":true}]', PLAIN);
  const theirs = influx({ columns: ["time", "a", "b", "hostname"], values: [["2016-01-01T00:00:10Z", true, "x", "h"]] });
  expect(difference(ours, answerOfInflux(theirs, PLAIN))).toBeUndefined();
});

test.each([
  ["another number", "2016-01-01T00:00:00Z", 1.500001, null, /mean_a of .* is 1.5 instead of 1.500001/],
  ["a value more", "2016-01-01T00:00:00Z", 1.5, 0, /mean_b of .* is undefined instead of 0/],
  ["another time", "2016-01-01T00:00:01Z", 1.5, null, /no row of/],
])("%s is a difference", (_, time, a, b, expected) => {
  const theirs = influx({ tags: { hostname: "h" }, columns: ["time", "mean", "mean_1"], values: [[time, a, b]] });
  expect(difference(OURS, answerOfInflux(theirs, BINNED))).toMatch(expected);
});

test("a row less is a difference, a row twice and a partial answer are errors", () => {
  expect(difference(OURS, answerOfInflux('{"results":[{}]}', BINNED))).toBe("1 rows instead of 0");
  const row = ["2016-01-01T00:00:00Z", 1, 2];
  expect(() => answerOfInflux(influx({ columns: ["time", "a", "b"], values: [row, row] }), PLAIN)).toThrow("two rows");
  expect(() => answerOfInflux('{"results":[{"partial":true}]}', PLAIN)).toThrow("partial");
});
