// Gaps that the scan fills: the same answers as DuckDB makes of the rows, and really made there, or not.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import { Twins, twinRows } from "../../test/support/sql/sql-twins.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { SqlEngine } from "./execute/engine.ts";

const SEED = Number(process.env["SEED"] ?? 3);
const ROUNDS = Number(process.env["ROUNDS"] ?? 30);

let kernel: Kernel;
let engine: SqlEngine;
let cpu: Twins;
beforeAll(async () => {
  kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  cpu = new Twins(kernel, engine, "cpu", twinRows(prng(7), 1000));
});
afterAll(() => engine.close());

const SPAN = "time >= '1969-12-31T23:40:00Z' AND time < '1970-01-01T01:00:00Z'";
const BIN = "date_bin_gapfill(INTERVAL '1 minute', time)";

/** Whether DuckDB takes part, by EXPLAIN. */
async function isFilledByScan(statement: string): Promise<boolean> {
  const { rows } = await cpu.explain(statement);
  return rows.some((row) => row.includes("missing bins inserted"));
}

test.each([
  `SELECT ${BIN} AS m, max(f) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m`,
  `SELECT ${BIN} AS m, host, locf(avg(f)), interpolate(avg(f)), avg(f) FROM cpu WHERE ${SPAN} AND f < 1000 GROUP BY m, host ORDER BY host, m`,
  `SELECT ${BIN} AS m, host, "Region", interpolate(max(i)), interpolate(max(u)), locf(max(b)), locf(min(u)) FROM cpu WHERE ${SPAN} GROUP BY m, host, "Region" ORDER BY host, "Region", m`,
  `SELECT ${BIN} AS m, count(*), count(f), locf(count(i)), interpolate(count(*)) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m DESC LIMIT 20 OFFSET 3`,
  `SELECT ${BIN} AS m, locf(selector_last(i, time)['value']), locf(selector_last(i, time)['time']) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m`,
  `SELECT date_bin_gapfill(INTERVAL '90 seconds', time, '1970-01-01T00:00:00.000000001Z') AS m, sum(i) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m`,
  `SELECT date_bin_gapfill(INTERVAL '10 minutes', tz(time, 'Asia/Tokyo')) AS m, max(i) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m`,
  `SELECT date_bin_wallclock_gapfill(INTERVAL '1 hour', tz(time, 'Asia/Tokyo')) AS m, max(i) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m`,
  `SELECT ${BIN} AS m, max(f) + 1 AS x, locf(max(i)) * 2 AS y FROM cpu WHERE ${SPAN} GROUP BY m HAVING max(f) IS NULL OR max(f) > 0 ORDER BY m`,
  `SELECT host, count(*), count(l) FROM (SELECT ${BIN} AS m, host, locf(max(i)) AS l FROM cpu WHERE ${SPAN} GROUP BY m, host) GROUP BY host ORDER BY host`,
  `SELECT ${BIN} AS m, max(i) FROM cpu WHERE ${SPAN} AND host = 'nobody' GROUP BY m`,
])("filled by the scan: %s", async (statement) => {
  const { aggregations, scans } = await cpu.ask(statement);
  expect({ aggregations, scans }).toEqual({ aggregations: 1, scans: 0 });
  expect(await isFilledByScan(statement)).toBe(true);
});

test.each([
  [
    "months have several lengths",
    `SELECT date_bin_gapfill(INTERVAL '1 month', time) AS m, max(f) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m`,
  ],
  ["a key is computed", `SELECT ${BIN} AS m, upper(host) AS h, max(f) FROM cpu WHERE ${SPAN} GROUP BY m, upper(host) ORDER BY h, m`],
  ["texts are values", `SELECT ${BIN} AS m, locf(selector_last(s, time)['value']) FROM cpu WHERE ${SPAN} GROUP BY m ORDER BY m`],
  ["a pair is a value", `SELECT ${BIN} AS m, interpolate(selector_max(f, time)) FROM cpu WHERE ${SPAN} AND f < 1000 GROUP BY m ORDER BY m`],
  [
    "an aggregate of two columns",
    `SELECT ${BIN} AS m, max(i) - min(i) AS d, covar_pop(f, i) FROM cpu WHERE ${SPAN} AND f < 1000 GROUP BY m ORDER BY m`,
  ],
])("not filled by the scan, because %s", async (_, statement) => {
  await cpu.ask(statement);
  expect(await isFilledByScan(statement)).toBe(false);
});

test("a line between booleans is an error, however the gaps are filled", async () => {
  const { fields, rows } = await cpu.ask(`SELECT ${BIN} AS m, interpolate(max(b)) FROM cpu WHERE ${SPAN} GROUP BY m`);
  expect(fields).toBe("error");
  expect(rows[0]).toContain("unsupported data type for interpolation gap filling");
});

test(`${ROUNDS} random statements, seed ${SEED}`, async () => {
  const below = prng(SEED);
  const pick = <T>(of: readonly T[]): T => of[below(of.length)]!;
  const time = () => `'${new Date((below(7200) - 1800) * 1000).toISOString().slice(0, -1)}${below(3) === 0 ? "000001" : ""}Z'`;
  const value = () => {
    const column = pick(["f", "i", "u"]);
    const aggregate = pick([`max(${column})`, `min(${column})`, `avg(${column})`, `count(${column})`, "count(*)"]);
    return pick([aggregate, `locf(${aggregate})`, `interpolate(${aggregate})`]);
  };
  for (let round = 0; round < ROUNDS; round++) {
    const keys = pick([[], ["host"], ["host", '"Region"']]);
    const width = pick(["1 second", "7 seconds", "1 minute", "13 minutes", "1 hour", "2 days"]);
    const origin = below(3) === 0 ? `, ${time()}` : "";
    const values = Array.from({ length: 1 + below(3) }, (_, i) => `${value()} AS v${i}`);
    const [from, to] = [time(), time()];
    const where = [
      `time >= ${from}`,
      `time ${pick(["<", "<="])} ${to}`,
      ...(below(2) === 0 ? ["f < 1000"] : []),
      ...(below(4) === 0 ? [`host ${pick(["=", "<>"])} 'a'`] : []),
    ];
    const order = `${[...keys, "m"].join(", ")}${below(3) === 0 ? " DESC" : ""}`;
    const limit = below(4) === 0 ? ` LIMIT ${below(50)} OFFSET ${below(9)}` : "";
    await cpu.ask(
      `SELECT date_bin_gapfill(INTERVAL '${width}', time${origin}) AS m${keys.map((key) => `, ${key}`).join("")}, ${values.join(", ")}
       FROM cpu WHERE ${where.join(" AND ")} GROUP BY m${keys.map((key) => `, ${key}`).join("")} ORDER BY ${order}${limit}`,
    );
  }
});

test("more groups than are sorted here are filled by DuckDB", async () => {
  const count = 200_001;
  const rows = Array.from({ length: count }, (_, i) => ({ time: BigInt(2 * i) * 1_000_000_000n, host: "a", i: 1n }));
  const long = new Twins(kernel, engine, "long", rows);
  const answer =
    await long.ask(`SELECT count(*), sum(x), sum(l) FROM (SELECT date_bin_gapfill(INTERVAL '1 second', time) AS t, max(i) AS x, locf(max(i)) AS l
    FROM long WHERE time >= '1970-01-01' AND time <= '1970-01-05T15:06:40Z' GROUP BY t)`);
  expect(answer.rows).toEqual([`${2 * count - 1} | ${count} | ${2 * count - 1}`]);
  // groups, and groups again for DuckDB
  expect({ aggregations: answer.aggregations, scans: answer.scans }).toEqual({ aggregations: 2, scans: 0 });
});

test("groups with more bytes than are sorted here are filled by DuckDB", async () => {
  const rows = Array.from({ length: 40 }, (_, i) => ({
    time: BigInt(i) * 1_000_000_000n,
    host: `${i}`.padEnd(1 << 20, "x"),
    i: BigInt(i),
  }));
  const large = new Twins(kernel, engine, "large", rows);
  const answer =
    await large.ask(`SELECT count(*), sum(x), min(length(host)) > 1000000 FROM (SELECT date_bin_gapfill(INTERVAL '1 second', time) AS t, host, max(i) AS x
    FROM large WHERE time >= '1970-01-01' AND time < '1970-01-01T00:00:40Z' GROUP BY t, host)`);
  expect(answer.rows).toEqual(["1600 | 780 | true"]);
  expect({ aggregations: answer.aggregations, scans: answer.scans }).toEqual({ aggregations: 2, scans: 0 });
});
