// Package `regexp`: matches, their places, and texts made of them.
import type { ScriptRun } from "../../interpret/script-run.ts";
import { FluxError } from "../../values/flux-error.ts";
import { compileRegexp, patternError } from "../../values/regexp.ts";
import { checkLength, stringOf } from "../../values/text.ts";
import { FluxArray, isNull, kindOf, Regexp, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeCall } from "../native-call.ts";
import { answeringNulls, type NullAnswer } from "../null-arguments.ts";

/** Matches from left to right that do not overlap; an empty one beside the end of the last is none. */
function* matches({ matcher }: Regexp, text: string, { use }: ScriptRun): Generator<readonly number[]> {
  let lastEnd = -1;
  for (let from = 0; from <= text.length; ) {
    const found = matcher.find(text, from);
    // a search may have gone to the end of the text for it
    use.check();
    if (found === null) return;
    const start = found[0]!;
    const end = found[1]!;
    if (end > start || start !== lastEnd) yield found;
    lastEnd = end;
    from = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
  }
}

function replaceAll(regexp: Regexp, text: string, template: string, run: ScriptRun): string {
  let made = "";
  let done = 0;
  for (const groups of matches(regexp, text, run)) {
    made += text.slice(done, groups[0]) + expanded(template, text, groups, regexp);
    done = groups[1]!;
    checkLength(made.length);
  }
  return made + text.slice(done);
}

/** `$1`, `$name`, `${name}` and `$$`; the longest name counts, and the name of no group is empty. */
export function expanded(template: string, text: string, groups: readonly number[], { matcher }: Regexp): string {
  return template.replace(/\$(?:(\$)|(\w+)|\{(\w+)\})/g, (_, dollar: string | undefined, short: string | undefined, long: string) => {
    if (dollar !== undefined) return "$";
    const name = short ?? long;
    const index = /^\d+$/.test(name) ? Number(name) : matcher.groupNames.get(name);
    const [start, end] = index === undefined ? [-1, -1] : [groups[2 * index] ?? -1, groups[2 * index + 1] ?? -1];
    return start < 0 ? "" : text.slice(start, end);
  });
}

/** At most `count` parts, all below 0, none for 0. */
function split(regexp: Regexp, text: string, count: number, run: ScriptRun): string[] {
  if (count === 0) return [];
  if (regexp.source !== "" && text === "") return [""];
  const parts: string[] = [];
  let [begin, end] = [0, 0];
  for (const [start, stop] of matches(regexp, text, run)) {
    if (count > 0 && parts.length === count - 1) break;
    end = start!;
    if (stop !== 0) parts.push(text.slice(begin, end));
    begin = stop!;
  }
  if (end !== text.length) parts.push(text.slice(begin));
  return parts;
}

function argumentsOf(call: NativeCall): [Regexp, string] {
  return [call.regexp("r"), call.string("v")];
}

/** The words for a call with a null among its arguments. */
const nullAnswer: NullAnswer = (name, _argument, _null, call) => {
  const [text] = shownArguments(call, ["v"]);
  if (name === "compile") throw new FluxError(`cannot convert ${text} to Regex`);
  if (name === "quoteMeta") throw new FluxError(`cannot escape all regular expression metacharacters inside ${text}`);
  const shown = shownArguments(call, ["r", "v", name === "splitRegexp" ? "i" : "t"]);
  const list = shown.length > 2 ? `${shown.slice(0, -1).join(", ")}, and ${shown.at(-1)}` : shown.join(" and ");
  throw new FluxError(`cannot execute function containing ${list}`);
};

function shownArguments(call: NativeCall, names: readonly string[]): string[] {
  return names.filter((name) => call.has(name)).map((name) => `argument ${name} of ${shownValue(call.value(name))}`);
}

function shownValue(value: Value): string {
  if (isNull(value)) return value.type === "invalid" ? "type invalid value {}" : `type ${value.type} value <nil>`;
  return `type ${kindOf(value)} value ${value instanceof Regexp ? value.source : stringOf(value)}`;
}

const bytesTo = (text: string, at: number): bigint => BigInt(Buffer.byteLength(text.slice(0, at)));

export const REGEXP: LibraryPackage = {
  path: "regexp",
  name: "regexp",
  source: `
builtin compile : (v: string) => regexp
builtin quoteMeta : (v: string) => string
builtin findString : (r: regexp, v: string) => string
builtin findStringIndex : (r: regexp, v: string) => [int]
builtin matchRegexpString : (r: regexp, v: string) => bool
builtin replaceAllString : (r: regexp, v: string, t: string) => string
builtin splitRegexp : (r: regexp, v: string, i: int) => [string]
builtin getString : (r: regexp) => string
`,
  natives: answeringNulls(
    {
      compile: (call) => {
        const source = call.string("v");
        const error = patternError(source);
        if (error !== null) throw new FluxError(error);
        return compileRegexp(source);
      },
      quoteMeta: (call) => call.string("v").replace(/[\\.+*?()|[\]{}^$]/g, "\\$&"),
      matchRegexpString: (call) => call.regexp("r").matcher.test(call.string("v")),
      getString: (call) => call.regexp("r").source,
      findString: (call) => {
        const [regexp, text] = argumentsOf(call);
        const found = regexp.matcher.find(text, 0);
        return found === null ? "" : text.slice(found[0], found[1]);
      },
      findStringIndex: (call) => {
        const [regexp, text] = argumentsOf(call);
        const found = regexp.matcher.find(text, 0);
        return new FluxArray(found === null ? [] : [bytesTo(text, found[0]!), bytesTo(text, found[1]!)], 0n);
      },
      replaceAllString: (call) => {
        const [regexp, text] = argumentsOf(call);
        return replaceAll(regexp, text, call.string("t"), call.run);
      },
      splitRegexp: (call) => {
        const [regexp, text] = argumentsOf(call);
        return new FluxArray(split(regexp, text, call.int("i"), call.run), "");
      },
    },
    nullAnswer,
  ),
};
