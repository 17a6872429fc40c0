// The vendor's clients of the v2 line in other languages, unmodified, against a real server: each program (a file a language) writes every
// type, reads back by scripts, deletes, makes and removes resources, makes mistakes, and prints what it found.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { type Findings, findings, installed, javaCommand, type NativeClient } from "./native-programs.ts";

setDefaultTimeout(120_000);

const TOKEN = "operator-token";
const ORG = "clients";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ withBuckets: true });
  const setup = { username: "admin", password: "password12", org: ORG, bucket: "b", token: TOKEN };
  const response = await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(setup) });
  expect(response.status).toBe(201);
});
afterAll(() => server.dispose());

const found = (name: NativeClient, ...command: string[]): Promise<Findings | null> =>
  findings(name, [...command, server.bucketsUrl, TOKEN, ORG], server);

const ZURICH = "Zürich, CH";
const [TIME, OSLO_TIME] = ["2023-11-14T22:13:20.123456789Z", "2023-11-14T22:13:21Z"];
/** Of the numbers below 10,000 with each remainder by 7. */
const SUMS = Array.from({ length: 7 }, (_, n) => {
  const count = Math.floor((9999 - n) / 7) + 1;
  return [String(n), String(n * count + (7 * count * (count - 1)) / 2)];
});
/** Of a token that reads alone, of none, and of mistakes. The vendor's server answers 401 where the permission is missing. */
const [FORBIDDEN, UNAUTHORIZED, NOT_FOUND, INVALID] = [
  [403, "forbidden"],
  [401, "unauthorized"],
  [404, "not found"],
  [400, "invalid"],
];

test("Python: influxdb-client", async () => {
  const all = await found("python", installed("python/bin/python"), join(import.meta.dir, "python/v2_clients.py"));
  if (all === null) return;
  expect(all["influxdb-client"]!).toEqual({
    ...{ health: "pass", version: "v2.8.0", ping: true },
    rows: [
      // line ends in CSV are CR LF, which Python's reader leaves in texts
      [ZURICH, "-3.25", "81", "true", 'a "quoted"\r\nnote', "2023-11-14T22:13:20.123456Z"],
      ["Oslo", "1", null, null, null, "2023-11-14T22:13:21.000000Z"],
    ],
    ...{ sums: SUMS, params: [[1]], dataframe: [[ZURICH, -3.25], ["Oslo", 1]] }, // biome-ignore format: rows
    csv: [
      ["result", "table", "a", "b"],
      ["_result", "0", "1", 'é,"x"'],
    ],
    deleted: [[ZURICH, "-3.25"]],
    resources: [
      [0, true],
      ["active", 1],
      ["l", "active", "admin"],
    ],
    errors: [FORBIDDEN, UNAUTHORIZED, UNAUTHORIZED, NOT_FOUND, INVALID, INVALID],
    gone: [null, UNAUTHORIZED],
  });
});

test("Go: influxdb-client-go", async () => {
  const all = await found("go", installed("go/buckets"));
  if (all === null) return;
  // its client of resources hides the status
  const unauthorized = "unauthorized: unauthorized access";
  expect(all["influxdb-client-go"]!).toEqual({
    ...{ health: "pass", ready: "ready", ping: true },
    rows: [
      [ZURICH, "-3.25", "81", "18446744073709551615", "true", 'a "quoted"\\nnote', TIME],
      ["Oslo", "1", null, null, null, null, OSLO_TIME],
    ],
    ...{ sums: SUMS, raw: true, batch: [], deleted: [[ZURICH, "-3.25"]] },
    resources: [
      [0, true],
      ["active", true],
      ["go label", "active", "admin", "go user"],
    ],
    errors: [FORBIDDEN, UNAUTHORIZED, unauthorized, unauthorized, NOT_FOUND, INVALID, INVALID],
    gone: "not found: bucket not found",
  });
});

test("Java: influxdb-client-java", async () => {
  const all = await found("java", ...javaCommand("BucketClients.java"));
  if (all === null) return;
  expect(all["influxdb-client-java"]!).toEqual({
    ...{ ready: "ready", version: "v2.8.0", ping: true },
    rows: [
      [ZURICH, "-3.25", "81", "9007199254740993", "true", 'a "quoted" note', TIME],
      // CSV does not tell an empty text from none
      ["Oslo", "1.0", null, null, null, "", OSLO_TIME],
    ],
    ...{ sums: SUMS, raw: true, batch: [], deleted: [[ZURICH, "-3.25"]] },
    resources: [
      [0, true],
      ["active", 1],
      ["java label", "java user", "admin"],
    ],
    errors: [FORBIDDEN, UNAUTHORIZED, UNAUTHORIZED, NOT_FOUND, INVALID, INVALID],
    gone: NOT_FOUND,
  });
});
