// Second names of the vendor's functions. A call by one is shown under this name, with its arguments in the long form (node.ts).

const SECOND_NAMES: Readonly<Record<string, string>> = {
  avg: "mean",
  covar_samp: "covar",
  percentile_cont: "quantile_cont",
  stddev: "stddev_samp",
  var: "var_sample var_samp",
  var_pop: "var_population",
  btrim: "trim",
  character_length: "length char_length",
  current_date: "today",
  date_part: "datepart",
  date_trunc: "datetrunc",
  now: "current_timestamp",
  nvl: "ifnull",
  power: "pow",
  strpos: "instr position",
  struct: "row",
  substr: "substring",
  substr_index: "substring_index",
  to_char: "date_format",
  array_any_value: "list_any_value",
  array_append: "list_append array_push_back list_push_back",
  array_concat: "array_cat list_concat list_cat",
  array_dims: "list_dims",
  array_distance: "list_distance",
  array_distinct: "list_distinct",
  array_element: "array_extract list_element list_extract",
  array_except: "list_except",
  array_has: "list_has array_contains list_contains",
  array_has_all: "list_has_all",
  array_has_any: "list_has_any arrays_overlap",
  array_intersect: "list_intersect",
  array_length: "list_length",
  array_max: "list_max",
  array_min: "list_min",
  array_ndims: "list_ndims",
  array_pop_back: "list_pop_back",
  array_pop_front: "list_pop_front",
  array_position: "list_position array_indexof list_indexof",
  array_positions: "list_positions",
  array_prepend: "list_prepend array_push_front list_push_front",
  array_remove: "list_remove",
  array_remove_all: "list_remove_all",
  array_remove_n: "list_remove_n",
  array_repeat: "list_repeat",
  array_replace: "list_replace",
  array_replace_all: "list_replace_all",
  array_replace_n: "list_replace_n",
  array_resize: "list_resize",
  array_reverse: "list_reverse",
  array_slice: "list_slice",
  array_sort: "list_sort",
  array_to_string: "list_to_string array_join list_join",
  array_union: "list_union",
  empty: "array_empty list_empty",
  make_array: "make_list",
  map_extract: "element_at",
  string_to_array: "string_to_list",
};

const FIRST_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(SECOND_NAMES).flatMap(([first, others]) => others.split(" ").map((other) => [other, first] as const)),
);

/** The primary name of a function; null if `name` is it. */
export function firstName(name: string): string | null {
  return FIRST_NAMES.get(name) ?? null;
}

/** Functions that return lists, for operators with another meaning on lists. */
const LIST_FUNCTIONS: ReadonlySet<string> = new Set(
  `make_array array_append array_concat array_distinct array_except array_intersect array_pop_back array_pop_front array_positions
   array_prepend array_remove array_remove_all array_remove_n array_repeat array_replace array_replace_all array_replace_n array_resize
   array_reverse array_sort array_union array_agg string_to_array regexp_match range generate_series flatten map_keys map_values
   map_extract`.split(/\s+/),
);

export const givesList = (name: string): boolean => LIST_FUNCTIONS.has(name);
