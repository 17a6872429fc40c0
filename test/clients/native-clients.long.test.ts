// Native clients of Arrow Flight in other languages, unmodified, against a real server: the vendor's for Python, Go and Java, ADBC, the
// JDBC driver, Flight SQL's for Go. Each program (a file a language) writes every type, queries in both languages, binds parameters, makes
// mistakes, reads a million rows, and prints what it found. `.ci/clients` installs what it can; what is not there is left out.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { store } from "../e2e/client.ts";
import { TestServer } from "../support/servers/server.ts";
import { findings, installed, javaCommand } from "./native-programs.ts";

setDefaultTimeout(180_000);

const ROWS = 1_000_000;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true });
  for (let from = 0; from < ROWS; from += 100_000) {
    const lines = Array.from({ length: 100_000 }, (_, i) => `million,host=h${(from + i) % 100} n=${from + i}i ${from + i + 1}`);
    await store(server, "big", lines.join("\n"));
  }
});
afterAll(() => server.dispose());

const [ZURICH, ZURICH_NS] = ["Zürich, CH", "1700000000123456789"];
const NOTE = 'a "quoted"\nnote';
/** Rows, the sum of their numbers, hosts. */
const MILLION = [ROWS, (ROWS * (ROWS - 1)) / 2, 100];
const ERRORS = [
  expect.stringContaining("table 'public.iox.nothing' not found"),
  expect.stringContaining("Database 'nowhere' not found"),
  expect.stringContaining("SQL error"),
];

test("Python: influxdb3-python with pandas and polars, ADBC", async () => {
  const found = await findings(
    "python",
    [installed("python/bin/python"), join(import.meta.dir, "python/clients.py"), server.flightAddress],
    server,
  );
  if (found === null) return;
  const both = [["Oslo", "1"], [ZURICH, "-3.25"]]; // biome-ignore format: rows
  expect(found["influxdb3-python"]!).toEqual({
    sql: [
      [ZURICH, "81", NOTE, "true", null, "-3.25", ZURICH_NS],
      ["Oslo", null, null, null, "18446744073709551615", "1", "1"],
    ],
    influxql: [["weather", "1", "Oslo", "1"], ["weather", ZURICH_NS, ZURICH, "-3.25"]], // biome-ignore format: rows
    params: [["1"]],
    pandas: [[ZURICH, "81", "true", "-3.25"]],
    polars: [["Oslo", 1], [ZURICH, -3.25]], // biome-ignore format: rows
    ...{ million: MILLION, millionPolars: MILLION, errors: ERRORS },
  });
  expect(found["adbc"]!).toEqual({
    ...{ rows: both, mark: [["Oslo", "1"]], again: [[ZURICH, "-3.25"]], numbered: [["Oslo"]] },
    times: [[[ZURICH]], [[ZURICH]]],
    values: [["true", null, String(2 ** 40), "é"]],
    // of three rows the second finds nothing
    ...{ batch: both, views: [["1"], ["-3.25"]], polars: [["1"]] },
    errors: [ERRORS[0], expect.stringContaining("got 1 parameters (0), want 2 ($1, $2)")],
    tables: ["weather"],
    tableSchema: {
      ...{ city: "string", humidity: "int64", note: "string", rain: "bool", station: "uint64", temp: "double", time: "timestamp[ns]" },
    },
    million: MILLION,
  });
});

test("Go: influxdb3-go, Flight SQL", async () => {
  const found = await findings("go", [installed("go/clients"), server.flightAddress], server);
  if (found === null) return;
  expect(found["influxdb3-go"]!).toEqual({
    sql: [
      [ZURICH, "81", 'a "quoted" note', "true", "18446744073709551615", "-3.25", ZURICH_NS],
      ["Oslo", null, null, null, null, "1", "1"],
    ],
    influxql: [["weather", "1", "Oslo", "1"], ["weather", ZURICH_NS, ZURICH, "-3.25"]], // biome-ignore format: rows
    params: [["1"]],
    // with as many fields as have values
    points: [["Oslo", "1", 1], [ZURICH, "-3.25", 5]], // biome-ignore format: rows
    ...{ million: MILLION, errors: ERRORS },
  });
  expect(found["flightsql"]!).toEqual({
    ...{ dataset: "utf8", parameters: "utf8 float64", error: ERRORS[0] },
    rows: [[["Oslo", "1"]], [[ZURICH, "-3.25"]]], // biome-ignore format: rows
    batch: [["Oslo", "1"], [ZURICH, "-3.25"]], // biome-ignore format: rows
  });
});

test("Java: influxdb3-java, the Flight SQL JDBC driver", async () => {
  const found = await findings("java", [...javaCommand("Clients.java"), server.flightAddress], server);
  if (found === null) return;
  const both = [["Oslo", "1.0"], [ZURICH, "-3.25"]]; // biome-ignore format: rows
  expect(found["influxdb3-java"]!).toEqual({
    sql: [
      [ZURICH, "81", NOTE, "true", null, "-3.25", ZURICH_NS],
      ["Oslo", null, null, null, "9007199254740993", "1.0", "1"],
    ],
    influxql: [["weather", "1", "Oslo", "1.0"], ["weather", ZURICH_NS, ZURICH, "-3.25"]], // biome-ignore format: rows
    ...{ params: [["1.0"]], points: both, million: MILLION, errors: ERRORS },
  });
  expect(found["jdbc"]!).toEqual({
    ...{ rows: both, again: [[["Oslo", "1.0"]], [[ZURICH, "-3.25"]], []] },
    types: { humidity: [[ZURICH]], rain: [[ZURICH]], note: [[ZURICH]], station: [["Oslo"]], time: [["Oslo"], [ZURICH]] },
    tables: ["weather"],
    columns: ["city VARCHAR", "humidity BIGINT", "note VARCHAR", "rain BOOLEAN", "station BIGINT", "temp DOUBLE", "time TIMESTAMP"],
    ...{ error: ERRORS[0], million: MILLION },
  });
});
