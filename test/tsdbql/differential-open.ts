// Statements that are answered in another way than by 1.6.7: by intent, with the reason, or not yet as they should be
// (test/golden/tsdbql/differential-open.json: `UPDATE_OPEN=1` with the test takes out of it what is mended).
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const OPEN_FILE = join(import.meta.dir, "../golden/tsdbql/differential-open.json");

const OURS: Readonly<Record<string, readonly string[]>> = {
  "a retention policy is a database of its own, so its tables have their own columns": [
    "SELECT * FROM diff.short.cpu",
    "SELECT * FROM short.cpu",
    "SELECT * FROM diff.short././",
  ],
  "which of equal values a percentile chooses the time of is left to a sort that is not stable": [
    "SELECT percentile(t, 50) FROM weather",
    "SELECT percentile(n, 90) FROM weather WHERE station = 's' AND t > 8",
    "SELECT percentile(t, 100) FROM weather",
    "SELECT percentile(t, 100) FROM weather GROUP BY station",
    "SELECT percentile(t, 100) FROM weather WHERE station = 's' AND t > 8",
    "SELECT percentile(usage, 50), host FROM cpu",
    "SELECT percentile(total, 100) FROM mem",
    "SELECT percentile(n, 10) FROM weather WHERE station = 's' GROUP BY station",
  ],
  "which of equally frequent values is the mode is left to such a sort; documented is the first": [
    "SELECT mode(n) FROM weather",
    "SELECT mode(t) FROM weather GROUP BY station",
    "SELECT mode(t) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:10:00Z' GROUP BY time(2m)",
  ],
  "the order of series, and how windows end, is that of a hash table": [
    "SELECT integral(t) FROM weather GROUP BY station",
    "SELECT integral(n, 1m) FROM weather GROUP BY station",
    "SELECT integral(t) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:10:00Z' GROUP BY time(90s), station fill(none)",
    "SELECT integral(n, 1m) FROM weather WHERE time >= '2024-01-01' AND time < '2024-01-01T00:10:00Z' GROUP BY time(90s), station fill(none)",
  ],
  "rows of an inner statement without windows are in order of time, as in 2.8 and v3, not in that of their groups": [
    "SELECT * FROM (SELECT max(usage), idle FROM cpu GROUP BY host)",
    "SELECT max, idle FROM (SELECT max(usage), idle FROM cpu GROUP BY host)",
    "SELECT d, station FROM (SELECT max(t) AS d FROM weather GROUP BY station)",
    "SELECT d * 2 FROM (SELECT max(t) AS d FROM weather GROUP BY station) LIMIT 7",
  ],
  "points of top and bottom by tags are in the order that the statement asks for, as in 2.8": [
    "SELECT top(usage, host, 2) FROM cpu ORDER BY time DESC",
    "SELECT top(idle, host, 2) FROM cpu ORDER BY time DESC",
    "SELECT top(big, host, 2) FROM cpu ORDER BY time DESC",
  ],
  "an offset that is a time is taken, as its own check of the statement does": [
    "SELECT count(usage) FROM cpu WHERE time >= '2024-01-01T00:00:00Z' AND time < '2024-01-01T00:03:00Z' GROUP BY time(1m, '2024-01-01T00:00:07Z') fill(none)",
  ],
  "a statement that names an unknown database fails by itself": ["SELECT usage FROM nowhere..cpu; SHOW DATABASES"],
  "the error of a statement behind another one is shown": [
    "SELECT usage FROM cpu; SELECT mean(usage), idle FROM cpu; SELECT idle FROM cpu",
  ],
  "the database _internal is always listed": ["SHOW DATABASES", "SHOW MEASUREMENTS; SHOW DATABASES"],
  "a series whose rows have all been deleted is not there any more": [
    "SHOW TAG VALUES WITH KEY = host LIMIT 100",
    "SHOW MEASUREMENTS LIMIT 100",
  ],
  "an error does not name a shard": ["DELETE FROM tagged WHERE used > 19", "DROP SERIES FROM all_copy WHERE used > 5"],
  "a series is counted once, not once in every shard": ["SHOW SERIES EXACT CARDINALITY"],
};

export const INTENDED: ReadonlySet<string> = new Set(Object.values(OURS).flat());
export const OPEN: ReadonlySet<string> = new Set(JSON.parse(readFileSync(OPEN_FILE, "utf8")) as string[]);
