// SHOW statements over rows in files, in memory and in both, against InfluxDB 1.6.7's answers; and what it does not know: deletions,
// retention and retention policies that are databases.
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { INTERNAL_DATABASE } from "../../src/model/names.ts";
import { ALL_TIME } from "../../src/model/query/scan.ts";
import { type ColumnDef, ColumnType, TIME_COLUMN } from "../../src/model/rows/column.ts";
import type { Tombstone } from "../../src/model/rows/tombstone.ts";
import type { TableSnapshot } from "../../src/scan/snapshot.ts";
import { TableScan } from "../../src/scan/table-scan.ts";
import { BlockCache } from "../../src/storage/block-cache/block-cache.ts";
import type { TsdbqlContext } from "../../src/tsdbql/execute/context.ts";
import { runTsdbql } from "../../src/tsdbql/execute/tsdbql.ts";
import { parseQuery } from "../../src/tsdbql/parse/parser.ts";
import { prng } from "../support/prng.ts";
import type { TestRow, TestValue } from "../support/rows/rows.ts";
import { type TablePart, TestSnapshot } from "../support/rows/table-snapshot.ts";
import { readSeries } from "../support/sql/tsdbql-data.ts";
import { SHOW_GOLDENS, SHOW_ROWS, SHOW_STATEMENTS, type ShowGoldens } from "./show-cases.ts";

const kernel = Kernel.create();
const cache = new BlockCache(kernel, 0);
const made: TestSnapshot[] = [];
afterAll(() => {
  for (const snapshot of made) snapshot.free();
});

type Rows = readonly TestRow[];
type Layout = (rows: Rows) => TablePart[];
interface Hiding {
  readonly tombstones?: readonly Tombstone[];
  readonly retentionMinNs?: bigint;
}

function columnsOf(rows: Rows): ColumnDef[] {
  const types = new Map<string, ColumnType>();
  for (const { tags, fields } of rows) {
    for (const name of Object.keys(tags)) types.set(name, ColumnType.tag);
    for (const [name, value] of Object.entries(fields)) types.set(name, typeOf(value!));
  }
  return [TIME_COLUMN, ...[...types].map(([name, type], i) => ({ id: i + 1, name, type }))];
}

function typeOf(value: TestValue): ColumnType {
  if (typeof value === "bigint") return ColumnType.integer;
  if (typeof value === "number") return ColumnType.float;
  return typeof value === "boolean" ? ColumnType.boolean : ColumnType.string;
}

function tableOf(name: string, id: number, rows: Rows, layout: Layout, hiding: Hiding = {}): TableSnapshot {
  const firstFileId = 1 + made.length * 10;
  const snapshot = new TestSnapshot(kernel, layout(rows), { columns: columnsOf(rows), pageRowsMax: 2048, firstFileId, ...hiding });
  made.push(snapshot);
  return { ...snapshot.table, table: { ...snapshot.table.table, id, name } };
}

type Databases = Readonly<Record<string, readonly TableSnapshot[]>>;

function contextOf(databases: Databases, database: string | null, memoryBytesMax = 1 << 30): TsdbqlContext {
  return {
    ...{ kernel, database, retentionPolicy: null, memoryBytesMax, signal: new AbortController().signal },
    nowNs: 1_700_000_000_000_000_000n,
    snapshot: async ({ database: name, tables, wholeCatalog, systemTables }) => {
      // the server's own is always there
      const all = name === INTERNAL_DATABASE ? [] : databases[name];
      if (all === undefined) throw new TsdbError("unknown_database", `database not found: ${name}`, { database: name });
      return {
        tables: all.filter(({ table }) => tables.includes(table.name)),
        catalog: wholeCatalog ? all.map(({ table }) => table) : [],
        isInternal: false,
        systemRows: systemTables.includes("databases")
          ? { databases: Object.keys(databases).map((each) => [each, null, false, null]) }
          : {},
      };
    },
    scanOf: (table) => new TableScan(kernel, table, cache),
  };
}

async function ask(databases: Databases, text: string, database: string | null = "d", memoryBytesMax?: number): Promise<unknown> {
  try {
    const answer = await runTsdbql(parseQuery(text)[0]!.statement, contextOf(databases, database, memoryBytesMax));
    try {
      // 1.x leaves a name out that is empty
      const series = (await readSeries(answer)).map(({ name, ...rest }) => (name === "" ? rest : { name, ...rest }));
      return series.length === 0 ? {} : { series };
    } finally {
      await answer.close();
    }
  } catch (error) {
    if (error instanceof TsdbError) return { error: error.message };
    throw error;
  }
}

const LAYOUTS: Readonly<Record<string, Layout>> = {
  "in a file": (rows) => [{ kind: "file", batches: [rows] }],
  "in memory": (rows) => [{ kind: "memory", batches: [rows] }],
  "in files and in memory": (rows) => [
    { kind: "file", batches: [rows.slice(0, 2)] },
    { kind: "file", batches: [rows.slice(1, 3)] },
    { kind: "memory", batches: [rows.slice(2, 4), rows.slice(4)] },
  ],
};

const goldens = JSON.parse(readFileSync(SHOW_GOLDENS, "utf8")) as ShowGoldens;

for (const [place, layout] of Object.entries(LAYOUTS)) {
  test(`${SHOW_STATEMENTS.length} statements over rows ${place} answer as 1.6.7`, async () => {
    const databases = { d: Object.entries(SHOW_ROWS).map(([name, rows], i) => tableOf(name, i + 1, rows, layout)) };
    for (const statement of SHOW_STATEMENTS) {
      expect({ statement, result: await ask(databases, statement) }).toEqual({ statement, result: goldens[statement] });
    }
  });
}

test("a database is required", async () => {
  for (const statement of ["SHOW MEASUREMENTS", "SHOW SERIES", "SHOW TAG VALUES WITH KEY = a", "SHOW SERIES CARDINALITY"]) {
    expect(await ask({}, statement, null)).toEqual({ error: "database name required" });
  }
});

test("lists that do not fit the statement's memory are refused, numbers are not", async () => {
  const rows = Array.from({ length: 1000 }, (_, i): TestRow => ({ timeNs: BigInt(i), tags: { host: `h${i}` }, fields: { v: 1 } }));
  const databases = { d: [tableOf("m", 1, rows, LAYOUTS["in memory"]!)] };
  for (const statement of ["SHOW SERIES", "SHOW TAG VALUES WITH KEY = host", "SHOW SERIES EXACT CARDINALITY GROUP BY host"]) {
    const error = expect.stringContaining("Resources exhausted");
    expect(await ask(databases, statement, "d", 10_000)).toEqual({ error });
  }
  const count = { series: [{ name: "m", columns: ["count"], values: [[1000]] }] };
  expect(await ask(databases, "SHOW SERIES EXACT CARDINALITY", "d", 10_000)).toEqual(count);
});

// What is hidden ---------------------------------------------------------------------------------------------------------------------

const second = (count: number) => BigInt(count) * 1_000_000_000n;
const row = (seconds: number, host: string, field = "v"): TestRow => ({ timeNs: second(seconds), tags: { host }, fields: { [field]: 1 } });
const keys = (...values: string[]) => ({ series: [{ columns: ["key"], values: values.map((value) => [value]) }] });

describe("rows that cannot be seen", () => {
  const rows = [row(1, "a"), row(2, "b"), row(3, "c"), row(10, "a")];
  const ofA: Tombstone = { id: 1, sequence: 10, range: ALL_TIME, tags: [{ columnId: 1, values: ["a"] }] } as unknown as Tombstone;
  const early = { id: 2, sequence: 10, range: { minNs: 0n, maxNs: second(3) }, tags: [] } as unknown as Tombstone;
  const CASES: [what: string, hiding: Hiding, where: string, hosts: string[]][] = [
    ["no row is hidden", {}, "", ["a", "b", "c"]],
    ["a series is deleted", { tombstones: [ofA] }, "", ["b", "c"]],
    ["a range of time is deleted", { tombstones: [early] }, "", ["a"]],
    ["a series and a range of time are deleted", { tombstones: [ofA, early] }, "", []],
    ["rows are past their retention", { retentionMinNs: second(3) }, "", ["a", "c"]],
    ["a range of time is asked for", {}, " WHERE time >= 2s AND time < 10s", ["b", "c"]],
    ["a single time is asked for", {}, " WHERE time = 10s", ["a"]],
    ["an empty range is asked for", {}, " WHERE time > 5s AND time < 4s", []],
    ["a range and a tag are asked for", {}, " WHERE time >= 2s AND host != 'b'", ["a", "c"]],
  ];
  for (const [place, layout] of Object.entries(LAYOUTS)) {
    test.each(CASES)(`%s, ${place}`, async (_what, hiding, where, hosts) => {
      const databases = { d: [tableOf("m", 1, rows, layout, hiding)] };
      expect(await ask(databases, `SHOW SERIES${where}`)).toEqual(hosts.length === 0 ? {} : keys(...hosts.map((host) => `m,host=${host}`)));
      const values = hosts.map((host) => ["host", host]);
      const listed = hosts.length === 0 ? {} : { series: [{ name: "m", columns: ["key", "value"], values }] };
      expect(await ask(databases, `SHOW TAG VALUES WITH KEY = host${where}`)).toEqual(listed);
      const tagKeys = hosts.length === 0 ? {} : { series: [{ name: "m", columns: ["tagKey"], values: [["host"]] }] };
      expect(await ask(databases, `SHOW TAG KEYS${where}`)).toEqual(tagKeys);
      if (where !== "") return;
      const measurements = hosts.length === 0 ? {} : { series: [{ name: "measurements", columns: ["name"], values: [["m"]] }] };
      expect(await ask(databases, "SHOW MEASUREMENTS")).toEqual(measurements);
      const fields = hosts.length === 0 ? {} : { series: [{ name: "m", columns: ["fieldKey", "fieldType"], values: [["v", "float"]] }] };
      expect(await ask(databases, "SHOW FIELD KEYS")).toEqual(fields);
      const estimate = { series: [{ columns: ["cardinality estimation"], values: [[hosts.length]] }] };
      expect(await ask(databases, "SHOW SERIES CARDINALITY")).toEqual(estimate);
    });
  }
});

// as version 2.8 answers; 1.6.7 takes `value` for a tag and ignores what begins with an underscore
const TAG_CONDITIONS: [where: string, found: [host: string, path: string][] | "nothing"][] = [
  ["value = 'a'", [["a", ""]]],
  [
    "value != 'a'",
    [
      ["b", ""],
      ["", "/x"],
      ["", "/y"],
    ],
  ],
  [
    "value =~ /^[a\\/]/",
    [
      ["a", ""],
      ["", "/x"],
      ["", "/y"],
    ],
  ],
  [
    "value !~ /a|x/",
    [
      ["b", ""],
      ["", "/y"],
    ],
  ],
  ["(value = 'a') AND path = '/x'", [["a", ""]]],
  [
    "path = '/y' AND value =~ /./",
    [
      ["b", ""],
      ["", "/y"],
    ],
  ],
  ["value = 'a' AND value = 'b'", "nothing"],
  ["value = 5000", "nothing"],
  ["value = 'nope'", "nothing"],
  // beside OR it is a tag, which no series has
  [
    "value = 'a' OR path = '/y'",
    [
      ["b", ""],
      ["", "/y"],
    ],
  ],
  ["value = 'a' OR value = 'b'", "nothing"],
  [
    "_tagKey = 'host'",
    [
      ["a", ""],
      ["b", ""],
    ],
  ],
  ["_tagKey !~ /h$/ AND value != 'b'", [["a", ""]]],
  ["_tagKey = 'host' AND value = '/x'", "nothing"],
  ["_x = 'a'", "nothing"],
  ["_x != 'a' AND value = 'a'", [["a", ""]]],
  ["_name = 'm' AND value = 'a'", [["a", ""]]],
];

for (const [place, layout] of Object.entries(LAYOUTS)) {
  test.each(TAG_CONDITIONS)(`keys and values of tags, ${place}: %s`, async (where, found) => {
    const at = (seconds: number, host: string, path: string): TestRow => ({
      timeNs: second(seconds),
      tags: { host, path },
      fields: { v: 1 },
    });
    const databases = { d: [tableOf("m", 1, [at(1, "a", "/x"), at(2, "b", "/y"), at(3, "a", "/x")], layout)] };
    const pairs = found === "nothing" ? [] : found.map(([host, path]) => (path === "" ? ["host", host] : ["path", path]));
    const values = pairs.length === 0 ? {} : { series: [{ name: "m", columns: ["key", "value"], values: pairs }] };
    expect(await ask(databases, `SHOW TAG VALUES WITH KEY IN (host, path) WHERE ${where}`)).toEqual(values);
    const tagKeys = [...new Set(pairs.map(([key]) => key!))].map((key) => [key]);
    const listed = pairs.length === 0 ? {} : { series: [{ name: "m", columns: ["tagKey"], values: tagKeys }] };
    expect(await ask(databases, `SHOW TAG KEYS WHERE ${where}`)).toEqual(listed);
  });
}

test("a tag may begin with an underscore", async () => {
  const at = (seconds: number, name: string): TestRow => ({ timeNs: second(seconds), tags: { __name__: name }, fields: { v: 1 } });
  const databases = { d: [tableOf("m", 1, [at(1, "metric1"), at(2, "metric2")], LAYOUTS["in a file"]!)] };
  const values = { series: [{ name: "m", columns: ["key", "value"], values: [["__name__", "metric1"]] }] };
  expect(await ask(databases, `SHOW TAG VALUES WITH KEY = "__name__" WHERE "__name__" = 'metric1'`)).toEqual(values);
  expect(await ask(databases, `SHOW SERIES WHERE "__name__" = 'metric2'`)).toEqual(keys("m,__name__=metric2"));
  // those of the server's own lists are none
  expect(await ask(databases, "SHOW SERIES WHERE _tagKey = 'x'")).toEqual(keys("m,__name__=metric1", "m,__name__=metric2"));
});

test("lists of a database are those of its retention policies", async () => {
  const layout = LAYOUTS["in a file"]!;
  const databases = {
    d: [tableOf("m", 1, [row(1, "a"), row(1, "b")], layout)],
    "d/weekly": [tableOf("m", 2, [row(1, "b"), row(1, "c", "w")], layout), tableOf("n", 3, [row(1, "z")], layout)],
    "d2/weekly": [tableOf("other", 4, [row(1, "q")], layout)],
  };
  expect(await ask(databases, "SHOW SERIES")).toEqual(keys("m,host=a", "m,host=b", "m,host=c", "n,host=z"));
  expect(await ask(databases, "SHOW SERIES FROM d.weekly.m")).toEqual(keys("m,host=b", "m,host=c"));
  expect(await ask(databases, "SHOW SERIES FROM d.autogen.m")).toEqual(keys("m,host=a", "m,host=b"));
  // exact numbers and fields are those of one policy, the default one where none is named
  const two = { series: [{ name: "m", columns: ["count"], values: [[2]] }] };
  expect(await ask(databases, "SHOW SERIES EXACT CARDINALITY FROM m")).toEqual(two);
  expect(await ask(databases, "SHOW SERIES EXACT CARDINALITY FROM d.weekly.m")).toEqual(two);
  const fields = (...names: readonly string[]) => {
    const values = names.map((name) => [name, "float"]);
    return { series: [{ name: "m", columns: ["fieldKey", "fieldType"], values }] };
  };
  expect(await ask(databases, "SHOW FIELD KEYS FROM m")).toEqual(fields("v"));
  expect(await ask(databases, "SHOW FIELD KEYS FROM d.weekly.m")).toEqual(fields("v", "w"));
});

// Many series against sets -----------------------------------------------------------------------------------------------------------

test("random rows, deletions and ranges against sets, seed 7", async () => {
  const below = prng(7);
  for (let round = 0; round < 30; round++) {
    const rows = Array.from({ length: 400 }, (_, i): TestRow => {
      const tags = { ...(below(5) > 0 ? { host: `h${below(30)}` } : {}), ...(below(2) > 0 ? { region: `r${below(4)}` } : {}) };
      return { timeNs: second(i), tags, fields: { v: 1 } };
    });
    const cut = [below(400), below(400)].sort((a, b) => a - b) as [number, number];
    const parts: TablePart[] = [
      { kind: "file", batches: [rows.slice(0, cut[0])] },
      { kind: "file", batches: [rows.slice(cut[0], cut[1])] },
      { kind: "memory", batches: [rows.slice(cut[1], cut[1] + 50), rows.slice(cut[1] + 50)] },
    ];
    const columns = columnsOf(rows);
    const hostId = columns.find(({ name }) => name === "host")!.id;
    const deleted = `h${below(30)}`;
    const tombstone = {
      ...{
        id: 1,
        sequence: 2,
        range: { minNs: second(below(200)), maxNs: second(200 + below(200)) },
        tags: [{ columnId: hostId, values: [deleted] }],
      },
    } as unknown as Tombstone;
    const databases = { d: [tableOf("m", 1, rows, () => parts, { tombstones: [tombstone] })] };
    const [from, to] = [below(400), below(400)].sort((a, b) => a - b) as [number, number];
    const region = `r${below(4)}`;
    const seen = rows.filter(({ timeNs, tags }, i) => {
      const isDeleted = i < cut[1] && tags["host"] === deleted && timeNs >= tombstone.range.minNs && timeNs <= tombstone.range.maxNs;
      return !isDeleted && timeNs >= second(from) && timeNs <= second(to) && (tags["region"] === region || tags["host"] === "h1");
    });
    const where = `WHERE time >= ${from}s AND time <= ${to}s AND (region = '${region}' OR host =~ /^h1$/)`;
    const keyOf = ({ tags }: TestRow) =>
      ["m", ...["host", "region"].flatMap((tag) => (tags[tag] === undefined ? [] : [`${tag}=${tags[tag]}`]))].join(",");
    const expected = [...new Set(seen.map(keyOf))].sort();
    expect({ round, found: await ask(databases, `SHOW SERIES ${where}`) }).toEqual({
      round,
      found: expected.length === 0 ? {} : keys(...expected),
    });
    const hosts = [...new Set(seen.flatMap(({ tags }) => tags["host"] ?? []))].sort();
    const values = hosts.map((host) => ["host", host]);
    expect(await ask(databases, `SHOW TAG VALUES WITH KEY = host ${where}`)).toEqual(
      hosts.length === 0 ? {} : { series: [{ name: "m", columns: ["key", "value"], values }] },
    );
  }
});
