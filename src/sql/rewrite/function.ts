// Rewrites function calls: renames, the rules of time-function.ts, and the kind of the result.

import { ColumnType } from "../../model/rows/column.ts";
import { decimalOf, isUnsigned, isUnsigned64 } from "../bind/decimals.ts";
import { RENAMED_FUNCTIONS } from "../bind/dialect.ts";
import { type Kind, type Typed, type TypeNote, withClock } from "../bind/kind.ts";
import type { Scope } from "../bind/scope.ts";
import {
  isDictionary,
  isNullConstant,
  isNullOfType,
  itemType,
  NULL_TYPE,
  narrowNote,
  narrowType,
  sameType,
  withMarkOf,
} from "../bind/type-notes.ts";
import { negateInterval } from "../parse/interval.ts";
import type { Expression, FunctionCall } from "../parse/tree.ts";
import { call, castTo } from "../parse/tree.ts";
import type { RewriteContext } from "./context.ts";
import { isAggregateCall } from "./functions/aggregate-call.ts";
import { AGGREGATE_RULES } from "./functions/aggregate-function.ts";
import { ARRAY_RULES } from "./functions/array-function.ts";
import { BINARY_RULES } from "./functions/binary-function.ts";
import { CONDITIONAL_RULES } from "./functions/conditional-function.ts";
import { MATH_RULES } from "./functions/math-function.ts";
import { REGEX_RULES, rewritePatternOperator } from "./functions/regex-function.ts";
import { rewriteSelectorPart } from "./functions/selector.ts";
import { STRING_RULES } from "./functions/string-function.ts";
import { STRUCT_RULES } from "./functions/struct-function.ts";
import { TYPE_RULES } from "./functions/type-function.ts";
import { rewriteOrders } from "./orders.ts";
import { nullOf, type RuleInput, type Rules, wide } from "./rule.ts";
import { TIME_RULES } from "./time/time-function.ts";
import { intervalConstant } from "./time/time-value.ts";
import { typed } from "./typed.ts";
import { rewriteArithmetic } from "./values/arithmetic.ts";
import { implicitText } from "./values/cast.ts";
import { commonKind } from "./values/common-type.ts";
import { keptOperand } from "./values/neutral.ts";

/** `unnest(unnest(x))`: one call, of a list that is flattened. */
function asOneUnnest(node: FunctionCall): FunctionCall {
  const [inner] = node.children;
  if (node.function_name !== "unnest" || inner?.class !== "FUNCTION" || inner.function_name !== "unnest") return node;
  const [list] = asOneUnnest(inner).children;
  return list === undefined ? node : { ...node, children: [call("flatten", [list], inner.query_location)] };
}

/** Rewrites a call. */
export function rewriteFunction(written: FunctionCall, context: RewriteContext, scope: Scope): Typed {
  const node = asOneUnnest(written);
  const { rewritten, args, orders } = rewriteParts(node, context, scope);
  const name = rewritten.function_name;
  if (node.is_operator) return rewriteOperatorCall(rewritten, args, scope);
  const input: RuleInput = { node: rewritten, args, orders, context, scope };
  const result = VALUE_RULES[name]?.(input) ?? TIME_RULES[name]?.(input) ?? null;
  if (result !== null) return result;
  const value = withClock(typed(rewritten, resultKind(name, args)), args);
  const note = keptType(name, args);
  return note === NO_NOTE ? value : { ...value, ...note };
}

/** The note of a function's result that has the type of its argument. The minimum and maximum of tags are plain texts. */
export function keptType(name: string, args: readonly Typed[]): TypeNote {
  if (name === "unnest") return itemType(args[0] ?? {});
  if (BITS.has(name)) return sameType(args[0]);
  if (!FIRST_ARGUMENT.has(name)) return NO_NOTE;
  const [value] = args;
  if (value !== undefined && isNullConstant(value)) return { arrow: NULL_TYPE };
  if (value?.source?.scan.defs[value.source.index]?.type === ColumnType.integer) return SIGNED;
  return EXTREMES.has(name) && value !== undefined && isDictionary(value) ? {} : sameType(value);
}

const NO_NOTE: TypeNote = {};
const SIGNED: TypeNote = { arrow: "Int64" };
const EXTREMES: ReadonlySet<string> = new Set(["max", "min"]);

/** An argument of a call; an open parameter gets the type that the call requires. */
export function rewriteArgument(node: FunctionCall, place: number, context: RewriteContext, scope: Scope): Typed {
  const value = context.expression(node.children[place]!, scope);
  return context.open?.argument(node, place, value) ?? value;
}

/** The call with DuckDB's name, and its arguments. */
function rewriteParts(
  node: FunctionCall,
  context: RewriteContext,
  scope: Scope,
): { rewritten: FunctionCall; args: Typed[]; orders: Typed[] } {
  const args = node.children.map((child, place) => {
    const value = rewriteArgument(node, place, context, scope);
    // keeps the name of a named argument
    return child.alias === "" ? value : { ...value, node: { ...value.node, alias: child.alias } };
  });
  const isAggregate = isAggregateCall(node);
  const isOrdered = node.order_bys.orders.length > 0;
  const rewritten: FunctionCall = {
    ...node,
    function_name: RENAMED_FUNCTIONS[node.function_name] ?? node.function_name,
    // an aggregate's result has the type of a literal argument
    children: args.map((arg) => (isAggregate ? wide(arg) : arg.node)),
    filter: node.filter === null ? null : context.expression(node.filter, scope).node,
    order_bys: isOrdered ? { ...node.order_bys, orders: rewriteOrders(node.order_bys.orders, context, scope) } : node.order_bys,
  };
  if (!isOrdered) return { rewritten, args, orders: [] };
  // a number in ORDER BY is a value here
  const orders = node.order_bys.orders.map(({ expression }, i) => ({
    ...context.expression(expression, scope),
    node: rewritten.order_bys.orders[i]!.expression,
  }));
  return { rewritten, args, orders };
}

/** One part of a selector's pair. */
export function rewriteSelectorCall(node: FunctionCall, context: RewriteContext, scope: Scope, part: "value" | "time"): Typed {
  const { rewritten, args } = rewriteParts(node, context, scope);
  return rewriteSelectorPart(rewritten, args, part);
}

function rewriteOperatorCall(node: FunctionCall, args: readonly Typed[], scope: Scope): Typed {
  const [left, right] = args;
  const kept = right === undefined ? undefined : keptOperand(node.function_name, left!, right);
  if (right !== undefined && ["+", "-", "*", "/", "%"].includes(node.function_name))
    return withMarkOf(rewriteArithmetic(node, left!, right), kept);
  if (right !== undefined && node.function_name === "||") return rewriteConcatenation(node, left!, right, scope);
  const patterns = right === undefined ? null : rewritePatternOperator(node, [left!, right]);
  if (patterns !== null) return patterns;
  if (node.function_name === "<=>" && right !== undefined) {
    const same = { class: "COMPARISON" as const, type: "COMPARE_NOT_DISTINCT_FROM", alias: "", left: left!.node, right: right.node };
    return typed(same, "boolean");
  }
  if (right !== undefined && BITWISE.has(node.function_name)) return withMarkOf(rewriteBitwise(node, left!, right), kept);
  if (right === undefined && node.function_name === "-" && isNullConstant(left!)) return { ...left!, arrow: NULL_TYPE };
  if (right === undefined && node.function_name === "-" && left!.interval !== undefined)
    return intervalConstant(negateInterval(left!.interval));
  if (right === undefined && node.function_name === "-" && mayHaveNoSign(left!)) return withMarkOf(negated(node, left!), left);
  if (right === undefined && (node.function_name === "-" || node.function_name === "+")) return withMarkOf(signed(node, left!), left);
  return typed(node, OPERATOR_KIND[node.function_name] ?? "unknown");
}

const BITWISE: ReadonlySet<string> = new Set(["&", "|", "^", "<<", ">>"]);

/** Unsigned if one of the operands is; a float beside an integer is cut to one. */
function rewriteBitwise(node: FunctionCall, left: Typed, right: Typed): Typed {
  const hasSign = !isUnsigned64(left) && !isUnsigned64(right);
  const isWhole = left.kind === "integer" || right.kind === "integer";
  const children = [left, right].map((value) => {
    if (!hasSign) return isUnsigned64(value) ? wide(value) : castTo(wholePart(value, isWhole), "UBIGINT");
    return value.kind === "float" && isWhole ? castTo(wholePart(value, isWhole), "BIGINT") : wide(value);
  });
  return { ...typed(bitwiseCall(node, children, hasSign), "integer"), ...(hasSign ? narrowNote([left, right]) : { arrow: "UInt64" }) };
}

const wholePart = (value: Typed, isWhole: boolean) => (value.kind === "float" && isWhole ? call("trunc", [wide(value)]) : value.node);

/** DuckDB's ^ is a power, and its shifts fail where bits are lost. */
function bitwiseCall(node: FunctionCall, children: Expression[], hasSign: boolean): Expression {
  if (node.function_name === "^") return call("xor", children, node.query_location);
  if (node.function_name === ">>") return call("__shift_right", children, node.query_location);
  if (node.function_name === "<<") return call(hasSign ? "__shift_left" : "__shift_left_unsigned", children, node.query_location);
  return { ...node, children };
}

/** Decimals and numbers of at most 32 bits keep their width. */
function signed(node: FunctionCall, value: Typed): Typed {
  const arrow = decimalOf(value) === null ? narrowType(value) : value.arrow!;
  return { ...typed(node, value.kind === "time" ? "unknown" : value.kind), ...(arrow === null ? {} : { arrow }) };
}

/** Texts, lists, or a list and an element; NULL has the other operand's kind. Of a NULL with a type DuckDB would forget the type. */
function rewriteConcatenation(node: FunctionCall, left: Typed, right: Typed, scope: Scope): Typed {
  const lists = [left, right].filter(({ kind }) => kind === "list");
  if (lists.length === 2 && left.depth !== undefined && right.depth !== undefined && left.depth !== right.depth) {
    const isLeft = left.depth > right.depth;
    return joinedList(isLeft ? "list_append" : "list_prepend", [left, right], isLeft ? left : right);
  }
  if (lists.length === 1 && !isNullConstant(left) && !isNullConstant(right)) {
    const isLeft = left.kind === "list";
    if (isLeft ? right.kind !== "unknown" : left.kind !== "unknown")
      return joinedList(isLeft ? "list_append" : "list_prepend", [left, right], lists[0]!);
  }
  const isNull = (value: Typed) => isNullConstant(value) || isNullOfType(value);
  const isText = left.kind === "string" || right.kind === "string";
  if (isText && (isNull(left) || isNull(right))) return { node: nullOf("VARCHAR"), kind: "string" };
  if (left.kind !== "string" && right.kind !== "string") return typed(node, "unknown");
  const children = [left, right].map((value) => (value.kind === "list" ? value.node : implicitText(value, scope)));
  return typed({ ...node, children }, lists.length === 0 ? "string" : "unknown");
}

function joinedList(name: string, args: readonly Typed[], list: Typed): Typed {
  return { node: call(name, args.map(wide)), kind: "list", ...(list.depth === undefined ? {} : { depth: list.depth }) };
}

/** Possibly unsigned integers, for which DuckDB's minus would wrap around. */
function mayHaveNoSign(value: Typed): boolean {
  if (isUnsigned(value)) return true;
  const { node, kind, source, arrow } = value;
  if (kind !== "integer" || source !== undefined || arrow !== undefined) return false;
  if (node.class === "CAST") return node.cast_type.id.startsWith("U");
  return node.class !== "CONSTANT" && !(node.class === "FUNCTION" && node.is_operator);
}

function negated(node: FunctionCall, { node: value }: Typed): Typed {
  return typed(castTo({ ...node, children: [castTo(value, "HUGEINT")] }, "BIGINT"), "integer");
}

const OPERATOR_KIND: Readonly<Record<string, Kind>> = {
  "||": "unknown",
  "~~": "boolean",
  "!~~": "boolean",
  "~~*": "boolean",
  "!~~*": "boolean",
  "**": "float",
  "~": "integer",
};

/** Functions that return one of their arguments. */
const FIRST_ARGUMENT = new Set(
  `any_value arbitrary arg_max arg_min first first_value greatest lag last last_value lead least list_extract max max_by min min_by mode nth_value
   nullif ifnull quantile_disc`.split(/\s+/),
);
const BITS: ReadonlySet<string> = new Set(["bit_and", "bit_or", "bit_xor"]);
const INTEGERS = new Set(
  `approx_count_distinct bit_length count count_if count_star countif dense_rank length len ntile octet_length ord position rank row_number strlen
   strpos instr date_diff datediff year month day hour minute`.split(/\s+/),
);
const FLOATS = new Set(
  `avg corr covar_pop covar_samp mean regr_avgx regr_avgy regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp variance var_pop var_samp
   cume_dist percent_rank sqrt exp ln log log2 log10 pow power random pi`.split(/\s+/),
);
const TEXTS = new Set(
  "concat concat_ws lower upper substr substring trim ltrim rtrim replace strftime left right lpad rpad split_part".split(/\s+/),
);
const BOOLEANS = new Set(
  "contains starts_with ends_with regexp_matches regexp_full_match bool_and bool_or isnan isfinite isinf".split(/\s+/),
);

const BINARIES = new Set("unhex from_hex from_base64 unbin from_binary".split(" "));

/** The kind of a function's result; "unknown" is always valid. */
export function resultKind(name: string, args: readonly Typed[]): Kind {
  const first = args[0]?.kind ?? "unknown";
  if (FIRST_ARGUMENT.has(name))
    return name === "greatest" || name === "least" || name === "ifnull" ? commonKind(args.map(({ kind }) => kind)) : first;
  if (INTEGERS.has(name)) return "integer";
  if (FLOATS.has(name)) return first === "duration" ? "duration" : "float";
  if (TEXTS.has(name)) return "string";
  if (BOOLEANS.has(name)) return "boolean";
  if (BINARIES.has(name)) return "binary";
  if (BITS.has(name)) return first === "integer" ? first : "unknown";
  if (name === "sum" || name === "abs") return first === "integer" || first === "float" || first === "duration" ? first : "unknown";
  return "unknown";
}

const VALUE_RULES: Rules = {
  ...AGGREGATE_RULES,
  ...ARRAY_RULES,
  ...BINARY_RULES,
  ...CONDITIONAL_RULES,
  ...MATH_RULES,
  ...REGEX_RULES,
  ...STRING_RULES,
  ...STRUCT_RULES,
  ...TYPE_RULES,
};
