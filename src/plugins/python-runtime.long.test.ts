// The plugin API in real Python processes, with a fake server. Expected values are from the documented API.
import { afterAll, describe, expect, test } from "bun:test";
import { PluginBench, type PluginRun, pluginPython, rowsAnswer } from "../../test/support/plugins/plugins.ts";
import { TsdbError } from "../model/errors.ts";
import type { PluginCaller, PluginColumn, PluginPayload, PluginValues } from "./plugin-call.ts";

const SCHEDULE: PluginPayload = { kind: "schedule", timeMs: Date.UTC(2025, 0, 2, 3, 4, 5, 678) };
const REQUEST: PluginPayload = {
  kind: "request",
  query: { a: "1" },
  headers: { "x-b": "2" },
  body: new Uint8Array([0, 255]),
};

function column(name: string, values: PluginValues, present: Uint32Array | null = null): PluginColumn {
  return { name, present, values };
}

const text = (codes: Uint32Array | null, ...texts: string[]): PluginValues => {
  let end = 0;
  const ends = Uint32Array.from(texts, (one) => (end += Buffer.byteLength(one)));
  return { kind: "text", codes, ends, bytes: new TextEncoder().encode(texts.join("")) };
};

const WRITES: PluginPayload = {
  kind: "writes",
  tables: [
    {
      table: "cpu",
      rowCount: 2,
      columns: [
        column("host", text(new Uint32Array([1, 0]), "a", "bü")),
        column("note", text(null, "only"), new Uint32Array([1])),
        column("f", { kind: "float", values: new Float64Array([1, -0.5]) }),
        column("i", { kind: "integer", values: new BigInt64Array([-(2n ** 63n)]) }, new Uint32Array([0])),
        column("u", { kind: "unsigned", values: new BigUint64Array([2n ** 64n - 1n, 0n]) }),
        column("b", { kind: "boolean", values: new Uint8Array([1, 0]) }),
        column("none", { kind: "float", values: new Float64Array() }, new Uint32Array()),
        column("time", { kind: "time", values: new BigInt64Array([1736899200000000001n, 2n]) }),
      ],
      absent: ["gone", "go'ne"],
    },
    { table: "empty", rowCount: 0, columns: [], absent: [] },
  ],
};

const ROWS = [
  "{'host': 'bü', 'note': None, 'f': 1.0, 'i': -9223372036854775808, 'u': 18446744073709551615, 'b': True, 'none': None, 'time': 1736899200000000001}",
  "{'host': 'a', 'note': 'only', 'f': -0.5, 'i': None, 'u': 0, 'b': False, 'none': None, 'time': 2}",
];

/** The body of a function that runs on a schedule. */
const scheduled = (body: string) => `def process_scheduled_call(local, when, args=None):\n${body.replace(/^/gm, "    ")}\n`;
const requested = (body: string) => `def process_request(local, query, headers, body, args=None):\n${body.replace(/^/gm, "    ")}\n`;

const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

if (pluginPython() !== null) {
  const bench = new PluginBench();
  afterAll(() => bench.close());
  let plugins = 0;
  const run = (source: string, payload: PluginPayload = SCHEDULE, options: Parameters<PluginBench["run"]>[2] = {}): Promise<PluginRun> =>
    bench.run(bench.plugin(`plugin_${plugins++}.py`, source), payload, options);

  describe("payloads", () => {
    test("rows of every type, absent values as None", async () => {
      const source =
        "def process_writes(any_name, batches, args=None):\n  for row in batches[0]['rows']: any_name.info(row)\n  any_name.info(batches[1], args)\n";
      const { outcome, lines } = await run(source, WRITES, { args: { k: "v" } });
      expect(outcome.failure).toBeNull();
      expect(lines).toEqual([...ROWS.map((row) => `INFO: ${row}`), "INFO: {'table_name': 'empty', 'rows': []} {'k': 'v'}"]);
    });

    test.each([49, 50, 300])("%d rows, with any names of columns", async (rowCount) => {
      const names = ["it's", 'a"b', "{x}", "back\\slash", "line\nbreak", "ü😀", "v0", "for", "__import__('os')._exit(1)", "%s", ""];
      const columns = names.map((name, i) =>
        column(name, { kind: "integer", values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(row * 100 + i)) }),
      );
      const source = `
import json
def process_writes(local, batches, args=None):
    rows = batches[0]["rows"]
    local.info(len(rows), rows[-1]["gone"], {type(row).__name__ for row in batches[1]["rows"]})
    for row in (rows[0], rows[-1]): local.info(json.dumps(row, ensure_ascii=False))
`;
      const table = (absent: string[]) => ({ table: "t", rowCount, columns, absent });
      const { lines } = await run(source, { kind: "writes", tables: [table(["gone"]), table([])] });
      const row = (number: number) => Object.fromEntries(names.map((name, i) => [name, number * 100 + i]));
      expect(lines[0]).toBe(`INFO: ${rowCount} None {'dict'}`);
      expect(lines.slice(1).map((line) => JSON.parse(line.slice("INFO: ".length)))).toEqual([row(0), row(rowCount - 1)]);
    });

    test("many rows of which each has few of many columns have no members for the others", async () => {
      const rowsOf = (at: number) => Uint32Array.from({ length: 50 }, (_, i) => i * 400 + at);
      const columns = Array.from({ length: 400 }, (_, at) =>
        column(`f${at}`, { kind: "integer", values: BigInt64Array.from(rowsOf(at), BigInt) }, rowsOf(at)),
      );
      const source = `
def process_writes(local, batches, args=None):
    rows = batches[0]["rows"]
    assert len(rows) == 20000 and all(row == {f"f{i % 400}": i} for i, row in enumerate(rows))
    rows[7]["other" if (rows[7]["f8"], rows[7]["gone"], rows[7].get("f7")) == (None, None, 7) else "f8"]
`;
      const payload: PluginPayload = { kind: "writes", tables: [{ table: "t", rowCount: 20_000, columns, absent: ["gone"] }] };
      expect((await run(source, payload)).outcome.failure).toMatchObject({ kind: "exception", message: "KeyError: 'other'" });
    });

    test("columns of which no row has a value are None and no members; other names are unknown", async () => {
      const source = `
import copy, json, pickle
def process_writes(local, batches, args=None):
    row = batches[0]["rows"][1]
    local.info(row["gone"], row["go'ne"], row.get("gone", 1), "gone" in row, len(row), isinstance(row, dict))
    local.info({type(same).__name__ for same in (copy.copy(row), copy.deepcopy(row), pickle.loads(pickle.dumps(row)), dict(row))})
    local.info(json.dumps(row), row == dict(row))
    local.cache.put("row", row, use_global=True)
    local.info(local.cache.get("row", use_global=True)["host"])
    row["new"] = 1
    row["nothing"]
`;
      const { outcome, lines } = await run(source, WRITES);
      expect(lines).toEqual([
        "INFO: None None 1 False 8 True",
        "INFO: {'dict'}",
        `INFO: {"host": "a", "note": "only", "f": -0.5, "i": null, "u": 0, "b": false, "none": null, "time": 2} True`,
        "INFO: a",
      ]);
      expect(outcome.failure).toMatchObject({ kind: "exception", message: "KeyError: 'nothing'" });
    });

    test("a schedule's time is naive, in UTC whatever the server's zone, in whole seconds; a function may leave args out", async () => {
      const inTokyo = new PluginBench({ environment: { ...process.env, TZ: "Asia/Tokyo" } });
      const source = `
import copy, datetime, pickle
def process_scheduled_call(l, when):
    utc = datetime.timezone.utc
    l.info(when.isoformat(), when.tzinfo, datetime.datetime.fromtimestamp(0).hour)
    # taken for local time, or said to be UTC
    ways = [when.astimezone(utc), when.replace(tzinfo=utc), (when - datetime.timedelta(hours=1)).astimezone(utc) + datetime.timedelta(hours=1)]
    l.info(len(set(ways)), ways[0].isoformat(), when.timestamp() == ways[1].timestamp() == 1735787045)
    l.info(when.astimezone(datetime.timezone(datetime.timedelta(hours=9))).isoformat(), when.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=1))).timestamp())
    l.info(isinstance(when, datetime.datetime), when == datetime.datetime(2025, 1, 2, 3, 4, 5), repr(when), str(when), f"{when:%H:%M}")
    for same in (copy.deepcopy(when), pickle.loads(pickle.dumps(when))): l.info(type(same) is datetime.datetime, same == when, same.tzinfo)
`;
      const { lines } = await inTokyo.run(inTokyo.plugin("zone.py", source), SCHEDULE);
      await inTokyo.close();
      expect(lines).toEqual([
        "INFO: 2025-01-02T03:04:05 None 9",
        "INFO: 1 2025-01-02T03:04:05+00:00 True",
        "INFO: 2025-01-02T12:04:05+09:00 1735783445.0",
        "INFO: True True datetime.datetime(2025, 1, 2, 3, 4, 5) 2025-01-02 03:04:05 03:04",
        ...["INFO: True True None", "INFO: True True None"],
      ]);
    });

    test("a request's query, headers and body", async () => {
      const { lines } = await run(requested("local.info(query, headers, body, args)\nreturn 'x'"), REQUEST);
      expect(lines).toEqual(["INFO: {'a': '1'} {'x-b': '2'} b'\\x00\\xff' None"]);
    });
  });

  describe("answers of a request", () => {
    const JSON_TYPE: [string, string] = ["content-type", "application/json"];
    const HTML: [string, string] = ["content-type", "text/html; charset=utf-8"];
    const PLAIN: [string, string] = ["content-type", "text/plain; charset=utf-8"];
    const FLASK = `
class Answer:
    status_code = 418
    headers = {"Content-Type": "text/plain", "X-A": "1"}
    def __flask_response__(self): return True
    def get_data(self): return "tea"
return Answer()`;
    const GOOD: [source: string, status: number, headers: [string, string][], body: string][] = [
      ["return 'hi ü'", 200, [HTML], "hi ü"],
      ["return {'a': [1, None, 1.0]}", 200, [JSON_TYPE], '{"a": [1, null, 1.0]}'],
      ["return [1]", 200, [JSON_TYPE], "[1]"],
      ["return 'no', 404", 404, [HTML], "no"],
      ["return {'a': 1}, {'X-A': 'b'}", 200, [["X-A", "b"], JSON_TYPE], '{"a": 1}'],
      ["return 'x', 201, {'content-type': 'text/plain'}", 201, [["content-type", "text/plain"]], "x"],
      ["return (part for part in ['a', b'b', 'c'])", 200, [HTML], "abc"],
      ["return None, 204", 204, [PLAIN], ""],
      ["return 4.5, 201, {'X-A': 'b'}", 201, [["X-A", "b"], PLAIN], "4.5"],
      ["return True, 200", 200, [PLAIN], "True"],
      ["return b'raw'", 200, [["content-type", "application/octet-stream"]], "raw"],
      [
        FLASK,
        418,
        [
          ["Content-Type", "text/plain"],
          ["X-A", "1"],
        ],
        "tea",
      ],
    ];
    test.each(GOOD)("%s", async (source, status, headers, body) => {
      const { outcome } = await run(requested(source), REQUEST);
      expect(outcome.failure).toBeNull();
      const { response } = outcome;
      expect({ ...response, body: decode(response!.body) }).toEqual({ status, headers, body });
    });

    const BAD: [source: string, message: string][] = [
      ["return None", "TypeError: Unsupported return type from Python function"],
      ["return 5", "TypeError: Unsupported return type from Python function"],
      ["return object()", "TypeError: Unsupported return type from Python function"],
      ["return object(), 200", "TypeError: Unsupported return type from Python function"],
      ["return 'x', 99", "ValueError: an answer's status is a number from 200 to 599, got 99"],
      ["return 'x', 200, {'a': 'b\\r\\nc: d'}", "ValueError: a header of an answer has a line break: 'a'"],
      ["return {'a': object()}", "TypeError: Object of type object is not JSON serializable"],
      ["return ('x' * (1 << 20) for _ in range(1000))", "ValueError: an answer has at most 67108864 bytes"],
    ];
    test.each(BAD)("refused: %s", async (source, message) => {
      expect((await run(requested(source), REQUEST)).outcome.failure).toMatchObject({ kind: "exception", message });
    });
  });

  describe("query", () => {
    test("rows as dicts; parameters keep their types; another database", async () => {
      bench.host.answer = () =>
        Promise.resolve(
          rowsAnswer(
            ["host", "n"],
            [
              ["a", 2 ** 40],
              [null, 1],
            ],
          ),
        );
      const { lines } = await run(scheduled("local.info(local.query('SELECT $a', {'a': 'x', 'b': 2**60, 'c': 1.0, 'd': True}, 'other'))"));
      expect(lines).toEqual(["INFO: [{'host': 'a', 'n': 1099511627776}, {'host': None, 'n': 1}]"]);
      const { database, statement, params } = bench.host.statements.at(-1)!;
      expect({ database, statement, params }).toEqual({
        ...{ database: "other", statement: "SELECT $a" },
        params: { a: "x", b: 2n ** 60n, c: 1, d: true },
      });
    });

    test("parameters of subclasses, which show themselves otherwise, as numpy's; integers without end", async () => {
      bench.host.answer = () => Promise.resolve(rowsAnswer(["n"], []));
      const source = `import enum
class float64(float):
  __repr__ = lambda self: f"np.float64({float(self)!r})"
class Level(enum.IntEnum):
  HIGH = 3
local.query("SELECT $a", {"a": float64(1.5), "b": float64("-inf"), "c": Level.HIGH, "d": 1e22})
try: local.query("SELECT $a", {"a": 10**40})
except ValueError as error: local.info(error)`;
      const { lines, outcome } = await run(scheduled(source));
      expect(outcome.failure).toBeNull();
      expect(bench.host.statements.at(-1)!.params).toEqual({ a: 1.5, b: Number.NEGATIVE_INFINITY, c: 3n, d: 1e22 });
      expect(lines).toEqual(["INFO: an integer of a statement's parameters has at most 40 digits, got one of 133 bits"]);
    });

    test("an answer in many parts", async () => {
      const rows = Array.from({ length: 50_000 }, (_, i) => [i, `text ${i}`]);
      const answer = rowsAnswer(["i", "t"], rows);
      bench.host.answer = () =>
        Promise.resolve(
          new ReadableStream({
            start(controller) {
              for (let at = 0; at < answer.length; at += 10_000) controller.enqueue(answer.slice(at, at + 10_000));
              controller.close();
            },
          }),
        );
      const { lines } = await run(scheduled("rows = local.query('x')\nlocal.info(len(rows), sum(r['i'] for r in rows), rows[-1])"));
      expect(lines).toEqual(["INFO: 50000 1249975000 {'i': 49999, 't': 'text 49999'}"]);
    });

    test("a failed statement raises QueryError, which the plugin may catch", async () => {
      bench.host.answer = () => Promise.reject(new TsdbError("bad_query", "no table x"));
      const source =
        "try:\n    local.query('x')\nexcept QueryError as error:\n    local.info(type(error).__name__, error)\nlocal.query('x')";
      const { lines, outcome } = await run(scheduled(source));
      expect(lines).toEqual(["INFO: QueryError no table x"]);
      expect(outcome.failure).toMatchObject({ kind: "exception", message: "QueryError: no table x" });
    });

    test("a parameter that is no value is refused", async () => {
      const { outcome } = await run(scheduled("local.query('x', {'a': []})"));
      expect(outcome.failure!.message).toStartWith("TypeError: parameters of a statement are texts, numbers, booleans or None");
    });
  });

  describe("writes", () => {
    test("are held back until the function returns, write_sync is not", async () => {
      bench.host.writes.length = 0;
      await run(
        scheduled(`
local.write(LineBuilder("a").int64_field("n", 1).time_ns(1))
local.write_to_db("other", "b n=2 2")
local.write("a n=3i 3")
local.write_sync(LineBuilder("c").bool_field("n", True), no_sync=True)
local.write_sync_to_db("other", "d n=1", False)`),
      );
      expect(bench.host.writes.map(({ database, lines, noSync }) => [database, lines, noSync])).toEqual([
        ["db", "c n=t", true],
        ["other", "d n=1", false],
        ["db", "a n=1i 1\na n=3i 3\n", false],
        ["other", "b n=2 2\n", false],
      ]);
    });

    test("of a run that raises are discarded", async () => {
      bench.host.writes.length = 0;
      const { outcome } = await run(scheduled("local.write('a n=1')\nraise ValueError('no')"));
      expect(outcome.failure).toMatchObject({ kind: "exception", message: "ValueError: no" });
      expect(bench.host.writes).toEqual([]);
    });

    test("rejected lines fail the run, or raise from write_sync", async () => {
      bench.host.refuse = () => new TsdbError("bad_request", "line 1: no field");
      const late = await run(scheduled("local.write('a')"));
      const sync = await run(scheduled("try: local.write_sync('a', False)\nexcept Exception as error: local.info(error)"));
      bench.host.refuse = undefined;
      expect(late.outcome.failure).toMatchObject({
        kind: "write",
        message: "the lines that the plugin wrote to db were refused: line 1: no field",
      });
      expect(sync.lines).toEqual(["INFO: line 1: no field"]);
    });

    test("a dry run writes nothing and returns the lines", async () => {
      bench.host.writes.length = 0;
      const caller: PluginCaller = { kind: "test", database: "db", cacheName: "c" };
      const { outcome } = await run(
        scheduled("local.write('a n=1')\nlocal.write_sync('b n=2', True)\nlocal.write_to_db('o', 'c n=3')"),
        SCHEDULE,
        {
          caller,
        },
      );
      expect(bench.host.writes).toEqual([]);
      expect(outcome.writes).toEqual([
        { database: "db", line: "a n=1" },
        { database: "db", line: "b n=2" },
        { database: "o", line: "c n=3" },
      ]);
    });

    test("not to _internal", async () => {
      const { outcome } = await run(scheduled("local.write_to_db('_internal', 'a n=1')"));
      expect(outcome.failure!.message).toBe("WriteError: plugins do not write to the database _internal");
    });
  });

  describe("cache", () => {
    const COUNT = scheduled("n = local.cache.get('n', 0) + 1\nlocal.cache.put('n', n)\nlocal.info(n)");
    const trigger = (name: string, runAsync = false): PluginCaller => ({ kind: "trigger", database: "db", trigger: name, runAsync });

    test("values of a trigger are its own", async () => {
      const plugin = bench.plugin("count.py", COUNT);
      const counts = [];
      for (const name of ["a", "a", "b", "a"]) counts.push((await bench.run(plugin, SCHEDULE, { caller: trigger(name) })).lines[0]);
      expect(counts).toEqual(["INFO: 1", "INFO: 2", "INFO: 1", "INFO: 3"]);
    });

    test("of a trigger with one process they are kept by reference", async () => {
      const plugin = bench.plugin(
        "reference.py",
        scheduled("local.cache.put('f', local.cache.get('f') or (lambda: 5))\nlocal.info(local.cache.get('f')())"),
      );
      for (let i = 0; i < 2; i++) expect((await bench.run(plugin, SCHEDULE)).lines).toEqual(["INFO: 5"]);
    });

    test("of an asynchronous trigger all its processes see them", async () => {
      const plugin = bench.plugin(
        "shared.py",
        scheduled("import time\nlocal.cache.put(args['k'], 1)\ntime.sleep(0.2)\nlocal.info(sorted(k for k in 'ab' if local.cache.get(k)))"),
      );
      const both = ["a", "b"].map((k) => bench.run(plugin, SCHEDULE, { caller: trigger("async", true), args: { k } }));
      await Promise.all(both);
      const { lines } = await bench.run(plugin, SCHEDULE, { caller: trigger("async", true), args: { k: "a" } });
      expect(lines).toEqual(["INFO: ['a', 'b']"]);
    });

    test("global values, deletion, ttl, bad arguments", async () => {
      await run(scheduled("local.cache.put('g', {'x': [1, None]}, use_global=True)"));
      const { lines } = await run(
        scheduled(`
import time
local.info(local.cache.get('g', use_global=True), local.cache.get('g'), local.cache.delete('g', use_global=True), local.cache.delete('g', use_global=True))
for is_global in (False, True):
    local.cache.put('t', 1, ttl=0.05, use_global=is_global)
    local.cache.put('u', 1, ttl=60, use_global=is_global)
    time.sleep(0.06)
    local.info(local.cache.get('t', 'gone', use_global=is_global), local.cache.get('u', use_global=is_global))
for ttl in (-1, float('nan'), 1e300):
    try: local.cache.put('t', 1, ttl)
    except ValueError: local.info('refused')
try: local.cache.put('f', lambda: 1, use_global=True)
except TypeError as error: local.info(error)`),
      );
      expect(lines.slice(0, 6)).toEqual([
        "INFO: {'x': [1, None]} None True False",
        "INFO: gone 1",
        "INFO: gone 1",
        ...Array(3).fill("INFO: refused"),
      ]);
      expect(lines[6]).toStartWith("INFO: the cache holds 'f' for other processes and cannot pickle it");
    });

    test("tests have caches of their own, by name", async () => {
      const plugin = bench.plugin("tested.py", COUNT);
      const counts = [];
      for (const cacheName of ["one", "one", "two"]) {
        counts.push((await bench.run(plugin, SCHEDULE, { caller: { kind: "test", database: "db", cacheName } })).lines[0]);
      }
      expect(counts).toEqual(["INFO: 1", "INFO: 2", "INFO: 1"]);
    });

    test("of a trigger whose process is idle are kept, as long as a process without any can be ended for another trigger", async () => {
      const few = new PluginBench({ processesMax: 2 });
      const call = (name: string, body: string) => few.run(few.plugin(`${name}.py`, scheduled(body)), SCHEDULE, { caller: trigger(name) });
      try {
        await call("holds", "local.cache.put('k', 1)\nlocal.cache.put('l', 2)");
        await call("plain", "pass");
        await call("third", "pass");
        expect((await call("holds", "local.info(local.cache.get('k'))")).lines).toEqual(["INFO: 1"]);
        expect(few.printed).toEqual([]);
        await call("third", "local.cache.put('k', 1)");
        await call("fourth", "pass");
        expect(few.printed).toEqual(["the process ends for another trigger's, and its 2 cached values with it"]);
        expect((await call("third", "local.info(local.cache.get('k'))")).lines).toEqual(["INFO: 1"]);
        expect((await call("holds", "local.info(local.cache.get('k'))")).lines).toEqual(["INFO: None"]);
      } finally {
        await few.close();
      }
    });

    test("is dropped when the trigger is stopped", async () => {
      const plugin = bench.plugin("stopped.py", COUNT);
      for (const runAsync of [false, true]) {
        const caller = trigger(`stopped ${runAsync}`, runAsync);
        await bench.run(plugin, SCHEDULE, { caller });
        await bench.runtime.stopTrigger("db", `stopped ${runAsync}`);
        expect((await bench.run(plugin, SCHEDULE, { caller })).lines).toEqual(["INFO: 1"]);
      }
    });

    test("a value over the limit raises MemoryError", async () => {
      const { lines } = await run(
        scheduled("try: local.cache.put('b', b'x' * (80 << 20), use_global=True)\nexcept MemoryError as error: local.info(error)"),
      );
      expect(lines).toEqual(["INFO: the values that plugins share take too much memory"]);
    });
  });
}
