// Scripts over whole series as dashboards have them, each beside a SQL statement that gives the same values in any order.
import { BUCKET } from "./tsbs-flux.ts";
import type { TsbsExtent } from "./tsbs-queries.ts";

export interface WholeScript {
  readonly name: string;
  /** Median of the vendor's 2.8 server on two cores and 1 M rows of 100 hosts with 10 fields. */
  readonly vendorMs: number;
  /** Behind the rows of all fields, or of one. */
  readonly operators: string;
  readonly isOfOneField?: boolean;
  /** One column. */
  readonly sql: string;
}

export const WHOLE_SCRIPTS: readonly WholeScript[] = [
  {
    name: "values of a tag",
    vendorMs: 4.2,
    operators: `keep(columns: ["region"]) |> group() |> distinct(column: "region")`,
    isOfOneField: false,
    sql: "SELECT DISTINCT region FROM cpu",
  },
  {
    name: "hosts with rows",
    vendorMs: 57,
    operators: `keep(columns: ["hostname"]) |> distinct(column: "hostname")`,
    sql: "SELECT DISTINCT hostname FROM cpu",
  },
  {
    // one row of each host at the last time
    name: "latest 100 of all",
    vendorMs: 256,
    operators: `group() |> sort(columns: ["_time"], desc: true) |> limit(n: 100)`,
    sql: "SELECT usage_user FROM cpu ORDER BY time DESC LIMIT 100",
  },
  {
    name: "latest 10 of each",
    vendorMs: 263,
    operators: `sort(columns: ["_time"], desc: true) |> limit(n: 10)`,
    sql: "SELECT usage_user FROM cpu ORDER BY time DESC LIMIT 1000",
  },
  { name: "tail", vendorMs: 61, operators: "tail(n: 10)", sql: "SELECT usage_user FROM cpu ORDER BY time DESC LIMIT 1000" },
  {
    name: "top 10 of all",
    vendorMs: 347,
    operators: "group() |> top(n: 10)",
    sql: "SELECT usage_user FROM cpu ORDER BY usage_user DESC LIMIT 10",
  },
  { name: "maximum of each", vendorMs: 36, operators: "max()", sql: "SELECT max(usage_user) FROM cpu GROUP BY hostname" },
  {
    name: "spread of each",
    vendorMs: 60,
    operators: "spread()",
    sql: "SELECT max(usage_user) - min(usage_user) FROM cpu GROUP BY hostname",
  },
  { name: "deviation of each", vendorMs: 69, operators: "stddev()", sql: "SELECT stddev(usage_user) FROM cpu GROUP BY hostname" },
  {
    name: "deviation of groups",
    vendorMs: 66,
    operators: `group(columns: ["region"]) |> stddev()`,
    sql: "SELECT stddev(usage_user) FROM cpu GROUP BY region",
  },
];

/** The text of a script over all rows. */
export function wholeScript({ operators, isOfOneField = true }: WholeScript, { startNs, endNs }: TsbsExtent): string {
  const [start, stop] = [startNs, endNs].map((ns) => new Date(Number(ns / 1_000_000n)).toISOString());
  const field = isOfOneField ? ` and r._field == "usage_user"` : "";
  return `from(bucket: "${BUCKET}")
      |> range(start: ${start}, stop: ${stop})
      |> filter(fn: (r) => r._measurement == "cpu"${field})
      |> ${operators}`;
}
