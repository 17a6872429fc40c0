// What v3 answers in another way than 1.x: fields in GROUP BY, points of one time, columns named as tags or fields. The answers were
// compared with those of the vendor's Core 3.9.6; here they follow from the rows.
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { FEW_STATES, ServedRows } from "../support/rows/served-rows.ts";
import type { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const at = (seconds: number) => `${seconds}000000000`;

/** Two series; a field of each type, each missing in a row. One string is empty. */
const LINES = [
  `m,h=a v=1,ok=true,n=10i,u=2u,x=-0.5,s="b" ${at(1)}`,
  `m,h=a v=2,ok=false,n=9i,u=10u,x=30,s="" ${at(2)}`,
  `m,h=a v=3,ok=true,n=-1i,u=18446744073709551615u,x=4,s="a" ${at(3)}`,
  `m,h=a v=4 ${at(4)}`,
  `m,h=b v=10,ok=true,n=9i,u=2u,x=4,s="b" ${at(1)}`,
  `m,h=b v=20,ok=false ${at(3)}`,
  // another type, a tag, and nothing of these names
  `other ok="yes",n=3,v=5 ${at(1)}`,
  `tagged,ok=true v=6 ${at(1)}`,
  `bare v=7 ${at(1)}`,
].join("\n");

const TIME0 = "1970-01-01T00:00:00";
const time = (seconds: number) => `1970-01-01T00:00:0${seconds}`;

type Row = Readonly<Record<string, unknown>>;

/** Rows without their measurement where there is but one. */
async function ask(server: TestServer, q: string): Promise<readonly Row[] | string> {
  const response = await fetch(`${server.url}/api/v3/query_influxql?${new URLSearchParams({ db: "d", q, format: "json" })}`);
  const text = await response.text();
  if (response.status !== 200) return text;
  const rows = JSON.parse(text) as Row[];
  const isOne = new Set(rows.map((row) => row["iox::measurement"])).size < 2;
  return rows.map(({ "iox::measurement": name, ...row }) => (isOne ? row : { ...row, name }));
}

const sums = (name: string, ...groups: (readonly [value: unknown, sum: number])[]) =>
  groups.map(([value, sum]) => ({ time: TIME0, ...(value === null ? {} : { [name]: value }), sum }));

/** Groups are in order of their values, and rows without one come last. */
const ANSWERS: Readonly<Record<string, readonly Row[]>> = {
  "SELECT sum(v) FROM m GROUP BY ok": sums("ok", [false, 22], [true, 14], [null, 4]),
  "SELECT sum(v) FROM m GROUP BY n": sums("n", [-1, 3], [9, 12], [10, 1], [null, 24]),
  "SELECT sum(v) FROM m GROUP BY x": sums("x", [-0.5, 1], [4, 13], [30, 2], [null, 24]),
  "SELECT sum(v) FROM m GROUP BY s": sums("s", ["", 2], ["a", 3], ["b", 11], [null, 24]),
  "SELECT sum(v) FROM m GROUP BY h, ok": [
    { time: TIME0, h: "a", ok: false, sum: 2 },
    { time: TIME0, h: "a", ok: true, sum: 4 },
    { time: TIME0, h: "a", sum: 4 },
    { time: TIME0, h: "b", ok: false, sum: 20 },
    { time: TIME0, h: "b", ok: true, sum: 10 },
  ],
  "SELECT v, ok FROM m WHERE h = 'b' GROUP BY ok": [
    { time: time(3), ok: false, v: 20, ok_1: false },
    { time: time(1), ok: true, v: 10, ok_1: true },
  ],
  "SELECT max(v), n FROM m GROUP BY ok": [
    { time: time(3), ok: false, max: 20 },
    { time: time(1), ok: true, max: 10, n: 9 },
    { time: time(4), max: 4 },
  ],
  "SELECT count(v) FROM m WHERE time >= 0 AND time < 4s GROUP BY time(2s), ok fill(0)": [
    ...[
      [0, false, 0],
      [2, false, 2],
      [0, true, 2],
      [2, true, 1],
    ].map(([start, ok, count]) => ({ time: time(start as number), ok, count })),
  ],
  "SELECT v FROM m GROUP BY ok ORDER BY time DESC LIMIT 1": [
    { time: time(3), ok: false, v: 20 },
    { time: time(3), ok: true, v: 3 },
    { time: time(4), v: 4 },
  ],
  // inner and outer statements
  "SELECT sum(s) FROM (SELECT sum(v) AS s FROM m GROUP BY h, ok) GROUP BY ok": sums("ok", [false, 22], [true, 14], [null, 4]),
  "SELECT sum(s) FROM (SELECT v AS s FROM m) GROUP BY ok": sums("ok", [false, 22], [true, 14], [null, 4]),
  "SELECT total, ok FROM (SELECT sum(v) AS total FROM m GROUP BY ok) WHERE ok = true": [{ time: TIME0, total: 14, ok: true }],
  // a string, a tag and no column of the name where another measurement has a boolean
  "SELECT sum(v) FROM m, bare GROUP BY ok": [
    { time: TIME0, sum: 7, name: "bare" },
    ...sums("ok", [false, 22], [true, 14], [null, 4]).map((row) => ({ ...row, name: "m" })),
  ],
  "SELECT sum(v) FROM other GROUP BY ok": sums("ok", ["yes", 5]),
  "SELECT sum(v) FROM tagged GROUP BY ok": sums("ok", ["true", 6]),
  // each point counts, also of one time: by series
  "SELECT difference(v) FROM m": [
    [1, 9],
    [2, -8],
    [3, 1],
    [3, 17],
    [4, -16],
  ].map(([seconds, difference]) => ({ time: time(seconds!), difference })),
  "SELECT non_negative_difference(v) FROM m": [
    [1, 9],
    [3, 1],
    [3, 17],
  ].map(([seconds, change]) => ({ time: time(seconds!), non_negative_difference: change })),
  "SELECT derivative(v, 2s) FROM m": [
    { time: time(1), derivative: null },
    { time: time(2), derivative: -16 },
    { time: time(3), derivative: 2 },
    { time: time(3), derivative: null },
    { time: time(4), derivative: -32 },
  ],
  // in a condition a column is meant by its name
  "SELECT v FROM m WHERE h::field = 'b' AND ok::tag = true": [{ time: time(1), v: 10 }],
  // tags that an inner statement shows are no columns of a wildcard in a call
  "SELECT count(*) FROM (SELECT v, h, h AS other FROM m)": [{ time: TIME0, count_v: 6 }],
  "SELECT count(/v|h/) FROM (SELECT v, h, s FROM m) GROUP BY h": [
    { time: TIME0, h: "a", count_v: 4 },
    { time: TIME0, h: "b", count_v: 2 },
  ],
  "SELECT v FROM m WHERE ok::tag AND h = 'b'": [{ time: time(1), v: 10 }],
  // fields tell points apart, like tags
  "SELECT top(v, n, 5) FROM m": [
    { time: time(1), top: 10, n: 9 },
    { time: time(1), top: 1, n: 10 },
    { time: time(3), top: 20 },
    { time: time(3), top: 3, n: -1 },
  ],
  // a tag that also groups is shown twice
  "SELECT top(v, h, 1) FROM m GROUP BY h": [
    { time: time(4), h: "a", top: 4, h_1: "a" },
    { time: time(3), h: "b", top: 20, h_1: "b" },
  ],
  "SELECT bottom(v, ok, h, 9) FROM m": [
    { time: time(1), bottom: 1, ok: true, h: "a" },
    { time: time(1), bottom: 10, ok: true, h: "b" },
    { time: time(2), bottom: 2, ok: false, h: "a" },
    { time: time(3), bottom: 20, ok: false, h: "b" },
    { time: time(4), bottom: 4, h: "a" },
  ],
  "SELECT top(v, s, 5) FROM m": [
    { time: time(1), top: 10, s: "b" },
    { time: time(2), top: 2, s: "" },
    { time: time(3), top: 20 },
    { time: time(3), top: 3, s: "a" },
  ],
  // of rows only numbers fill
  "SELECT v, n FROM m WHERE h = 'a' AND v > 2 fill(previous)": [
    { time: time(3), v: 3, n: -1 },
    { time: time(4), v: 4 },
  ],
  "SELECT v, n FROM m WHERE h = 'a' AND v > 2 fill(5)": [
    { time: time(3), v: 3, n: -1 },
    { time: time(4), v: 4, n: 5 },
  ],
};

describe.each(FEW_STATES)("%s", (state) => {
  const server = ServedRows.start(state, [{ database: "d", lines: LINES }]);
  afterAll(async () => (await server).dispose());

  test.each(Object.entries(ANSWERS))("%s", async (q, rows) => {
    expect(await ask(await server, q)).toEqual(rows);
  });

  test("unsigned values above those of 64 bits with a sign are in order and keep their type", async () => {
    const q = "SELECT sum(v) FROM m GROUP BY u";
    const response = await fetch(`${(await server).url}/api/v3/query_influxql?${new URLSearchParams({ db: "d", q, format: "csv" })}`);
    expect((await response.text()).trim().split("\n").slice(1)).toEqual([
      `m,${TIME0},2,11.0`,
      `m,${TIME0},10,2.0`,
      `m,${TIME0},18446744073709551615,3.0`,
      `m,${TIME0},,24.0`,
    ]);
  });

  test.each([
    ["SELECT v, nope FROM m WHERE v = 1 GROUP BY h, nope", "time,h,v,nope", "a,1.0,"],
    ["SELECT nope, v FROM m WHERE v = 1 GROUP BY nope, h", "time,h,nope,v", "a,,1.0"],
    ["SELECT v FROM m WHERE v = 1 GROUP BY h, nope", "time,h,nope,v", "a,,1.0"],
    ["SELECT nope AS x, v FROM m WHERE v = 1 GROUP BY nope", "time,nope,x,v", ",,1.0"],
    ["SELECT nope, v FROM (SELECT v FROM m) WHERE v = 1 GROUP BY nope", "time,nope,v", ",1.0"],
  ])("a grouping name that nothing has is shown once: %s", async (q, head, row) => {
    const response = await fetch(`${(await server).url}/api/v3/query_influxql?${new URLSearchParams({ db: "d", q, format: "csv" })}`);
    expect((await response.text()).trim().split("\n")).toEqual([`iox::measurement,${head}`, `m,${time(1)},${row}`]);
  });

  test("in 1.x a field in GROUP BY is a tag that no row has", async () => {
    const response = await fetch(`${(await server).url}/query?${new URLSearchParams({ db: "d", q: "SELECT sum(v) FROM m GROUP BY ok" })}`);
    expect(await response.json()).toEqual({
      results: [
        { statement_id: 0, series: [{ name: "m", tags: { ok: "" }, columns: ["time", "sum"], values: [["1970-01-01T00:00:00Z", 40]] }] },
      ],
    });
  });
});
