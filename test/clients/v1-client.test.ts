// The community's v1 client, unmodified, writes to a real server; the rows are read back by SQL.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FieldType, InfluxDB, type ISingleHostConfig, type TimePrecision, toNanoDate } from "influx";
import { TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
}, 60_000);
afterAll(() => server.dispose());

function client(database: string, options: ISingleHostConfig = {}): InfluxDB {
  const { hostname, port } = new URL(server.url);
  return new InfluxDB({ host: hostname, port: Number(port), protocol: "http", database, ...options });
}

test("ping finds the server and its version", async () => {
  const [host] = await client("any").ping(5000);
  expect(host).toMatchObject({ online: true });
  expect(host!.version).toMatch(/^v?3\./);
});

test("points with a schema come back", async () => {
  const influx = client("schema", {
    schema: [
      {
        measurement: "response_times",
        tags: ["host name"],
        fields: { path: FieldType.STRING, duration: FieldType.INTEGER, load: FieldType.FLOAT, ok: FieldType.BOOLEAN },
      },
    ],
  });
  await influx.writePoints([
    {
      measurement: "response_times",
      tags: { "host name": "a=b, c" },
      fields: { path: '/x?"y"', duration: 12, load: 0.5, ok: false },
      timestamp: toNanoDate("1700000000123456789"),
    },
  ]);
  expect(await server.sql("schema", `SELECT * FROM response_times`)).toEqual([
    { duration: 12, "host name": "a=b, c", load: 0.5, ok: false, path: '/x?"y"', time: "2023-11-14T22:13:20.123456789" },
  ]);
});

test("several measurements in one body", async () => {
  await client("several").writePoints([
    { measurement: "cpu", tags: { host: "a" }, fields: { usage: 1.5 }, timestamp: new Date("2024-01-01T00:00:00.001Z") },
    { measurement: "mem", tags: { host: "a" }, fields: { free: 2.5 }, timestamp: new Date("2024-01-01T00:00:00.002Z") },
    { measurement: "cpu", tags: { host: "b" }, fields: { usage: 3.5 }, timestamp: new Date("2024-01-01T00:00:00.003Z") },
  ]);
  expect(await server.sql("several", "SELECT host, usage FROM cpu ORDER BY time")).toEqual([
    { host: "a", usage: 1.5 },
    { host: "b", usage: 3.5 },
  ]);
  expect(await server.sql("several", "SELECT time, free FROM mem")).toEqual([{ free: 2.5, time: "2024-01-01T00:00:00.002" }]);
});

test.each([
  ["n", "2024-05-06T07:08:09.123"],
  ["u", "2024-05-06T07:08:09.123"],
  ["ms", "2024-05-06T07:08:09.123"],
  ["s", "2024-05-06T07:08:09"],
  ["m", "2024-05-06T07:08:00"],
  ["h", "2024-05-06T07:00:00"],
] as const)("precision %s", async (precision, expected) => {
  await client(`precision_${precision}`).writePoints(
    [{ measurement: "m", fields: { v: 1 }, timestamp: new Date("2024-05-06T07:08:09.123Z") }],
    { precision: precision as TimePrecision },
  );
  expect(await server.sql<{ time: string }>(`precision_${precision}`, "SELECT time FROM m")).toEqual([{ time: expected }]);
});

test("a field of another type is refused with the reason, and the point beside it stays", async () => {
  const influx = client("conflict");
  await influx.writePoints([{ measurement: "m", fields: { v: 1.5 }, timestamp: new Date(1000) }]);
  const failed = influx.writePoints([
    { measurement: "m", fields: { v: "text" }, timestamp: new Date(2000) },
    { measurement: "m", fields: { v: 2.5 }, timestamp: new Date(3000) },
  ]);
  expect(failed).rejects.toThrow(/invalid column type for column 'v'|partial write/);
  await failed.catch(() => {});
  expect(await server.sql("conflict", "SELECT v FROM m ORDER BY time")).toEqual([{ v: 1.5 }, { v: 2.5 }]);
});
