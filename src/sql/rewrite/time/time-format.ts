// to_char(value, format): formats times, dates and durations by a chrono format. Fields that DuckDB's strftime formats alike are passed to
// it, as many at once as possible; the others are composed from parts of the time.

import { SECOND_NS } from "../../../model/time/time-units.ts";
import type { Typed } from "../../bind/kind.ts";
import type { Scope } from "../../bind/scope.ts";
import { isNullConstant } from "../../bind/type-notes.ts";
import { type Field, type FormatPart, parseFormat } from "../../functions/chrono.ts";
import type { Expression } from "../../parse/tree.ts";
import { bigintConstant, call, castTo, operator, stringConstant } from "../../parse/tree.ts";
import { argumentCount, isNotNull, nullOf, planError, type RuleInput, whenThen } from "../rule.ts";
import { choose } from "./time-choice.ts";
import { bind, nanosecondsOf, timeMacro } from "./time-macro.ts";
import { asTime } from "./time-value.ts";
import { offsetText, timesOf, toClock, zoneSpans } from "./time-zone.ts";

/** Rewrites to_char(value, format). @throws TsdbError bad_query */
export function toCharRule({ args, scope }: RuleInput): Typed {
  const [value, format] = args;
  if (value === undefined || format === undefined || args.length > 2) throw argumentCount("to_char", "2", args.length);
  if (isNullConstant(format)) return { node: nullOf("VARCHAR"), kind: "string" };
  if (format.text === undefined) throw planError("to_char expects its format to be a constant string");
  if (value.kind === "duration") return { node: durationText(value.node, format.text), kind: "string" };
  const parts = parseFormat(format.text);
  if (parts === null) throw planError(`to_char: '${format.text}' is no valid format`);
  return { node: formatted(value, parts, scope), kind: "string" };
}

/** The values that a time's fields are computed from, each used many times. */
interface Source {
  /** Local time as TIMESTAMP. */
  readonly us: Expression;
  /** Nanoseconds within the second. */
  readonly fraction: Expression;
  /** Seconds since 1970. */
  readonly seconds: Expression;
  offset(style: OffsetStyle): Expression;
}
type OffsetStyle = "+hhmm" | "+hh:mm" | "+hh:mm:ss" | "name";

function formatted(value: Typed, parts: readonly FormatPart[], scope: Scope): Expression {
  if (value.kind === "date" || value.kind === "coarse" || value.kind === "other") return joined(parts, coarseSource(value));
  const time = asTime(value);
  if (time.zone === undefined)
    return bind("shown", time.node, (at) =>
      joined(
        parts,
        sourceOf(at, nanosecondsOf(at), () => utcOffset),
      ),
    );
  const clock = toClock(time, timesOf(time, scope));
  return bind("instant", time.node, (at) =>
    bind("shown", clock.node, (shown) =>
      joined(
        parts,
        sourceOf(shown, nanosecondsOf(at), () => zoneOffset(time, at, scope)),
      ),
    ),
  );
}

function sourceOf(shown: Expression, ns: Expression, offset: () => (style: OffsetStyle) => Expression): Source {
  return {
    us: call("__us", [shown]),
    fraction: call("__second_fraction", [shown]),
    seconds: call("__floor_div", [ns, bigintConstant(1_000_000_000n)]),
    offset: (style) => offset()(style),
  };
}

/** Dates, times of day, and timestamps of coarser units, all within the range of TIMESTAMP. */
function coarseSource(value: Typed): Source {
  const midnight = castTo(stringConstant("1970-01-01"), "DATE");
  const us = value.kind === "other" ? operator("+", midnight, value.node) : castTo(value.node, "TIMESTAMP");
  const epoch = call("epoch_us", [us]);
  return {
    us,
    fraction: operator("*", call("__floor_mod", [epoch, bigintConstant(1_000_000n)]), bigintConstant(1000n)),
    seconds: call("__floor_div", [epoch, bigintConstant(1_000_000n)]),
    offset: utcOffset,
  };
}

const UTC_OFFSETS: Readonly<Record<OffsetStyle, string>> = { "+hhmm": "+0000", "+hh:mm": "+00:00", "+hh:mm:ss": "+00:00:00", name: "UTC" };
const utcOffset = (style: OffsetStyle): Expression => stringConstant(UTC_OFFSETS[style]);

function zoneOffset(time: Typed, at: Expression, scope: Scope): (style: OffsetStyle) => Expression {
  const spans = zoneSpans(time, scope);
  const bounds = spans.slice(1).map(({ fromNs }) => fromNs);
  return (style) => {
    const texts = spans.map(({ offsetNs }) => {
      const text = offsetNs === 0n ? "+00:00" : offsetText(offsetNs);
      if (style === "+hhmm") return text.replace(":", "");
      return style === "+hh:mm:ss" ? `${text}:${secondsOf(offsetNs)}` : style === "name" && offsetNs === 0n ? "UTC" : text;
    });
    return choose(at, bounds, texts);
  };
}

/** Those of a local mean time. */
function secondsOf(offsetNs: bigint): string {
  const seconds = (offsetNs / SECOND_NS) % 60n;
  return String(seconds < 0n ? -seconds : seconds).padStart(2, "0");
}

function joined(parts: readonly FormatPart[], source: Source): Expression {
  const pieces: Expression[] = [];
  let native = "";
  const flush = (): void => {
    if (native !== "") pieces.push(call("strftime", [source.us, stringConstant(native)]));
    native = "";
  };
  for (const part of parts) {
    if ("text" in part) native += part.text.replaceAll("%", "%%");
    else if ("fraction" in part) {
      flush();
      pieces.push(fractionText(part.fraction, part.hasPoint, source.fraction));
    } else if (part.pad === undefined && NATIVE.has(part.field)) native += `%${part.field}`;
    else {
      flush();
      pieces.push(fieldText(part.field, part.pad, source));
    }
  }
  flush();
  const [first = stringConstant(""), ...others] = pieces;
  const text = others.reduce((left, right) => operator("||", left, right), first);
  return pieces.length > 0 ? text : whenThen([[isNotNull(source.us), stringConstant("")]]);
}

/** Fields that strftime formats like chrono. */
const NATIVE: ReadonlySet<Field> = new Set<Field>([
  "y",
  "m",
  "b",
  "B",
  "d",
  "a",
  "A",
  "w",
  "u",
  "U",
  "W",
  "V",
  "j",
  "H",
  "I",
  "p",
  "M",
  "S",
]);

function fractionText(digits: "all" | "needed" | 3 | 6 | 9, hasPoint: boolean, fraction: Expression): Expression {
  if (digits === "needed") return call("__fraction", [fraction]);
  const count = digits === "all" ? 9 : digits;
  const value = count === 9 ? fraction : operator("//", fraction, bigintConstant(10n ** BigInt(9 - count)));
  return call("printf", [stringConstant(`${hasPoint ? "." : ""}%0${count}d`), value]);
}

/** Numbers: DuckDB's name of the part, digits, and padding. */
const NUMBERS: Partial<Record<Field, readonly [part: string, width: number, pad: " " | "0"]>> = {
  Y: ["year", 4, "0"],
  q: ["quarter", 1, "0"],
  m: ["month", 2, "0"],
  d: ["day", 2, "0"],
  e: ["day", 2, " "],
  w: ["dow", 1, "0"],
  u: ["isodow", 1, "0"],
  G: ["isoyear", 4, "0"],
  V: ["week", 2, "0"],
  j: ["doy", 3, "0"],
  H: ["hour", 2, "0"],
  k: ["hour", 2, " "],
  M: ["minute", 2, "0"],
  S: ["second", 2, "0"],
};

function fieldText(field: Field, pad: "" | " " | "0" | undefined, source: Source): Expression {
  const part = (name: string): Expression => call("date_part", [stringConstant(name), source.us]);
  const number = NUMBERS[field];
  if (number !== undefined) return numberText(part(number[0]), number[1], pad ?? number[2]);
  const hundreds = bigintConstant(100n);
  switch (field) {
    case "C":
      return numberText(call("__floor_div", [part("year"), hundreds]), 2, pad ?? "0");
    case "y":
      return numberText(call("__floor_mod", [part("year"), hundreds]), 2, pad ?? "0");
    case "g":
      return numberText(call("__floor_mod", [part("isoyear"), hundreds]), 2, pad ?? "0");
    case "I":
    case "l": {
      const hour = operator("+", operator("%", operator("+", part("hour"), bigintConstant(11n)), bigintConstant(12n)), bigintConstant(1n));
      return numberText(hour, 2, pad ?? (field === "l" ? " " : "0"));
    }
    case "U":
    case "W":
      return numberText(castTo(call("strftime", [source.us, stringConstant(`%${field}`)]), "BIGINT"), 2, pad ?? "0");
    case "P":
      return call("lower", [call("strftime", [source.us, stringConstant("%p")])]);
    case "s":
      return castTo(source.seconds, "VARCHAR");
    case "Z":
      return source.offset("name");
    case "z":
      return source.offset("+hhmm");
    case ":z":
      return source.offset("+hh:mm");
    case "::z":
      return source.offset("+hh:mm:ss");
    default:
      return call("strftime", [source.us, stringConstant(`%${field}`)]);
  }
}

function numberText(value: Expression, width: number, pad: "" | " " | "0"): Expression {
  return call("printf", [stringConstant(pad === "" ? "%d" : `%${pad === "0" ? "0" : ""}${width}d`), value]);
}

/** `iso8601` or `pretty`, Arrow's names. */
function durationText(ns: Expression, format: string): Expression {
  const name = format.trim().toLowerCase();
  if (name !== "pretty" && name !== "iso8601")
    throw planError(`to_char: the formats of a duration are 'pretty' and 'iso8601', not '${format}'`);
  return timeMacro(name === "pretty" ? "__duration_pretty" : "__duration_iso", ns);
}
