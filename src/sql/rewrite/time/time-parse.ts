// Parses text as times: in common formats, or by chrono formats, of which the first match applies. Constants are parsed before the
// statement runs, columns by DuckDB.
import { near, TsdbError } from "../../../model/errors.ts";
import type { Typed } from "../../bind/kind.ts";
import { type Group, MONTHS, type Pattern, patternOf, readByPattern, sourceOf } from "../../functions/chrono-pattern.ts";
import { clampI64 } from "../../parse/time-text.ts";
import type { Expression } from "../../parse/tree.ts";
import { bigintConstant, call, castTo, integerConstant, operator, stringConstant } from "../../parse/tree.ts";
import { isNotNull, nullOf, planError, whenThen } from "../rule.ts";
import { bind } from "./time-macro.ts";
import { timeConstant } from "./time-value.ts";

const FORMATS_MAX = 64;

/** Parses `text` by the first of `formats` that matches. @throws TsdbError bad_query */
export function timeByFormats(name: string, text: Typed, formats: readonly Typed[]): Typed {
  if (formats.length > FORMATS_MAX) throw planError(`${name} takes at most ${FORMATS_MAX} formats, got ${formats.length}`);
  const patterns = formats.map((format): Pattern => {
    if (format.text === undefined) throw planError(`${name} expects its formats to be constant strings`);
    return patternOf(format.text) ?? notAFormat(name, format.text);
  });
  const written = formats.map((format) => `'${format.text}'`).join(", ");
  if (text.text !== undefined) {
    for (const pattern of patterns) {
      const ns = readByPattern(pattern, text.text);
      if (ns !== null && ns === clampI64(ns)) return timeConstant(ns);
    }
    throw new TsdbError("bad_query", `Execution error: Error parsing timestamp from '${near(text.text)}' using formats: [${written}]`);
  }
  if (text.kind !== "string" && text.kind !== "unknown")
    throw planError(`${name} function unsupported data type with formats: ${text.kind}`);
  return { node: columnByPatterns(text.node, patterns, `' using formats: [${written}]`), kind: "time" };
}

function notAFormat(name: string, format: string): never {
  throw planError(`${name}: '${near(format)}' is no valid format`);
}

function columnByPatterns(text: Expression, patterns: readonly Pattern[], problem: string): Expression {
  const value = castTo(text, "VARCHAR");
  const possible = patterns.filter(({ groups }) => groups.length > 0);
  const readings = possible.map((pattern): Expression => {
    const match = call("regexp_full_match", [value, stringConstant(sourceOf(pattern))]);
    return whenThen([[match, nsByPattern(value, pattern)]]);
  });
  const message = concat(stringConstant("Execution error: Error parsing timestamp from '"), value, stringConstant(problem));
  const failure = whenThen([[isNotNull(value), castTo(call("error", [message]), "BIGINT")]]);
  return call("make_timestamp_ns", [coalesce([...readings, failure])]);
}

/** Nanoseconds of a matching text. */
function nsByPattern(text: Expression, pattern: Pattern): Expression {
  const { groups } = pattern;
  // DuckDB's names are case-insensitive
  const nameOf = (group: Group): Expression => stringConstant(`g${groups.indexOf(group)}`);
  const names = call("list_value", groups.map(nameOf));
  const found = call("regexp_extract", [text, stringConstant(sourceOf(pattern)), names]);
  return bind("found", found, (struct) => nsOfGroups(new Set(groups), (group) => call("struct_extract", [struct, nameOf(group)])));
}

function nsOfGroups(groups: ReadonlySet<Group>, textOf: (group: Group) => Expression): Expression {
  const has = (group: Group): boolean => groups.has(group);
  const number = (group: Group): Expression => castTo(textOf(group), "BIGINT");
  const fraction = has("left") ? call("__nine_digits", [textOf("left")]) : has("ns") ? number("ns") : bigintConstant(0n);
  if (has("s")) return operator("+", call("__epoch_text_ns", [textOf("s")]), fraction);
  const year = has("Y") ? number("Y") : call("__century_year", [has("C") ? number("C") : nullOf("BIGINT"), number("y")]);
  const month = has("b")
    ? call("list_position", [
        call("list_value", MONTHS.map(stringConstant)),
        call("lower", [call("left", [textOf("b"), integerConstant(3)])]),
      ])
    : has("m")
      ? number("m")
      : bigintConstant(1n);
  const date = has("j") ? call("__day_of_year", [year, number("j")]) : call("__date_of", [year, month, number("d")]);
  const half = has("p") ? call("lower", [textOf("p")]) : nullOf("VARCHAR");
  const hour = has("H") ? number("H") : has("I") ? call("__hour_of_half", [number("I"), half]) : bigintConstant(0n);
  const [minute, second] = [has("M") ? number("M") : bigintConstant(0n), has("S") ? number("S") : bigintConstant(0n)];
  const offset = has("z") ? call("__offset_seconds", [textOf("z")]) : bigintConstant(0n);
  return call("__ns_of_parts", [date, hour, minute, second, fraction, offset]);
}

function concat(first: Expression, ...others: readonly Expression[]): Expression {
  return others.reduce((left, right) => operator("||", left, right), first);
}

function coalesce(children: Expression[]): Expression {
  return { class: "OPERATOR", type: "OPERATOR_COALESCE", alias: "", children };
}
