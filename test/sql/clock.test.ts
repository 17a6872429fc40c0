// Texts with now() that are run again at other times, in every state of the rows: the answers are those of each run's time, and those of
// an engine that keeps no text and leaves everything to DuckDB.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import type { RowStep } from "../support/rows/row-states.ts";
import { SCAN_VIEWS } from "../support/rows/scan-views.ts";
import { sqlStates } from "../support/sql/sql-states.ts";
import { comparable, type TwinAnswer } from "../support/sql/sql-twins.ts";

const MINUTE_NS = 60_000_000_000n;
const FIRST_NS = 1_700_000_040_000_000_000n; // a whole minute
const ROW_COUNT = 240;

/** One row a minute, of two hosts in turn; v is the number of the row. */
function steps(): RowStep[] {
  const line = (i: number) => `cpu,host=${i % 2 === 0 ? "a" : "b"} v=${i}i ${FIRST_NS + BigInt(i) * MINUTE_NS}`;
  const lines = Array.from({ length: ROW_COUNT }, (_, i) => line(i));
  return [lines.slice(0, 150), lines.slice(100)].map((part) => ({ database: "db", lines: part.join("\n") }));
}

const states = sqlStates(steps);
let forgetful: SqlEngine;
beforeAll(async () => {
  forgetful = await SqlEngine.open(states.engine.kernel, { memoryBytes: 96 << 20, threads: 1, tempDir: null, textBytesMax: 0 });
});
afterAll(() => forgetful.close());

const HOUR = "time >= now() - INTERVAL '1 hour' AND time < now()";
const STATEMENTS = [
  `SELECT v FROM cpu WHERE ${HOUR} ORDER BY v`,
  `SELECT * FROM cpu WHERE ${HOUR} AND host = 'a' ORDER BY time DESC LIMIT 4`,
  `SELECT count(*) AS n, min(v) AS l, max(v) AS h FROM cpu WHERE ${HOUR}`,
  `SELECT host, sum(v) AS s FROM cpu WHERE ${HOUR} GROUP BY host ORDER BY host`,
  `SELECT date_bin(INTERVAL '7 minutes', time) AS t, host, sum(v) AS s FROM cpu WHERE ${HOUR} GROUP BY t, host ORDER BY t, host`,
  `SELECT date_bin_gapfill(INTERVAL '10 minutes', time) AS t, count(v) AS n FROM cpu WHERE ${HOUR} GROUP BY t ORDER BY t`,
  `SELECT DISTINCT ON (host) host, v FROM cpu WHERE ${HOUR} ORDER BY host, time DESC`,
  `SELECT selector_last(v, time)['value'] AS v, host FROM cpu WHERE ${HOUR} GROUP BY host ORDER BY host`,
  `SELECT v * 2 AS w FROM cpu WHERE ${HOUR} ORDER BY w`,
  "SELECT v FROM cpu WHERE time > now() - INTERVAL '1 month' AND time <= now() + INTERVAL '1 day' - INTERVAL '1 day' ORDER BY v",
  "SELECT v FROM cpu WHERE time >= date_trunc('hour', now()) AND time < now() ORDER BY v",
  // decided by DuckDB once for each host
  "SELECT v FROM cpu WHERE host = CASE WHEN now() < '2023-11-15' THEN 'a' ELSE 'b' END ORDER BY v",
  "SELECT CASE WHEN now() < '2023-11-15' THEN host END AS h, sum(v) AS s FROM cpu GROUP BY h ORDER BY h",
  "SELECT v FROM cpu WHERE time = now() OR time = now() - INTERVAL '1 minute' ORDER BY v",
];
/** In minutes after the first row: before it, among the rows, between two of them, after the last one. */
const CLOCKS = [30, 100, 101.5, 239, 200, 100, -5, 290, 10_000].map((minutes) => FIRST_NS + BigInt(minutes * 60_000_000_000));

test("the rows of the hour before each run", async () => {
  for (const [state, rows] of states.stored) {
    for (const nowNs of CLOCKS) {
      const wanted = Array.from({ length: ROW_COUNT }, (_, i) => i).filter((i) => {
        const ns = FIRST_NS + BigInt(i) * MINUTE_NS;
        return ns >= nowNs - 60n * MINUTE_NS && ns < nowNs;
      });
      const found = await rows.sql(states.engine, STATEMENTS[0]!, { nowNs });
      expect([state, nowNs, found.rows.map(([v]) => Number(v))]).toEqual([state, nowNs, wanted]);
      const [counted] = (await rows.sql(states.engine, STATEMENTS[2]!, { nowNs })).rows;
      expect([state, nowNs, Number(counted![0])]).toEqual([state, nowNs, wanted.length]);
    }
  }
});

test.each(STATEMENTS)("at each time: %s", async (statement) => {
  const [, first] = states.stored[0]!;
  const expected: [bigint, TwinAnswer][] = [];
  for (const nowNs of CLOCKS) {
    expected.push([nowNs, await comparable(statement, first.sql(forgetful, statement, { nowNs, isPlain: true }))]);
  }
  for (const [i, [state, rows]] of states.stored.entries()) {
    // the plan of one table is known from one time to the next
    for (const [nowNs, answer] of expected) {
      expect([state, nowNs, await comparable(statement, rows.sql(states.engine, statement, { nowNs }))]).toEqual([state, nowNs, answer]);
    }
    const [leftOut, view] = SCAN_VIEWS[i % SCAN_VIEWS.length]!;
    for (const [nowNs, answer] of expected) {
      const found = await comparable(statement, rows.sql(states.engine, statement, { nowNs, view }));
      expect([state, leftOut, nowNs, found.rows]).toEqual([state, leftOut, nowNs, answer.rows]);
    }
  }
});

test("runs of one text at several times that overlap", async () => {
  for (const [, rows] of states.stored) {
    for (const statement of STATEMENTS) {
      const asked = (engine: SqlEngine, nowNs: bigint) => comparable(statement, rows.sql(engine, statement, { nowNs }));
      const together = await Promise.all(CLOCKS.map((nowNs) => asked(states.engine, nowNs)));
      for (const [i, nowNs] of CLOCKS.entries()) expect([statement, together[i]]).toEqual([statement, await asked(forgetful, nowNs)]);
    }
  }
});
