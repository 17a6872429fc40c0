// The properties of functions that planning needs; their computation is in functions/.
import type { FieldType } from "../parse/ast.ts";

/** Functions of single rows: they need no points. */
export const MATH_FUNCTIONS: ReadonlySet<string> = new Set(
  "abs sin cos tan asin acos atan atan2 exp log ln log2 log10 sqrt pow floor ceil round".split(" "),
);

/** Number of arguments of a row function. */
export function mathArity(name: string): number {
  return name === "atan2" || name === "pow" || name === "log" ? 2 : 1;
}

/** Selectors: other columns may be selected next to a single one. */
const SELECTORS: ReadonlySet<string> = new Set(["bottom", "first", "last", "max", "min", "percentile", "sample", "top"]);

/** True for a selector. */
export function isSelector(name: string): boolean {
  return SELECTORS.has(name);
}

/** True for top and bottom. */
export function isTopBottom(name: string): boolean {
  return name === "top" || name === "bottom";
}

/** Functions of consecutive points, group by group. */
export const TRANSFORMS: ReadonlySet<string> = new Set([
  "derivative",
  "non_negative_derivative",
  "difference",
  "non_negative_difference",
  "cumulative_sum",
  "moving_average",
  "elapsed",
  "exponential_moving_average",
  "double_exponential_moving_average",
  "triple_exponential_moving_average",
  "triple_exponential_derivative",
  "relative_strength_index",
  "kaufmans_efficiency_ratio",
  "kaufmans_adaptive_moving_average",
  "chande_momentum_oscillator",
  "holt_winters",
  "holt_winters_with_fit",
]);

const KEEPS_TYPE: ReadonlySet<string> = new Set([
  "min",
  "max",
  "sum",
  "first",
  "last",
  "distinct",
  "mode",
  "sample",
  "top",
  "bottom",
  "percentile",
  "spread",
  "difference",
  "non_negative_difference",
  "cumulative_sum",
]);

/** The type of a call's values; null: it is the argument's type, which is unknown. */
export function callType(name: string, argument: FieldType | null): FieldType | null {
  if (name === "count" || name === "elapsed") return "integer";
  return KEEPS_TYPE.has(name) ? argument : "float";
}
