// Tables of InfluxQL answers.
import { expect, test } from "bun:test";
import { columnsOf } from "./influxql-shell.ts";

test("numbers have all their digits, and columns their order", () => {
  const [ns, big, unsigned] = ["1700000000123456789", "9007199254740993", "18446744073709551615"];
  const values = `[[${ns},${big},${unsigned},-0.0],[${ns.slice(0, -1)}1,1e-7,2.0,null]]`;
  const answer = `{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","7","1","x"],"values":${values}}]}]}`;
  const rows = columnsOf(answer).split("\n");
  expect(rows.map((row) => row.split(/\t+/))).toEqual([
    ["name: m"],
    ["time", "7", "1", "x"],
    [ns, big, unsigned, "-0.0"],
    [`${ns.slice(0, -1)}1`, "1e-7", "2.0", ""],
    [""],
  ]);
});
