// Regular expressions and LIKE patterns. A constant pattern is translated once (regex.ts), others row by row.
import type { Kind, Typed } from "../../bind/kind.ts";
import { isDictionary, isNullConstant, typeName, viewType } from "../../bind/type-notes.ts";
import {
  bigintConstant,
  call,
  castTo,
  type Expression,
  type FunctionCall,
  integerConstant,
  operator,
  stringConstant,
} from "../../parse/tree.ts";
import { translateRegex, translateReplacement } from "../../regex/regex.ts";
import { callAs, expectArguments, not, nullConstant, planError, type RuleInput, type Rules, whenThen, wide } from "../rule.ts";
import { implicitText, textOf } from "../values/cast.ts";

/** A pattern for RE2 that includes its flags. */
function pattern(regex: Typed, flags: Typed | undefined): Expression {
  if (regex.text !== undefined && (flags === undefined || flags.text !== undefined)) {
    return stringConstant(translateRegex(regex.text, flags?.text ?? "").pattern);
  }
  return call("__regex", [castTo(regex.node, "VARCHAR"), flags === undefined ? stringConstant("") : castTo(flags.node, "VARCHAR")]);
}

/** Flags without "g", and whether it was present. */
function withoutGlobal(flags: Typed | undefined): { flags: Typed | undefined; isGlobal: boolean } {
  if (flags?.text === undefined) return { flags, isGlobal: false };
  const text = flags.text.replaceAll("g", "");
  return { flags: { node: stringConstant(text), kind: "string", text }, isGlobal: text !== flags.text };
}

function refuseGlobal(name: string, flags: Typed | undefined): void {
  if (flags?.text?.includes("g")) throw planError(`${name}() does not support the "global" option`);
}

const NO_TEXTS: ReadonlySet<Kind> = new Set(["integer", "float", "boolean", "time", "date", "interval", "list"]);

/** regexp_like(text, regex [, flags]) */
function like(input: RuleInput): Typed {
  expectArguments(input, 2, 3);
  const [value, regex, flags] = input.args;
  refuseGlobal("regexp_like", flags);
  if (NO_TEXTS.has(value!.kind)) throw planError(`Function 'regexp_like' expects a text but received a value of type ${typeName(value!)}`);
  return { node: callAs("regexp_matches", input, [implicitText(value!, input.scope), pattern(regex!, flags)]), kind: "boolean" };
}

/** regexp_count(text, regex [, start [, flags]]) */
function count(input: RuleInput): Typed {
  expectArguments(input, 2, 4);
  const [value, regex, start, flags] = input.args;
  refuseGlobal("regexp_count", flags);
  // the vendor counts no matches of the empty pattern
  if (regex!.text === "") return { node: bigintConstant(0n), kind: "integer" };
  const text = start === undefined ? implicitText(value!, input.scope) : call("__from", [implicitText(value!, input.scope), wide(start)]);
  return { node: call("len", [callAs("regexp_extract_all", input, [text, pattern(regex!, flags)])]), kind: "integer" };
}

const OCCURRENCE_MAX = 100n;

/** regexp_instr(text, regex [, start [, occurrence [, flags]]]): position of the match, from 1; 0 if none. */
function place(input: RuleInput): Typed {
  expectArguments(input, 2, 5);
  const [value, regex, start, occurrence, flags] = input.args;
  refuseGlobal("regexp_instr", flags);
  const nth = occurrence === undefined ? 1n : occurrence.number;
  if (typeof nth !== "bigint" || nth < 1n || nth > OCCURRENCE_MAX)
    throw planError(`regexp_instr expects its occurrence to be a constant from 1 to ${OCCURRENCE_MAX}`);
  const text = start === undefined ? implicitText(value!, input.scope) : call("__from", [implicitText(value!, input.scope), wide(start)]);
  const skipped = nth === 1n ? "" : `{${nth - 1n}}`;
  const around = (re: string): string => (skipped === "" ? `^((?s:.*?))(?:${re})` : `^((?:(?s:.*?)(?:${re}))${skipped}(?s:.*?))(?:${re})`);
  const re = pattern(regex!, flags);
  const whole =
    re.class === "CONSTANT"
      ? stringConstant(around(String(re.value.value)))
      : call("__place_pattern", [re, wide({ node: integerConstant(nth), kind: "integer", number: nth })]);
  return { node: callAs("__regexp_place", input, [text, whole, start === undefined ? integerConstant(1) : wide(start)]), kind: "integer" };
}

/** regexp_match(text, regex [, flags]): the groups of the first match, or the whole match without groups; NULL if there is none. */
function match(input: RuleInput): Typed {
  expectArguments(input, 2, 3);
  const [value, regex, given] = input.args;
  const flags = given !== undefined && isNullConstant(given) ? undefined : given;
  refuseGlobal("regexp_match", flags);
  const text = implicitText(value!, input.scope);
  const re = pattern(regex!, flags);
  const isConstant = re.class === "CONSTANT";
  const extract = (group: number): Expression => callAs("regexp_extract", input, [text, re, integerConstant(group)]);
  const found = isConstant ? groupsOf(regex!.text!, flags?.text ?? "", extract) : anyGroups(regex!, extract);
  const { arrow } = viewType([value!, regex!]);
  const node = whenThen([[call("regexp_matches", [text, re]), found]]);
  return { node, kind: "list", depth: 1, ...(arrow === undefined ? {} : { arrow: `List(${arrow})` }) };
}

/** Groups that did not participate are omitted; DuckDB returns an empty text for them. */
function groupsOf(regex: string, flags: string, extract: (group: number) => Expression): Expression {
  const { groups } = translateRegex(regex, flags);
  if (groups.length === 0) return call("list_value", [extract(0)]);
  const texts = groups.map(({ mayBeEmpty }, i) => {
    const text = extract(i + 1);
    return mayBeEmpty ? text : call("nullif", [text, stringConstant("")]);
  });
  const list = call("list_value", texts);
  return groups.every(({ mayBeEmpty }) => mayBeEmpty) ? list : call("__present", [list]);
}

/** RE2's interface returns at most nine groups. */
const GROUPS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

function anyGroups(regex: Typed, extract: (group: number) => Expression): Expression {
  const groupCount = call("__regex_groups", [castTo(regex.node, "VARCHAR")]);
  const groups = call("list_slice", [call("list_value", GROUPS.map(extract)), castTo(integerConstant(1), "BIGINT"), groupCount]);
  return whenThen([[operator("=", groupCount, integerConstant(0)), call("list_value", [extract(0)])]], groups);
}

/** regexp_replace(text, regex, replacement [, flags]): replaces the first match, with "g" all. */
function replace(input: RuleInput): Typed {
  expectArguments(input, 3, 4);
  const [value, regex, replacement, given] = input.args;
  const { flags, isGlobal } = withoutGlobal(given);
  const re = pattern(regex!, flags);
  const replaced = replacementOf(regex!, replacement!, flags);
  const text = implicitText(value!, input.scope);
  const texts = [value!, regex!, replacement!];
  const areTexts = texts.every((arg) => arg.kind === "string" || isNullConstant(arg));
  const type = { kind: "string" as const, ...(areTexts ? viewType(texts) : { arrow: "LargeUtf8" }) };
  const once = callAs("regexp_replace", input, [text, re, replaced]);
  const all: FunctionCall = { ...once, children: [...once.children, stringConstant("g")] };
  if (given !== undefined && given.text === undefined) {
    const hasGlobal = call("contains", [castTo(given.node, "VARCHAR"), stringConstant("g")]);
    return {
      node: whenThen([
        [hasGlobal, all],
        [not(hasGlobal), once],
      ]),
      ...type,
    };
  }
  return { node: isGlobal ? all : once, ...type };
}

function replacementOf(regex: Typed, replacement: Typed, flags: Typed | undefined): Expression {
  if (regex.text !== undefined && replacement.text !== undefined && (flags === undefined || flags.text !== undefined)) {
    return stringConstant(translateReplacement(replacement.text, translateRegex(regex.text, flags?.text ?? "").groups));
  }
  const flagText = flags === undefined ? stringConstant("") : castTo(flags.node, "VARCHAR");
  return call("__regex_replacement", [castTo(regex.node, "VARCHAR"), flagText, castTo(replacement.node, "VARCHAR")]);
}

/** The operators of token-rules.ts: case-insensitive or not, negated or not. */
const MATCH_OPERATORS: Readonly<Record<string, { sign: string; negated: boolean; flags: string }>> = {
  "<~>": { sign: "~", negated: false, flags: "" },
  "<!~>": { sign: "!~", negated: true, flags: "" },
  "<~*>": { sign: "~*", negated: false, flags: "i" },
  "<!~*>": { sign: "!~*", negated: true, flags: "i" },
};

/** LIKE and similar, by DuckDB's operators. */
const LIKE_OPERATORS: Readonly<Record<string, { sign: string; negated: boolean; name: string }>> = {
  "~~": { sign: "LIKE", negated: false, name: "like_escape" },
  "!~~": { sign: "LIKE", negated: true, name: "like_escape" },
  "~~*": { sign: "ILIKE", negated: false, name: "ilike_escape" },
  "!~~*": { sign: "ILIKE", negated: true, name: "ilike_escape" },
};

const isNumber = ({ kind }: Typed): boolean => kind === "integer" || kind === "float";

/** A number beside a tag is a text. */
function asTexts(values: readonly [Typed, Typed]): readonly [Typed, Typed] {
  if (!values.some(isDictionary)) return values;
  const [left, right] = values.map((value): Typed => {
    return isNumber(value) ? { node: castTo(textOf(value), "VARCHAR"), kind: "string" } : value;
  });
  return [left!, right!];
}

/** The types of two values, if one of them is known to be neither a text nor NULL. */
function unlikeTexts(left: Typed, right: Typed): readonly [string, string] | null {
  const [a, b] = [typeName(left), typeName(right)];
  if (a === null || b === null) return null;
  return [left, right].every(({ kind }) => kind === "string" || kind === "binary" || kind === "unknown") ? null : [a, b];
}

/** Rewrites a pattern operator; null for any other. */
export function rewritePatternOperator(node: FunctionCall, operands: readonly [Typed, Typed]): Typed | null {
  const matching = MATCH_OPERATORS[node.function_name];
  if (matching === undefined && LIKE_OPERATORS[node.function_name] === undefined) return null;
  const [text, regex] = asTexts(operands);
  if (matching !== undefined) {
    const names = unlikeTexts(text, regex);
    if (names !== null) throw planError(`Cannot infer common argument type for regex operation ${names[0]} ${matching.sign} ${names[1]}`);
    const flags: Typed = { node: stringConstant(matching.flags), kind: "string", text: matching.flags };
    const found = call("regexp_matches", [textOf(text), isNull(regex) ? nullConstant() : pattern(regex, flags)], node.query_location);
    return { node: matching.negated ? not(found) : found, kind: "boolean" };
  }
  const like = LIKE_OPERATORS[node.function_name]!;
  const names = unlikeTexts(text, regex);
  if (names !== null) throw planError(`There isn't a common type to coerce ${names[0]} and ${names[1]} in ${like.sign} expression`);
  // backslashes are escapes in the dialect
  if (regex.text !== undefined && !regex.text.includes("\\"))
    return { node: { ...node, children: [text.node, regex.node] }, kind: "boolean" };
  const escaped = regex.text === undefined ? regex.node : stringConstant(withWholeEscapes(regex.text));
  const found = call(like.name, [text.node, escaped, stringConstant("\\")], node.query_location);
  return { node: like.negated ? not(found) : found, kind: "boolean" };
}

/** A backslash that ends a pattern stands for itself. */
function withWholeEscapes(pattern: string): string {
  let end = pattern.length;
  while (pattern[end - 1] === "\\") end--;
  return (pattern.length - end) % 2 === 0 ? pattern : `${pattern}\\`;
}

function isNull({ node }: Typed): boolean {
  return node.class === "CONSTANT" && node.value.is_null;
}

export const REGEX_RULES: Rules = {
  regexp_count: count,
  regexp_instr: place,
  regexp_like: like,
  regexp_match: match,
  regexp_replace: replace,
};
