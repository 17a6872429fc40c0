// Estimates the size of the texts and lists that a function creates, from its arguments: bytes for the rows processed at a time. DuckDB's
// memory limit does not count them (cost-limits.ts).
import { MACROS } from "../functions/macros.ts";
import type { Expression } from "../parse/tree.ts";

/** What is known of an argument. */
export interface SizedArgument {
  readonly node: Expression;
  /** Bytes for all rows of a chunk; for a list including its elements. */
  readonly bytes: number;
  /** For lists: total elements of all rows; absent: as many as the bytes allow. */
  readonly elements?: number;
}

/** @param rows those of a chunk */
export type SizeRule = (args: readonly SizedArgument[], rows: number) => number;

/** A number, a time, a boolean. */
export const VALUE_BYTES = 16;
/** Maximum length of a shortened argument (bounded-macros.ts). */
export const SHORT_TEXT_BYTES = 128;
/** Maximum bytes of a text, or elements of a list, whose size depends on a row. */
export const ROW_TEXT_BYTES = 64 << 10;
export const ROW_LIST_LENGTH = 8 << 10;
/** Maximum length of lists created by rewrites. */
const OWN_LIST_LENGTH = 64;

const names = (text: string): string[] => text.trim().split(/\s+/);
const all = (rule: SizeRule, text: string): [string, SizeRule][] => names(text).map((name) => [name, rule]);

const bytesAt = (args: readonly SizedArgument[], index: number): number => args[index]?.bytes ?? 0;
const sum = (args: readonly SizedArgument[]): number => args.reduce((bytes, arg) => bytes + arg.bytes, 0);
const first: SizeRule = (args) => bytesAt(args, 0);
/** A multiple of the first argument. */
const times =
  (factor: number): SizeRule =>
  (args) =>
    bytesAt(args, 0) * factor;
const fixed =
  (bytes: number): SizeRule =>
  (_args, rows) =>
    bytes * rows;

/** The constant value of a node, through casts; null: it depends on rows. */
export function constantOf(node: Expression): string | bigint | null {
  if (node.class === "CAST") return constantOf(node.child);
  if (node.class !== "CONSTANT" || node.value.is_null) return null;
  const { type, value } = node.value;
  if (type.id === "VARCHAR") return String(value);
  return typeof value === "number" || typeof value === "string" ? wholeNumber(String(value)) : null;
}

function wholeNumber(text: string): bigint | null {
  return /^-?\d+$/.test(text) ? BigInt(text) : null;
}

function lengthOf(node: Expression | undefined, absent: number): number {
  const constant = node === undefined ? null : constantOf(node);
  if (typeof constant !== "bigint") return absent;
  return constant < 0n ? 0 : Number(constant > 2n ** 40n ? 2n ** 40n : constant);
}

function textLength(node: Expression | undefined, absent: number): number {
  const constant = node === undefined ? null : constantOf(node);
  return typeof constant === "string" ? constant.length * 3 : absent;
}

/** repeat(text, n): n times the text's bytes. */
const repeated: SizeRule = (args, rows) => {
  const count = lengthOf(args[1]?.node, -1);
  return count < 0 ? ROW_TEXT_BYTES * rows : bytesAt(args, 0) * count;
};

const padded: SizeRule = (args, rows) => bytesAt(args, 0) + lengthOf(args[1]?.node, ROW_TEXT_BYTES) * 4 * rows;

/** range(from, to, step): the known number of elements, otherwise the maximum per row. */
const series: SizeRule = (args, rows) => {
  const [from, to, step = 1n] = args.map(({ node }) => constantOf(node));
  const isKnown = typeof from === "bigint" && typeof to === "bigint" && typeof step === "bigint" && step !== 0n;
  const length = isKnown ? Number((to - from) / step) + 1 : ROW_LIST_LENGTH;
  return Math.max(0, length) * 8 * rows;
};

/** Users' series have been renamed (series-function.ts), or are limited in length; others are those of gap filling, which has its own
 *  limits. */
const ownSeries: SizeRule = (args, rows) => {
  const isBounded = args.some(({ node }) => node.class === "FUNCTION" && node.function_name.includes("_bounded"));
  return (isBounded ? ROW_LIST_LENGTH : OWN_LIST_LENGTH) * 8 * rows;
};

/** Number of elements in the lists that a function creates; undefined: unknown. */
export function elementsOf(name: string, args: readonly SizedArgument[], bytes: number, rows: number): number | undefined {
  if (name === "list_value" || name === "list_pack") return args.length * rows;
  if (SERIES.has(name)) return bytes / 8;
  return KEEPS_ELEMENTS.test(name) ? args[0]?.elements : undefined;
}

const SERIES: ReadonlySet<string> = new Set(names("__range __generate_series __short_range __short_series range generate_series __chunks"));
const KEEPS_ELEMENTS = /^(list|array)_(transform|apply|filter|sort|reverse|slice)$/;

/** DuckDB would make a longer text for many seconds, and then refuse it. */
const TEXT_BYTES_MAX = 2 ** 31;

/** Every byte may be a match, and each match becomes the replacement: its text, and what it references. */
const replaced =
  (index: number): SizeRule =>
  (args, rows) => {
    const text = args[index] === undefined ? "" : constantOf(args[index].node);
    const references = typeof text === "string" ? (text.match(/\\\d/g)?.length ?? 0) : 0;
    const bytes = bytesAt(args, 0) * (1 + references + textLength(args[index]?.node, SHORT_TEXT_BYTES));
    return bytes > TEXT_BYTES_MAX * rows ? 2 ** 60 : bytes;
  };

/** A text split at each byte is a list of as many 16-byte strings. */
const split = times(17);

export const SIZE_RULES: ReadonlyMap<string, SizeRule> = new Map<string, SizeRule>([
  // of times; those that create text are below
  ...MACROS.map((text): [string, SizeRule] => [/MACRO (\w+)/.exec(text)![1]!, fixed(VALUE_BYTES)]),
  ...all(repeated, "repeat __repeat __short_repeat"),
  ...all(padded, "lpad rpad __lpad __rpad __short_lpad __short_rpad"),
  ...all(ownSeries, "range generate_series __chunks"),
  ...all(series, "__range __generate_series __short_range __short_series"),
  ...all(
    (args, rows) => bytesAt(args, 0) * Math.min(lengthOf(args[1]?.node, ROW_LIST_LENGTH), 2 ** 40) + 8 * rows,
    "__list_repeat __short_list_repeat",
  ),
  ...all(
    (args, rows) => bytesAt(args, 0) + (lengthOf(args[1]?.node, ROW_LIST_LENGTH) + 1) * (8 + bytesAt(args, 2) / rows) * rows,
    "list_resize array_resize",
  ),
  ...all(replaced(2), "replace __replace regexp_replace"),
  ...all(
    split,
    `string_split str_split split string_split_regex str_split_regex regexp_split_to_array regexp_extract_all __string_to_array`,
  ),
  ...all(
    (args) => bytesAt(args, 0) * (4 + textLength(args[1]?.node, SHORT_TEXT_BYTES) / 8),
    "array_to_string list_aggregate __joined __joined_by __list_joined_by __list_text",
  ),
  ...all((args, rows) => sum(args) + VALUE_BYTES * rows, "list_value list_pack struct_pack row"),
  ...all((args, rows) => sum(args) + (args.length - 1) * bytesAt(args, 0) + rows, "concat_ws"),
  ...all(times(2), "hex to_hex lower upper lcase ucase reverse __to_hex __to_base64 to_base64 base64 unicode"),
  ...all(times(4), "translate __translate regexp_escape url_encode bin to_binary"),
  ...all(times(6), "to_json json_object json_array json_quote json_group_array json_group_object array_to_json row_to_json json_pretty"),
  ...all(
    first,
    `substr substring __substr __from left right __left __right split_part __split_part trim ltrim rtrim btrim __substr_index __substr_index_by __initcap regexp_extract nullif
    list_sort list_reverse list_reverse_sort list_slice __pop_back __pop_front __distinct array_distinct list_distinct list_filter array_filter filter
    list_unique flatten __removed list_extract array_extract element_at map_extract map_keys map_values list_element url_decode
    unhex from_base64 __of_hex __of_base64 decode encode max min first last any_value arbitrary mode arg_max arg_min max_by min_by
    lag lead first_value last_value nth_value`,
  ),
  ...all((args) => args.reduce((most, { bytes }) => Math.max(most, bytes), 0), "coalesce ifnull greatest least __if_present __nanvl"),
  ...all(
    fixed(VALUE_BYTES),
    `length len strlen char_length character_length octet_length bit_length ascii ord unicode strpos instr position
    contains starts_with ends_with prefix suffix regexp_matches regexp_full_match like_escape ilike_escape not_like_escape not_ilike_escape
    list_contains list_has array_contains array_has list_position list_indexof array_position __levenshtein_of __damerau __short_levenshtein __short_damerau levenshtein __find_in_set hash
    list_sum list_avg list_count list_min list_max list_has_any list_has_all __has_any __has_all cardinality __list_empty isnan isfinite isinf typeof error
    + - * / // % & << >> ^ ** = ~~ !~~ ~~* !~~* not add subtract multiply divide mod
    epoch_ns epoch_us epoch_ms epoch make_timestamp_ns make_timestamp time_bucket date_trunc date_part datepart year month day hour minute second
    to_months to_days timezone strptime count count_star sum avg median stddev_samp stddev_pop var_samp var_pop approx_quantile
    approx_count_distinct quantile_cont corr row_number rank dense_rank ntile cume_dist percent_rank
    abs sqrt exp ln log log2 log10 pow power round floor ceil trunc sign sin cos tan random gcd lcm factorial pi`,
  ),
  ...all(
    fixed(160),
    "__choose_text __fraction md5 sha1 sha256 __digest uuid gen_random_uuid strftime __time_text chr printf __float_text __single_text __arrow_type",
  ),
]);

/** A search restarts at the next byte where the text starts like the pattern: the product of both lengths, this many bytes per step. */
const BYTES_A_STEP = 512;
const SEARCHES: ReadonlySet<string> = new Set(
  names(`contains strpos instr position replace __replace string_split str_split split split_part __split_part __substr_index __substr_index_by __string_to_array
    __find_in_set`),
);

/** Patterns that differ by row are compiled for each. */
const PATTERN_STEPS = 20;
const PATTERNS: ReadonlySet<string> = new Set(
  names(`~~ !~~ ~~* !~~* like_escape ilike_escape not_like_escape not_ilike_escape regexp_matches regexp_full_match regexp_extract
    regexp_extract_all regexp_replace`),
);

/** Hashes are computed on the worker's thread: about 100 ms per chunk at the limit. */
const HASH_STEPS = 32;

/** Steps of functions that take more than one per byte. */
export function stepsOf(name: string, args: readonly SizedArgument[], rows: number): number {
  if (name === "__digest") return bytesAt(args, 1) * HASH_STEPS;
  if (PATTERNS.has(name)) return args[1]?.node.class === "CONSTANT" ? 0 : bytesAt(args, 1) * PATTERN_STEPS;
  return SEARCHES.has(name) ? (bytesAt(args, 0) * bytesAt(args, 1)) / rows / BYTES_A_STEP : 0;
}

/** Intermediate results besides the result, as multiples of the first argument. */
export const MADE_ON_THE_WAY: ReadonlyMap<string, number> = new Map([
  ...names("__substr_index __substr_index_by __replace __initcap __find_in_set").map((name): [string, number] => [name, 17]),
  ...names("__distinct __union __except __intersect").map((name): [string, number] => [name, 8]),
]);

/** Functions that create lists, maps and structs: longer as text. */
export const MAKES_NESTED =
  /^(__)?(list|array|map|struct|row|range|generate|string_split|str_split|regexp_extract_all|regexp_split|unnest)/;

/** Aggregates whose value grows with the rows: limited and counted by DuckDB's memory limit. */
export const GATHERING: ReadonlySet<string> = new Set(names("array_agg list string_agg listagg group_concat histogram json_group_array"));
