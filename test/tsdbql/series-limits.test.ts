// SLIMIT and SOFFSET count the series of a measurement, with or without values to show. The answers are those of the vendor's 2.8 server,
// with few rows and with so many that they are read in parts.
import { afterAll, describe, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { type AnswerValue, TsdbqlData } from "../support/sql/tsdbql-data.ts";

const SECOND = 1_000_000_000;
const at = (seconds: number) => BigInt(seconds * SECOND);

const LINES = [
  `m,host=a,rack=r v=1,w=1i ${at(1)}`,
  `m,host=b v=2 ${at(2)}`,
  `m,host=c,rack=q,zone=z v=3 ${at(3)}`,
  `m,zone=y v=4,w=4i ${at(4)}`,
  `m,host=d,zone=y v=5,w=5i ${at(5)}`,
  `m v=6 ${at(6)}`,
];
const OTHERS = Array.from({ length: 17_000 }, (_, i) => `m,host=a,rack=r other=1 ${at(10 + i)}`);

const kernel = Kernel.create();
const MADE: Readonly<Record<string, TsdbqlData>> = {
  "few rows": new TsdbqlData(kernel, { t: LINES.join("\n") }),
  "many rows": new TsdbqlData(kernel, { t: [...LINES, ...OTHERS].join("\n") }),
};
afterAll(() => {
  for (const data of Object.values(MADE)) data.free();
});

type Series = readonly [tags: string, ...values: (readonly [seconds: number, value: AnswerValue])[]];

const ANSWERS: readonly (readonly [statement: string, ...series: Series[]])[] = [
  ["SELECT v FROM m GROUP BY host SLIMIT 2", ["", [4, 4], [6, 6]], ["a", [1, 1]]],
  ["SELECT w FROM m GROUP BY host SLIMIT 3", ["", [4, 4]], ["a", [1, 1]]],
  ["SELECT v FROM m WHERE time >= 3s AND time < 6s GROUP BY host SLIMIT 3 SOFFSET 1", ["c", [3, 3]]],
  ["SELECT v FROM m WHERE time >= 3s AND time < 6s GROUP BY host LIMIT 1 SLIMIT 3 SOFFSET 1", ["c", [3, 3]]],
  ["SELECT v FROM m WHERE v > 2 AND host =~ /./ GROUP BY host ORDER BY time DESC SLIMIT 3", ["c", [3, 3]]],
  ["SELECT v FROM m WHERE v > 2 OR host = 'a' GROUP BY host SLIMIT 2", ["", [4, 4], [6, 6]], ["a", [1, 1]]],
  ["SELECT sum(v) FROM m WHERE time < 4s GROUP BY host, rack, zone SLIMIT 3", ["a,r,", [0, 1]], ["b,,", [0, 2]]],
  // a series comes by the names of its tags, then by their values
  ["SELECT v FROM m GROUP BY host, rack, zone SLIMIT 3 SOFFSET 1", ["a,r,", [1, 1]], ["b,,", [2, 2]], ["c,q,z", [3, 3]]],
  ["SELECT count(w) FROM m WHERE w > 0 GROUP BY zone SLIMIT 2", ["", [0, 1]], ["y", [0, 2]]],
  ["SELECT last(v) FROM m WHERE zone = 'y' GROUP BY host SLIMIT 1", ["", [4, 4]]],
  ["SELECT v FROM m SLIMIT 1 SOFFSET 1"],
]; // biome-ignore format: a series a line

describe.each(Object.keys(MADE))("%s", (name) => {
  test.each(ANSWERS)("%s", async (statement, ...series) => {
    const answer = await MADE[name]!.ask(statement);
    const shown = answer.map(
      ({ tags, values }): Series => [
        Object.values(tags ?? {}).join(","),
        ...values.map(([time, value]) => [Number(time as bigint) / SECOND, value!] as const),
      ],
    );
    expect(shown).toEqual([...series]);
  });
});
