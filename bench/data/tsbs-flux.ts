// Queries of TSBS "devops, cpu-only" as scripts of the v2 line: the same question as the InfluxQL statement of the same draw.
import { prng } from "../../test/support/prng.ts";
import { TSBS_CPU_FIELDS } from "./tsbs-cpu.ts";
import { TSBS_QUERIES, type TsbsExtent, type TsbsQuery } from "./tsbs-queries.ts";

export const BUCKET = "bench";

export interface TsbsScript {
  readonly name: string;
  /** Median of the vendor's 2.8 server on two cores and 1 M rows. */
  readonly vendorMs: number;
  /** The question in the other languages. */
  readonly query: TsbsQuery;
  /** Written from the InfluxQL statement of the draw, so that both ask for the same hosts and times. */
  readonly script: (influxql: string, extent: TsbsExtent) => string;
  /** Windows of the answer: it has their ends, InfluxQL their beginnings. */
  readonly windowMs?: number;
  /** Of columns in InfluxQL. */
  readonly prefix?: "max_" | "mean_";
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const TSBS_SCRIPTS: readonly TsbsScript[] = [
  maximums("1-1-1", 6.1, { query: "single-groupby-1-1-1", fields: 1, windowMs: MINUTE_MS }),
  maximums("1-8-1", 23.8, { query: "single-groupby-1-8-1", fields: 1, windowMs: MINUTE_MS }),
  maximums("5-8-1", 92, { query: "single-groupby-5-8-1", fields: 5, windowMs: MINUTE_MS }),
  maximums("max-all-8", 756, { query: "cpu-max-all-8", fields: TSBS_CPU_FIELDS.length, windowMs: HOUR_MS }),
  means("double-1", 35.5, { query: "double-groupby-1", fields: 1 }),
  means("double-all", 299, { query: "double-groupby-all", fields: TSBS_CPU_FIELDS.length }),
  {
    name: "high-cpu-1",
    vendorMs: 64,
    query: queryOf("high-cpu-1"),
    script: (influxql, extent) => `${rowsOf(influxql, extent)}
      |> pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")
      |> filter(fn: (r) => r.usage_user > 90)`,
  },
  {
    name: "groupby-orderby-limit",
    vendorMs: 2172,
    query: queryOf("groupby-orderby-limit"),
    windowMs: MINUTE_MS,
    prefix: "max_",
    script: (influxql, extent) => `${rowsOf(influxql, extent, 1)}
      |> group()
      |> aggregateWindow(every: 1m, fn: max, createEmpty: false)
      |> sort(columns: ["_time"], desc: true)
      |> limit(n: 5)
      |> keep(columns: ["_time", "_value", "_field"])`,
  },
  {
    name: "lastpoint",
    vendorMs: 78,
    query: queryOf("lastpoint, DISTINCT ON"),
    script: (influxql, extent) => `${rowsOf(influxql, extent)} |> last()`,
  },
];

interface Windowed {
  readonly query: string;
  readonly fields: number;
  readonly windowMs?: number;
}

function maximums(name: string, vendorMs: number, { query, fields, windowMs = HOUR_MS }: Windowed): TsbsScript {
  const every = windowMs === MINUTE_MS ? "1m" : "1h";
  return {
    ...{ name, vendorMs, query: queryOf(query), windowMs, prefix: "max_" },
    script: (influxql, extent) => `${rowsOf(influxql, extent, fields)}
      |> group(columns: ["_field"])
      |> aggregateWindow(every: ${every}, fn: max, createEmpty: false)
      |> keep(columns: ["_time", "_value", "_field"])`,
  };
}

function means(name: string, vendorMs: number, { query, fields }: Windowed): TsbsScript {
  return {
    ...{ name, vendorMs, query: queryOf(query), windowMs: HOUR_MS, prefix: "mean_" },
    script: (influxql, extent) => `${rowsOf(influxql, extent, fields)}
      |> aggregateWindow(every: 1h, fn: mean, createEmpty: false)
      |> keep(columns: ["_time", "_value", "_field", "hostname"])`,
  };
}

/** Hosts and times of the statement. @param fields the first ones; absent: all, without a condition */
function rowsOf(influxql: string, { startNs, endNs }: TsbsExtent, fields?: number): string {
  const start = /time >= '([^']+)'/.exec(influxql)?.[1] ?? instant(startNs);
  const stop = /time < '([^']+)'/.exec(influxql)?.[1] ?? instant(endNs);
  const hosts = [...influxql.matchAll(/hostname = '([^']+)'/g)].map(([, host]) => host!);
  const names = fields === undefined || fields === TSBS_CPU_FIELDS.length ? [] : TSBS_CPU_FIELDS.slice(0, fields);
  const conditions = [`r._measurement == "cpu"`, anyOf("_field", names), anyOf("hostname", hosts)].filter((text) => text !== "");
  return `from(bucket: "${BUCKET}")
      |> range(start: ${start}, stop: ${stop})
      |> filter(fn: (r) => ${conditions.join(" and ")})`;
}

function anyOf(column: string, texts: readonly string[]): string {
  const tests = texts.map((text) => `r.${column} == "${text}"`);
  return tests.length > 1 ? `(${tests.join(" or ")})` : tests.join("");
}

function instant(ns: bigint): string {
  return new Date(Number(ns / 1_000_000n)).toISOString();
}

function queryOf(name: string): TsbsQuery {
  const found = TSBS_QUERIES.find((query) => query.name === name);
  if (found === undefined) throw new Error(`no query is named ${name}`);
  return found;
}

/** The statement and the script of one draw. */
export function drawn({ query, script }: TsbsScript, extent: TsbsExtent, seed: number) {
  const statement = query.statement(extent, prng(seed));
  return { statement, script: script(statement.influxql, extent) };
}
