// The first rows, and the first groups by bins, in the order of time: what is sorted here of all rows that were written, in every state
// that they can be in, and less than all of them is read for it.
import { describe, expect, test } from "bun:test";
import { prng } from "../support/prng.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import type { StoredRows } from "../support/rows/stored-rows.ts";
import type { SqlValue } from "../support/sql/sql-rows.ts";
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

const lineOf = ({ time, host, n }: Row, table = "cpu") => `${table}${host === "" ? "" : `,host=${host}`} n=${n}i ${time}`;
const COUNT = 5000;
const LAST_NS = 2n ** 63n - 2n;
/** One sensor, without tags and with a constant one; a time of all rows; rows at both ends of time. */
const ORDINARY: Readonly<Record<string, readonly Row[]>> = {
  untagged: Array.from({ length: COUNT }, (_, n) => ({ time: BigInt(n), host: "", n })),
  constant: Array.from({ length: COUNT }, (_, n) => ({ time: BigInt(n) * SECOND, host: "a", n })),
  same: Array.from({ length: COUNT }, (_, n) => ({ time: 7n * SECOND, host: `h${n}`, n })),
  ends: Array.from({ length: COUNT }, (_, n) => ({ time: n === 0 ? -LAST_NS : n === 1 ? LAST_NS : BigInt(n), host: "a", n })),
};
const steps = (): RowStep[] => [
  {
    database: "db",
    lines: ROWS.slice(0, 5000)
      .map((row) => lineOf(row))
      .join("\n"),
  },
  ...Object.entries(ORDINARY).map(([table, rows]) => ({ database: "db", lines: rows.map((row) => lineOf(row, table)).join("\n") })),
  // points again, with what they have already
  {
    database: "db",
    lines: ROWS.slice(4000)
      .map((row) => lineOf(row))
      .join("\n"),
  },
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

/** Asks a statement and compares it with the first of `rows` in its order. */
async function check(
  at: number,
  select: string,
  { isDescending, limit, offset }: Asked,
  rows: readonly Row[],
  shown = ({ time, host, n }: Row): SqlValue[] => [time, host, BigInt(n)],
): Promise<void> {
  const tail = `LIMIT ${limit}${offset === 0 ? "" : ` OFFSET ${offset}`}`;
  const statement = `${select} ORDER BY 1 ${isDescending ? "DESC" : "ASC"}, host ${tail}`;
  const sorted = rows.toSorted((a, b) => {
    if (a.time !== b.time) return a.time < b.time === isDescending ? 1 : -1;
    return a.host < b.host ? -1 : 1;
  });
  const expected = sorted.slice(offset, offset + limit).map(shown);
  expect({ statement, found: await ask(states.stored[at]![1], statement) }).toEqual({ statement, found: expected });
}

/** The greatest value of each host in each bin. */
function groupsOf(rows: readonly Row[]): Row[] {
  const groups = new Map<string, Row>();
  for (const { time, host, n } of rows) {
    const seconds = time / SECOND;
    const start = (seconds - (((seconds % 7n) + 7n) % 7n)) * SECOND;
    const known = groups.get(`${start} ${host}`);
    if (known === undefined || known.n < n) groups.set(`${start} ${host}`, { time: start, host, n });
  }
  return [...groups.values()];
}

describe.each(ROW_STATES.map((state, at) => [state, at] as const))("%s", (_, at) => {
  test("rows", async () => {
    for (const asked of ASKED) await check(at, `SELECT time, host, n FROM cpu ${asked.where[0]}`, asked, ROWS.filter(asked.where[1]));
  }, 120_000);

  test("expressions of rows", async () => {
    const select = "SELECT time, upper(host) AS loud, n * 2 + 1 AS odd FROM cpu";
    for (const asked of ASKED.filter((_, i) => i % 3 === at % 3)) {
      const shown = ({ time, host, n }: Row) => [time, host.toUpperCase(), BigInt(2 * n + 1)];
      await check(at, `${select} ${asked.where[0]}`, asked, ROWS.filter(asked.where[1]), shown);
    }
  }, 120_000);

  test("only of rows that are returned", async () => {
    const [stored] = states.stored[at]!.slice(1) as [StoredRows];
    const statement =
      "SELECT time, CASE WHEN n >= 4990 THEN n ELSE CAST(host AS BIGINT) END AS v FROM constant ORDER BY time DESC LIMIT 10";
    expect((await ask(stored, statement)).map(([, v]) => v)).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(4999 - i)));
    expect(ask(stored, statement.replace("LIMIT 10", "LIMIT 11"))).rejects.toThrow("Cannot cast string 'a'");
  });

  test("expressions of groups", async () => {
    const select = "SELECT date_bin(INTERVAL '7 seconds', time) AS t, host, max(n) * 10 AS n FROM cpu";
    for (const asked of ASKED.filter(({ offset, limit }, i) => offset + limit < 1200 && i % 3 === at % 3)) {
      const tens = groupsOf(ROWS.filter(asked.where[1])).map((row) => ({ ...row, n: row.n * 10 }));
      await check(at, `${select} ${asked.where[0]} GROUP BY t, host`, asked, tens);
    }
  }, 120_000);

  test.each(Object.entries(ORDINARY))("rows of %s", async (table, rows) => {
    const host = table === "untagged" ? "''" : "host";
    const where: Asked["where"] = ["", () => true];
    for (const isDescending of [true, false]) {
      for (const limit of [1, 10, 600, COUNT]) {
        for (const offset of [0, 5])
          await check(at, `SELECT time, ${host} AS host, n FROM ${table}`, { where, isDescending, limit, offset }, rows);
      }
    }
  });

  test("groups", async () => {
    const select = "SELECT date_bin(INTERVAL '7 seconds', time) AS t, host, max(n) AS n FROM cpu";
    for (const asked of ASKED.filter(({ offset, limit }) => offset + limit < 1200)) {
      await check(at, `${select} ${asked.where[0]} GROUP BY t, host`, asked, groupsOf(ROWS.filter(asked.where[1])));
    }
  }, 120_000);
});

test.each([
  ["SELECT time, n FROM cpu WHERE time < '1970-01-02' ORDER BY time DESC LIMIT 5", "the latest 5"],
  ["SELECT time, n FROM cpu WHERE time >= '1970-01-01' ORDER BY time LIMIT 5 OFFSET 2", "the earliest 7"],
  ["SELECT date_bin(INTERVAL '7 seconds', time) AS t, max(n) FROM cpu GROUP BY t ORDER BY t DESC LIMIT 5", "the latest 5"],
  ["SELECT time, n * 2 AS m, upper(host) FROM cpu WHERE time < '1970-01-02' ORDER BY time DESC LIMIT 5", "the latest 5"],
  ["SELECT *, n + 1 AS m FROM cpu AS c WHERE time >= '1970-01-01' ORDER BY c.time, host LIMIT 5 OFFSET 1", "the earliest 6"],
])("%s returns %s", async (statement, words) => {
  const plan = (await ask(states.stored[0]![1], `EXPLAIN ANALYZE ${statement}`)).flat().join("\n");
  expect(plan).toContain(words);
  // counts, and the rows
  const returned = [...plan.matchAll(/rows_returned=(\d+)/g)].map(([, count]) => Number(count));
  expect(Math.max(...returned)).toBeLessThanOrEqual(4096);
});
