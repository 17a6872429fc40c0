// Prepared statements of Flight SQL with parameters, as drivers use them: made, bound, asked about, run; of every type, several times, with
// several rows. Columns and rows are those that the same statement with its values written out has.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  Binary,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  DurationMicrosecond,
  DurationMillisecond,
  DurationNanosecond,
  DurationSecond,
  Float64,
  Int16,
  Int32,
  Int64,
  IntervalDayTime,
  IntervalMonthDayNano,
  IntervalYearMonth,
  LargeUtf8,
  makeData,
  Null,
  Table,
  Time,
  Timestamp,
  TimeUnit,
  tableFromIPC,
  tableToIPC,
  Uint64,
  Utf8,
  Vector,
  vectorFromArray,
} from "apache-arrow";
import { DESCRIPTOR, FlightData, PutResult, Ticket } from "../../src/api/flight/wire/flight-messages.ts";
import { splitWhole } from "../../src/api/flight/wire/ipc-messages.ts";
import { PutPreparedResult } from "../../src/api/flight/wire/sql-messages.ts";
import { FlightClient } from "../support/flight/flight-server.ts";
import { answered, IN_DB, infoOf, portOf, prepare, preparedCommand, tableOf } from "../support/flight/flight-sql.ts";
import { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

let server: TestServer;
let client: FlightClient;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true });
  client = new FlightClient(portOf(server));
  const lines = [
    'cpu,host=a v=1.5,n=3i,u=18446744073709551615u,s="x",ok=true 1000000000',
    'cpu,host=b v=2.5,n=4i,u=1u,s="y",ok=false 2000000001',
    "cpu,host=c v=-1 86400000000000",
  ];
  await store(server, "d", lines.join("\n"));
});
afterAll(async () => {
  client.close();
  await server.dispose();
});

async function bind(handle: Uint8Array, columns: Readonly<Record<string, Vector>>): Promise<Uint8Array> {
  const messages = splitWhole(tableToIPC(new Table(columns), "stream"));
  const [first, ...others] = messages.map(({ header, body }) => ({ header, body }));
  const data = [{ ...first, descriptor: { type: DESCRIPTOR.command, path: [], command: preparedCommand(handle) } }, ...others].map((each) =>
    FlightData.encode(each),
  );
  const [result] = await answered(client.put(data, IN_DB));
  return PutPreparedResult.decode(PutResult.decode(result!).appMetadata).handle!;
}

/** Columns as they were promised, and rows. */
async function run(handle: Uint8Array): Promise<{ columns: string[]; rows: unknown[][] }> {
  const { endpoints, schema } = await infoOf(client, preparedCommand(handle));
  const table = tableOf(await answered(client.call("DoGet", Ticket.encode(endpoints[0]!.ticket!))));
  const columnsOf = (from: Table) => from.schema.fields.map(({ name, type }) => `${name} ${type}`);
  expect(columnsOf(tableFromIPC(schema))).toEqual(columnsOf(table));
  return { columns: columnsOf(table), rows: table.toArray().map((row) => [...row].map(([, value]) => value)) };
}

const typesOf = (schema: Uint8Array) => tableFromIPC(schema).schema.fields.map(({ name, type }) => `${name} ${type}`);
const made = (values: readonly unknown[], type: DataType) => vectorFromArray(values, type) as Vector;
const raw = (type: DataType, data: ArrayBufferView) => new Vector([makeData({ type, length: 1, data } as never)]) as Vector;
const one = (type: DataType, value: unknown) => made([value], type);

describe("the schema of parameters", () => {
  test.each([
    ["SELECT v FROM cpu WHERE v > ? AND host = ? AND n < ? AND ok = ?", ["$1 Float64", "$2 Utf8", "$3 Int64", "$4 Bool"]],
    ["SELECT v FROM cpu WHERE time >= ? AND u = ?", ["$1 Timestamp<NANOSECOND>", "$2 Uint64"]],
    ["SELECT v FROM cpu WHERE host = $h AND v > $least", ["$h Utf8", "$least Float64"]],
    ["SELECT v FROM cpu WHERE time > ? - INTERVAL '1 day'", ["$1 Timestamp<NANOSECOND>"]],
    ["SELECT INTERVAL '1 day' + ? AS x", ["$1 Timestamp<NANOSECOND>"]],
    ["SELECT ? - arrow_cast(1, 'Duration(s)') AS x", ["$1 Timestamp<NANOSECOND>"]],
    ["SELECT substr(host, ?, ?) AS x FROM cpu", ["$1 Utf8", "$2 Int32"]],
    // drivers bind by place: in the order of their numbers
    ["SELECT v FROM cpu WHERE n = $2 AND host = $1", ["$1 Utf8", "$2 Int64"]],
    [
      `SELECT v FROM cpu WHERE n IN (${Array.from({ length: 11 }, () => "?").join()})`,
      Array.from({ length: 11 }, (_, i) => `$${i + 1} Int64`),
    ],
    // what says nothing of a type can be bound as text
    ["SELECT ? AS x", ["$1 Utf8"]],
    ["SELECT 1", []],
  ])("%s", async (query, types) => expect(typesOf((await prepare(client, query)).parameterSchema)).toEqual(types));
});

test("the schema of the answer is in the answer to CreatePreparedStatement", async () => {
  expect(typesOf((await prepare(client, "SELECT host, v FROM cpu WHERE v > ?")).datasetSchema)).toEqual(["host Utf8", "v Float64"]);
});

const VALUES: [query: string, columns: Record<string, Vector>, rows: unknown[][]][] = [
  ["SELECT host FROM cpu WHERE v > ?", { p: one(new Float64(), 2) }, [["b"]]],
  ["SELECT v FROM cpu WHERE host = ?", { p: one(new Utf8(), "a") }, [[1.5]]],
  ["SELECT v FROM cpu WHERE host = ?", { p: one(new Utf8(), "' OR 1 = 1 --") }, []],
  ["SELECT v FROM cpu WHERE n = ?", { p: one(new Int16(), 4) }, [[2.5]]],
  ["SELECT v FROM cpu WHERE u = ?", { p: one(new Uint64(), 2n ** 64n - 1n) }, [[1.5]]],
  ["SELECT v FROM cpu WHERE ok = ?", { p: vectorFromArray([false]) }, [[2.5]]],
  ["SELECT v FROM cpu WHERE s = $1 OR n = $2", { a: one(new Utf8(), "x"), b: one(new Int64(), 4n) }, [[1.5], [2.5]]],
  ["SELECT v FROM cpu WHERE n = $2 AND host = $1", { a: one(new Utf8(), "b"), b: one(new Int64(), 4n) }, [[2.5]]],
  ["SELECT v FROM cpu WHERE host = $h AND v > $least", { least: one(new Float64(), 1), h: one(new Utf8(), "a") }, [[1.5]]],
  ["SELECT v FROM cpu WHERE n = ?", { p: one(new Int64(), null) }, []],
  ["SELECT v FROM cpu WHERE n IS NOT DISTINCT FROM ?", { p: one(new Null(), null) }, [[-1]]],
  // times, whatever their unit and zone
  ["SELECT v FROM cpu WHERE time = ?", { p: raw(new Timestamp(TimeUnit.NANOSECOND), BigInt64Array.of(2_000_000_001n)) }, [[2.5]]],
  ["SELECT v FROM cpu WHERE time <= ?", { p: raw(new Timestamp(TimeUnit.SECOND, "UTC"), BigInt64Array.of(1n)) }, [[1.5]]],
  ["SELECT v FROM cpu WHERE time > ?", { p: raw(new Timestamp(TimeUnit.MILLISECOND, "+02:00"), BigInt64Array.of(2_000n)) }, [[2.5], [-1]]],
  ["SELECT v FROM cpu WHERE time > ?", { p: raw(new Timestamp(TimeUnit.MICROSECOND), BigInt64Array.of(2_000_001n)) }, [[-1]]],
  ["SELECT v FROM cpu WHERE time > CAST(? AS TIMESTAMP) - INTERVAL '1 day'", { p: raw(new Timestamp(TimeUnit.SECOND), BigInt64Array.of(86_401n)) }, [[2.5], [-1]]],
  ["SELECT v FROM cpu WHERE time > ? - INTERVAL '1 day'", { p: raw(new Timestamp(TimeUnit.SECOND), BigInt64Array.of(86_401n)) }, [[2.5], [-1]]],
  // a duration of every unit; intervals of every kind: 1 and 2 s, 1 day
  ["SELECT v FROM cpu WHERE time > CAST('1970-01-01T00:00:03Z' AS TIMESTAMP) - ? AND n > 0", { p: raw(new DurationSecond(), BigInt64Array.of(2n)) }, [[2.5]]],
  ["SELECT v FROM cpu WHERE time > CAST('1970-01-01T00:00:03Z' AS TIMESTAMP) - ? AND n > 0", { p: raw(new DurationMillisecond(), BigInt64Array.of(2_001n)) }, [[1.5], [2.5]]],
  ["SELECT v FROM cpu WHERE time >= CAST('1970-01-01T00:00:03Z' AS TIMESTAMP) - ? AND n > 0", { p: raw(new DurationMicrosecond(), BigInt64Array.of(2_000_000n)) }, [[1.5], [2.5]]],
  ["SELECT v FROM cpu WHERE time >= CAST('1970-01-01T00:00:03Z' AS TIMESTAMP) - ? AND n > 0", { p: raw(new DurationNanosecond(), BigInt64Array.of(999_999_999n)) }, [[2.5]]],
  ["SELECT v FROM cpu WHERE time + ? < '1970-01-01T00:00:03.000000002Z'", { p: raw(new DurationNanosecond(), BigInt64Array.of(1_000_000_001n)) }, [[1.5]]],
  ["SELECT v FROM cpu WHERE time >= CAST('1970-02-02T00:00:00Z' AS TIMESTAMP) - ?", { p: raw(new IntervalYearMonth(), Int32Array.of(1)) }, [[-1]]],
  ["SELECT v FROM cpu WHERE time >= CAST('1970-01-03T00:00:00.001Z' AS TIMESTAMP) - ?", { p: raw(new IntervalDayTime(), Int32Array.of(1, 1)) }, [[-1]]],
  ["SELECT v FROM cpu WHERE time = CAST('1970-02-03T00:00:00.000000001Z' AS TIMESTAMP) - ?", { p: raw(new IntervalMonthDayNano(), Int32Array.of(1, 1, 1, 0)) }, [[-1]]],
  // decimals, exactly
  ["SELECT v FROM cpu WHERE v > ?", { p: raw(new Decimal(2, 10), Uint32Array.of(150, 0, 0, 0)) }, [[2.5]]],
  ["SELECT CAST(? AS VARCHAR) AS x", { p: raw(new Decimal(3, 38), Uint32Array.of(1, 0, 0, 1)) }, [["79228162514264337593543950.337"]]],
  ["SELECT v FROM cpu WHERE CAST(time AS TIME) = ?", { p: raw(new Time(TimeUnit.MILLISECOND, 32), Int32Array.of(1_000)) }, [[1.5]]],
  ["SELECT v FROM cpu WHERE time >= ?", { p: raw(new DateMillisecond(), BigInt64Array.of(86_400_000n)) }, [[-1]]],
  ["SELECT v FROM cpu WHERE host = ?", { p: one(new LargeUtf8(), "b") }, [[2.5]]],
  ["SELECT v FROM cpu WHERE host = ?", { p: one(new Dictionary(new Utf8(), new Int32()), "b") }, [[2.5]]],
  ["SELECT v FROM cpu WHERE time >= ?", { p: raw(new DateDay(), Int32Array.of(1)) }, [[-1]]],
  ["SELECT v FROM cpu WHERE time >= ?", { p: one(new Utf8(), "1970-01-02") }, [[-1]]],
  ["SELECT octet_length(?) AS n", { p: one(new Binary(), Uint8Array.of(0, 255, 39)) }, [[3]]],
  ["SELECT v FROM cpu ORDER BY v LIMIT ? OFFSET ?", { a: one(new Int64(), 1n), b: one(new Int64(), 1n) }, [[1.5]]],
]; // biome-ignore format: a statement a line

const second = (value: bigint) => raw(new Timestamp(TimeUnit.SECOND), BigInt64Array.of(value));
const millisecond = (value: bigint) => raw(new Timestamp(TimeUnit.MILLISECOND, "UTC"), BigInt64Array.of(value));
const text = (value: string) => one(new Utf8(), value);
const GAPS = "date_bin_gapfill(INTERVAL '1 second', time) AS t, count(v) AS n FROM cpu WHERE";

// what needs a constant when it runs; times in milliseconds
const CONSTANTS: [query: string, columns: Record<string, Vector>, rows: unknown[][]][] = [
  ["SELECT date_bin(?, time) AS t, count(*) AS n FROM cpu GROUP BY 1 ORDER BY 1", { w: text("1 day") }, [[0, 2n], [86_400_000, 1n]]],
  ["SELECT date_bin(?, time) AS t, count(*) AS n FROM cpu GROUP BY 1 ORDER BY 1", { w: raw(new IntervalMonthDayNano(), Int32Array.of(0, 1, 0, 0)) }, [[0, 2n], [86_400_000, 1n]]],
  ["SELECT date_bin(INTERVAL '1 day', time, ?) AS t FROM cpu ORDER BY time LIMIT 1", { o: second(3600n) }, [[-82_800_000]]],
  ["SELECT date_bin(?, time, ?) AS t FROM cpu WHERE v > ?", { w: text("1 hour"), o: millisecond(1800_000n), v: one(new Float64(), 2) }, [[-1_800_000]]],
  ["SELECT date_trunc('hour', ?) AS t", { t: second(7199n) }, [[3_600_000]]],
  ["SELECT date_trunc(?, time) AS t FROM cpu WHERE host = ?", { u: text("day"), h: text("c") }, [[86_400_000]]],
  ["SELECT date_part(?, time) AS d FROM cpu WHERE host = 'c'", { u: text("day") }, [[2]]],
  [`SELECT ${GAPS} time >= ? AND time < ? GROUP BY 1 ORDER BY 1`, { a: second(0n), b: second(3n) }, [[0, 0n], [1000, 1n], [2000, 1n]]],
  [`SELECT ${GAPS} time >= ? AND time < ? GROUP BY 1 ORDER BY 1`, { a: text("1970-01-01T00:00:01Z"), b: text("1970-01-01T00:00:03Z") }, [[1000, 1n], [2000, 1n]]],
  [`SELECT ${GAPS} time BETWEEN ? AND ? AND host = ? GROUP BY 1 ORDER BY 1`, { a: second(1n), b: second(3n), h: text("b") }, [[1000, 0n], [2000, 1n], [3000, 0n]]],
  ["SELECT percentile_cont(v, ?) AS p FROM cpu", { p: one(new Float64(), 0.25) }, [[0.25]]],
  ["SELECT percentile_cont(v, ?) AS p FROM cpu", { p: one(new Int64(), 1n) }, [[2.5]]],
  ["SELECT approx_percentile_cont(v, ?) AS p FROM cpu", { p: one(new Float64(), 0) }, [[-1]]],
  ["SELECT time + ? AS t FROM cpu WHERE host = 'a'", { d: raw(new DurationSecond(), BigInt64Array.of(1n)) }, [[2000]]],
  ["SELECT time - ? AS t FROM cpu WHERE host = 'a'", { d: raw(new IntervalDayTime(), Int32Array.of(1, 1)) }, [[-86_399_001]]],
  ["SELECT v FROM cpu WHERE time - ? > INTERVAL '1 hour'", { t: second(0n) }, [[-1]]],
]; // biome-ignore format: a statement a line

test.each(CONSTANTS)("%s, %#, as it was described", async (query, columns, rows) => {
  const { handle, datasetSchema } = await prepare(client, query);
  const found = await run(await bind(handle, columns));
  expect(found.rows).toEqual(rows);
  expect(typesOf(datasetSchema)).toEqual(found.columns);
});

describe("values", () => {
  test.each(VALUES)("%s, %#", async (query, columns, rows) => {
    const { handle } = await prepare(client, query);
    expect((await run(await bind(handle, columns))).rows).toEqual(rows);
  });

  test("have their types in the answer", async () => {
    const { handle } = await prepare(client, "SELECT ? AS i, ? AS f, ? AS s, ? AS t, ? AS d, ? AS b, ? AS none");
    const bound = await bind(handle, {
      ...{ i: one(new Int64(), 7n), f: one(new Float64(), 0.5), s: one(new Utf8(), "é") },
      ...{ t: raw(new Timestamp(TimeUnit.MILLISECOND), BigInt64Array.of(1n)), d: raw(new DateDay(), Int32Array.of(1)) },
      ...{ b: one(new Binary(), Uint8Array.of(1)), none: one(new Float64(), null) },
    });
    const { columns, rows } = await run(bound);
    expect(columns).toEqual(["i Int64", "f Float64", "s Utf8", "t Timestamp<MILLISECOND>", "d Date32<DAY>", "b Binary", "none Float64"]);
    expect(rows).toEqual([[7n, 0.5, "é", 1, expect.anything(), Uint8Array.of(1), null]]);
  });

  test("times have their zones, NULLs too", async () => {
    const { handle } = await prepare(client, "SELECT ? AS a, ? AS b, ? AS c, ? AS d, ? AS e");
    const times = (unit: TimeUnit, zone: string, value: bigint | null) => {
      const known = { type: new Timestamp(unit, zone), length: 1, data: BigInt64Array.of(value ?? 0n) };
      return new Vector([makeData(value === null ? { ...known, nullCount: 1, nullBitmap: Uint8Array.of(0) } : known)]) as Vector;
    };
    const bound = await bind(handle, {
      ...{ a: times(TimeUnit.SECOND, "Europe/Berlin", 1n), b: times(TimeUnit.NANOSECOND, "UTC", 1n) },
      ...{ c: times(TimeUnit.MILLISECOND, "Europe/London", 2n), d: times(TimeUnit.MICROSECOND, "+02:00", null) },
      e: raw(new DurationMillisecond(), BigInt64Array.of(5n)),
    });
    const { columns, rows } = await run(bound);
    expect(columns).toEqual([
      ...["a Timestamp<SECOND, Europe/Berlin>", "b Timestamp<NANOSECOND, UTC>", "c Timestamp<MILLISECOND, Europe/London>"],
      ...["d Timestamp<MICROSECOND, +02:00>", "e Duration<MILLISECOND>"],
    ]);
    expect(rows).toEqual([[1000, 0.000001, 2, null, 5n]]);
  });
});

test("a handle is bound and run again and again, each time on its own", async () => {
  const { handle } = await prepare(client, "SELECT v FROM cpu WHERE host = ?");
  const [a, b] = [await bind(handle, { p: one(new Utf8(), "a") }), await bind(handle, { p: one(new Utf8(), "b") })];
  expect((await run(a)).rows).toEqual([[1.5]]);
  // drivers bind the handle that they were given last
  const c = await bind(a, { p: one(new Utf8(), "c") });
  expect((await run(c)).rows).toEqual([[-1]]);
  expect((await run(b)).rows).toEqual([[2.5]]);
  expect((await run(a)).rows).toEqual([[1.5]]);
});

describe("several rows", () => {
  test("run the statement once each, and make one answer", async () => {
    const { handle } = await prepare(client, "SELECT host, v FROM cpu WHERE host = ? OR v < ?");
    const bound = await bind(handle, { h: made(["b", "z", "a", null], new Utf8()), v: made([0, null, null, 0], new Float64()) });
    const { rows } = await run(bound);
    expect(rows.slice(0, 2).sort()).toEqual([["b", 2.5], ["c", -1]]); // biome-ignore format: rows
    expect(rows.slice(2)).toEqual([["a", 1.5], ["c", -1]]); // biome-ignore format: rows
  });

  test("a NULL among values has their type", async () => {
    const { handle } = await prepare(client, "SELECT ? AS x");
    const seconds = { length: 2, data: BigInt64Array.of(1n, 0n), nullCount: 1, nullBitmap: Uint8Array.of(1) };
    const times = new Vector([makeData({ type: new Timestamp(TimeUnit.SECOND), ...seconds })]);
    for (const [column, rows] of [
      [made([1n, null, 3n], new Int64()), [[1n], [null], [3n]]],
      [made([null, "b"], new Utf8()), [[null], ["b"]]],
      [made([null, 2n ** 64n - 1n], new Uint64()), [[null], [2n ** 64n - 1n]]],
      [vectorFromArray([true, null]), [[true], [null]]],
      [made([Uint8Array.of(1), null], new Binary()), [[Uint8Array.of(1)], [null]]],
      [times, [[1000], [null]]],
    ] as const) {
      expect((await run(await bind(handle, { p: column }))).rows).toEqual(rows as never);
    }
  });

  test("200 rows of parameters give 200 answers in one", async () => {
    const { handle } = await prepare(client, "SELECT ? + 1 AS x");
    const values = Array.from({ length: 200 }, (_, i) => BigInt(i));
    const { rows } = await run(await bind(handle, { p: made(values, new Int64()) }));
    expect(rows).toEqual(values.map((value) => [value + 1n]));
  });

  test("no row of parameters gives the columns without rows", async () => {
    const { handle } = await prepare(client, "SELECT host, v FROM cpu WHERE host = ?");
    expect(await run(await bind(handle, { p: made([], new Utf8()) }))).toEqual({ columns: ["host Utf8", "v Float64"], rows: [] });
  });

  test("a row of parameters that fails ends the answer", async () => {
    const { handle } = await prepare(client, "SELECT 1 / ? AS x");
    const bound = await bind(handle, { p: made([1n, 0n, 1n], new Int64()) });
    const end = await run(bound).catch((error: Error) => error.message);
    expect(end).toMatch(/INVALID_ARGUMENT: .*Divide by zero/);
  });
});

test.each([
  ["SELECT v FROM cpu WHERE v > ?", {}, /No value found for placeholder with name \$1/],
  ["SELECT v FROM cpu WHERE v > ?", { a: one(new Int64(), 1n), b: one(new Int64(), 1n) }, /got 2 parameters \(a, b\), want 1 \(\$1\)/],
  ["SELECT v FROM cpu WHERE v > ? AND v < $1", null, /placeholders are either \? or names/],
  ["SELECT v FROM nowhere WHERE v > ?", null, /table 'public.iox.nowhere' not found/],
] as const)("%s is refused, %#", async (query, columns, message) => {
  const refused = async () => {
    const { handle } = await prepare(client, query);
    const bound = columns === null ? handle : Object.keys(columns).length === 0 ? handle : await bind(handle, columns);
    const messages = await answered(client.call("DoGet", Ticket.encode({ ticket: preparedCommand(bound) }), IN_DB));
    return messages.length;
  };
  expect(await refused().catch((error: Error) => error.message)).toMatch(message);
});
