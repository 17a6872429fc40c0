// The v1-style language over /api/v3/query_tsdbql of a real server: the columns of each kind of statement, in every format, by GET and by
// POST.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type Table, tableFromIPC } from "apache-arrow";
import { readParquet } from "parquet-wasm/esm";
import { loadParquetLibrary } from "../../src/encode/parquet/library.ts";
import { readColumn } from "../support/flight/arrow-read.ts";
import { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

const PATHS = ["/api/v3/query_tsdbql", "/api/v3/query_influxql"] as const;
/** Within the policy's period, whenever the test runs; whole milliseconds. */
const NOW_MS = Date.now();
let server: TestServer;

beforeAll(async () => {
  await loadParquetLibrary();
  server = await TestServer.start();
  const lines = ["cpu,host=a usage=1 1000000000", 'cpu,host=b usage=0.5,n=7i,ok=true,note="x,\\"y" 2000690067', "cpu usage=2 4000000000"];
  await store(server, "d", [...lines, "mem,host=a free=3u 3000000000"].join("\n"));
  await store(server, "d/rp", `cpu,host=z usage=9 ${NOW_MS}000000`);
  const database = { db: "d/rp", retention_period: "7d" };
  const headers = { "content-type": "application/json" };
  await fetch(`${server.url}/api/v3/configure/database`, { method: "PUT", headers, body: JSON.stringify(database) });
});
afterAll(() => server.dispose());

interface Answer {
  readonly status: number;
  readonly type: string | null;
  readonly bytes: Uint8Array;
  readonly text: string;
}

async function answered(response: Response): Promise<Answer> {
  const bytes = await response.bytes();
  return { status: response.status, type: response.headers.get("content-type"), bytes, text: new TextDecoder().decode(bytes) };
}

/** By both methods and both names. */
async function askAll(q: string, members: Readonly<Record<string, unknown>>): Promise<[Answer, ...Answer[]]> {
  const asked = { db: "d", q, ...members };
  const texts = Object.entries(asked).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
  const answers: Answer[] = [];
  for (const path of PATHS) {
    const got = await answered(await fetch(`${server.url}${path}?${new URLSearchParams(texts)}`));
    const [changes] = CHANGES.exec(String(asked["q"])) ?? [];
    if (changes === undefined) answers.push(got);
    // by GET nothing is changed
    else expect(got).toMatchObject({ status: 400, text: `This feature is not implemented: ${changes}` });
    answers.push(await answered(await fetch(`${server.url}${path}`, { method: "POST", body: JSON.stringify(asked) })));
  }
  return answers as [Answer, ...Answer[]];
}

const CHANGES = /^(?:CREATE DATABASE|DROP DATABASE|DROP MEASUREMENT|KILL QUERY)/;

/** What all of them answer. */
async function ask(q: string, members: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
  const [first, ...others] = await askAll(q, members);
  for (const other of others) expect(other).toEqual(first);
  return first;
}

async function rows(q: string, members: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const { status, text } = await ask(q, { format: "json", ...members });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return JSON.parse(text);
}

const ALL = "SELECT * FROM cpu";
const NOTHING = "SELECT usage FROM nothing";

const FORMATS: [format: string | null, type: string, all: string, none: string][] = [
  [
    "json",
    "application/json",
    '[{"iox::measurement":"cpu","time":"1970-01-01T00:00:01","host":"a","usage":1.0},' +
      '{"iox::measurement":"cpu","time":"1970-01-01T00:00:02.000690067","host":"b","n":7,"note":"x,\\"y","ok":true,"usage":0.5},' +
      '{"iox::measurement":"cpu","time":"1970-01-01T00:00:04","usage":2.0}]',
    "[]",
  ],
  [
    "jsonl",
    "application/jsonl",
    '{"iox::measurement":"cpu","time":"1970-01-01T00:00:01","host":"a","usage":1.0}\n' +
      '{"iox::measurement":"cpu","time":"1970-01-01T00:00:02.000690067","host":"b","n":7,"note":"x,\\"y","ok":true,"usage":0.5}\n' +
      '{"iox::measurement":"cpu","time":"1970-01-01T00:00:04","usage":2.0}\n',
    "",
  ],
  [
    "csv",
    "text/csv",
    "iox::measurement,time,host,n,note,ok,usage\ncpu,1970-01-01T00:00:01,a,,,,1.0\n" +
      'cpu,1970-01-01T00:00:02.000690067,b,7,"x,""y",true,0.5\ncpu,1970-01-01T00:00:04,,,,,2.0\n',
    "",
  ],
  [
    "pretty",
    "text/plain; charset=utf-8",
    `
+------------------+-------------------------------+------+---+------+------+-------+
| iox::measurement | time                          | host | n | note | ok   | usage |
+------------------+-------------------------------+------+---+------+------+-------+
| cpu              | 1970-01-01T00:00:01           | a    |   |      |      | 1.0   |
| cpu              | 1970-01-01T00:00:02.000690067 | b    | 7 | x,"y | true | 0.5   |
| cpu              | 1970-01-01T00:00:04           |      |   |      |      | 2.0   |
+------------------+-------------------------------+------+---+------+------+-------+`.trimStart(),
    "+------------------+------+\n| iox::measurement | time |\n+------------------+------+\n+------------------+------+",
  ],
  [
    null,
    "application/json",
    '{"results":[{"series":[{"name":"cpu","columns":["iox::measurement","time","host","n","note","ok","usage"],"values":[' +
      '["cpu","1970-01-01T00:00:01","a",null,null,null,1.0],["cpu","1970-01-01T00:00:02.000690067","b",7,"x,\\"y",true,0.5],' +
      '["cpu","1970-01-01T00:00:04",null,null,null,null,2.0]]}]}]}',
    '{"results":[{"series":[{"name":"","columns":["iox::measurement","time"],"values":[]}]}]}',
  ],
];

test.each(FORMATS)("format %p", async (format, type, all, none) => {
  const members = format === null ? {} : { format };
  expect(await ask(ALL, members)).toMatchObject({ status: 200, type, text: all });
  expect(await ask(NOTHING, members)).toMatchObject({ status: 200, type, text: none });
});

const BINARY: [format: string, type: string, read: (bytes: Uint8Array) => Table][] = [
  ["parquet", "application/vnd.apache.parquet", (bytes) => tableFromIPC(readParquet(bytes).intoIPCStream())],
  ["arrow", "application/vnd.apache.arrow.stream", (bytes) => tableFromIPC(bytes)],
];

test.each(BINARY)("format %s", async (format, type, read) => {
  for (const { status, type: got, bytes } of await askAll(ALL, { format })) {
    expect([status, got]).toEqual([200, type]);
    const table = read(bytes);
    const columns = Object.fromEntries(table.schema.fields.map(({ name }, i) => [name, readColumn(table, i)]));
    expect(columns).toEqual({
      "iox::measurement": ["cpu", "cpu", "cpu"],
      time: [1_000_000_000n, 2_000_690_067n, 4_000_000_000n],
      host: ["a", "b", null],
      n: [null, 7n, null],
      note: [null, 'x,"y', null],
      ok: [null, true, null],
      usage: [1, 0.5, 2],
    });
  }
  const [none] = await askAll(NOTHING, { format });
  expect(read(none.bytes).schema.fields.map(({ name }) => name)).toEqual(["iox::measurement", "time"]);
});

const at = (time: string) => ({ "iox::measurement": "cpu", time });
const listed = (measurement: string, row: object) => ({ "iox::measurement": measurement, ...row });

const STATEMENTS: [q: string, rows: unknown][] = [
  [
    "SELECT mean(usage) FROM cpu GROUP BY host",
    [
      { ...at("1970-01-01T00:00:00"), host: "a", mean: 1 },
      { ...at("1970-01-01T00:00:00"), host: "b", mean: 0.5 },
      { ...at("1970-01-01T00:00:00"), mean: 2 },
    ],
  ],
  [
    "SELECT usage, free FROM cpu, mem WHERE host = 'a'",
    [
      { ...at("1970-01-01T00:00:01"), usage: 1 },
      { "iox::measurement": "mem", time: "1970-01-01T00:00:03", free: 3 },
    ],
  ],
  [
    "SELECT count(usage) FROM cpu WHERE time >= 0 AND time < 6s GROUP BY time(2s) fill(7)",
    [
      { ...at("1970-01-01T00:00:00"), count: 1 },
      { ...at("1970-01-01T00:00:02"), count: 1 },
      { ...at("1970-01-01T00:00:04"), count: 1 },
    ],
  ],
  [
    "SELECT max(usage) FROM cpu WHERE time >= 0 AND time < 2s GROUP BY time(1s) fill(null)",
    [at("1970-01-01T00:00:00"), { ...at("1970-01-01T00:00:01"), max: 1 }],
  ],
  ["SELECT usage FROM cpu ORDER BY time DESC LIMIT 1 tz('Asia/Kolkata')", [{ ...at("1970-01-01T05:30:04+05:30"), usage: 2 }]],
  ["SELECT usage FROM rp.cpu", [{ ...at(new Date(NOW_MS).toISOString().replace(/(?:\.000)?Z$/, "")), usage: 9 }]],
  ["SHOW MEASUREMENTS", ["cpu", "mem"].map((name) => listed("measurements", { name }))],
  ["SHOW TAG KEYS", ["cpu", "mem"].map((name) => listed(name, { tagKey: "host" }))],
  [
    "SHOW TAG VALUES WITH KEY = host",
    [
      ["cpu", "a"],
      ["cpu", "b"],
      ["cpu", "z"],
      ["mem", "a"],
    ].map(([name, value]) => listed(name!, { key: "host", value })),
  ],
  [
    "SHOW FIELD KEYS FROM cpu",
    Object.entries({ n: "integer", note: "string", ok: "boolean", usage: "float" }).map(([fieldKey, fieldType]) => {
      return listed("cpu", { fieldKey, fieldType });
    }),
  ],
  ["SHOW DATABASES", ["_internal", "d", "d/rp"].map((name) => ({ "iox::database": name, deleted: false }))],
  [
    "SHOW RETENTION POLICIES",
    [
      { "iox::database": "d", name: "autogen", duration: "0s" },
      { "iox::database": "d", name: "rp", duration: "168h0m0s" },
    ],
  ],
];

test.each(STATEMENTS)("rows of the InfluxQL statement %s", async (q, wanted) => expect(await rows(q)).toEqual(wanted));

test("parameters are values of their type, in the query string as text", async () => {
  const usage = (value: number, time: string) => ({ ...at(time), usage: value });
  expect(await rows("SELECT usage FROM cpu WHERE host = $h", { params: { h: "b" } })).toEqual([
    usage(0.5, "1970-01-01T00:00:02.000690067"),
  ]);
  expect(await rows("SELECT usage FROM cpu WHERE usage > $u", { params: { u: 1.5, more: null } })).toEqual([
    usage(2, "1970-01-01T00:00:04"),
  ]);
  expect(await rows("SELECT usage FROM cpu WHERE usage * $u = 4.0", { params: { u: 2 } })).toEqual([usage(2, "1970-01-01T00:00:04")]);
  expect(await rows("SELECT ok FROM cpu WHERE ok = $b", { params: { b: true } })).toEqual([
    { ...at("1970-01-01T00:00:02.000690067"), ok: true },
  ]);
  expect(await rows("SELECT usage FROM cpu WHERE host = $h", { params: { h: "b' OR host = 'a" } })).toEqual([]);
  const missing = await ask("SELECT usage FROM cpu WHERE host = $h", { params: { g: 1 } });
  expect([missing.status, missing.text]).toEqual([
    400,
    "Bind parameter '$h' was referenced in the InfluxQL statement but its value is undefined",
  ]);
});

test("parameters of /query alone change nothing in /api/v3/query_tsdbql", async () => {
  const plain = await ask(ALL, { format: "json" });
  const more = { epoch: "ms", chunked: "true", chunk_size: "1", pretty: "true", rp: "rp" };
  expect(await ask(ALL, { format: "json", ...more })).toEqual(plain);
});

const ERRORS: [q: string, members: Record<string, unknown>, status: number, text: string][] = [
  [ALL, { db: "nowhere" }, 404, '{"error":"query error: database not found: nowhere"}'],
  ["SELECT usage FROM nowhere..cpu", { db: "" }, 404, '{"error":"query error: database not found: nowhere"}'],
  ["SELECT usage FROM d.other.cpu", { db: "" }, 404, '{"error":"query error: database not found: d/other"}'],
  ["SELECT sum(usage), host FROM cpu", {}, 400, "mixing aggregate and non-aggregate queries is not supported"],
  ["SELECT foo(usage) FROM cpu", {}, 400, "undefined function foo()"],
  ["KILL QUERY 7", {}, 400, "no such query id: 7"],
];

test.each(ERRORS)("%s with %j: %d %s", async (q, members, status, text) => {
  expect(await ask(q, members)).toMatchObject({ status, text });
  expect(await ask(q, { ...members, format: "parquet" })).toMatchObject({ status, text });
});

test("statements that change something: no rows, and what INTO has written", async () => {
  expect((await ask("CREATE DATABASE made", { format: "jsonl" })).text).toBe("");
  expect(await rows("SELECT usage INTO d..copy FROM cpu")).toEqual([listed("result", { time: "1970-01-01T00:00:00", written: 3 })]);
  expect(await rows("SELECT count(usage) FROM copy")).toEqual([listed("copy", { time: "1970-01-01T00:00:00", count: 3 })]);
  expect(await rows("DROP MEASUREMENT copy")).toEqual([]);
  expect(await rows("SHOW MEASUREMENTS")).toEqual(["cpu", "mem"].map((name) => listed("measurements", { name })));
  expect(await rows("DROP DATABASE made")).toEqual([]);
});

test("INTO writes names, tags and values as they are, and says what it cannot write", async () => {
  const texts = ["a\\b", "a\\\\b", "c\\ d", "e=\\=f", "D:\\,z", "\\g"];
  const inLines = (text: string) => text.replaceAll("\\", "\\\\").replace(/[,= ]/g, "\\$&");
  await store(server, "names", texts.map((text, i) => `from,h=${inLines(text)} u=${i},z=-0.0 ${i}`).join("\n"));
  const into = (q: string) => askAll(q, { db: "names" });
  for (const name of ["into", "\\in\\ to\\,x"]) {
    const quoted = `"${name.replaceAll("\\", "\\\\")}"`;
    expect((await into(`SELECT * INTO ${quoted} FROM "from" GROUP BY *`)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const found = await server.sql<{ h: string; u: number; z: number }>("names", `SELECT h, u, z FROM "${name}" ORDER BY u`);
    expect(found).toEqual(texts.map((h, u) => ({ h, u, z: -0 })));
  }
  for (const [target, why] of [
    ["#x", "begins with #"],
    ["x\\\\", "ends with a backslash"],
    ["one g=9 1\\ntwo", "has a line end"],
  ] as const) {
    for (const { status, text } of await into(`SELECT u INTO "${target}" FROM "from"`)) {
      expect([status, text]).toEqual([400, expect.stringContaining(`cannot write measurement`)]);
      expect(text).toContain(why);
    }
  }
});

test("hundreds of measurements, whose snapshots are sent in parts, side by side and while rows come", async () => {
  const names = Array.from({ length: 300 }, (_, i) => `t${String(i).padStart(3, "0")}`);
  const write = (v: number) => store(server, "many", names.map((name) => `${name} v=${v} ${v}`).join("\n"));
  await write(1);
  const asked = async (q: string) => {
    const query = new URLSearchParams({ db: "many", q });
    const { results } = (await (await fetch(`${server.url}/query?${query}`)).json()) as {
      results: { series: { name: string; values: [string, number][] }[] }[];
    };
    return results[0]!.series.map(({ name, values }): [string, number] => [name, values[0]![1]]);
  };
  const writes = (async () => {
    for (let v = 2; v < 10; v++) await write(v);
  })();
  const counts = await Promise.all(Array.from({ length: 8 }, () => asked("SELECT count(v) FROM /./")));
  for (const each of counts) {
    // a body is seen as a whole or not at all
    const [[, rows]] = each as [[string, number]];
    expect(rows).toBeWithin(1, 10);
    expect(each).toEqual(names.map((name) => [name, rows]));
  }
  await writes;
  expect(await asked("SELECT sum(v) FROM /./")).toEqual(names.map((name) => [name, 45]));
});
