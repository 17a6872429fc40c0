// A measurement of a bucket with as many columns as any may have, in each state of its rows: clients of buckets know no limit of 500.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { bringInto, ROW_STATES } from "../support/rows/row-states.ts";
import { BucketRows } from "./bucket-rows-suite.ts";

const DAY_NS = 86_400_000_000_000n;
/** With the tag `site` 4,095 columns. */
const FIELDS = 4094;
const LAST = FIELDS - 1;
const BASES = [10, 20, 30];
/** The day of each base, of both sites; site `b` has ten times as much. */
const fieldsOf = (base: number) => Array.from({ length: FIELDS }, (_, i) => `f${i}=${base + i}`).join(",");
const LINES = [
  ...BASES.flatMap((base, day) => [
    `wide,site=a ${fieldsOf(base)} ${BigInt(day) * DAY_NS}`,
    `wide,site=b ${fieldsOf(10 * base)} ${BigInt(day) * DAY_NS}`,
  ]),
  // a point of few fields beside the wide ones
  `wide,site=a f7=1,f${LAST}=5 1`,
];
const sumOf = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0);

describe.each(ROW_STATES)("4,095 columns, %s", (state) => {
  let rows: BucketRows;
  beforeAll(async () => {
    rows = await BucketRows.open();
    await bringInto(rows, state, [{ database: "o", lines: LINES.join("\n") }]);
  }, 120_000);
  afterAll(() => rows.server.dispose());

  const read = (statement: string) => rows.read("o", statement);

  test("each field has its values", async () => {
    expect(await read(`SELECT sum(f0), sum(f7), sum(f${LAST}) FROM wide GROUP BY site`)).toEqual([
      [0, sumOf(BASES), sumOf(BASES) + 3 * 7 + 1, sumOf(BASES) + 3 * LAST + 5],
      [0, 10 * sumOf(BASES), 10 * sumOf(BASES) + 3 * 7, 10 * sumOf(BASES) + 3 * LAST],
    ]);
    const [counts] = await read("SELECT count(*) FROM wide");
    const expected = Array.from({ length: FIELDS }, (_, i) => (i === 7 || i === LAST ? 7 : 6));
    // columns are in the order of their names
    const names = expected.map((_, i) => `f${i}`).sort();
    expect(counts).toEqual([0, ...names.map((name) => expected[Number(name.slice(1))]!)]);
  });

  test("a row has all columns, in SQL too", async () => {
    const query = new URLSearchParams({ db: "b", q: "SELECT * FROM wide WHERE site = 'b' ORDER BY time LIMIT 1", format: "json" });
    const [row] = (await (await fetch(`${rows.server.url}/api/v3/query_sql?${query}`)).json()) as [Record<string, unknown>];
    expect(Object.keys(row)).toHaveLength(FIELDS + 2);
    expect([row["site"], row["f0"], row[`f${LAST}`]]).toEqual(["b", 100, 100 + LAST]);
  });

  test("a script reads one field of them, and the number of all", async () => {
    const all = 'from(bucket: "b") |> range(start: 1970-01-01T00:00:00Z, stop: 1970-01-10T00:00:00Z)';
    const one = await rows.script("o", `${all} |> filter(fn: (r) => r._field == "f${LAST}") |> sum() |> keep(columns: ["_value"])`);
    expect(one.trim().split("\r\n").slice(1)).toEqual([
      `,_result,0,${sumOf(BASES) + 3 * LAST + 5}`,
      `,_result,0,${10 * sumOf(BASES) + 3 * LAST}`,
    ]);
    const count = `${all} |> filter(fn: (r) => r.site == "a") |> first() |> group() |> count() |> keep(columns: ["_value"])`;
    expect((await rows.script("o", count)).trim().split("\r\n").slice(1)).toEqual([`,_result,0,${FIELDS}`]);
  });

  test("one column more is left out, and told", async () => {
    const answer = await rows.send("o", `wide,site=c f0=1 1\nwide,site=c more=1 1\nwide,rack=r f0=1 1\nwide,site=d f${LAST}=2 1`);
    expect([answer.status, await answer.json()]).toEqual([
      422,
      {
        code: "unprocessable entity",
        message:
          "failure writing points to database: partial write: Update to schema would exceed number of columns per table limit of 4095 columns dropped=2",
      },
    ]);
    expect(await read("SELECT f0 FROM wide WHERE site = 'c'")).toEqual([[1, 1]]);
    expect(await read(`SELECT f${LAST} FROM wide WHERE site = 'd'`)).toEqual([[1, 2]]);
  });

  test("of a new field in each of 20,000 lines, 4,095 are made", async () => {
    const answer = await rows.send("o", Array.from({ length: 20_000 }, (_, i) => `flood f${i}=1 ${i}`).join("\n"));
    expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
      422,
      expect.stringMatching(/ dropped=15905$/),
    ]);
    expect(await read("SHOW FIELD KEYS FROM flood")).toHaveLength(4095);
    expect(await read("SELECT f0, f4094 FROM flood")).toEqual([
      [0, 1, null],
      [4094, null, 1],
    ]);
  });
});
