// Package `strings`. Places and lengths count code points.

import { compareTexts } from "../../../model/rows/text-order.ts";
import { FluxError } from "../../values/flux-error.ts";
import { checkLength } from "../../values/text.ts";
import { FluxArray, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { answeringNulls, type NullAnswer } from "../null-arguments.ts";

const count = (text: string): number => {
  let points = 0;
  for (const _ of text) points++;
  return points;
};

/** The place in code points of an offset in UTF-16 units; -1 stays. */
const place = (text: string, offset: number): bigint => BigInt(offset < 0 ? -1 : Buffer.byteLength(text.slice(0, offset)));

function trimmed(text: string, cutset: string, { left, right }: { readonly left: boolean; readonly right: boolean }): string {
  const cut = new Set(cutset);
  const points = [...text];
  let [from, to] = [0, points.length];
  while (left && from < to && cut.has(points[from]!)) from++;
  while (right && to > from && cut.has(points[to - 1]!)) to--;
  return points.slice(from, to).join("");
}

function replaced(text: string, from: string, to: string, times: number): string {
  if (times < 0)
    return limited(text.split(from).length * to.length + text.length, () => (from === "" ? spread(text, to) : text.replaceAll(from, to)));
  const parts = from === "" ? ["", ...text] : text.split(from);
  return parts.slice(1).reduce((made, part, i) => made + (i < times ? to : from) + part, parts[0]!);
}

function spread(text: string, between: string): string {
  return between + [...text].map((point) => point + between).join("");
}

function limited(length: number, make: () => string): string {
  checkLength(length);
  return make();
}

function parts(text: string, separator: string, most: number, keepsSeparator: boolean): FluxArray {
  if (most === 0) return new FluxArray([], "");
  const all = separator === "" ? [...text] : text.split(separator);
  const whole = most < 0 || all.length <= most ? all : [...all.slice(0, most - 1), all.slice(most - 1).join(separator)];
  const shown = keepsSeparator ? whole.map((part, i) => (i < whole.length - 1 ? part + separator : part)) : whole;
  return new FluxArray(shown, "");
}

function substring(call: NativeCall): string {
  const points = [...call.string("v")];
  const [start, end] = [call.int("start"), call.int("end")];
  return points.slice(Math.max(0, start), Math.max(0, Math.min(points.length, end))).join("");
}

/** Of one character: an ASCII one, as the reference counts bytes. */
const every =
  (pattern: RegExp): NativeBody =>
  (call) => {
    const text = call.string("v");
    if (Buffer.byteLength(text) !== 1) throw new FluxError('"v" is not a valid argument: argument length is not equal to 1');
    return pattern.test(text);
  };

/** A letter behind anything but a letter, digit or underscore begins a word. */
const titled = (text: string): string =>
  text.replace(/(^|[^\p{L}\p{N}_])(\p{L})/gu, (_, before: string, letter: string) => before + mapped(letter, titleForm));

/** Upper case of one code point each: nothing grows. */
const mapped = (text: string, map: (point: string) => string): string =>
  [...text].map((point) => ([...map(point)].length === 1 ? map(point) : point)).join("");

/** Letters whose form at the head of a title is none of a capital letter. Source: Unicode, UnicodeData.txt, title case mappings. */
const TITLE_FORMS: Readonly<Record<string, string>> = {
  ...{ Ǆ: "ǅ", ǆ: "ǅ", Ǉ: "ǈ", ǉ: "ǈ", Ǌ: "ǋ", ǋ: "ǋ", ǌ: "ǋ", Ǳ: "ǲ", ǳ: "ǲ", ǅ: "ǅ", ǈ: "ǈ", ǲ: "ǲ" },
};
const titleForm = (point: string): string => TITLE_FORMS[point] ?? point.toUpperCase();
/** Of one code point: the one in capital letters that has more in lower case is an I with a dot. */
const lowerForm = (point: string): string => (point === "İ" ? "i" : point.toLowerCase());
/** Equal for letters that differ in case alone, code point by code point. */
const folded = (text: string): string =>
  mapped(
    mapped(text, (point) => point.toUpperCase()),
    lowerForm,
  );

function lastAny(text: string, chars: string): bigint {
  let found = -1;
  let at = 0;
  for (const point of text) {
    if (chars.includes(point)) found = at;
    at += point.length;
  }
  return place(text, found);
}

function firstAny(text: string, chars: string): bigint {
  let at = 0;
  for (const point of text) {
    if (chars.includes(point)) return place(text, at);
    at += point.length;
  }
  return -1n;
}

const v = (call: NativeCall): string => call.string("v");

const OF_CASE: readonly string[] = ["title", "toTitle", "toUpper", "toLower", "trimSpace"];
const OF_POINTS: readonly string[] = ["isDigit", "isLetter", "isLower", "isUpper", "strlen"];
const EXPECTED: Readonly<Record<string, string>> = { i: "int", start: "int", end: "int" };

/** No function takes a null: as recorded, all of `OF_CASE` speak of upper case. */
const nullAnswer: NullAnswer = (name, argument, { type }) => {
  const shown = type === "invalid" ? "type invalid value {}" : `type ${type} value <nil>`;
  if (OF_CASE.includes(name)) throw new FluxError(`cannot convert argument of ${shown} to upper case`);
  if (OF_POINTS.includes(name)) throw new FluxError("procedure cannot be executed");
  const wanted = EXPECTED[argument] ?? "string";
  // it fails inside there on a text that is missing from its column
  if (name === "substring" && type !== wanted)
    throw new FluxError(`keyword argument "${argument}" should be of kind ${wanted}, but got ${type}`);
  throw new FluxError(`expected argument "${argument}" to be of type ${wanted}, got ${shown}`);
};

export const STRINGS: LibraryPackage = {
  path: "strings",
  name: "strings",
  source: `
builtin title : (v: string) => string
builtin toUpper : (v: string) => string
builtin toLower : (v: string) => string
builtin trim : (v: string, cutset: string) => string
builtin trimPrefix : (v: string, prefix: string) => string
builtin trimSpace : (v: string) => string
builtin trimSuffix : (v: string, suffix: string) => string
builtin trimRight : (v: string, cutset: string) => string
builtin trimLeft : (v: string, cutset: string) => string
builtin toTitle : (v: string) => string
builtin hasPrefix : (v: string, prefix: string) => bool
builtin hasSuffix : (v: string, suffix: string) => bool
builtin containsStr : (v: string, substr: string) => bool
builtin containsAny : (v: string, chars: string) => bool
builtin equalFold : (v: string, t: string) => bool
builtin compare : (v: string, t: string) => int
builtin countStr : (v: string, substr: string) => int
builtin index : (v: string, substr: string) => int
builtin indexAny : (v: string, chars: string) => int
builtin lastIndex : (v: string, substr: string) => int
builtin lastIndexAny : (v: string, chars: string) => int
builtin isDigit : (v: string) => bool
builtin isLetter : (v: string) => bool
builtin isLower : (v: string) => bool
builtin isUpper : (v: string) => bool
builtin repeat : (v: string, i: int) => string
builtin replace : (v: string, t: string, u: string, i: int) => string
builtin replaceAll : (v: string, t: string, u: string) => string
builtin split : (v: string, t: string) => [string]
builtin splitAfter : (v: string, t: string) => [string]
builtin splitN : (v: string, t: string, i: int) => [string]
builtin splitAfterN : (v: string, t: string, i: int) => [string]
builtin joinStr : (arr: [string], v: string) => string
builtin strlen : (v: string) => int
builtin substring : (v: string, start: int, end: int) => string
`,
  natives: answeringNulls(
    {
      title: (call) => titled(v(call)),
      toTitle: (call) => mapped(v(call), titleForm),
      toUpper: (call) => mapped(v(call), (point) => point.toUpperCase()),
      toLower: (call) => mapped(v(call), lowerForm),
      trim: (call) => trimmed(v(call), call.string("cutset"), { left: true, right: true }),
      trimLeft: (call) => trimmed(v(call), call.string("cutset"), { left: true, right: false }),
      trimRight: (call) => trimmed(v(call), call.string("cutset"), { left: false, right: true }),
      trimSpace: (call) => v(call).trim(),
      trimPrefix: (call) => (v(call).startsWith(call.string("prefix")) ? v(call).slice(call.string("prefix").length) : v(call)),
      trimSuffix: (call) => {
        const suffix = call.string("suffix");
        return suffix !== "" && v(call).endsWith(suffix) ? v(call).slice(0, -suffix.length) : v(call);
      },
      hasPrefix: (call) => v(call).startsWith(call.string("prefix")),
      hasSuffix: (call) => v(call).endsWith(call.string("suffix")),
      containsStr: (call) => v(call).includes(call.string("substr")),
      containsAny: (call) => firstAny(v(call), call.string("chars")) >= 0n,
      equalFold: (call) => folded(v(call)) === folded(call.string("t")),
      compare: (call) => BigInt(compareTexts(v(call), call.string("t"))),
      countStr: (call) => {
        const part = call.string("substr");
        return BigInt(part === "" ? count(v(call)) + 1 : v(call).split(part).length - 1);
      },
      index: (call) => place(v(call), v(call).indexOf(call.string("substr"))),
      indexAny: (call) => firstAny(v(call), call.string("chars")),
      lastIndex: (call) => place(v(call), v(call).lastIndexOf(call.string("substr"))),
      lastIndexAny: (call) => lastAny(v(call), call.string("chars")),
      isDigit: every(/^\p{Nd}$/u),
      isLetter: every(/^\p{L}$/u),
      isLower: every(/^\p{Ll}$/u),
      isUpper: every(/^\p{Lu}$/u),
      repeat: (call) => {
        const times = call.int("i");
        if (times < 0) throw new FluxError("repeat: negative Repeat count");
        return limited(v(call).length * times, () => v(call).repeat(times));
      },
      replace: (call) => replaced(v(call), call.string("t"), call.string("u"), call.int("i")),
      replaceAll: (call) => replaced(v(call), call.string("t"), call.string("u"), -1),
      split: (call) => parts(v(call), call.string("t"), -1, false),
      splitAfter: (call) => parts(v(call), call.string("t"), -1, true),
      splitN: (call) => parts(v(call), call.string("t"), call.int("i"), false),
      splitAfterN: (call) => parts(v(call), call.string("t"), call.int("i"), true),
      joinStr: (call) =>
        call
          .array("arr")
          .items.map((item: Value) => {
            if (typeof item === "string") return item;
            throw new FluxError('expected elements of argument "arr" to be of type string, got type string value <nil>');
          })
          .join(v(call)),
      strlen: (call) => BigInt(count(v(call))),
      substring,
    },
    nullAnswer,
  ),
};
