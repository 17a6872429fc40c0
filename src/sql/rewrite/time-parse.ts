// Text as times: by the forms that everybody writes, or by formats of chrono.ts, of which the first that fits counts. Constants are read
// before the statement runs, columns by DuckDB.
import { near, TsdbError } from "../../model/errors.ts";
import { type Group, MONTHS, type Pattern, patternOf, readByPattern } from "../chrono-pattern.ts";
import type { Typed } from "../kind.ts";
import type { Expression } from "../tree.ts";
import { bigintConstant, call, castTo, integerConstant, operator, stringConstant } from "../tree.ts";
import { timeConstant } from "./cast.ts";
import { isNotNull, nullOf, planError, whenThen } from "./rule.ts";
import { bind } from "./time-macro.ts";

/** Reads `text` by the first of `formats` that fits it. @throws TsdbError bad_query */
export function timeByFormats(name: string, text: Typed, formats: readonly Typed[]): Typed {
  const patterns = formats.map((format): Pattern => {
    if (format.text === undefined) throw planError(`${name} expects its formats to be constant strings`);
    return patternOf(format.text) ?? notAFormat(name, format.text);
  });
  const written = formats.map((format) => `'${format.text}'`).join(", ");
  if (text.text !== undefined) {
    for (const pattern of patterns) {
      const ns = readByPattern(pattern, text.text);
      if (ns !== null) return timeConstant(ns);
    }
    throw new TsdbError("bad_query", `Execution error: Error parsing timestamp from '${near(text.text)}' using formats: [${written}]`);
  }
  if (text.kind !== "string" && text.kind !== "unknown")
    throw planError(`${name} function unsupported data type with formats: ${text.kind}`);
  return { node: columnByPatterns(text.node, patterns, `' using formats: [${written}]`), kind: "time" };
}

/** %c and %+ may be tried though they say more than is there; a format without a date never fits. */
function notAFormat(name: string, format: string): never {
  throw planError(`${name}: '${near(format)}' is no format of a date`);
}

function columnByPatterns(text: Expression, patterns: readonly Pattern[], problem: string): Expression {
  const value = castTo(text, "VARCHAR");
  const readings = patterns.map((pattern): Expression => {
    const match = call("regexp_full_match", [value, stringConstant(`${pattern.source}\\s*`)]);
    return { class: "OPERATOR", type: "OPERATOR_TRY", alias: "", children: [whenThen([[match, nsByPattern(value, pattern)]])] };
  });
  const message = concat(stringConstant("Execution error: Error parsing timestamp from '"), value, stringConstant(problem));
  const failure = whenThen([[isNotNull(value), castTo(call("error", [message]), "BIGINT")]]);
  return call("make_timestamp_ns", [coalesce([...readings, failure])]);
}

const SECOND_NS = 1_000_000_000n;

/** Nanoseconds of a text that matches. */
function nsByPattern(text: Expression, { source, groups }: Pattern): Expression {
  const names = call("list_value", groups.map(stringConstant));
  const found = call("regexp_extract", [text, stringConstant(`${source}\\s*`), names]);
  return bind("found", found, (struct) => nsOfGroups(new Set(groups), (group) => call("struct_extract", [struct, stringConstant(group)])));
}

function nsOfGroups(groups: ReadonlySet<Group>, textOf: (group: Group) => Expression): Expression {
  const has = (group: Group): boolean => groups.has(group);
  const number = (group: Group): Expression => castTo(textOf(group), "BIGINT");
  const fraction = has("left") ? call("__nine_digits", [textOf("left")]) : has("ns") ? number("ns") : bigintConstant(0n);
  if (has("s")) return sum(times(number("s"), SECOND_NS), fraction);
  const year = has("Y") ? number("Y") : call("__century_year", [has("C") ? number("C") : nullOf("BIGINT"), number("y")]);
  const month = has("b")
    ? call("list_position", [
        call("list_value", MONTHS.map(stringConstant)),
        call("lower", [call("left", [textOf("b"), integerConstant(3)])]),
      ])
    : has("m")
      ? number("m")
      : bigintConstant(1n);
  const date = has("j") ? call("__day_of_year", [year, number("j")]) : call("make_date", [year, month, number("d")]);
  const half = has("p") ? call("lower", [textOf("p")]) : nullOf("VARCHAR");
  const hour = has("H") ? number("H") : has("I") ? call("__hour_of_half", [number("I"), half]) : bigintConstant(0n);
  const [minute, second] = [has("M") ? number("M") : bigintConstant(0n), has("S") ? number("S") : bigintConstant(0n)];
  const offset = has("z") ? call("__offset_seconds", [textOf("z")]) : bigintConstant(0n);
  return call("__ns_of_parts", [date, hour, minute, second, fraction, offset]);
}

function concat(first: Expression, ...others: readonly Expression[]): Expression {
  return others.reduce((left, right) => operator("||", left, right), first);
}

function sum(left: Expression, right: Expression): Expression {
  return operator("+", left, right);
}

function times(value: Expression, factor: bigint): Expression {
  return operator("*", value, bigintConstant(factor));
}

function coalesce(children: Expression[]): Expression {
  return { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children };
}
