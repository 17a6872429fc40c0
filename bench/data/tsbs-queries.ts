// The queries of TSBS "devops, cpu-only", each as a user of the v3 SQL endpoint would write it and as TSBS's own generator writes it in
// InfluxQL. Hosts and times are drawn for every execution, the same for both languages.
import { TSBS_CPU_FIELDS, TSBS_CPU_TAGS, TSBS_START_NS, TSBS_STEP_NS } from "./tsbs-cpu.ts";

/** Extent of the data: hosts `host_0` … and times from `startNs` to before `endNs`. */
export interface TsbsExtent {
  readonly hosts: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** The extent of `rows` rows of TSBS data on `hosts` hosts. */
export function extentOf({ hosts, rows }: { readonly hosts: number; readonly rows: number }): TsbsExtent {
  return { hosts, startNs: TSBS_START_NS, endNs: TSBS_START_NS + BigInt(Math.ceil(rows / hosts)) * TSBS_STEP_NS };
}

export interface TsbsStatement {
  readonly sql: string;
  readonly influxql: string;
  /** The answer's column that corresponds to `time` in InfluxQL. */
  readonly timeColumn: string;
  /** The other columns in the order in which InfluxQL returns them after `time`; undefined: both languages use the table's column names. */
  readonly valueColumns: readonly string[] | undefined;
}

export interface TsbsQuery {
  readonly name: string;
  /** The required speed-up over InfluxDB; 1 if equal speed suffices. */
  readonly timesFaster: number;
  readonly atMostMs?: number;
  /** True if it uses a function that the dialect may lack. */
  readonly mayBeRefused?: boolean;
  /** True if rows with later times change the answer. */
  readonly readsNewest?: boolean;
  /** `below(n)` returns a random integer in 0 .. n-1. */
  statement(extent: TsbsExtent, below: (n: number) => number): TsbsStatement;
}

const HOUR_S = 3600;

export const TSBS_QUERIES: readonly TsbsQuery[] = [
  ...[1, 12].flatMap((hours) => [1, 5].flatMap((metrics) => [1, 8].map((hosts) => singleGroupBy(metrics, hosts, hours)))),
  cpuMaxAll(1),
  cpuMaxAll(8),
  doubleGroupBy("1", 1),
  doubleGroupBy("5", 5),
  doubleGroupBy("all", TSBS_CPU_FIELDS.length),
  highCpu(1),
  highCpu("all"),
  groupByOrderByLimit(),
  lastPoint("DISTINCT ON", "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC"),
  lastPoint("selector_last", `SELECT hostname, ${lastOfEach((c) => `selector_last(${c}, time)['value']`)}, max(time) AS time`),
  lastPoint("last_value", `SELECT hostname, ${lastOfEach((c) => `last_value(${c} ORDER BY time)`)}, max(time) AS time`),
  lastPoint(
    "row_number",
    "SELECT * EXCLUDE (nth) FROM (SELECT *, row_number() OVER (PARTITION BY hostname ORDER BY time DESC) AS nth FROM cpu) WHERE nth = 1",
  ),
];

function singleGroupBy(metrics: number, hosts: number, hours: number): TsbsQuery {
  const fields = TSBS_CPU_FIELDS.slice(0, metrics);
  return {
    name: `single-groupby-${metrics}-${hosts}-${hours}`,
    timesFaster: 1,
    statement: (extent, below) => maxByTime(fields, "minute", hostsOf(extent, hosts, below), windowOf(extent, hours, below)),
  };
}

function cpuMaxAll(hosts: number): TsbsQuery {
  return {
    name: `cpu-max-all-${hosts}`,
    timesFaster: 1,
    statement: (extent, below) => maxByTime(TSBS_CPU_FIELDS, "hour", hostsOf(extent, hosts, below), windowOf(extent, 8, below)),
  };
}

function maxByTime(fields: readonly string[], unit: "minute" | "hour", hosts: readonly string[], window: Window): TsbsStatement {
  return {
    sql: `SELECT date_bin(INTERVAL '1 ${unit}', time) AS ${unit}, ${fields.map((f) => `max(${f}) AS max_${f}`).join(", ")}
      FROM cpu WHERE ${sqlHosts(hosts)} AND ${inWindow(window)} GROUP BY ${unit} ORDER BY ${unit}`,
    influxql: `SELECT ${fields.map((f) => `max(${f})`).join(", ")} FROM cpu
      WHERE ${influxHosts(hosts)} AND ${inWindow(window)} GROUP BY time(1${unit[0]})`,
    timeColumn: unit,
    valueColumns: fields.map((f) => `max_${f}`),
  };
}

function doubleGroupBy(label: string, metrics: number): TsbsQuery {
  const fields = TSBS_CPU_FIELDS.slice(0, metrics);
  return {
    name: `double-groupby-${label}`,
    timesFaster: 10,
    statement(extent, below) {
      const window = windowOf(extent, 12, below);
      return {
        sql: `SELECT date_bin(INTERVAL '1 hour', time) AS hour, hostname, ${fields.map((f) => `avg(${f}) AS mean_${f}`).join(", ")}
          FROM cpu WHERE ${inWindow(window)} GROUP BY hour, hostname ORDER BY hour, hostname`,
        influxql: `SELECT ${fields.map((f) => `mean(${f})`).join(", ")} FROM cpu WHERE ${inWindow(window)} GROUP BY time(1h), hostname`,
        timeColumn: "hour",
        valueColumns: fields.map((f) => `mean_${f}`),
      };
    },
  };
}

function highCpu(hosts: 1 | "all"): TsbsQuery {
  return {
    name: `high-cpu-${hosts}`,
    timesFaster: hosts === "all" ? 10 : 1,
    statement(extent, below) {
      const window = windowOf(extent, 12, below);
      const chosen = hosts === "all" ? undefined : hostsOf(extent, hosts, below);
      const where = (show: (hosts: readonly string[]) => string) =>
        `usage_user > 90.0${chosen === undefined ? "" : ` AND ${show(chosen)}`} AND ${inWindow(window)}`;
      return {
        sql: `SELECT * FROM cpu WHERE ${where(sqlHosts)}`,
        influxql: `SELECT * FROM cpu WHERE ${where(influxHosts)}`,
        timeColumn: "time",
        valueColumns: undefined,
      };
    },
  };
}

/** The five latest minutes before a time. TSBS's InfluxQL omits the order and so gets the first five; here both return the latest. */
function groupByOrderByLimit(): TsbsQuery {
  return {
    name: "groupby-orderby-limit",
    timesFaster: 1,
    statement(extent, below) {
      const { until } = windowOf(extent, 1, below);
      return {
        sql: `SELECT date_bin(INTERVAL '1 minute', time) AS minute, max(usage_user) AS max_usage_user FROM cpu
          WHERE time < '${until}' GROUP BY minute ORDER BY minute DESC LIMIT 5`,
        influxql: `SELECT max(usage_user) FROM cpu WHERE time < '${until}' GROUP BY time(1m) ORDER BY time DESC LIMIT 5`,
        timeColumn: "minute",
        valueColumns: ["max_usage_user"],
      };
    },
  };
}

/** Without FROM, the select list is completed to an aggregation by host. */
function lastPoint(form: string, sql: string): TsbsQuery {
  return {
    name: `lastpoint, ${form}`,
    timesFaster: 1,
    atMostMs: 5,
    readsNewest: true,
    mayBeRefused: form === "selector_last" || form === "last_value",
    statement: () => ({
      sql: sql.includes(" FROM ") ? sql : `${sql} FROM cpu GROUP BY hostname`,
      influxql: 'SELECT * FROM cpu GROUP BY "hostname" ORDER BY time DESC LIMIT 1',
      timeColumn: "time",
      valueColumns: undefined,
    }),
  };
}

function lastOfEach(show: (column: string) => string): string {
  const tags = TSBS_CPU_TAGS.filter((tag) => tag !== "hostname");
  return [...tags, ...TSBS_CPU_FIELDS].map((column) => `${show(column)} AS ${column}`).join(", ");
}

interface Window {
  readonly from: string;
  readonly until: string;
}

/** Whole seconds at a random position within the extent. */
function windowOf({ startNs, endNs }: TsbsExtent, hours: number, below: (n: number) => number): Window {
  const startS = Number(startNs / 1_000_000_000n);
  const lengthS = Math.min(hours * HOUR_S, Number(endNs / 1_000_000_000n) - startS);
  const fromS = startS + below(Number(endNs / 1_000_000_000n) - startS - lengthS + 1);
  return { from: instant(fromS), until: instant(fromS + lengthS) };
}

function instant(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

function hostsOf(extent: TsbsExtent, count: number, below: (n: number) => number): string[] {
  const chosen = new Set<string>();
  while (chosen.size < Math.min(count, extent.hosts)) chosen.add(`host_${below(extent.hosts)}`);
  return [...chosen];
}

const inWindow = ({ from, until }: Window) => `time >= '${from}' AND time < '${until}'`;

const sqlHosts = (hosts: readonly string[]) =>
  hosts.length === 1 ? `hostname = '${hosts[0]}'` : `hostname IN (${hosts.map((host) => `'${host}'`).join(", ")})`;

const influxHosts = (hosts: readonly string[]) => `(${hosts.map((host) => `hostname = '${host}'`).join(" OR ")})`;
