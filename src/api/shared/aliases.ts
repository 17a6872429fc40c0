// The server's neutral names and the vendor's, which existing clients send and parse: the only table of both.

export type Edition = "core" | "enterprise";

/** Version information reported by each edition. `version` has no leading v. */
export const EDITIONS: Readonly<Record<Edition, { readonly version: string; readonly build: string }>> = {
  core: { version: "3.8.0", build: "Core" },
  enterprise: { version: "3.9.0", build: "Enterprise" },
};

/** Headers that identify the server, in the letter case of 1.x: some clients compare names exactly. Ours contains `v3.9.0`; existing tools
 *  match theirs against `^3\.`. */
export function versionHeaders(edition: Edition): Readonly<Record<string, string>> {
  const { version, build } = EDITIONS[edition];
  return {
    "X-Tsdb-Version": `v${version}`,
    "X-Tsdb-Build": build,
    "X-Influxdb-Version": version,
    "X-Influxdb-Build": build,
  };
}

/** Paths of InfluxQL in v3: our name and the vendor's. */
export const QUERY_ALIASES = ["/api/v3/query_tsdbql", "/api/v3/query_influxql"] as const;

/** Metric families that dashboards know by another name: both are exposed. */
export const METRIC_ALIASES = {
  tsdb_catalog_operations_total: "influxdb3_catalog_operations_total",
  tsdb_file_cache_bytes: "influxdb3_parquet_cache_size_bytes",
  tsdb_last_values_cache_query_duration_seconds: "influxdb3_last_values_cache_query_duration_seconds",
} as const;

/** What the bucket-based line on port 8086 says that it is: clients choose what they send by it. */
export const V2_VERSION = "v2.8.0";
export const V2_VERSION_HEADERS: Readonly<Record<string, string>> = { "X-Influxdb-Build": "OSS", "X-Influxdb-Version": V2_VERSION };
