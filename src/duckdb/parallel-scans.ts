// Decides whether several threads of DuckDB may read a scan at a time. Chunks of different threads then overtake each other, so that what
// depends on the order of rows would differ from run to run: such statements, and short tables, keep one thread.

/** Two of DuckDB's row groups of 122,880 rows, from which on it reads tables in its own format by several threads. */
export const PARALLEL_ROWS_MIN = 245_760;

/** More would wait for the one thread that fills their chunks. */
export const SCAN_THREADS_MAX = 4;

/** Aggregates of which one value, or the order of values, is that of the rows; sketches, which depend on the order they are filled in;
 *  windows, whose frames are open where the order has ties. */
const ORDERED =
  /\b(?:first|last|any_value|arbitrary|first_value|last_value|nth_value|list|array_agg|string_agg|group_concat|listagg|arg_min|arg_max|argmin|argmax|min_by|max_by|arg_min_null|arg_max_null|mode|approx_quantile|reservoir_quantile|approx_top_k|histogram|map_from_entries)"?\s*\(|\bover\b|\bdistinct on\b|\bqualify\b/i;

/** True if the answer of the SQL text may depend on the order in which a scan returns its rows. May be true for others, too. */
export function dependsOnOrder(text: string): boolean {
  return ORDERED.test(text);
}
