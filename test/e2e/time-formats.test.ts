// Times in answers of a real server: zones with their offset, units with their digits, gaps that are filled, in every format of text.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { query, store } from "./client.ts";

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  // Kitchen at 8, 9 and 10 hours of 2022-01-01, as in the vendor's public examples
  const lines = [21, 23, 22.7].map((temp, i) => `home,room=Kitchen temp=${temp} ${1_641_024_000 + i * 3600}000000000`);
  await store(server, "db", lines.join("\n"));
});
afterAll(() => server.dispose());

const GAPS = `SELECT date_bin_wallclock_gapfill(INTERVAL '30 minutes', tz(time, 'America/Los_Angeles')) AS time, interpolate(avg(temp)) AS temp
  FROM home WHERE time >= '2022-01-01T08:00:00Z' AND time < '2022-01-01T10:00:00Z' GROUP BY 1`;
const UNITS =
  "SELECT to_timestamp_seconds(1) AS s, to_timestamp_millis(1001) AS ms, tz(to_timestamp(1000000001), '+05:30') AS ns, tz(now(), 'UTC') IS NULL AS b";

const ANSWERS: [format: string, statement: string, text: string][] = [
  [
    "json",
    GAPS,
    '[{"time":"2022-01-01T00:00:00-08:00","temp":21.0},{"time":"2022-01-01T00:30:00-08:00","temp":22.0},' +
      '{"time":"2022-01-01T01:00:00-08:00","temp":23.0},{"time":"2022-01-01T01:30:00-08:00"}]',
  ],
  ["jsonl", "SELECT max(tz(time, 'Asia/Kolkata')) AS t FROM home", '{"t":"2022-01-01T15:30:00+05:30"}\n'],
  [
    "csv",
    GAPS,
    "time,temp\n2022-01-01T00:00:00-08:00,21.0\n2022-01-01T00:30:00-08:00,22.0\n2022-01-01T01:00:00-08:00,23.0\n2022-01-01T01:30:00-08:00,\n",
  ],
  ["json", UNITS, '[{"s":"1970-01-01T00:00:01","ms":"1970-01-01T00:00:01.001","ns":"1970-01-01T05:30:01.000000001+05:30","b":false}]'],
  ["csv", "SELECT time AT TIME ZONE 'Europe/Berlin' AS t FROM home LIMIT 1", "t\n2022-01-01T08:00:00+01:00\n"],
  ["csv", "SELECT tz(time) AS t FROM home ORDER BY time LIMIT 1", "t\n2022-01-01T08:00:00Z\n"],
];

describe("answers", () => {
  test.each(ANSWERS)("%s of %s", async (format, statement, text) => {
    expect(await query(server, "db", statement, { format })).toMatchObject({ status: 200, text });
  });

  test("an error of a gap-filling query is the client's", async () => {
    const { status, text } = await query(server, "db", "SELECT date_bin_gapfill(INTERVAL '1 hour', time) FROM home GROUP BY 1", {
      format: "json",
    });
    expect([status, text]).toEqual([400, expect.stringContaining("gap-filling query is missing both upper and lower time bounds")]);
  });
});
