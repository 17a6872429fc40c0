// Statements over small measurements; what they answer is InfluxDB 1.6.7's answer to the same lines, or arithmetic.
import { afterAll, describe, expect, test } from "bun:test";
import { type AnswerSeries, TsdbqlData } from "../../test/support/tsdbql-data.ts";
import { Kernel } from "../kernel/kernel.ts";

const T = 1_000_000_000_000_000_000n;
const at = (seconds: number) => T + BigInt(seconds) * 1_000_000_000n;
const LINES = `
cpu,host=a,region=x v=1,i=1i,s="a",b=true ${at(0)}
cpu,host=b,region=x v=2,i=2i,s="b",b=false ${at(0)}
cpu,host=a,region=x v=3,i=3i ${at(60)}
cpu,host=b,region=x v=4,i=4i ${at(60)}
cpu,host=c v=5 ${at(30)}
cpu,host=a,region=x v=6 ${at(180)}
mem,host=a used=10,v=7 ${at(0)}
mem,host=b used=20 ${at(60)}
`;

const data = new TsdbqlData(Kernel.create(), { t: LINES });
afterAll(() => data.free());

const series = (values: AnswerSeries["values"], columns: string, name = "cpu"): AnswerSeries => ({
  name,
  columns: ["time", ...columns.split(" ")],
  values,
});

describe("aggregates", () => {
  const CASES: [statement: string, answer: AnswerSeries[]][] = [
    ["select mean(v) from cpu", [series([[0n, 3.5]], "mean")]],
    ["select mean(v), max(v) from cpu where time > 5", [series([[6n, 3.5, 6]], "mean max")]],
    ["select last(v) from cpu where time < 1000000180000000000", [series([[at(60), 4]], "last")]],
  ];
  test.each(CASES)("%s", async (statement, answer) => expect(await data.ask(statement)).toEqual(answer));
});
