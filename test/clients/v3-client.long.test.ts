// The vendor's v3 client, unmodified and with one address for everything: it writes over HTTP and queries by Arrow Flight.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { InfluxDBClient, Point } from "@influxdata/influxdb3-client";
import { TestServer } from "../support/servers/server.ts";

let server: TestServer;
let client: InfluxDBClient;
beforeAll(async () => {
  server = await TestServer.start({ withFlight: true });
  client = new InfluxDBClient({ host: `http://${server.flightAddress}`, token: "any", database: "db" });
}, 60_000);
afterAll(async () => {
  await client.close();
  await server.dispose();
});

async function rows(statement: string, options: Parameters<InfluxDBClient["query"]>[2] = {}, database = "db") {
  const found: Record<string, unknown>[] = [];
  for await (const row of client.query(statement, database, options)) found.push(row);
  return found;
}

describe("points of every type", () => {
  const TIME_NS = 1_700_000_000_123_456_789n;

  beforeAll(async () => {
    const point = Point.measurement("weather")
      .setTag("city", "Zürich, CH")
      .setFloatField("temperature", -3.25)
      .setIntegerField("humidity", 81)
      .setUintegerField("station", 18)
      .setBooleanField("rain", true)
      .setStringField("note", 'a "quoted"\nnote')
      .setTimestamp(String(TIME_NS));
    await client.write([point, Point.measurement("weather").setTag("city", "Oslo").setFloatField("temperature", 1).setTimestamp("1")]);
  });

  test("the v3 client reads a point of every type", async () => {
    const [row] = await rows("SELECT * FROM weather WHERE city = 'Zürich, CH'");
    expect(row).toEqual({
      city: "Zürich, CH",
      humidity: 81,
      note: 'a "quoted"\nnote',
      rain: true,
      station: 18n,
      temperature: -3.25,
      // milliseconds are what the client's Arrow library has for nanoseconds
      time: Number(TIME_NS / 1_000_000n) + 0.456789,
    });
  });

  test("come back as points, with tags and fields told apart", async () => {
    const points = [];
    for await (const values of client.queryPoints("SELECT * FROM weather ORDER BY time")) points.push(values);
    expect(points.map((values) => values.getTag("city"))).toEqual(["Oslo", "Zürich, CH"]);
    const zurich = points[1]!;
    const fields = ["temperature", "humidity", "station", "rain", "note", "city"].map((name) => [name, zurich.getFieldType(name)]);
    expect(fields).toEqual([
      ["temperature", "float"],
      ["humidity", "integer"],
      ["station", "uinteger"],
      ["rain", "boolean"],
      ["note", "string"],
      ["city", undefined],
    ]);
    expect(zurich.getFloatField("temperature")).toBe(-3.25);
    expect(zurich.getIntegerField("humidity")).toBe(81);
  });

  test("the v3 client binds parameters", async () => {
    const options = { params: { city: "Oslo", least: 0.5 } };
    expect(await rows("SELECT temperature FROM weather WHERE city = $city AND temperature > $least", options)).toEqual([
      { temperature: 1 },
    ]);
  });
});

test("the v3 client gets an answer without rows", async () => {
  expect(await rows("SELECT * FROM weather WHERE temperature > 1000")).toEqual([]);
});

test("the v3 client writes and reads a million rows", async () => {
  for (let from = 0; from < 1_000_000; from += 100_000) {
    await client.write(
      Array.from({ length: 100_000 }, (_, i) => `many,host=h${i % 100} v=${from + i}i ${from + i + 1}`),
      "big",
    );
  }
  let count = 0;
  let sum = 0;
  const hosts = new Set<unknown>();
  for await (const { host, v } of client.query("SELECT host, v FROM many", "big")) {
    count++;
    sum += v as number;
    hosts.add(host);
  }
  expect(count).toBe(1_000_000);
  expect(sum).toBe(499_999_500_000);
  expect(hosts.size).toBe(100);
}, 60_000);

const REFUSED: [what: string, statement: string, database: string, message: RegExp][] = [
  ["an unknown database", "SELECT 1", "nowhere", /Database 'nowhere' not found/],
  ["an unknown table", "SELECT * FROM nothing", "db", /table 'public.iox.nothing' not found/],
  ["bad SQL", "SELEC 1", "db", /SQL error/],
];

test.each(REFUSED)("%s is an error that says so", async (_, statement, database, message) => {
  await expect(rows(statement, {}, database)).rejects.toThrow(message);
});

test("statements of the v1-style language come back as rows with their measurement", async () => {
  const found = await rows("SELECT temperature FROM weather WHERE city = 'Oslo'", { type: "influxql" });
  expect(found).toEqual([{ "iox::measurement": "weather", time: expect.anything(), temperature: 1 }]);
});

test("the v3 client reads the server's version", async () => {
  expect(await client.getServerVersion()).toContain("3.9.0");
});
