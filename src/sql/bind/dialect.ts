// The dialect's functions: the documented names, and where DuckDB has the same function under another one. rewrite/ has rules for the rest.

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Every documented function, by the documentation's groups. */
export const DOCUMENTED_FUNCTIONS = {
  aggregate: words(`
    array_agg avg bit_and bit_or bit_xor bool_and bool_or count first_value grouping last_value max mean median min nth_value string_agg sum
    corr covar covar_pop covar_samp regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev
    stddev_pop stddev_samp var var_pop var_population var_samp var_sample
    approx_distinct approx_median approx_percentile_cont approx_percentile_cont_with_weight percentile_cont
    selector_first selector_last selector_max selector_min`),
  window: words(`
    cume_dist dense_rank lag lead ntile percent_rank rank row_number
    derivative difference non_negative_derivative non_negative_difference`),
  conditional: words("coalesce greatest ifnull least nullif nvl nvl2"),
  math: words(`
    abs acos acosh asin asinh atan atan2 atanh cbrt ceil cos cosh cot degrees exp factorial floor gcd isnan iszero lcm ln log log10 log2 nanvl
    pi pow power radians random round signum sin sinh sqrt tan tanh trunc`),
  string: words(`
    ascii bit_length btrim char_length character_length chr concat concat_ws contains ends_with find_in_set initcap instr left length
    levenshtein lower lpad ltrim octet_length overlay position repeat replace reverse right rpad rtrim split_part starts_with strpos substr
    substr_index substring substring_index to_hex translate trim upper uuid`),
  regex: words("regexp_count regexp_instr regexp_like regexp_match regexp_replace"),
  time: words(`
    current_date current_time current_timestamp date_bin date_bin_gapfill date_bin_wallclock date_bin_wallclock_gapfill date_format date_part
    date_trunc datepart datetrunc extract from_unixtime interpolate locf make_date now to_char to_date to_local_time to_timestamp
    to_timestamp_micros to_timestamp_millis to_timestamp_nanos to_timestamp_seconds to_unixtime today tz`),
  hash: words("decode digest encode md5 sha224 sha256 sha384 sha512"),
  array: words(`
    array_any_value array_append array_cat array_concat array_contains array_dims array_distance array_distinct array_element array_empty
    array_except array_extract array_has array_has_all array_has_any array_indexof array_intersect array_join array_length array_max array_min
    array_ndims array_pop_back array_pop_front array_position array_positions array_prepend array_push_back array_push_front array_remove
    array_remove_all array_remove_n array_repeat array_replace array_replace_all array_replace_n array_resize array_reverse array_slice
    array_sort array_to_string array_union arrays_overlap cardinality empty flatten generate_series list_any_value list_append list_cat
    list_concat list_contains list_dims list_distance list_distinct list_element list_empty list_except list_extract list_has list_has_all
    list_has_any list_indexof list_intersect list_join list_length list_max list_min list_ndims list_pop_back list_pop_front list_position
    list_positions list_prepend list_push_back list_push_front list_remove list_remove_all list_remove_n list_repeat list_replace
    list_replace_all list_replace_n list_resize list_reverse list_slice list_sort list_to_string list_union make_array make_list range
    string_to_array string_to_list`),
  map: words("element_at make_map map map_extract map_keys map_values"),
  struct: words("get_field named_struct row struct"),
  misc: words("arrow_cast arrow_typeof version"),
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Same arguments, other name. */
export const RENAMED_FUNCTIONS: Readonly<Record<string, string>> = {
  array_has: "list_has",
  covar: "covar_samp",
  datepart: "date_part",
  datetrunc: "date_trunc",
  make_array: "list_value",
  make_list: "list_value",
  stddev_sample: "stddev_samp",
  var: "var_samp",
  var_population: "var_pop",
  var_sample: "var_samp",
};

/** What token-rules.ts writes for operators that DuckDB's grammar has not, or means differently. */
const OPERATORS = ["<!~*>", "<!~>", "<~*>", "<~>"];

export const DIALECT_FUNCTIONS: ReadonlySet<string> = new Set([
  ...Object.values(DOCUMENTED_FUNCTIONS).flat(),
  ...Object.keys(RENAMED_FUNCTIONS),
  ...OPERATORS,
]);
