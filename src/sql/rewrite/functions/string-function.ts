// String functions. Lengths and positions count characters, from 1.
import type { Kind, Typed } from "../../bind/kind.ts";
import { isNullConstant, typeName, viewType } from "../../bind/type-notes.ts";
import { call, castTo, type Expression, integerConstant, operator, stringConstant } from "../../parse/tree.ts";
import { callAs, expectArguments, narrow, nullOf, planError, type Rule, type RuleInput, type Rules, whole } from "../rule.ts";
import { implicitText } from "../values/cast.ts";

const INT32 = { kind: "integer", arrow: "Int32" } as const;
const TEXT = { kind: "string" } as const;
const VIEW = { kind: "string", arrow: "Utf8View" } as const;
const BOOLEAN = { kind: "boolean" } as const;

/** An argument as text. */
const text = (value: Typed, { scope }: RuleInput): Expression => implicitText(value, scope);
const textsOf = (input: RuleInput): Expression[] => input.args.map((arg) => text(arg, input));

/** A text as it is. Other values are no texts to most functions. @throws TsdbError bad_query */
function ownText(value: Typed, input: RuleInput): Expression {
  if (NO_TEXTS.has(value.kind))
    throw planError(`Function '${input.node.function_name}' expects a text but received a value of type ${typeName(value)}`);
  return text(value, input);
}

const NO_TEXTS: ReadonlySet<Kind> = new Set(["integer", "float", "boolean", "time", "date", "interval", "list", "struct", "map"]);

/** A function whose arguments must be texts. */
function ofOwnTexts(name: string, counts: readonly [number, number?], result: Omit<Typed, "node">): Rule {
  return (input) => {
    expectArguments(input, counts[0], counts[1] ?? counts[0]);
    return {
      node: callAs(
        name,
        input,
        input.args.map((arg) => ownText(arg, input)),
      ),
      ...result,
    };
  };
}

/** A function whose arguments must be texts, of a part of the first one. */
function ofPart(name: string, counts: readonly [number, number?]): Rule {
  const rule = ofOwnTexts(name, counts, TEXT);
  return (input) => ({ ...rule(input)!, ...viewType(input.args.slice(0, 1)) });
}

/** A function whose arguments become texts. */
function ofTexts(name: string, counts: readonly [number, number?], result: Omit<Typed, "node">): Rule {
  return (input) => {
    expectArguments(input, counts[0], counts[1] ?? counts[0]);
    return { node: callAs(name, input, textsOf(input)), ...result };
  };
}

/** A function of a text, followed by numbers. */
function textAndNumbers(name: string, counts: readonly [number, number?]): Rule {
  return (input) => {
    expectArguments(input, counts[0], counts[1] ?? counts[0]);
    const [first, ...rest] = input.args;
    return { node: callAs(name, input, [text(first!, input), ...rest.map(whole)]), ...TEXT };
  };
}

/** Concatenation without NULLs. */
function concat(input: RuleInput): Typed | null {
  if (input.args.some(({ kind }) => kind === "list")) return null;
  expectArguments(input, 1, Number.POSITIVE_INFINITY);
  const areTexts = input.args.every((arg) => arg.kind === "string" || isNullConstant(arg));
  return { node: callAs("concat", input, textsOf(input)), ...TEXT, ...(areTexts ? viewType(input.args) : {}) };
}

/** concat_ws(separator, …) */
function concatWith(input: RuleInput): Typed {
  expectArguments(input, 2, Number.POSITIVE_INFINITY);
  return { node: callAs("concat_ws", input, textsOf(input)), ...TEXT };
}

/** Number of bytes or bits, of a text or of binary data. */
function octets(name: "octet_length" | "bit_length"): Rule {
  return (input) => {
    expectArguments(input, 1);
    const [value] = input.args;
    const bytes = value!.kind === "binary" ? callAs("octet_length", input) : callAs("strlen", input, [ownText(value!, input)]);
    return { node: name === "octet_length" ? bytes : operator("*", bytes, integerConstant(8)), ...INT32 };
  };
}

/** lpad, rpad: pads with spaces by default. */
function pad(macro: string): Rule {
  return (input) => {
    expectArguments(input, 2, 3);
    const [value, length, fill] = input.args;
    return {
      node: callAs(macro, input, [text(value!, input), whole(length!), fill === undefined ? stringConstant(" ") : text(fill, input)]),
      ...TEXT,
    };
  };
}

/** substr(text, from [, length]): positions before the first character count, but are empty. */
function substr(input: RuleInput): Typed {
  expectArguments(input, 2, 3);
  const [value, from, length] = input.args;
  if (length === undefined) {
    return { node: callAs("__after", input, [ownText(value!, input), whole(from!)]), ...VIEW };
  }
  if (typeof length.number === "bigint" && length.number < 0n) throw planError(`negative substring length not allowed: ${length.number}`);
  return { node: callAs("__substr", input, [ownText(value!, input), whole(from!), whole(length)]), ...VIEW };
}

/** overlay(text PLACING other FROM place [FOR length]) */
function overlay(input: RuleInput): Typed {
  expectArguments(input, 3, 4);
  const [value, other, first, length] = input.args;
  // its macro would have no type
  if (input.args.some(isNullConstant)) return { node: nullOf("VARCHAR"), ...TEXT };
  const replaced = length === undefined ? call("length", [text(other!, input)]) : whole(length);
  return { node: callAs("__overlay", input, [text(value!, input), text(other!, input), whole(first!), replaced]), ...TEXT };
}

function splitPart(input: RuleInput): Typed {
  expectArguments(input, 3);
  const [value, delimiter, place] = input.args;
  return { node: callAs("__split_part", input, [text(value!, input), text(delimiter!, input), whole(place!)]), ...TEXT };
}

function substrIndex(input: RuleInput): Typed {
  expectArguments(input, 3);
  const [value, delimiter, count] = input.args;
  // DuckDB joins by constants alone
  const macro = delimiter!.text === undefined ? "__substr_index_by" : "__substr_index";
  return { node: callAs(macro, input, [text(value!, input), text(delimiter!, input), whole(count!)]), ...TEXT };
}

function toHex(input: RuleInput): Typed {
  expectArguments(input, 1);
  const { kind } = input.args[0]!;
  if (kind !== "integer" && kind !== "unknown")
    throw planError(`Function 'to_hex' expects an integer but received a value of kind ${kind}`);
  return { node: call("lower", [callAs("to_hex", input)]), ...TEXT };
}

function repeat(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, count] = input.args;
  return { node: callAs("__repeat", input, [castTo(ownText(value!, input), "VARCHAR"), whole(count!)]), ...TEXT };
}

function uuid(input: RuleInput): Typed {
  expectArguments(input, 0);
  return { node: castTo(callAs("uuid", input), "VARCHAR"), ...TEXT };
}

function chr(input: RuleInput): Typed {
  expectArguments(input, 1);
  return { node: callAs("chr", input, [narrow(input.args[0]!)]), ...TEXT };
}

/** string_to_array(text, delimiter [, text that stands for NULL]) */
function stringToArray(input: RuleInput): Typed {
  expectArguments(input, 2, 3);
  const [value, delimiter, none] = input.args;
  const split = callAs("__string_to_array", input, [ownText(value!, input), ownText(delimiter!, input)]);
  const { arrow } = viewType([value!]);
  const node = none === undefined ? split : call("__without_text", [split, text(none, input)]);
  return { node, kind: "list", depth: 1, ...(arrow === undefined ? {} : { arrow: `List(${arrow})` }) };
}

/** replace(text, from, to): an empty text is found before and after each character. */
function replace(input: RuleInput): Typed {
  expectArguments(input, 3);
  const isPlain = input.args[1]!.text !== undefined && input.args[1]!.text !== "";
  return {
    node: callAs(
      isPlain ? "replace" : "__replace",
      input,
      input.args.map((arg) => ownText(arg, input)),
    ),
    ...TEXT,
  };
}

/** translate(text, from, to): of a character that is twice in `from` the last one counts. */
function translate(input: RuleInput): Typed {
  expectArguments(input, 3);
  const [, from, to] = input.args;
  const [text, ...pair] = textsOf(input);
  const isPlain = from!.text !== undefined && new Set(from!.text).size === [...from!.text].length;
  if (isPlain) return { node: callAs("translate", input, [text!, ...pair]), ...TEXT };
  if (from!.text === undefined || to!.text === undefined) return { node: callAs("__translate", input, [text!, ...pair]), ...TEXT };
  return { node: callAs("translate", input, [text!, ...lastOfEach(from!.text, to!.text).map(stringConstant)]), ...TEXT };
}

/** Each character once, with the counterpart that it has last; those without one behind the others. */
function lastOfEach(from: string, to: string): [from: string, to: string] {
  const others = [...to];
  const counterparts = new Map([...from].map((char, i) => [char, others[i] ?? ""]));
  const kept = [...counterparts].sort(([, a], [, b]) => Number(a === "") - Number(b === ""));
  return [kept.map(([char]) => char).join(""), kept.map(([, other]) => other).join("")];
}

const LENGTH = ofTexts("length", [1], INT32);
const POSITION = ofOwnTexts("strpos", [2], INT32);
const TRIM = ofPart("trim", [1, 2]);

export const STRING_RULES: Rules = {
  ascii: ofOwnTexts("ascii", [1], INT32),
  bit_length: octets("bit_length"),
  btrim: TRIM,
  char_length: LENGTH,
  character_length: LENGTH,
  chr,
  concat,
  concat_ws: concatWith,
  contains: (input) =>
    input.args[0]?.kind === "list" || input.args[0]?.kind === "map" ? null : ofOwnTexts("contains", [2], BOOLEAN)(input),
  damerau_levenshtein: ofTexts("__damerau", [2], INT32),
  editdist3: ofTexts("__levenshtein_of", [2], INT32),
  ends_with: ofOwnTexts("ends_with", [2], BOOLEAN),
  find_in_set: ofTexts("__find_in_set", [2], INT32),
  initcap: ofPart("__initcap", [1]),
  instr: POSITION,
  left: textAndNumbers("__left", [2]),
  length: (input) => (input.args[0]?.kind === "list" || input.args[0]?.kind === "binary" ? null : LENGTH(input)),
  levenshtein: ofOwnTexts("__levenshtein_of", [2], INT32),
  lower: ofOwnTexts("lower", [1], TEXT),
  lpad: pad("__lpad"),
  ltrim: ofPart("ltrim", [1, 2]),
  octet_length: octets("octet_length"),
  overlay,
  position: POSITION,
  repeat,
  replace,
  reverse: ofTexts("reverse", [1], TEXT),
  right: textAndNumbers("__right", [2]),
  rpad: pad("__rpad"),
  rtrim: ofPart("rtrim", [1, 2]),
  split_part: splitPart,
  starts_with: ofOwnTexts("starts_with", [2], BOOLEAN),
  string_to_array: stringToArray,
  string_to_list: stringToArray,
  strpos: POSITION,
  substr,
  substr_index: substrIndex,
  substring: substr,
  substring_index: substrIndex,
  to_hex: toHex,
  translate,
  trim: TRIM,
  upper: ofOwnTexts("__upper", [1], TEXT),
  uuid,
};
