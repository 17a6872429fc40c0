// Functions of gap-filling queries outside of such queries: gapfill.ts has replaced the calls in them.
import { isUnsigned } from "../../bind/decimals.ts";
import type { Expression } from "../../parse/tree.ts";
import { call, castTo } from "../../parse/tree.ts";
import { planError, type Rule } from "../rule.ts";

/** Each function by the bin function that it extends. */
export const BIN_FUNCTIONS: Readonly<Record<string, string>> = {
  date_bin_gapfill: "date_bin",
  date_bin_wallclock_gapfill: "date_bin_wallclock",
};
export type Fill = "locf" | "interpolate";

/** Called outside of a gap-filling query. */
export const GAPFILL_RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(Object.keys(BIN_FUNCTIONS).map((name) => [name, () => misplaced(name)])),
  locf: () => misplaced("locf"),
  interpolate: () => misplaced("interpolate"),
  /** Interpolates: time, previous time and value, next time and value. */
  __interpolate: ({ args }) => {
    const [at, t0, v0, t1, v1] = args.map(({ node }) => node) as [Expression, Expression, Expression, Expression, Expression];
    const kind = args[2]?.kind ?? "unknown";
    const line = call("__line", [at, t0, castTo(v0, "DOUBLE"), t1, castTo(v1, "DOUBLE")]);
    if (isUnsigned(args[2]!)) return { node: castTo(call("trunc", [line]), "UBIGINT"), kind, arrow: "UInt64" };
    if (kind === "integer" || kind === "duration") return { node: castTo(call("trunc", [line]), "BIGINT"), kind };
    if (kind === "float" || kind === "unknown") return { node: line, kind: "float" };
    throw planError(`unsupported data type for interpolation gap filling: ${kind}`);
  },
};

/** @throws TsdbError bad_query: the function is used where a gap-filling query does not allow it */
export function misplaced(name: string): never {
  const place = name in BIN_FUNCTIONS ? "as a GROUP BY expression" : "in the SELECT list of a gap-filling query";
  throw planError(`${name} may only be used ${place}`);
}
