// The first rows, and the first groups by bins, in the order of time: what is sorted here of all rows that were written, in every state
// that they can be in, and less than all of them is read for it.
import { expect, test } from "bun:test";
import { prng } from "../support/prng.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import type { StoredRows } from "../support/rows/stored-rows.ts";
import { sqlStates } from "../support/sql/sql-states.ts";

interface Row {
  readonly time: bigint;
  readonly host: string;
  readonly n: number;
}

const SECOND = 1_000_000_000n;
const below = prng(77);
/** Many rows of few hosts, several of a time; a single row far before and one far after all others, which is written again. */
const byPoint = new Map<string, Row>();
for (let i = 0; i < 9000; i++) {
  const row = { time: BigInt(below(4000)) * SECOND, host: `h${below(5)}`, n: i };
  byPoint.set(`${row.time} ${row.host}`, row);
}
for (const n of [1, 2]) {
  for (const time of [-900_000n, 2_000_000n]) byPoint.set(`${time} rare`, { time: time * SECOND, host: "rare", n });
}
const ROWS = [...byPoint.values()];

const lineOf = ({ time, host, n }: Row) => `cpu,host=${host} n=${n}i ${time}`;
const steps = (): RowStep[] => [
  { database: "db", lines: ROWS.slice(0, 5000).map(lineOf).join("\n") },
  // points again, with what they have already
  { database: "db", lines: ROWS.slice(4000).map(lineOf).join("\n") },
];
const states = sqlStates(steps);

const ask = async (one: StoredRows, statement: string) => (await one.sql(states.engine, statement, {})).rows;

interface Asked {
  readonly where: readonly [sql: string, isWanted: (row: Row) => boolean];
  readonly isDescending: boolean;
  readonly limit: number;
  readonly offset: number;
}

const WHERE: readonly Asked["where"][] = [
  ["", () => true],
  ["WHERE host = 'h3'", ({ host }) => host === "h3"],
  ["WHERE host = 'rare'", ({ host }) => host === "rare"],
  ["WHERE host = 'nobody'", () => false],
  ["WHERE host LIKE 'h%' AND n >= 8000", ({ host, n }) => host.startsWith("h") && n >= 8000],
  ["WHERE n = 17", ({ n }) => n === 17],
  ["WHERE time >= '1970-01-01T00:30:00Z' AND time < '1970-01-01T00:31:00Z'", ({ time }) => time >= 1800n * SECOND && time < 1860n * SECOND],
  ["WHERE time < '1970-01-01T00:10:00.5Z'", ({ time }) => time <= 600n * SECOND],
];
const LIMITS = [0, 1, 3, 10, 100, 700, 8999, 20_000];
const ASKED: Asked[] = WHERE.flatMap((where) =>
  [true, false].flatMap((isDescending) => LIMITS.map((limit) => ({ where, isDescending, limit, offset: [0, 0, 7, 95][below(4)]! }))),
);

const sliceOf = <T>(sorted: readonly T[], { limit, offset }: Asked): T[] => sorted.slice(offset, offset + limit);
const tail = ({ limit, offset }: Asked) => `LIMIT ${limit}${offset === 0 ? "" : ` OFFSET ${offset}`}`;

test.each(ROW_STATES.map((state, at) => [state, at] as const))(
  "%s: rows",
  async (_, at) => {
    for (const asked of ASKED) {
      const { where, isDescending } = asked;
      const direction = isDescending ? "DESC" : "ASC";
      const statement = `SELECT time, host, n FROM cpu ${where[0]} ORDER BY time ${direction}, host ${tail(asked)}`;
      const sorted = ROWS.filter(where[1]).toSorted((a, b) => {
        if (a.time !== b.time) return a.time < b.time === isDescending ? 1 : -1;
        return a.host < b.host ? -1 : 1;
      });
      const found = await ask(states.stored[at]![1], statement);
      expect({ statement, found }).toEqual({
        statement,
        found: sliceOf(sorted, asked).map(({ time, host, n }) => [time, host, BigInt(n)]),
      });
    }
  },
  120_000,
);

test.each(ROW_STATES.map((state, at) => [state, at] as const))(
  "%s: groups",
  async (_, at) => {
    for (const asked of ASKED.filter(({ offset, limit }) => offset + limit < 1200)) {
      const { where, isDescending } = asked;
      const direction = isDescending ? "DESC" : "ASC";
      const bin = "date_bin(INTERVAL '7 seconds', time)";
      const statement = `SELECT ${bin} AS t, host, max(n) AS n FROM cpu ${where[0]} GROUP BY t, host ORDER BY t ${direction}, host ${tail(asked)}`;
      const groups = new Map<string, Row>();
      for (const { time, host, n } of ROWS.filter(where[1])) {
        const seconds = time / SECOND;
        const start = (seconds - (((seconds % 7n) + 7n) % 7n)) * SECOND;
        const known = groups.get(`${start} ${host}`);
        if (known === undefined || known.n < n) groups.set(`${start} ${host}`, { time: start, host, n });
      }
      const sorted = [...groups.values()].toSorted((a, b) => {
        if (a.time !== b.time) return a.time < b.time === isDescending ? 1 : -1;
        return a.host < b.host ? -1 : 1;
      });
      const found = await ask(states.stored[at]![1], statement);
      expect({ statement, found }).toEqual({
        statement,
        found: sliceOf(sorted, asked).map(({ time, host, n }) => [time, host, BigInt(n)]),
      });
    }
  },
  120_000,
);

test.each([
  ["SELECT time, n FROM cpu WHERE time < '1970-01-02' ORDER BY time DESC LIMIT 5", "the latest 5"],
  ["SELECT time, n FROM cpu WHERE time >= '1970-01-01' ORDER BY time LIMIT 5 OFFSET 2", "the earliest 7"],
  ["SELECT date_bin(INTERVAL '7 seconds', time) AS t, max(n) FROM cpu GROUP BY t ORDER BY t DESC LIMIT 5", "the latest 5"],
])("%s returns %s", async (statement, words) => {
  const plan = (await ask(states.stored[0]![1], `EXPLAIN ANALYZE ${statement}`)).flat().join("\n");
  expect(plan).toContain(words);
  // counts, and the rows
  const returned = [...plan.matchAll(/rows_returned=(\d+)/g)].map(([, count]) => Number(count));
  expect(Math.max(...returned)).toBeLessThanOrEqual(4096);
});
