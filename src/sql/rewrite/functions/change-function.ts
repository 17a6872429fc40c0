// Changes between rows of a window: difference, derivative and their non-negative variants. Rows without a value are skipped and have no
// result.
import { isUnsigned64 } from "../../bind/decimals.ts";
import type { Typed } from "../../bind/kind.ts";
import { intervalNs } from "../../parse/interval.ts";
import { bigintConstant, call, castTo, type Expression, operator, stringConstant, type Window } from "../../parse/tree.ts";
import { argumentCount, isNotNull, planError, whenThen } from "../rule.ts";
import { asTime, nsOf } from "../time/time-value.ts";

export interface ChangeInput {
  /** The call with a rewritten window. */
  readonly window: Window;
  readonly args: readonly Typed[];
}

/** The last value before this row. */
function previous(window: Window, value: Expression): Window {
  const frame = { start: "UNBOUNDED_PRECEDING", end: "CURRENT_ROW_RANGE", start_expr: null, end_expr: null, exclude_clause: "NO_OTHER" };
  const call = { function_name: "lag", type: "WINDOW_LAG", children: [value], offset_expr: null, default_expr: null, ignore_nulls: true };
  return { ...window, ...frame, ...call, alias: "", filter_expr: null, distinct: false, arg_orders: [] };
}

/** difference(x) */
function difference({ window, args }: ChangeInput): Typed {
  const [value] = args;
  if (value === undefined || args.length > 1) throw argumentCount(window.function_name, "1", args.length);
  if (!isUnsigned64(value)) return { node: operator("-", value.node, previous(window, value.node)), kind: value.kind };
  const current = castTo(value.node, "HUGEINT");
  const wrapped = operator("%", operator("+", operator("-", current, previous(window, current)), TWO_TO_64), TWO_TO_64);
  return { node: castTo(wrapped, "UBIGINT"), kind: value.kind, arrow: "UInt64" };
}

/** The difference of unsigned integers is unsigned, and a negative one wraps. */
const TWO_TO_64 = castTo(stringConstant("18446744073709551616"), "HUGEINT");

/** derivative(x, unit, time): the change of x per unit of time. */
function derivative({ window, args }: ChangeInput): Typed {
  const [value, unit, time] = args;
  if (value === undefined || unit === undefined || time === undefined || args.length > 3) {
    throw argumentCount(window.function_name, "3", args.length);
  }
  if (unit.interval === undefined) throw planError(`${window.function_name} expects its unit to be an interval literal`);
  const unitNs = intervalNs(unit.interval);
  if (unitNs <= 0n) throw planError(`${window.function_name} expects a unit longer than nothing`);
  const current = castTo(value.node, "DOUBLE");
  const at = whenThen([[isNotNull(value.node), nsOf(asTime(time))]]);
  const delta = operator("-", current, previous(window, current));
  const elapsed = operator("-", at, previous(window, at));
  const inUnits = call("/", [castTo(elapsed, "DOUBLE"), castTo(bigintConstant(unitNs), "DOUBLE")]);
  return { node: call("/", [delta, inUnits]), kind: "float" };
}

function nonNegative(rule: (input: ChangeInput) => Typed): (input: ChangeInput) => Typed {
  return (input) => {
    const change = rule(input);
    return { ...change, node: call("__non_negative", [change.node]) };
  };
}

export const CHANGE_RULES: Readonly<Record<string, (input: ChangeInput) => Typed>> = {
  derivative,
  difference,
  non_negative_derivative: nonNegative(derivative),
  non_negative_difference: nonNegative(difference),
};
