// Gap filling of selectors: a bin whose rows have no value is filled like one without rows, as Core 3.9.6 answers.
import type { Kernel } from "../../src/kernel/memory/kernel.ts";
import { ColumnType } from "../../src/model/rows/column.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { sqlSuite } from "../support/sql/sql-suite.ts";

const minute = (n: number): bigint => BigInt(n) * 60_000_000_000n;

/** Rows at 20, 31, 39 and 40 min; the second and the last without `idle`. */
function sparse(kernel: Kernel): FakeTable {
  const { time, float } = ColumnType;
  return new FakeTable(kernel, "sparse", { time, idle: float }, [
    { time: minute(20), idle: 70 },
    { time: minute(31), idle: null },
    { time: minute(39), idle: 60 },
    { time: minute(40), idle: null },
  ]);
}

/** Bins of four minutes. */
const sparsely = (value: string): string =>
  `SELECT date_bin_gapfill(INTERVAL '4 minutes', time) AS t, ${value} FROM sparse WHERE time >= '1970-01-01T00:16:00' AND time <= '1970-01-01T00:40:00' GROUP BY t`;
/** From 16 min on. */
const fours = (...values: readonly (number | boolean | null)[]): [bigint, number | boolean | null][] =>
  values.map((value, i) => [minute(16 + 4 * i), value]);

sqlSuite(
  "selectors of no value",
  [
    [sparsely("selector_last(idle, time) IS NULL"), fours(true, false, true, true, true, false, true)],
    [sparsely("interpolate(selector_last(idle, time))['value']"), fours(null, 70, 67.5, 65, 62.5, 60, null)],
    [sparsely("locf(selector_first(idle, time))['value']"), fours(null, 70, 70, 70, 70, 60, 60)],
    [sparsely("locf(selector_max(idle, time))['value']"), fours(null, 70, 70, 70, 70, 60, 60)],
  ],
  (kernel) => [sparse(kernel)],
);
