// Texts with now(), run at several times: a known plan must equal a new one, and is found where only the times of its scan follow from
// now().
import { afterAll, beforeAll, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import { GroupingTable } from "../../../test/support/rows/grouping-table.ts";
import { sqlEngine } from "../../../test/support/sql/sql-engine.ts";
import { TWIN_COLUMNS } from "../../../test/support/sql/sql-twins.ts";
import { otherTable, TemplatePlans } from "../../../test/support/sql/template-plans.ts";
import type { ScanTable } from "../../model/query/scan-table.ts";
import { I64_MAX, I64_MIN } from "../../model/rows/int64.ts";

const DAY_NS = 86_400_000_000_000n;
const NOW_NS = 1_700_000_000_000_000_000n;

const own = sqlEngine(96 << 20);
let cpu: GroupingTable;
beforeAll(() => {
  cpu = new GroupingTable(own.kernel, "cpu", TWIN_COLUMNS, []);
});
afterAll(() => cpu.free());

/** How many of the runs, one at each of these times, found a known plan. @throws if a plan differs from a new one */
async function knownRuns(sql: string, times: readonly bigint[], tables: readonly ScanTable[] = [cpu]): Promise<number> {
  const plans = new TemplatePlans(own.engine);
  for (const nowNs of times) await plans.check({ sql, params: {}, nowNs, tables });
  return plans.repeated;
}

/** In the last moment of January, and on a leap day, months are added differently. */
const TIMES = [NOW_NS, NOW_NS + 1n, NOW_NS - 400n * DAY_NS, 1_706_745_599_999_999_999n, 1_709_164_800_000_000_000n, 0n];

const KNOWN = [
  "SELECT * FROM cpu WHERE time >= now() - INTERVAL '1 hour'",
  "SELECT f FROM cpu WHERE time > now() - INTERVAL '1 month' AND time <= now() AND host = 'a' ORDER BY time LIMIT 3",
  "SELECT f FROM cpu WHERE now() - INTERVAL '2 days' - INTERVAL '3 hours' < time",
  "SELECT f FROM cpu WHERE time BETWEEN current_timestamp - INTERVAL '1 day' AND now() + INTERVAL '1 ns'",
  "SELECT date_bin(INTERVAL '5 minutes', time) AS t, max(f) FROM cpu WHERE time >= now() - INTERVAL '1 day' GROUP BY t ORDER BY t",
  "SELECT host, count(*) FROM cpu WHERE time < now() AND time >= '2023-01-01' GROUP BY host",
  "SELECT DISTINCT ON (host) host, time FROM cpu WHERE time >= now() - INTERVAL '5 years' ORDER BY host, time DESC",
];

/** A part of the text for DuckDB, of groups or of a choice depends on now(). */
const NEW = [
  "SELECT f FROM cpu WHERE time = now() OR time = now() AND host = 'a'",
  "SELECT host, f FROM (SELECT * FROM cpu WHERE time >= now() - INTERVAL '1 hour') AS inside WHERE host = 'b'",
  "SELECT now() AS n",
  "SELECT now() - INTERVAL '1 hour' AS n, f FROM cpu",
  "SELECT f FROM cpu WHERE now() > '2023-06-01'",
  "SELECT f FROM cpu WHERE time <> now()",
  "SELECT f FROM cpu WHERE time >= now() AND f + 1 > 2",
  "SELECT f FROM cpu WHERE time >= date_trunc('day', now())",
  "SELECT f FROM cpu WHERE time >= current_date",
  "SELECT f FROM cpu WHERE time >= tz(now(), 'Europe/Berlin') - INTERVAL '1 month'",
  "SELECT f FROM cpu WHERE i > CAST(now() AS BIGINT)",
  "SELECT f FROM cpu WHERE i > epoch_ns(now() - INTERVAL '1 day')",
  "SELECT f FROM cpu WHERE host = CAST(now() AS VARCHAR)",
  "SELECT f FROM cpu WHERE host < to_char(now(), '%Y')",
  "SELECT f FROM cpu LIMIT CAST(date_part('day', now()) AS BIGINT)",
  "SELECT date_bin(INTERVAL '1 hour', time, now()) AS t, count(*) FROM cpu GROUP BY t",
  "SELECT count(*) FILTER (WHERE time > now()) FROM cpu",
  "SELECT host, count(*) FROM cpu GROUP BY host HAVING max(time) > now() - INTERVAL '1 day'",
  "SELECT date_bin_gapfill(INTERVAL '6 hours', time) AS t, avg(f) FROM cpu WHERE time >= now() - INTERVAL '1 day' AND time < now() GROUP BY t",
  "SELECT a.f FROM cpu a JOIN cpu b ON a.time = b.time WHERE a.time >= now() - INTERVAL '1 hour'",
];

test.each(KNOWN)("the plan is known: %s", async (sql) => expect(await knownRuns(sql, TIMES)).toBe(TIMES.length - 1));

test.each(NEW)("the plan is made anew: %s", async (sql) => expect(await knownRuns(sql, TIMES)).toBe(0));

test("times beside the range of nanoseconds, and at its ends", async () => {
  const all = [I64_MAX, I64_MAX - 1n, I64_MIN + 1n, I64_MIN + 2n, 0n, NOW_NS];
  for (const first of all) {
    const times = [first, ...all, first];
    for (const interval of ["1 ns", "90 years", "300 years", "-3600 months"]) {
      for (const operator of ["<", "<=", "=", ">=", ">"]) {
        await knownRuns(`SELECT f FROM cpu WHERE time ${operator} now() - INTERVAL '${interval}'`, times);
        await knownRuns(
          `SELECT max(f) FROM cpu WHERE time ${operator} now() + INTERVAL '${interval}' GROUP BY date_bin('1 hour', time)`,
          times,
        );
      }
    }
  }
});

test("over tables that change meanwhile, seed 9", async () => {
  const below = prng(9);
  let known = 0;
  for (const sql of [...KNOWN, ...NEW]) {
    const plans = new TemplatePlans(own.engine);
    let tables = [otherTable(cpu, below)];
    for (let round = 0; round < 12; round++) {
      if (below(3) === 0) tables = [otherTable(cpu, below)];
      await plans.check({ sql, params: {}, nowNs: NOW_NS + BigInt(below(400)) * DAY_NS, tables });
    }
    known += plans.repeated;
  }
  expect(known).toBeGreaterThan(0);
});
