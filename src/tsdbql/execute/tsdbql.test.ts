// SELECT over measurements larger than what is read at a time, against plain rows; limits of memory, cancelling, EXPLAIN. What single
// statements mean is compared with 1.6.7 in test/tsdbql/differential.long.test.ts.
import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { type AnswerSeries, type Layout, TsdbqlData } from "../../../test/support/sql/tsdbql-data.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const T = 1_000_000_000_000_000_000n;
const HOSTS = ["a", "b", "c"];

interface Row {
  readonly time: bigint;
  readonly host: string;
  readonly v: number | null;
  readonly i: bigint;
}

/** More than are read at once, with holes in time and bursts. */
function randomRows(): Row[] {
  const below = prng(SEED);
  const rows: Row[] = [];
  let time = T;
  for (let n = 0; n < 12_000; n++) {
    time += BigInt(1 + (below(500) === 0 ? below(1_000_000_000) : below(3) === 0 ? 0 : below(1000)));
    for (const host of HOSTS) {
      if (below(3) > 0) rows.push({ time, host, v: below(10) === 0 ? null : below(1000) / 4, i: BigInt(below(100)) });
    }
  }
  return rows;
}

const ROWS = randomRows();
const lineOf = ({ time, host, v, i }: Row) => `m,host=${host} i=${i}i${v === null ? "" : `,v=${v}`} ${time}`;
const data = new TsdbqlData(Kernel.create(), { t: ROWS.map(lineOf).join("\n") });
afterAll(() => data.free());

/** Rows of one time in an order of their own. */
const canonical = (values: AnswerSeries["values"]) =>
  values.map((row) => row.map(String).join(" ")).sort((a, b) => (a.split(" ")[0] === b.split(" ")[0] ? (a < b ? -1 : 1) : 0));

const newestOf = (host: string, isWanted: (row: Row) => boolean) => ROWS.filter((row) => row.host === host && isWanted(row)).reverse();
const since = (time: bigint, host: string) => ROWS.filter((row) => row.time >= time && row.host === host);

const LAYOUTS: Readonly<Record<string, Layout>> = {
  "in memory": (rows) => [{ kind: "memory", batches: [rows] }],
  flushed: (rows) => [{ kind: "file", batches: [rows] }],
  "in two files": (rows) => [0, 1].map((half) => ({ kind: "file", batches: [rows.filter((_, n) => n % 2 === half)] })),
  "half in memory": (rows) => [
    { kind: "file", batches: [rows.slice(0, rows.length / 2)] },
    { kind: "memory", batches: [rows.slice(rows.length / 2)] },
  ],
};

const shown = (rows: readonly Row[]) => rows.map(({ time, v, i }) => [time, v, Number(i)]);

describe(`${ROWS.length} rows (seed ${SEED})`, () => {
  test("are all shown in order of time", async () => {
    const [series, ...others] = await data.ask("SELECT v, i FROM m");
    expect(others).toEqual([]);
    expect(canonical(series!.values)).toEqual(canonical(shown(ROWS)));
    const times = series!.values.map(([time]) => time as bigint);
    expect(times.every((time, i) => i === 0 || time >= times[i - 1]!)).toBeTrue();
  });

  test("are shown backwards with ORDER BY time DESC", async () => {
    const [series] = await data.ask("SELECT v, i FROM m ORDER BY time DESC");
    expect(canonical(series!.values.toReversed())).toEqual(canonical(shown(ROWS)));
  });

  test("only where a field that is shown has a value", async () => {
    const [series] = await data.ask("SELECT v FROM m WHERE host != 'b'");
    const wanted = ROWS.filter(({ host, v }) => host !== "b" && v !== null).map(({ time, v }) => [time, v]);
    expect(canonical(series!.values)).toEqual(canonical(wanted));
  });

  test("by groups, each with its own limit", async () => {
    const found = await data.ask("SELECT v, i FROM m GROUP BY host LIMIT 5000 OFFSET 10");
    const wanted = HOSTS.map((host) => shown(ROWS.filter((row) => row.host === host).slice(10, 5010)));
    expect(found.map(({ tags, values }) => [tags, values])).toEqual(wanted.map((values, i) => [{ host: HOSTS[i]! }, values]));
  });

  const LIMITED: [statement: string, wanted: (host: string) => Row[]][] = [
    ["SELECT v, i FROM m GROUP BY host LIMIT 3", (host) => ROWS.filter((row) => row.host === host).slice(0, 3)],
    ["SELECT v, i FROM m GROUP BY host ORDER BY time DESC LIMIT 2", (host) => newestOf(host, () => true).slice(0, 2)],
    ["SELECT v, i FROM m GROUP BY * ORDER BY time DESC LIMIT 4 OFFSET 9", (host) => newestOf(host, () => true).slice(9, 13)],
    ["SELECT v, i FROM m WHERE i > 50 GROUP BY host LIMIT 7", (host) => ROWS.filter((row) => row.host === host && row.i > 50n).slice(0, 7)],
    ["SELECT v, i FROM m WHERE i > 97 GROUP BY host ORDER BY time DESC LIMIT 5", (host) => newestOf(host, ({ i }) => i > 97n).slice(0, 5)],
    [`SELECT v, i FROM m WHERE time >= ${ROWS[20_000]!.time} GROUP BY host LIMIT 2`, (host) => since(ROWS[20_000]!.time, host).slice(0, 2)],
    [
      "SELECT v, i FROM m WHERE host != 'b' GROUP BY host LIMIT 1",
      (host) => ROWS.filter((row) => row.host === host && host !== "b").slice(0, 1),
    ],
    [
      "SELECT v, i FROM m WHERE i + i > 100 GROUP BY host LIMIT 6",
      (host) => ROWS.filter((row) => row.host === host && row.i > 50n).slice(0, 6),
    ],
    [
      "SELECT v, i FROM m GROUP BY host LIMIT 4 SLIMIT 1 SOFFSET 1",
      (host) => (host === "b" ? ROWS.filter((row) => row.host === host).slice(0, 4) : []),
    ],
    [
      "SELECT v, i FROM m WHERE i > 97 GROUP BY host, none ORDER BY time DESC LIMIT 3 SLIMIT 2",
      (host) => (host === "c" ? [] : newestOf(host, ({ i }) => i > 97n).slice(0, 3)),
    ],
    ["SELECT v, i FROM m GROUP BY host LIMIT 4 SOFFSET 3", () => []],
  ];
  test.each(LIMITED)("%s, wherever the rows are", async (statement, wanted) => {
    const groups = HOSTS.map((host) => ({ host, values: shown(wanted(host)) })).filter(({ values }) => values.length > 0);
    // groups go backwards with their rows
    if (statement.includes("DESC")) groups.reverse();
    for (const layout of Object.values(LAYOUTS)) {
      const own = new TsdbqlData(Kernel.create(), { t: ROWS.map(lineOf).join("\n") }, layout);
      try {
        const found = await own.ask(statement);
        expect(found.map(({ tags, values }) => ({ host: tags?.["host"], values }))).toEqual(groups as never);
      } finally {
        own.free();
      }
    }
  });

  test("a limit of groups of which one begins and ends elsewhere", async () => {
    const late = Array.from({ length: 20 }, (_, n) => ({ time: T + BigInt(n) * 7n + 30_000_000n, host: "late", v: n, i: BigInt(n) }));
    const all = [...ROWS, ...late, { time: T - 5_000_000_000n, host: "early", v: null, i: 1n }];
    const own = new TsdbqlData(Kernel.create(), { t: all.map(lineOf).join("\n") });
    const firsts = await own.ask("SELECT v FROM m GROUP BY host LIMIT 1");
    const wanted = [...HOSTS, "late"].map((host) => [host, all.find((row) => row.host === host && row.v !== null)!]) as [string, Row][];
    expect(firsts.map(({ tags, values }) => [tags?.["host"], values])).toEqual(wanted.map(([host, { time, v }]) => [host, [[time, v]]]));
    const [last] = await own.ask("SELECT v, i FROM m GROUP BY host ORDER BY time DESC LIMIT 1 SLIMIT 1 SOFFSET 3");
    expect(last!.values).toEqual([[T - 5_000_000_000n, null, 1]]);
    own.free();
  });

  test("SLIMIT and SOFFSET choose groups", async () => {
    const found = await data.ask("SELECT i FROM m GROUP BY host SLIMIT 1 SOFFSET 1");
    const wanted = ROWS.filter(({ host }) => host === "b").map(({ time, i }) => [time, Number(i)]);
    expect(found).toEqual([{ name: "m", tags: { host: "b" }, columns: ["time", "i"], values: wanted }]);
  });

  test("a limit takes the first rows of all", async () => {
    const [series] = await data.ask("SELECT i FROM m WHERE i > 50 LIMIT 100 OFFSET 20000");
    expect(series).toBeUndefined();
    const [first] = await data.ask("SELECT i FROM m WHERE i > 50 LIMIT 100");
    const wanted = ROWS.filter(({ i }) => i > 50n).slice(0, 100);
    expect(first!.values).toEqual(wanted.map(({ time, i }) => [time, Number(i)]));
  });

  const EXTREMES: [statement: string, best: (a: Row, b: Row) => boolean][] = [
    ["max", (a, b) => a.v! > b.v!],
    ["min", (a, b) => a.v! < b.v!],
    ["first", (a, b) => a.time < b.time || (a.time === b.time && a.v! > b.v!)],
    ["last", (a, b) => a.time > b.time || (a.time === b.time && a.v! > b.v!)],
  ];
  test.each(EXTREMES)("%s is chosen with its time, alone and beside other columns", async (name, isBetter) => {
    const present = ROWS.filter(({ v }) => v !== null);
    const best = present.reduce((a, b) => (isBetter(b, a) ? b : a));
    expect(await data.ask(`SELECT ${name}(v) FROM m`)).toEqual([{ name: "m", columns: ["time", name], values: [[best.time, best.v]] }]);
    const [beside] = await data.ask(`SELECT ${name}(v), host FROM m`);
    expect(beside!.values[0]!.slice(0, 2)).toEqual([best.time, best.v]);
    const [grouped] = await data.ask(`SELECT ${name}(v) FROM m GROUP BY host`);
    const ofA = present.filter(({ host }) => host === "a").reduce((a, b) => (isBetter(b, a) ? b : a));
    expect(grouped!.values).toEqual([[ofA.time, ofA.v]]);
  });

  test("the greatest of each host, with a pause at every step", async () => {
    let nowMs = 0;
    using _clock = spyOn(performance, "now").mockImplementation(() => {
      nowMs += 1000;
      return nowMs;
    });
    const [series] = await data.ask("SELECT top(i, host, 3) FROM m");
    const firstBest = HOSTS.map((host) => ROWS.filter((row) => row.host === host).reduce((a, b) => (b.i > a.i ? b : a)));
    expect(series!.values.map(String).sort()).toEqual(firstBest.map(({ time, i, host }) => `${time},${i},${host}`).sort());
  });

  // every row has an i, but only a look at each row tells
  const ALWAYS = "(i >= 0 OR i < 0 OR host = 'none')";
  const AGGREGATES = "count(v), sum(i), mean(v), min(i), max(v), first(v), last(v), spread(v)";
  const SHAPES: [calls: string, rest: string][] = [
    [AGGREGATES, ""],
    [AGGREGATES, "GROUP BY host"],
    [AGGREGATES, "GROUP BY time(1ms, 7u) fill(none)"],
    [AGGREGATES, "GROUP BY time(100ms), host fill(none) ORDER BY time DESC LIMIT 3 OFFSET 1"],
    [AGGREGATES, "GROUP BY time(1s), nothing fill(linear)"],
    ["stddev(v), stddev(i), spread(i)", ""],
    ["stddev(v), stddev(i)", "GROUP BY host"],
    // windows of one value too
    ["stddev(v), mean(i), stddev(i)", "GROUP BY time(7u), host fill(none) ORDER BY time DESC LIMIT 500"],
    ["stddev(v)", "GROUP BY time(10ms) fill(0)"],
    ["first(i)", "GROUP BY time(10ms) fill(previous) LIMIT 50"],
    ["derivative(mean(i)), cumulative_sum(count(v))", "GROUP BY time(50ms), host fill(0)"],
    ["last(i), last(v)", "GROUP BY host"],
    ["last(i)", ""],
    // windows of a few rows, some without a value
    ["first(v)", "GROUP BY time(1u), host fill(none)"],
    ["first(v), last(v), last(i), count(v)", "GROUP BY time(1u), host fill(none) ORDER BY time DESC"],
  ];
  test.each(SHAPES)("%s %s: the storage's results are those of rows", async (calls, rest) => {
    const until = `time <= ${ROWS.at(-1)!.time}`;
    const quick = await data.ask(`SELECT ${calls} FROM m WHERE ${until} ${rest}`);
    const slow = await data.ask(`SELECT ${calls} FROM m WHERE ${until} AND ${ALWAYS} ${rest}`);
    const rounded = (found: AnswerSeries[]) =>
      found.map((series) => ({
        ...series,
        values: series.values.map((row) => row.map((value) => (typeof value === "number" ? Number(value.toPrecision(12)) : value))),
      }));
    expect(slow.length).toBeGreaterThan(0);
    expect(rounded(quick)).toEqual(rounded(slow));
  });

  test("calls of a subquery's rows are those of the rows", async () => {
    const [outer] = await data.ask("SELECT count(x), sum(x) FROM (SELECT i AS x FROM m WHERE host = 'a')");
    const ofA = ROWS.filter(({ host }) => host === "a");
    expect(outer!.values).toEqual([[0n, ofA.length, Number(ofA.reduce((sum, { i }) => sum + i, 0n))]]);
  });
});

describe("limits", () => {
  const message = (promise: Promise<unknown>) =>
    promise.then(
      () => "",
      (error: Error) => error.message,
    );

  test("held rows count against the statement's memory, streamed rows do not", async () => {
    const options = { memoryBytesMax: 1_000_000 };
    expect(await message(data.ask("SELECT median(v) FROM m", options))).toContain("Resources exhausted");
    expect(await message(data.ask("SELECT x FROM (SELECT v AS x FROM m)", options))).toContain("Resources exhausted");
    expect(await message(data.ask("SELECT mean(v) FROM m GROUP BY time(1u), host", { nowNs: T + 10n ** 18n }))).toContain(
      "max-select-buckets",
    );
    expect(await message(data.ask("SELECT v FROM m LIMIT 20", options))).toBe("");
  });

  test("groups count while they are collected, and windows while they are filled", async () => {
    const last = ROWS.at(-1)!.time;
    const groups = `SELECT last(i), first(i) FROM m WHERE time <= ${last} GROUP BY time(1u), host fill(none) LIMIT 1`;
    expect(await message(data.ask(groups, { memoryBytesMax: 1_000_000 }))).toContain("Resources exhausted");
    expect(await message(data.ask(groups, { memoryBytesMax: 100_000_000 }))).toBe("");
    // one row
    const filled = `SELECT last(i), first(i) FROM m WHERE time >= ${last} AND time < ${last + 100_000n} GROUP BY time(1ns) fill(0)`;
    expect(await message(data.ask(filled, { memoryBytesMax: 5_000_000 }))).toContain("Resources exhausted");
    expect(await message(data.ask(filled, { memoryBytesMax: 50_000_000 }))).toBe("");
  });

  test("EXPLAIN names what is read", async () => {
    const [plan] = await data.ask("EXPLAIN SELECT mean(v) FROM m WHERE host = 'a'");
    expect(plan).toMatchObject({ columns: ["QUERY PLAN"] });
    expect(plan!.values.flat()).toContain("EXPRESSION: mean(v::float)");
    const [analysis] = await data.ask("EXPLAIN ANALYZE SELECT mean(v) FROM m");
    expect(analysis!.values.flat().join("\n")).toMatch(/execution_time: .*s\n[\s\S]*measurement: m/);
  });
});
