// Hostile arguments to functions of time: whatever is asked, the answer is rows or an error of the statement, soon, and no bug of ours.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { describeError } from "../../src/model/errors.ts";
import { SqlEngine } from "../../src/sql/execute/engine.ts";
import { prng } from "../support/prng.ts";
import type { FakeTable } from "../support/rows/fake-table.ts";
import { askRows } from "../support/sql/sql-rows.ts";
import { homeTable, SUITE_NOW_NS } from "../support/sql/sql-suite.ts";

const SEED = Number(process.env["SEED"] ?? 3);
const ROUNDS = Number(process.env["ROUNDS"] ?? 150);

let engine: SqlEngine;
let home: FakeTable;
beforeAll(async () => {
  const kernel = Kernel.create();
  engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  home = homeTable(kernel);
});
afterAll(() => engine.close());

const blanks = " ".repeat(50_000);
const long = "9".repeat(50_000);
const TEXTS = [
  "",
  " ",
  "x",
  "%",
  "%Y",
  "%%Y",
  "%-",
  "%Y".repeat(600),
  "%d".repeat(300),
  "%f%f%f%.f",
  "NaN",
  "infinity",
  "-infinity",
  "epoch",
  "now",
].concat(
  [
    "0000-01-01",
    "-9999-01-01",
    "9999-12-31T23:59:59.999999999Z",
    `2024-01-01${blanks}x`,
    `2024-01-01T00:00:00.${long}`,
    `2024-01-01 00:00 ${"a".repeat(500)}`,
  ],
  [
    "1 month",
    "-1 day",
    "0 s",
    "1 ns",
    "P",
    "PT",
    "P1",
    "99999999999999999999 years",
    `${long} days`,
    `1.${long} months`,
    "1 day".repeat(200),
    "2147483647 months",
    "-2147483648 days",
  ],
  [
    "UTC",
    "utc",
    "Europe/Berlin",
    "eUROPE/bERLIN",
    "+99:99",
    "+24:00",
    "-00:00",
    "Etc/GMT+12",
    "../../etc/passwd",
    "Europe",
    "America/Los_Angeles",
    `Europe/${"x".repeat(10_000)}`,
  ],
  ["year", "nanoseconds", "isodow", "epoch", "1111111111111111111111111111x", "ß", "'; DROP TABLE home", "\u{1F4A5}", "\u0000"],
);
const VALUES = [
  ...[
    "time",
    "temp",
    "co",
    "room",
    "NULL",
    "TRUE",
    "0",
    "-1",
    "1.5",
    "1e308",
    "-1e-308",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "1e400",
  ],
  ...[
    "now()",
    "current_date",
    "current_time",
    "tz(time, 'Europe/Berlin')",
    "tz(now(), 'America/New_York')",
    "to_timestamp_seconds(co)",
    "to_timestamp_seconds(253402300799)",
  ],
  ...[
    "time - now()",
    "INTERVAL '1 month'",
    "INTERVAL '5 ns'",
    "INTERVAL '1 hour' * co",
    "now() - INTERVAL '5000 years'",
    "to_timestamp(9223372036854775807)",
    "time '10:11:12'",
  ],
  ...[
    "'NaN'::double",
    "[1, 2]",
    "{'a': 1}",
    "selector_last(temp, time)",
    "max(time)",
    "(SELECT max(time) FROM home)",
    "*",
    "date '9999-12-31'",
    "date '0001-01-01'",
  ],
];
/** v: a value, t: a text, i: an interval, f: a format, z: a zone, u: a unit. */
const CALLS = [
  ...[
    "date_bin(i, v)",
    "date_bin(i, v, v)",
    "date_bin_gapfill(i, time)",
    "date_bin_gapfill(i, v, v)",
    "date_bin_wallclock(i, tz(v, z))",
    "date_bin_wallclock(i, v, v)",
  ],
  ...[
    "date_bin_wallclock_gapfill(i, tz(time, z))",
    "date_trunc(u, v)",
    "date_part(u, v)",
    "to_char(v, f)",
    "from_unixtime(v)",
    "from_unixtime(v, z)",
    "make_date(v, v, v)",
  ],
  ...[
    "to_date(v)",
    "to_date(v, f)",
    "to_timestamp(v)",
    "to_timestamp(v, f, f)",
    "to_timestamp_seconds(v)",
    "to_timestamp_millis(v, f)",
    "to_timestamp_micros(v)",
    "to_unixtime(v)",
  ],
  ...[
    "to_unixtime(v, f)",
    "tz(v, z)",
    "to_local_time(v)",
    "(v) AT TIME ZONE z",
    "v + i",
    "v - i",
    "i * v",
    "v - v",
    "v < v",
    "locf(max(v))",
    "interpolate(avg(v))",
    "(v)::timestamp",
  ],
  ...[
    "(v)::varchar",
    "(v)::date",
    "(v)::bigint",
    "time_bucket(i, v)",
    "coalesce(v, v)",
    "max(v)",
    "t",
    "now()",
    "to_timestamp(t)",
    "t::timestamp",
    "date_part(t, v)",
    "tz(v, t)",
  ],
];
const INTERVALS = [
  "1 ns",
  "7 minutes",
  "1 hour",
  "1 day",
  "1 week",
  "1 month",
  "5 years",
  "1000 years",
  "100 days 1 ns",
  "-1 hour",
  "2147483647 days",
  "2147483647 months",
];
const FORMATS = ["%Y-%m-%d", "%F %T%.f", "%+", "%c", "%s", "%j %y %I %p %z", "%-d%_m%e%k%l", "%Z %::z %q %C", "%H:%M"];
const ZONES = ["UTC", "Europe/Berlin", "america/new_york", "+05:30", "-00:01", "Australia/Lord_Howe", "Africa/Monrovia"];
const UNITS = ["year", "month", "week", "day", "hour", "nanosecond", "epoch", "isodow", "century", "dow"];

function statementOf(below: (n: number) => number): string {
  const one = (list: readonly string[]): string => list[below(list.length)]!;
  const text = (list: readonly string[] = TEXTS): string => `'${one(below(8) === 0 ? TEXTS : list).replaceAll("'", "''")}'`;
  const value = (depth: number): string => {
    if (depth > 3 || below(3) === 0) return one(VALUES);
    return one(CALLS).replaceAll(/\b[vtifzu]\b/g, (kind) => {
      switch (kind) {
        case "v":
          return value(depth + 1);
        case "i":
          return `INTERVAL ${text(INTERVALS)}`;
        case "f":
          return text(FORMATS);
        case "z":
          return text(ZONES);
        case "u":
          return text(UNITS);
        default:
          return text();
      }
    });
  };
  const where = ["", " WHERE time >= '2022-01-01' AND time < '2022-01-02'", ` WHERE time > ${value(1)}`][below(3)];
  const group = ["", "", " GROUP BY 1", " GROUP BY room, 1", ` GROUP BY ${value(1)}`][below(5)];
  return `SELECT ${value(0)}, ${value(1)} FROM home${where}${group}`;
}

test(`${ROUNDS} hostile statements, seed ${SEED}`, async () => {
  const below = prng(SEED);
  for (let round = 0; round < ROUNDS; round++) {
    const sql = statementOf(below);
    const kind = await kindOf(sql);
    expect({ sql: sql.slice(0, 2000), bug: kind.startsWith("bug") ? kind : "" }).toMatchObject({ bug: "" });
  }
}, 60_000);

/** "rows", or the kind of the error. */
async function kindOf(sql: string): Promise<string> {
  try {
    await askRows(engine, sql, { tables: [home], params: {}, nowNs: SUITE_NOW_NS, timeoutMs: 20_000 });
    return "rows";
  } catch (error) {
    const { kind, message } = describeError(error);
    return kind === "bug" || kind === "query_limit" ? `bug: ${kind} ${message}` : kind;
  }
}
