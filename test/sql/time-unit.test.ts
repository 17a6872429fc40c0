// Timestamps of seconds, milliseconds and microseconds: what is computed of them keeps their unit, rounded down. The values are the
// vendor's answers; times are shown as numbers of their unit.
import type { SqlValue } from "../support/sql/sql-rows.ts";
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const is = (expression: string, value: SqlValue): SqlCase => [`SELECT ${expression}`, [[value]]];

sqlSuite("timestamps of other units than nanoseconds", [
  is("to_timestamp_seconds(1) + INTERVAL '1 ns'", 1n),
  is("to_timestamp_seconds(1500) - INTERVAL '1 millisecond'", 1499n),
  is("to_timestamp_millis(1500) + INTERVAL '1 second'", 2500n),
  is("(to_timestamp_millis(1500) + INTERVAL '1 second')::bigint", 2500n),
  is("arrow_typeof(to_timestamp_millis(1500) + INTERVAL '1 second')", "Timestamp(ms)"),
  is("arrow_typeof(date_trunc('hour', to_timestamp_millis(1500)))", "Timestamp(ms)"),
  is("arrow_typeof(date_bin(INTERVAL '1 hour', to_timestamp_millis(1500)))", "Timestamp(ms)"),
  is("arrow_typeof(date_bin(INTERVAL '1 second', to_timestamp_millis(1500), to_timestamp_millis(300)))", "Timestamp(ns)"),
  is("arrow_typeof(to_local_time(to_timestamp_millis(1500)))", "Timestamp(ms)"),
  is("arrow_typeof(to_timestamp_millis(1500) - to_timestamp_millis(500))", "Duration(ms)"),
  is("date_trunc('second', to_timestamp_seconds(1500))", 1500n),
  is("cast('2024-01-01T00:00:00.123456789' AS timestamp(0))::bigint", 1_704_067_200n),
  is("cast('2024-01-01T00:00:00.123456789' AS timestamp(3))::bigint", 1_704_067_200_123n),
  // of a column
  [
    "SELECT date_trunc('minute', to_timestamp_seconds(n)), (to_timestamp_millis(n) + INTERVAL '1 second')::bigint FROM (VALUES (59), (61)) AS v(n)",
    [
      [0n, 1059n],
      [60n, 1061n],
    ],
  ],
]);
