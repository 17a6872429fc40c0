// Aggregates that DuckDB has under another name or with another result, and those composed from others.

import { type DecimalType, decimalNote, decimalOf, isUnsigned, meanDecimal, sumDecimal } from "../../bind/decimals.ts";
import { type Kind, type Typed, type TypeNote, withClock } from "../../bind/kind.ts";
import { isNullConstant, listType, narrowType, sameType, typeName } from "../../bind/type-notes.ts";
import {
  call,
  castTo,
  castToDecimal,
  type Expression,
  type FunctionCall,
  floatConstant,
  integerConstant,
  operator,
  stringConstant,
} from "../../parse/tree.ts";
import { argumentCount, expectArguments, isNotNull, planError, type Rule, type RuleInput, type Rules, whenThen, wide } from "../rule.ts";
import { implicitText } from "../values/cast.ts";
import { listMembers } from "../values/constant.ts";
import { dependsOnNan, negative, withLeastNan } from "../values/least-nan.ts";
import { conjunction } from "../walk.ts";
import { subscript } from "./array-function.ts";
import { aggregate, PAIR_RULES, standsOnce } from "./pair-function.ts";
import { rewriteSelector } from "./selector.ts";

function withoutOrder(node: FunctionCall): FunctionCall {
  return { ...node, order_bys: { ...node.order_bys, orders: [] } };
}

const NUMBERS: ReadonlySet<Kind> = new Set(["integer", "float", "duration", "unknown", "interval"]);

/** @throws TsdbError bad_query if the value's kind is known and not numeric */
function expectNumber({ node, args }: RuleInput): void {
  const { kind } = args[0] ?? { kind: "unknown" };
  if (!NUMBERS.has(kind)) throw planError(`Function '${node.function_name}' expects a number but received a value of kind ${kind}`);
}

function average(input: RuleInput): Typed | null {
  expectArguments(input, 1);
  expectNumber(input);
  if (isNullConstant(input.args[0]!)) throw planError("Avg does not support inputs of type Null.");
  const decimal = meanDecimal(input.args[0]!);
  if (decimal !== null) return decimalMean(input.node, decimal);
  return input.args[0]!.kind === "duration" ? { node: castTo(input.node, "BIGINT"), kind: "duration" } : null;
}

/** Exact: what is beyond the last digit is cut off. */
function decimalMean(node: FunctionCall, { width, scale }: DecimalType): Typed {
  const unit = castTo(stringConstant(`1${"0".repeat(scale)}`), "HUGEINT");
  const text = call("__decimal_mean", [aggregate(node, "sum"), aggregate(node, "count"), unit, integerConstant(scale)]);
  return { node: castToDecimal(text, width, scale), ...decimalNote({ width, scale }) };
}

/** Texts and truth values have no middle. @throws TsdbError bad_query */
function expectMiddle({ node }: RuleInput, { kind }: Typed): void {
  if (kind === "string" || kind === "boolean")
    throw planError(`Function '${node.function_name}' expects a number but received a value of kind ${kind}`);
}

/** The dialect has no 128-bit integers: a sum of integers has 64 bits, and a larger one is an error. */
function sum(input: RuleInput): Typed | null {
  const [value] = input.args;
  if (value !== undefined && (value.kind === "boolean" || isNullConstant(value)))
    throw planError(`Sum not supported for ${typeName(value)}`);
  const decimal = value === undefined ? null : sumDecimal(value);
  if (decimal !== null) return { node: castToDecimal(input.node, decimal.width, decimal.scale), ...decimalNote(decimal) };
  if (value?.kind !== "integer" && value?.kind !== "duration") return null;
  const hasSign = !isUnsigned(value);
  return { node: castTo(input.node, hasSign ? "BIGINT" : "UBIGINT"), kind: value.kind, ...(hasSign ? {} : { arrow: "UInt64" }) };
}

/** count(a, b): the number of rows without NULL in any of them. */
function count({ node, args }: RuleInput): Typed | null {
  if (args.length < 2) return null;
  const present = conjunction(args.map((arg) => isNotNull(arg.node)))!;
  const value = node.distinct ? call("row", node.children) : integerConstant(1);
  return { node: aggregate(node, "count", [whenThen([[present, value]])]), kind: "integer" };
}

/** Exact: DuckDB's approximation deviates by 10 % and more, and is no faster. */
function distinctCount(input: RuleInput): Typed {
  expectArguments(input, 1);
  return { node: { ...aggregate(input.node, "count"), distinct: true }, kind: "integer", arrow: "UInt64" };
}

/** nth_value(x, n ORDER BY …): over all ordered rows; negative numbers count from the end. */
function nthValue({ node, args }: RuleInput): Typed {
  const [value, place] = args;
  if (value === undefined || place === undefined || args.length > 2) throw argumentCount("nth_value", "2", args.length);
  return withClock({ node: subscript(aggregate(node, "list", [wide(value)]), wide(place)), kind: value.kind, ...sameType(value) }, [value]);
}

function arrayAgg({ node, args }: RuleInput): Typed {
  const [value] = args;
  if (value === undefined || args.length > 1) throw argumentCount("array_agg", "1", args.length);
  const depth = value.kind === "list" ? (value.depth ?? 1) + 1 : 1;
  return { node: aggregate(node, "array_agg", listMembers([value])), kind: "list", depth, ...listType([value]) };
}

/** The ORDER BY value, and the arguments before it: `f(…) WITHIN GROUP (ORDER BY x)` arrives as `f(… ORDER BY x)`. */
function ordered({ node, args, orders }: RuleInput): { args: readonly Typed[]; isDescending: boolean } | null {
  const [order] = node.order_bys.orders;
  if (order === undefined) return null;
  const value = orders?.[0] ?? { node: order.expression, kind: "unknown" };
  return { args: [value, ...args], isDescending: order.type === "DESCENDING" };
}

/** approx_percentile_cont(x, p [, centroids]), or (p [, centroids]) WITHIN GROUP (ORDER BY x). */
function percentile(input: RuleInput): Typed {
  const within = ordered(input);
  const [value, fraction, ...centroids] = within?.args ?? input.args;
  // the number of centroids is a hint, which DuckDB does not take
  if (value === undefined || fraction === undefined || centroids.length > 1) {
    throw argumentCount("approx_percentile_cont", within === null ? "2 or 3" : "1 or 2", input.args.length);
  }
  const node = withoutOrder(input.node);
  const share = fraction.number === undefined ? undefined : checkFraction(Number(fraction.number));
  if (share !== undefined) return cutToInteger(approximate(node, value, within?.isDescending === true ? 1 - share : share), value);
  const one = castTo(integerConstant(1), "DOUBLE");
  const wanted = within?.isDescending === true ? operator("-", one, fraction.node) : fraction.node;
  return cutToInteger({ node: aggregate(node, "approx_quantile", [number(value), castTo(wanted, "FLOAT")]), kind: kindOf(value) }, value);
}

/** percentile_cont(x, p): exact, with interpolation. */
function exactPercentile(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, fraction] = input.args;
  if (fraction!.number === undefined) throw planError("percentile_cont expects its percentile to be a constant number");
  const share = checkFraction(Number(fraction!.number));
  return { node: aggregate(input.node, "quantile_cont", [number(value!), floatConstant(share)]), kind: kindOf(value!) };
}

function checkFraction(share: number): number {
  if (share >= 0 && share <= 1) return share;
  throw planError(`Percentile value must be between 0.0 and 1.0 inclusive, ${share} is invalid`);
}

function number(value: Typed): Expression {
  const isDouble = value.kind === "float" && decimalOf(value) === null;
  return isDouble || (value.kind !== "float" && value.kind !== "integer" && value.kind !== "unknown")
    ? value.node
    : castTo(value.node, "DOUBLE");
}

function kindOf({ kind }: Typed): Kind {
  return kind === "integer" || kind === "unknown" ? "float" : kind;
}

/** DuckDB takes the fraction as a 32-bit float, so results between two of them are interpolated. */
function approximate(node: FunctionCall, value: Typed, share: number): Typed {
  const nearest = Math.fround(share);
  if (nearest === share || kindOf(value) !== "float") {
    return { node: aggregate(node, "approx_quantile", [number(value), float32(nearest)]), kind: kindOf(value) };
  }
  const other = neighbour(nearest, share > nearest ? 1 : -1);
  const [low, high] = [Math.min(nearest, other), Math.max(nearest, other)];
  const both = aggregate(node, "approx_quantile", [number(value), call("list_value", [float32(low), float32(high)])]);
  return { node: call("__between", [both, floatConstant((share - low) / (high - low))]), kind: "float" };
}

/** The adjacent 32-bit float above (1) or below (-1) a positive one. */
function neighbour(value: number, step: 1 | -1): number {
  const bits = new Int32Array([0]);
  const floats = new Float32Array(bits.buffer);
  floats[0] = value;
  bits[0]! += step;
  return floats[0]!;
}

function float32(value: number): Expression {
  return castTo(floatConstant(value), "FLOAT");
}

/** approx_percentile_cont_with_weight(x, weight, p [, centroids]), or (weight, p [, centroids]) WITHIN GROUP (ORDER BY x). */
function weightedPercentile(input: RuleInput): Typed {
  const within = ordered(input);
  const [value, weight, fraction, ...centroids] = within?.args ?? input.args;
  if (value === undefined || weight === undefined || fraction === undefined || centroids.length > 1) {
    throw argumentCount("approx_percentile_cont_with_weight", within === null ? "3 or 4" : "2 or 3", input.args.length);
  }
  const share = checkFraction(Number(fraction.number ?? 0));
  const wanted = fraction.number === undefined ? fraction.node : floatConstant(within?.isDescending === true ? 1 - share : share);
  const pair = call("__weighted_pair", [value.node, weight.node]);
  const isCounted = conjunction([isNotNull(value.node), isNotNull(weight.node)])!;
  const pairs = aggregate(withoutOrder(input.node), "list", [whenThen([[isCounted, pair]])]);
  // the vendor's form with WITHIN GROUP returns a float
  const estimate: Typed = { node: call("__weighted_percentile", [pairs, wanted]), kind: "float" };
  return within === null ? cutToInteger(estimate, value) : estimate;
}

/** The type of an integer of fewer bits. */
function narrowNote(of: Typed): TypeNote {
  const arrow = narrowType(of);
  return arrow === null ? {} : { arrow };
}

/** Converts an integer result to the value's type. */
function asInteger(node: Expression, of: Typed): Typed {
  return isUnsigned(of)
    ? { node: castTo(node, "UBIGINT"), kind: "integer", arrow: "UInt64" }
    : { node: castTo(node, "BIGINT"), kind: "integer", ...narrowNote(of) };
}

/** Truncates an interpolated value between integers. */
function cutToInteger(estimate: Typed, of: Typed): Typed {
  if (of.kind !== "integer") return estimate;
  return asInteger(call(isUnsigned(of) ? "__whole_unsigned" : "__whole_signed", [estimate.node]), of);
}

/** The share of the upper median: the least above a half. Among n values DuckDB takes number n - floor(n - n * share), which is exact up to
 *  2^50 values. */
const ABOVE_HALF = 0.5 + 2 ** -52;

function median(input: RuleInput): Typed {
  expectArguments(input, 1);
  const [value] = input.args;
  expectMiddle(input, value!);
  if (value!.kind !== "integer") return { node: input.node, kind: kindOf(value!) };
  // the lower and the upper median, of values that are collected once
  const shares = call("list_value", [floatConstant(0.5), floatConstant(ABOVE_HALF)]);
  return asInteger(call("__middle", [aggregate(input.node, "quantile_disc", [wide(value!), shares])]), value!);
}

/** An unsigned 64-bit integer in the dialect. */
function unsigned({ node }: RuleInput): Typed {
  return { node: castTo(node, "BIGINT"), kind: "integer", arrow: "UInt64" };
}

/** As aggregates; with OVER, DuckDB's functions apply. */
function end(name: "first" | "last"): Rule {
  return ({ node, args }) => withClock({ node: aggregate(node, name), kind: args[0]?.kind ?? "unknown", ...sameType(args[0]) }, args);
}

/** max and min of what may have the least NaN, by the opposite of the negatives. */
function extreme(opposite: "max" | "min"): Rule {
  return ({ node, args }) => {
    const [value] = args;
    if (args.length !== 1 || !dependsOnNan(args)) return null;
    return withLeastNan({ node: negative(aggregate(node, opposite, [negative(value!.node)])), kind: "float" });
  };
}

/** Variances of floats as covariances with themselves, which may exceed a float's range: then they are NaN, where DuckDB's fail. */
function variance(covariance: "covar_pop" | "covar_samp", isRoot = false): Rule {
  return ({ node, args }) => {
    const [value] = args;
    if (args.length !== 1 || value!.kind !== "float" || standsOnce(value!.node)) return null;
    const x = castTo(value!.node, "DOUBLE");
    const finite = call("__finite", [aggregate(node, covariance, [x, x])]);
    return { node: isRoot ? call("sqrt", [finite]) : finite, kind: "float" };
  };
}

const selector: Rule = ({ node, args }) => rewriteSelector(node, args);

export const AGGREGATE_RULES: Rules = {
  approx_distinct: distinctCount,
  approx_median: (input) => {
    const value = input.args[0] ?? failCount(input);
    return cutToInteger(approximate(input.node, value, 0.5), value);
  },
  approx_percentile_cont: percentile,
  approx_percentile_cont_with_weight: weightedPercentile,
  array_agg: arrayAgg,
  avg: average,
  count,
  first_value: end("first"),
  last_value: end("last"),
  max: extreme("min"),
  mean: average,
  median,
  min: extreme("max"),
  nth_value: nthValue,
  percentile_cont: exactPercentile,
  ...PAIR_RULES,
  regr_count: unsigned,
  selector_first: selector,
  selector_last: selector,
  selector_max: selector,
  selector_min: selector,
  stddev: variance("covar_samp", true),
  stddev_pop: variance("covar_pop", true),
  stddev_samp: variance("covar_samp", true),
  string_agg: stringAgg,
  sum,
  var_pop: variance("covar_pop"),
  var_samp: variance("covar_samp"),
};

/** string_agg(x, delimiter): without a delimiter DuckDB would insert commas. */
function stringAgg(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, delimiter] = input.args;
  const node = aggregate(input.node, "string_agg", [implicitText(value!, input.scope), delimiter!.node]);
  return { node, kind: "string", arrow: "LargeUtf8" };
}

function failCount({ node, args }: RuleInput): never {
  throw argumentCount(node.function_name, "1", args.length);
}
