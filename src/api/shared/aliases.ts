// The neutral names of this server beside the spellings that existing clients send and parse: the one table of both.

export type Edition = "core" | "enterprise";

/** What each edition reports about itself. `version` is without the leading v. */
export const EDITIONS: Readonly<Record<Edition, { readonly version: string; readonly build: string }>> = {
  core: { version: "3.8.0", build: "Core" },
  enterprise: { version: "3.9.0", build: "Enterprise" },
};

/** Headers that tell clients what answers. Our header holds `v3.9.0`; existing tools match theirs against `^3\.`. */
export function versionHeaders(edition: Edition): Readonly<Record<string, string>> {
  const { version, build } = EDITIONS[edition];
  return {
    "x-tsdb-version": `v${version}`,
    "x-tsdb-build": build,
    "x-influxdb-version": version,
    "x-influxdb-build": build,
  };
}

/** Where the v1-style language is spoken in v3: our name and theirs. */
export const QUERY_ALIASES = ["/api/v3/query_tsdbql", "/api/v3/query_influxql"] as const;

/** Metric families that dashboards know by another name: both are exposed. */
export const METRIC_ALIASES = {
  tsdb_write_lines_total: "influxdb3_write_lines_total",
  tsdb_write_lines_rejected_total: "influxdb3_write_lines_rejected_total",
  tsdb_write_bytes_total: "influxdb3_write_bytes_total",
  tsdb_last_values_cache_query_duration_seconds: "influxdb3_last_values_cache_query_duration_seconds",
} as const;
