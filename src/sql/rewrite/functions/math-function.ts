// Mathematical functions: IEEE 754 for floats, errors for integer overflow.
import { decimalOf, isUnsigned64 } from "../../bind/decimals.ts";
import type { Typed } from "../../bind/kind.ts";
import { isNullConstant, narrowType, withMarkOf } from "../../bind/type-notes.ts";
import { bigintConstant, call, castTo, integerConstant } from "../../parse/tree.ts";
import {
  callAs,
  expectArguments,
  narrow,
  nullOf,
  planError,
  type Rule,
  type RuleInput,
  type Rules,
  refuseTruth,
  simple,
  wide,
} from "../rule.ts";
import { keepingNan, withLeastNan } from "../values/least-nan.ts";
import { isNumber, isSameColumn } from "../values/neutral.ts";

/** A function from a number to a float; of 32 bits for such an argument. */
function float(name: string): Rule {
  const plain = simple(name, [1], "float");
  return (input) => keepingNan(asPrecise(plain(input)!, input.args[0]!), input.args);
}

/** The same for functions of which DuckDB makes decimals of decimals. */
function floatOfDecimals(name: string): Rule {
  const rule = float(name);
  return (input) => rule({ ...input, args: input.args.map(withoutDecimals) });
}

function withoutDecimals(value: Typed): Typed {
  return decimalOf(value) === null ? value : { node: castTo(value.node, "DOUBLE"), kind: "float" };
}

/** A float function whose NaN has a sign. */
function floatBelow(name: string): Rule {
  const plain = float(name);
  return (input) => withLeastNan(plain(input)!);
}

/** A float of 32 bits if that is what it was computed from. */
function asPrecise(value: Typed, from: Typed): Typed {
  return narrowType(from) === "Float32" ? { node: castTo(value.node, "FLOAT"), kind: "float", arrow: "Float32" } : value;
}

/** Keeps an integer's type; NULL is a float. */
function abs(input: RuleInput): Typed {
  expectArguments(input, 1);
  const [x] = input.args;
  if (isNullConstant(x!)) return { node: nullOf("DOUBLE"), kind: "float" };
  const arrow = narrowType(x!) ?? (isUnsigned64(x!) ? "UInt64" : null);
  return { node: callAs("abs", input), kind: x!.kind, ...(arrow === null ? {} : { arrow }) };
}

/** log(x) to the base of ten, log(base, x). */
function log(input: RuleInput): Typed {
  expectArguments(input, 1, 2);
  const [first, second] = input.args;
  if (second === undefined) return withLeastNan(asPrecise({ node: callAs("__log10", input, [first!.node]), kind: "float" }, first!));
  if (isNumber(second, 1) && first!.number === undefined) return ofDouble(0);
  if (isSameColumn(first!, second)) return ofDouble(1);
  const exact = first!.number === undefined ? undefined : { 2: "__log2", 10: "__log10" }[Number(first!.number)];
  const node = exact === undefined ? callAs("__log", input, [first!.node, second.node]) : callAs(exact, input, [second.node]);
  return withLeastNan(asPrecise({ node, kind: "float" }, second));
}

/** round(x [, places]) */
function round(input: RuleInput): Typed {
  expectArguments(input, 1, 2);
  const [x, places] = input.args;
  // rounding an integer or a decimal gives a float
  const isWhole = x!.kind === "integer" || isNullConstant(x!) || decimalOf(x!) !== null;
  const value = isWhole ? castTo(x!.node, "DOUBLE") : x!.node;
  const node = callAs("round", input, places === undefined ? [value] : [value, narrow(places)]);
  return keepingNan({ node, kind: isWhole ? "float" : x!.kind }, [x!]);
}

/** trunc(x [, places]), towards zero, always a float. */
function trunc(input: RuleInput): Typed {
  expectArguments(input, 1, 2);
  const [x, places] = input.args;
  refuseTruth(x!);
  const value = castTo(x!.node, "DOUBLE");
  const node = callAs("trunc", input, places === undefined ? [value] : [value, narrow(places)]);
  if (narrowType(x!) === "Float32") return asPrecise({ node, kind: "float" }, x!);
  // the parser represents INTERVAL '1' DAY with trunc
  return x!.number === undefined || places !== undefined
    ? { node, kind: "float" }
    : { node, kind: "float", number: Math.trunc(Number(x!.number)) };
}

/** For integers exact, within 64 bits. */
function power(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [base, exponent] = input.args;
  if (input.args.some(isNullConstant) && input.args.every((value) => value.kind === "integer" || isNullConstant(value)))
    return { node: nullOf("BIGINT"), kind: "integer" };
  // next to one without a sign integers are floats
  const isWhole = [base!, exponent!].every((value) => value.kind === "integer" && !isUnsigned64(value));
  // the vendor computes it of constants alone, NULL to the power of 0 as well
  if (isNumber(exponent!, 0)) return isWhole ? { node: bigintConstant(1n), kind: "integer" } : ofDouble(1);
  const kept = isNumber(exponent!, 1) ? base : undefined;
  if (!isWhole) return withMarkOf(withLeastNan({ node: callAs("pow", input), kind: "float" }), kept);
  const [x, n] = [base!, exponent!].map((value) => castTo(wide(value), "BIGINT"));
  return withMarkOf({ node: callAs("__integer_power", input, [x!, n!]), kind: "integer" }, kept);
}

function ofDouble(value: number): Typed {
  return { node: castTo(integerConstant(value), "DOUBLE"), kind: "float" };
}

/** @throws TsdbError bad_query for integers without a sign, floats and texts */
function expectSigned({ node, args }: RuleInput): void {
  if (args.some((value) => isUnsigned64(value) || value.kind === "float" || value.kind === "string"))
    throw planError(`Failed to coerce arguments to satisfy a call to '${node.function_name}' function`);
}

/** gcd, lcm. @throws TsdbError bad_query for integers without a sign */
function ofSigned(name: string): Rule {
  const rule = simple(name, [2], "integer");
  return (input) => {
    expectSigned(input);
    return rule(input);
  };
}

/** DuckDB's result has 128 bits. */
function factorial(input: RuleInput): Typed {
  expectArguments(input, 1);
  refuseTruth(input.args[0]!);
  expectSigned(input);
  return {
    node: castTo(call("factorial", [castTo(input.args[0]!.node, "INTEGER")], input.node.query_location), "BIGINT"),
    kind: "integer",
  };
}

function isZero(input: RuleInput): Typed {
  expectArguments(input, 1);
  refuseTruth(input.args[0]!);
  const location = input.node.query_location === undefined ? {} : { query_location: input.node.query_location };
  const right = integerConstant(0);
  return {
    node: { class: "COMPARISON", type: "COMPARE_EQUAL", alias: "", left: input.args[0]!.node, right, ...location },
    kind: "boolean",
  };
}

export const MATH_RULES: Rules = {
  abs,
  acos: float("__acos"),
  acosh: float("acosh"),
  asin: float("__asin"),
  asinh: float("asinh"),
  atan: float("atan"),
  atan2: simple("atan2", [2], "float"),
  atanh: floatBelow("__atanh"),
  cbrt: float("__cbrt"),
  ceil: floatOfDecimals("ceil"),
  cos: float("__cos"),
  cosh: float("cosh"),
  cot: float("__cot"),
  degrees: float("degrees"),
  exp: float("exp"),
  factorial,
  floor: floatOfDecimals("floor"),
  gcd: ofSigned("gcd"),
  isnan: simple("isnan", [1], "boolean"),
  iszero: isZero,
  lcm: ofSigned("lcm"),
  ln: floatBelow("__ln"),
  log,
  log10: float("__log10"),
  log2: floatBelow("__log2"),
  nanvl: simple("__nanvl", [2], "float"),
  pi: simple("pi", [0], "float"),
  pow: power,
  power,
  radians: float("radians"),
  random: simple("random", [0], "float"),
  round,
  signum: (input) => asPrecise(simple("__signum", [1], "float")(input)!, input.args[0]!),
  sin: float("__sin"),
  sinh: float("sinh"),
  sqrt: floatBelow("__sqrt"),
  tan: float("__tan"),
  tanh: float("tanh"),
  trunc,
};
