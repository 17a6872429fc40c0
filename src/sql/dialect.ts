// Names the dialect has and DuckDB has not, or means differently: rewrite/ turns each into DuckDB's own.

/** Same arguments, other name. */
export const RENAMED_FUNCTIONS: Readonly<Record<string, string>> = {
  approx_distinct: "approx_count_distinct",
  array_length: "array_length",
  btrim: "trim",
  character_length: "length",
  char_length: "length",
  covar: "covar_samp",
  datepart: "date_part",
  datetrunc: "date_trunc",
  make_list: "list_value",
  make_array: "list_value",
  regexp_match: "regexp_extract_all",
  array_has: "list_has",
  stddev_sample: "stddev_samp",
  to_unixtime: "to_unixtime",
  var: "var_samp",
  var_population: "var_pop",
  var_sample: "var_samp",
};

/** Names that have a rule of their own in rewrite/. */
const RULES = [
  "<!~*>",
  "<!~>",
  "<~*>",
  "<~>",
  "approx_median",
  "approx_percentile_cont",
  "date_bin",
  "date_bin_wallclock",
  "from_unixtime",
  "iszero",
  "nanvl",
  "now",
  "nvl",
  "nvl2",
  "selector_first",
  "selector_last",
  "selector_max",
  "selector_min",
  "signum",
  "to_timestamp_micros",
  "to_timestamp_millis",
  "to_timestamp_nanos",
  "to_timestamp_seconds",
  "to_local_time",
  "to_unixtime",
  "today",
  "tz",
];

export const DIALECT_FUNCTIONS: ReadonlySet<string> = new Set([...Object.keys(RENAMED_FUNCTIONS), ...RULES]);
