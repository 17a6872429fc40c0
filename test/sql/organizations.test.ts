// Databases of one name in several organizations, read by their ids: a statement sees the rows of its own, wherever they lie.
import { expect, test } from "bun:test";
import { TsdbError } from "../../src/model/errors.ts";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { type NamedDatabase, StoredRows } from "../support/rows/stored-rows.ts";
import { sqlEngine } from "../support/sql/sql-engine.ts";

const OTHERS: readonly NamedDatabase[] = [
  { as: "first", namespace: 1, name: "db" },
  { as: "second", namespace: 2, name: "db" },
];
const DAY_NS = 86_400_000_000_000n;

/** Two hosts on each of three days; the second host is written twice. */
const linesOf = (value: number) =>
  [0n, 1n, 2n]
    .flatMap((day) => [
      `cpu,host=a v=${value}i ${day * DAY_NS + 1n}`,
      `cpu,host=b v=0i ${day * DAY_NS + 2n}`,
      `cpu,host=b v=${value + 1}i ${day * DAY_NS + 2n}`,
    ])
    .join("\n");

const STEPS: readonly RowStep[] = [
  { database: "db", lines: linesOf(10) },
  { database: "first", lines: linesOf(20) },
  { database: "second", lines: linesOf(30) },
  // the table exists in one of them alone
  { database: "first", lines: "only v=1i 1" },
  {
    delete: { database: "first", table: "cpu", range: { minNs: DAY_NS, maxNs: 2n * DAY_NS - 1n }, tags: [{ tag: "host", values: ["a"] }] },
  },
];

const suite = sqlEngine();

test.each(ROW_STATES.map((state) => [state]))("%s", async (state) => {
  const stored = await StoredRows.open(suite.kernel, state, STEPS, { databases: OTHERS });
  try {
    const sums = "SELECT host, count(v)::bigint, sum(v)::bigint FROM cpu GROUP BY host ORDER BY host";
    const rowsOf = async (database: string) => (await stored.sql(suite.engine, sums, { database })).rows;
    const byHost = (value: bigint, daysOfA: bigint) => [
      ["a", daysOfA, value * daysOfA],
      ["b", 3n, (value + 1n) * 3n],
    ];
    expect(await rowsOf("db")).toEqual(byHost(10n, 3n));
    expect(await rowsOf("first")).toEqual(byHost(20n, 2n));
    expect(await rowsOf("second")).toEqual(byHost(30n, 3n));
    const listed = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox' ORDER BY 1";
    for (const [database, names] of [
      ["db", [["cpu"]]],
      ["first", [["cpu"], ["only"]]],
      ["second", [["cpu"]]],
    ] as const) {
      expect((await stored.sql(suite.engine, listed, { database })).rows.map((row) => [...row])).toEqual(names.map((row) => [...row]));
      const series = await stored.tsdbql("SELECT last(v) FROM cpu WHERE host = 'a'", { database });
      const last = { db: 10, first: 20, second: 30 }[database];
      expect(series.map(({ values }) => values.map(([, value]) => value))).toEqual([[last]]);
    }
    // one statement over several databases
    const all = await stored.tsdbql('SELECT sum(v) FROM "db".autogen.cpu, "first".autogen.cpu, "second".autogen.cpu WHERE host = \'b\'');
    expect(all[0]!.values.map(([, value]) => value)).toEqual([3 * (11 + 21 + 31)]);
  } finally {
    await stored.close();
  }
});

test("an id that no database has, or a deleted one", async () => {
  const stored = await StoredRows.open(suite.kernel, "in memory", STEPS, { databases: OTHERS });
  try {
    for (const database of [0, 99, -1, 1.5, Number.NaN]) {
      const failure = stored.sql(suite.engine, "SELECT * FROM cpu", { database }).catch((error) => error);
      expect(await failure).toBeInstanceOf(TsdbError);
      expect((await failure).kind).toBe("unknown_database");
    }
  } finally {
    await stored.close();
  }
});
