// The community's v1 client, unmodified, against a real server: what it writes is read back by SQL, and by itself.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { FieldType, InfluxDB, type ISingleHostConfig, type TimePrecision, toNanoDate } from "influx";
import { TestServer } from "../support/servers/server.ts";

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

test("databases, retention policies and measurements are made, listed and dropped", async () => {
  const influx = client("made");
  await influx.createDatabase("made");
  await influx.createDatabase("made");
  expect(await influx.getDatabaseNames()).toContain("made");
  await influx.createRetentionPolicy("weekly", { duration: "7d", replication: 1 });
  await influx.alterRetentionPolicy("weekly", { duration: "14d", replication: 1 });
  expect((await influx.showRetentionPolicies()).map(({ name, duration }) => [name, duration])).toEqual([
    ["autogen", "0s"],
    ["weekly", "336h0m0s"],
  ]);
  await influx.writePoints([{ measurement: "cpu", tags: { host: "a" }, fields: { v: 1 }, timestamp: new Date(1000) }]);
  await influx.writePoints([{ measurement: "cpu", tags: { host: "w" }, fields: { v: 2 }, timestamp: new Date() }], {
    retentionPolicy: "weekly",
  });
  expect(await influx.getMeasurements()).toEqual(["cpu"]);
  expect(await influx.getSeries({ measurement: "cpu" })).toEqual(["cpu,host=a", "cpu,host=w"]);
  expect((await influx.query<{ v: number }>("SELECT v FROM cpu")).map(({ v }) => v)).toEqual([1]);
  expect((await influx.query<{ v: number }>("SELECT v FROM weekly.cpu")).map(({ v }) => v)).toEqual([2]);
  expect((await influx.query<{ v: number }>("SELECT v FROM cpu", { retentionPolicy: "weekly" })).map(({ v }) => v)).toEqual([2]);
  await influx.dropSeries({ measurement: (measurement) => measurement.name("cpu"), where: (where) => where.tag("host").equals.value("a") });
  expect(await influx.query("SELECT v FROM cpu")).toHaveLength(0);
  await influx.dropMeasurement("cpu");
  expect(await influx.getMeasurements()).toEqual([]);
  await influx.dropRetentionPolicy("weekly");
  await influx.dropDatabase("made");
  expect(await influx.getDatabaseNames()).not.toContain("made");
});

test("rows, groups, several statements, parameters and errors", async () => {
  const influx = client("asked");
  await influx.writePoints([
    { measurement: "cpu", tags: { host: "a" }, fields: { v: 1.5, s: 'x"<y>' }, timestamp: toNanoDate("1700000000123456789") },
    { measurement: "cpu", tags: { host: "b" }, fields: { v: 2.5 }, timestamp: toNanoDate("1700000001000000000") },
  ]);
  const rows = await influx.query<{ time: { getNanoTime(): string }; host: string; v: number; s: string | null }>("SELECT * FROM cpu");
  expect(rows.map(({ time, host, v, s }) => [time.getNanoTime(), host, v, s])).toEqual([
    ["1700000000123456789", "a", 1.5, 'x"<y>'],
    ["1700000001000000000", "b", 2.5, null],
  ]);
  const groups = (await influx.query("SELECT max(v) FROM cpu GROUP BY host")).groups();
  expect(groups.map(({ name, tags, rows: found }) => [name, tags, found.length])).toEqual([
    ["cpu", { host: "a" }, 1],
    ["cpu", { host: "b" }, 1],
  ]);
  const several = await influx.query<{ v?: number; count?: number }>(["SELECT v FROM cpu LIMIT 1", "SELECT count(v) FROM cpu"]);
  expect(several.map((result) => result.length)).toEqual([1, 1]);
  const bound = await influx.query<{ v: number }>("SELECT v FROM cpu WHERE host = $h AND v > $v", { placeholders: { h: "b", v: 2 } });
  expect(bound.map(({ v }) => v)).toEqual([2.5]);
  expect(influx.query("SELEC")).rejects.toThrow(/found SELEC, expected SELECT/);
  expect(influx.query("SELECT v FROM cpu", { database: "nowhere" })).rejects.toThrow("database not found: nowhere");
});
