// One set of rows behind a real server in each state that they can be in: SQL in every format, the v1 language, Flight, caches that were
// there before the rows and caches that came after them, deletions, and recorded requests of /query. What is answered is what the rows
// say, and in every state the same.
import { beforeAll, describe, expect, test } from "bun:test";
import { status } from "@grpc/grpc-js";
import { tableFromIPC } from "apache-arrow";
import { FlightData } from "../../src/api/flight/wire/flight-messages.ts";
import { encapsulated } from "../../src/api/flight/wire/ipc-messages.ts";
import { createCache } from "../support/caches/caches.ts";
import { FlightClient, ticketMessage } from "../support/flight/flight-server.ts";
import type { RowState, RowStep } from "../support/rows/row-states.ts";
import { inEachState } from "../support/rows/served-rows.ts";
import type { TestServer } from "../support/servers/server.ts";
import { withRoundedFloats } from "../tsdbql/differential.ts";
import { DATABASE, play, requestVectors, vectorSteps } from "../vectors/vectors.ts";
import { post, query } from "./client.ts";

const HOUR_NS = 3_600_000_000_000n;
const DAY_NS = 24n * HOUR_NS;

/** Hosts of one environment over three days; `b` has the second day alone. What of `late` is not in the first body comes late. */
function linesOf(days: readonly number[], withLate: boolean): string {
  const lines = days.flatMap((day) =>
    ["a", "b"].flatMap((host) =>
      [0, 6, 23].flatMap((hour) => {
        if (host === "b" && day !== 1) return [];
        const n = day * 100 + hour;
        const fields = `f=${n / 4},n=${n}i,s="${host}${hour}",ok=${hour > 0}${withLate ? `,late=${n}u` : ""}`;
        return [`cpu,env=prod,host=${host} ${fields} ${BigInt(day) * DAY_NS + BigInt(hour) * HOUR_NS}`];
      }),
    ),
  );
  return lines.join("\n");
}

const STEPS: readonly RowStep[] = [
  { database: "d", lines: linesOf([0, 1], false) },
  { database: "d", lines: `one,host=a v=1 1727769600000000000\n${linesOf([1, 2], true)}` },
  // the second day's noon of one host, with nothing at it, and its last hour
  {
    delete: {
      ...{ database: "d", table: "cpu", tags: [{ tag: "host", values: ["b"] }] },
      range: { minNs: DAY_NS + 12n * HOUR_NS, maxNs: DAY_NS + 23n * HOUR_NS },
    },
  },
  // an old point again: of its fields one is another
  { database: "d", lines: "cpu,env=prod,host=a f=1000 0" },
  ...vectorSteps(),
];

/** Rows as objects, from the lists above. */
const SQL: readonly (readonly [sql: string, rows: readonly object[]])[] = [
  ["SELECT v FROM one WHERE host = 'a'", [{ v: 1 }]],
  ["SELECT count(*) AS n FROM one WHERE host = 'a'", [{ n: 1 }]],
  // 3 days of 3 hours of a, 2 hours of b
  ["SELECT count(*) AS n FROM cpu WHERE env = 'prod'", [{ n: 11 }]],
  ["SELECT host, count(*) AS n, sum(n) AS s FROM cpu WHERE env = 'prod' GROUP BY host ORDER BY host", [{ host: "a", n: 9, s: 987 }, { host: "b", n: 2, s: 206 }]],
  ["SELECT f FROM cpu WHERE env = 'prod' AND time < '1970-01-01T06:00:00Z'", [{ f: 1000 }]],
  // the latest bins: of all rows, behind an offset, and of a host without rows in them
  ["SELECT date_bin(INTERVAL '1 hour', time) AS t, count(*) AS n FROM cpu GROUP BY t ORDER BY t DESC LIMIT 2", [{ t: "1970-01-03T23:00:00", n: 1 }, { t: "1970-01-03T06:00:00", n: 1 }]],
  ["SELECT date_bin(INTERVAL '1 day', time) AS t, host, sum(n) AS s FROM cpu GROUP BY t, host ORDER BY t DESC, host LIMIT 2 OFFSET 1", [{ t: "1970-01-02T00:00:00", host: "a", s: 329 }, { t: "1970-01-02T00:00:00", host: "b", s: 206 }]],
  ["SELECT date_bin(INTERVAL '1 hour', time) AS t, max(n) AS n FROM cpu WHERE host = 'b' GROUP BY t ORDER BY t DESC LIMIT 1", [{ t: "1970-01-02T06:00:00", n: 106 }]],
  ["SELECT date_bin(INTERVAL '1 hour', time) AS t FROM cpu GROUP BY t ORDER BY t LIMIT 1", [{ t: "1970-01-01T00:00:00" }]],
  ["SELECT n FROM cpu WHERE host = 'a' AND time >= '1970-01-03T00:00:00Z' ORDER BY n", [{ n: 200 }, { n: 206 }, { n: 223 }]],
  ["SELECT s FROM cpu WHERE s IN ('b6', 'b23')", [{ s: "b6" }]],
  ["SELECT min(late) AS least, count(late) AS n FROM cpu WHERE env = 'prod'", [{ least: 100, n: 8 }]],
  ["SELECT DISTINCT ON (host) host, n FROM cpu ORDER BY host, time DESC", [{ host: "a", n: 223 }, { host: "b", n: 106 }]],
  ["SELECT max(f) AS f FROM cpu WHERE host = 'c'", [{}]],
  ["SELECT host, n FROM last_cache('cpu', 'fed') ORDER BY host", [{ host: "a", n: 223 }, { host: "b", n: 106 }]],
  ["SELECT host, n FROM last_cache('cpu', 'filled') WHERE env = 'prod' ORDER BY host", [{ host: "a", n: 223 }, { host: "b", n: 106 }]],
  ["SELECT host FROM distinct_cache('cpu', 'hosts') WHERE env = 'prod' ORDER BY host", [{ host: "a" }, { host: "b" }]],
  ["SELECT * FROM tag_values('cpu', 'host') ORDER BY host", [{ host: "a" }, { host: "b" }]],
  ["SELECT * FROM tag_values('cpu', 'env')", [{ env: "prod" }]],
  ["SELECT host FROM tag_values('one', 'host')", [{ host: "a" }]],
  ["SELECT env, host FROM distinct_cache('cpu', 'filled_hosts') ORDER BY host", [{ env: "prod", host: "a" }, { env: "prod", host: "b" }]],
]; // biome-ignore format: a statement a line

const FORMATS = ["json", "jsonl", "csv", "pretty", "parquet", "arrow"] as const;

const TSDBQL: readonly (readonly [q: string, values: readonly (readonly unknown[])[]])[] = [
  ["SELECT v FROM one WHERE host = 'a'", [[1_727_769_600, 1]]],
  ["SELECT count(n) FROM cpu WHERE env = 'prod'", [[0, 11]]],
  ["SELECT sum(n) FROM cpu WHERE env =~ /^prod$/ AND host = 'b'", [[0, 206]]],
  ["SELECT last(n) FROM cpu WHERE env = 'prod'", [[259_200 - 3600, 223]]],
  ["SELECT n FROM cpu WHERE env = 'prod' AND time >= 1d AND time < 1d + 1h", [[86_400, 100], [86_400, 100]]],
  // of several rows of one time the first counts
  ["SELECT difference(n) FROM cpu WHERE env = 'prod' AND time >= 1d AND time < 30h + 1s", [[108_000, 6]]],
  ["SHOW TAG VALUES FROM cpu WITH KEY = host WHERE env = 'prod'", [["host", "a"], ["host", "b"]]],
]; // biome-ignore format: a statement a line

/** What is compared of a state: an answer by what was asked. */
type Answers = Map<string, unknown>;

async function prepare(server: TestServer): Promise<void> {
  const headers = { "content-type": "application/json" };
  const fields = ["f:float64", "n:int64", "s:utf8", "ok:bool"].map((text) => {
    const [name, type] = text.split(":");
    return { name, type };
  });
  for (const [path, body] of [
    ["database", { db: "d" }],
    ["table", { db: "d", table: "cpu", tags: ["env", "host"], fields }],
  ] as const) {
    const response = await fetch(`${server.url}/api/v3/configure/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }
  await createCache(server, "last", "d", { table: "cpu", name: "fed", key_columns: ["host"] });
  await createCache(server, "distinct", "d", { table: "cpu", name: "hosts", columns: ["env", "host"] });
}

async function overFlight(client: FlightClient, sql: string): Promise<unknown> {
  const { messages, code, details } = await client.call("DoGet", ticketMessage(sql));
  if (code !== status.OK) return `${status[code]}: ${details}`;
  const table = tableFromIPC(Buffer.concat(messages.map((data) => encapsulated(FlightData.decode(data)))));
  return table.toArray().map((row) => Object.fromEntries(Object.entries(row.toJSON()).map(([name, value]) => [name, String(value)])));
}

async function askAll(server: TestServer): Promise<Answers> {
  await createCache(server, "last", "d", { table: "cpu", name: "filled", key_columns: ["env", "host"] });
  await createCache(server, "distinct", "d", { table: "cpu", name: "filled_hosts", columns: ["env", "host"] });
  const answers: Answers = new Map();
  const client = new FlightClient(Number(server.flightAddress.split(":").at(-1)));
  for (const [sql] of SQL) {
    answers.set(`${sql}, rows`, JSON.parse((await query(server, "d", sql, { format: "json" })).text));
    for (const format of FORMATS)
      answers.set(`${sql}, ${format}`, Buffer.from(await (await post(server, "d", sql, { format })).bytes()).toString("hex"));
    answers.set(`${sql}, Flight`, await overFlight(client, sql));
  }
  client.close();
  for (const [q] of TSDBQL) {
    for (const form of ["", "&pretty=true", "&chunked=true&chunk_size=1"]) {
      const response = await fetch(`${server.url}/query?db=d&epoch=s&q=${encodeURIComponent(q)}${form}`);
      answers.set(`${q}${form}`, await response.text());
    }
  }
  // EXPLAIN says where the rows lie; in MessagePack the last digit of a mean cannot be left out
  for (const vector of requestVectors().filter((one) => !/explain|x-msgpack/i.test(JSON.stringify(one.request)))) {
    answers.set(`/query ${vector.id} of ${DATABASE}`, withRoundedFloats(await play(server.url, vector)));
  }
  return answers;
}

/** Tests over the states; the first one is what the others are compared with. */
export function rowStatesSuite(states: readonly RowState[]): void {
  let answers: ReadonlyMap<RowState, Answers>;
  beforeAll(async () => {
    answers = await inEachState(states, STEPS, askAll, { withFlight: true, prepare });
  }, 180_000);

  describe.each(states)("%s", (state) => {
    test("SQL finds the rows", () => {
      for (const [sql, rows] of SQL) expect([sql, answers.get(state)!.get(`${sql}, rows`)]).toEqual([sql, rows]);
    });

    test("the v1 language finds the rows", () => {
      for (const [q, values] of TSDBQL) {
        const { results } = JSON.parse(answers.get(state)!.get(q) as string) as { results: [{ series?: [{ values: unknown }] }] };
        expect([q, results[0].series?.[0].values]).toEqual([q, values]);
      }
    });

    test("every answer is that of rows in memory, byte for byte", () => {
      const [first] = answers.values();
      const found = answers.get(state)!;
      expect(found.size).toBeGreaterThan(200);
      const wrong = [...found].filter(([asked, answer]) => !Bun.deepEquals(answer, first!.get(asked)));
      expect(wrong.map(([asked, answer]) => [asked, String(first!.get(asked)).slice(0, 500), String(answer).slice(0, 500)])).toEqual([]);
    });
  });
}
