// The newest row of every combination of some tags, in order of these, without a sort: each statement answers as DuckDB does on all rows,
// and as the same scan without this optimisation, in all states of the rows.
import { describe, expect, spyOn, test } from "bun:test";
import { TableScan } from "../../src/scan/table-scan.ts";
import { prng } from "../support/prng.ts";
import type { RowStep } from "../support/rows/row-states.ts";
import { SCAN_VIEWS, type ScanView } from "../support/rows/scan-views.ts";
import type { SqlAsk, StoredRows } from "../support/rows/stored-rows.ts";
import { sqlStates } from "../support/sql/sql-states.ts";
import { comparable } from "../support/sql/sql-twins.ts";

const NOW_NS = 1_700_000_000_000_000_000n;
/** Only the order is left to the sort. */
const SORTED: ScanView = SCAN_VIEWS.find(([leftOut]) => leftOut === "conditions on tags")![1];
/** More series than rows of a batch. */
const SERIES = 2_500;

/** Values, absent ones, zeros of both signs, and a field that only later rows have. No two rows have one time. */
function steps(): RowStep[] {
  const below = prng(11);
  let time = 0;
  const field = (late: boolean) => {
    const some = [
      `f=${["-0", "0", "1.5", "-7"][below(4)]}`,
      `i=${below(9) - 4}i`,
      `u=${below(9)}u`,
      `b=${below(2) === 0}`,
      `s="t${below(50)}"`,
    ];
    if (late) some.push(`late="long enough for a text of its own ${below(9)}"`);
    return some.filter((_, at) => at === 1 || below(3) > 0).join(",");
  };
  const row = (series: number, late: boolean) => {
    const region = series % 7 === 0 ? "" : `,region=${["eu", "us", "ap"][series % 3]}`;
    return `many,host=h${series}${region},site=x ${field(late)} ${++time}`;
  };
  const all = Array.from({ length: SERIES }, (_, i) => (i * 977) % SERIES);
  const first = all.map((series) => row(series, false));
  const second = all.filter((series) => series % 3 !== 0).map((series) => row(series, false));
  // series of every region, some new, some for the third time
  const third = Array.from({ length: 300 }, (_, i) => row(SERIES - 150 + i, true));
  const one = "one,host=a v=1 5\none,host=a v=2 6";
  const same = ["same,site=x,region=eu v=1i 1", "same,site=x,region=eu v=2i,w=0.5 2", "same,site=x v=3i 3"].join("\n");
  return [first, second, third].map((lines, i) => ({
    database: "db",
    lines: [...lines, ...(i === 1 ? [one] : []), same].join("\n"),
  })) as RowStep[];
}

const states = sqlStates(steps);
const { stored } = states;

const ask = (one: StoredRows, statement: string, options: SqlAsk = {}) =>
  comparable(statement, one.sql(states.engine, statement, { nowNs: NOW_NS, ...options }));

async function check(statement: string, inOrder: boolean): Promise<void> {
  const expected = await ask(stored[0]![1], statement, { isPlain: true });
  expect(expected.fields).not.toBe("error");
  for (const [state, one] of stored) {
    const used = spyOn(TableScan.prototype, "newestInOrder");
    const found = await ask(one, statement);
    expect([state, used.mock.calls.length > 0]).toEqual([state, inOrder]);
    used.mockRestore();
    expect([state, found]).toEqual([state, expected]);
    expect([state, await ask(one, statement, { view: SORTED })]).toEqual([state, expected]);
  }
}

const IN_ORDER: readonly string[] = [
  "SELECT DISTINCT ON (host) * FROM many ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) host, f, late FROM many ORDER BY host DESC, time DESC",
  "SELECT DISTINCT ON (host) time FROM many ORDER BY host, time DESC LIMIT 5 OFFSET 2046",
  "SELECT DISTINCT ON (region) * FROM many ORDER BY region, time DESC",
  "SELECT DISTINCT ON (region) region, s, b FROM many ORDER BY region DESC NULLS LAST, time DESC",
  "SELECT DISTINCT ON (region) region, s, b FROM many ORDER BY region NULLS FIRST, time DESC",
  "SELECT DISTINCT ON (site) * FROM many ORDER BY site, time DESC",
  "SELECT DISTINCT ON (region, host) host, u, i FROM many ORDER BY region NULLS FIRST, host DESC, time DESC",
  "SELECT DISTINCT ON (host, region, site) * FROM many ORDER BY site, region, host, time DESC",
  "SELECT DISTINCT ON (host) host, late FROM many WHERE region = 'eu' ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) * FROM many WHERE host LIKE '%9' AND time < '1970-01-01T00:00:00.000004Z' ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) host, f FROM many WHERE region IS NULL ORDER BY host DESC, time DESC",
  "SELECT DISTINCT ON (host) * FROM many WHERE host = 'none' ORDER BY host, time DESC",
  "SELECT DISTINCT ON (host) * FROM one ORDER BY host, time DESC",
  "SELECT DISTINCT ON (site) * FROM same ORDER BY site, time DESC",
  "SELECT DISTINCT ON (region) v, w, region FROM same ORDER BY region, time DESC",
];

const SORTED_BY_VALUE: readonly string[] = [
  "SELECT DISTINCT ON (host) * FROM many ORDER BY host, time",
  "SELECT DISTINCT ON (host) * FROM many ORDER BY host, region, time DESC",
  "SELECT DISTINCT ON (host) * FROM many ORDER BY host, time DESC, i",
  "SELECT DISTINCT ON (host) * FROM many WHERE i > 2 ORDER BY host, time DESC",
  "SELECT DISTINCT ON (s) s, host FROM many ORDER BY s, time DESC",
];

describe("newest rows in order", () => {
  test.each(IN_ORDER)("%s", (statement) => check(statement, true));
  test.each(SORTED_BY_VALUE)("%s is sorted", (statement) => check(statement, false));
});
