// The vendor's v2 client, unmodified, writes to a real server; the rows are read back by SQL.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HttpError, InfluxDB, Point, type WriteOptions, type WritePrecisionType } from "@influxdata/influxdb-client";
import { TestServer } from "../support/servers/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
}, 60_000);
afterAll(() => server.dispose());

/** One attempt, everything in one body: what is tested is the server, not the client's patience. */
const ONCE: Partial<WriteOptions> = { maxRetries: 0, flushInterval: 0, batchSize: 100_000 };

function writer(bucket: string, precision: WritePrecisionType, options: Partial<WriteOptions> = {}) {
  return new InfluxDB({ url: server.url, token: "any" }).getWriteApi("any", bucket, precision, { ...ONCE, ...options });
}

describe.each([
  ["gzip", { gzipThreshold: 0 }],
  ["plain", { gzipThreshold: Number.MAX_SAFE_INTEGER }],
] as const)("%s", (encoding, options) => {
  test("points of every type come back", async () => {
    const api = writer(`types_${encoding}`, "ns", options);
    api.useDefaultTags({ region: "eu west" });
    api.writePoint(
      new Point("weather")
        .tag("city", "Zürich, CH")
        .floatField("temperature", -3.25)
        .intField("humidity", Number.MIN_SAFE_INTEGER)
        .uintField("station", "18446744073709551615")
        .booleanField("rain", true)
        .stringField("note", 'a "quoted"\nnote with a \\')
        .timestamp("1700000000123456789"),
    );
    await api.close();
    const rows = await server.sql(
      `types_${encoding}`,
      `SELECT time, region, city, temperature, humidity, CAST(station AS VARCHAR) AS station, rain, note
       FROM weather`,
    );
    expect(rows).toEqual([
      {
        time: "2023-11-14T22:13:20.123456789",
        region: "eu west",
        city: "Zürich, CH",
        temperature: -3.25,
        humidity: Number.MIN_SAFE_INTEGER,
        station: "18446744073709551615",
        rain: true,
        note: 'a "quoted"\nnote with a \\',
      },
    ]);
  });

  test("10,000 points in one body", async () => {
    const api = writer(`many_${encoding}`, "ms", options);
    for (let i = 0; i < 10_000; i++)
      api.writePoint(
        new Point("m")
          .tag("n", `${i % 7}`)
          .intField("i", i)
          .timestamp(1_700_000_000_000 + i),
      );
    await api.close();
    const [row] = await server.sql(`many_${encoding}`, "SELECT count(*) AS n, sum(i) AS total, count(DISTINCT n) AS tags FROM m");
    expect(row).toEqual({ n: 10_000, total: 49_995_000, tags: 7 });
  });
});

test.each([
  ["ns", "1700000000123456789", "2023-11-14T22:13:20.123456789"],
  ["us", "1700000000123456", "2023-11-14T22:13:20.123456"],
  ["ms", "1700000000123", "2023-11-14T22:13:20.123"],
  ["s", "1700000000", "2023-11-14T22:13:20"],
] as const)("precision %s", async (precision, timestamp, expected) => {
  const api = writer(`precision_${precision}`, precision);
  api.writePoint(new Point("m").intField("v", 1).timestamp(timestamp));
  await api.close();
  expect(await server.sql<{ time: string }>(`precision_${precision}`, "SELECT time FROM m")).toEqual([{ time: expected }]);
});

test("a missing timestamp is the time of receipt", async () => {
  const before = Date.now();
  const api = writer("receipt", "ns");
  api.writeRecord("m v=1i");
  await api.close();
  const [row] = await server.sql<{ time: string }>("receipt", "SELECT time FROM m");
  const received = Date.parse(`${row!.time.slice(0, 23)}Z`);
  expect(received).toBeGreaterThanOrEqual(before - 1);
  expect(received).toBeLessThanOrEqual(Date.now() + 1);
});

test("a bad line is an HttpError with the vendor's body, and the good ones around it stay", async () => {
  const failures: unknown[] = [];
  const api = writer("partial", "ns", {
    writeFailed: async (error) => {
      failures.push(error);
    },
  });
  api.writeRecords(["m v=1i 1", "m v=1i2 2", "m v=3i 3"]);
  await api.close();
  expect(failures).toHaveLength(1);
  const error = failures[0] as HttpError;
  expect(error).toBeInstanceOf(HttpError);
  expect(error.statusCode).toBe(400);
  expect(Object.keys(JSON.parse(error.body!)).sort()).toEqual(["code", "message"]);
  expect(await server.sql("partial", "SELECT v FROM m ORDER BY time")).toEqual([{ v: 1 }, { v: 3 }]);
});
