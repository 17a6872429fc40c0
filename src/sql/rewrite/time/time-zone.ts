// Times whose type has a zone. Their value is UTC like all others'; local time is computed where needed, from the zone's table of offsets:
// a single offset if a scan's times are between two changes, otherwise a tree of comparisons.
import { near } from "../../../model/errors.ts";
import { ALL_TIME, type TimeRange } from "../../../model/query/scan.ts";
import { DAY_NS, MINUTE_NS } from "../../../model/time/time-units.ts";
import { TimeZone, type ZoneSpan } from "../../../model/time/time-zone.ts";
import type { Typed } from "../../bind/kind.ts";
import type { Scope } from "../../bind/scope.ts";
import { withMarkOf } from "../../bind/type-notes.ts";
import { clampI64 } from "../../parse/time-text.ts";
import type { Expression } from "../../parse/tree.ts";
import { bigintConstant, operator } from "../../parse/tree.ts";
import { planError, type RuleInput } from "../rule.ts";
import { choose, type Leaf } from "./time-choice.ts";
import { bind, nanosecondsOf, timeMacro } from "./time-macro.ts";
import { asTime, timeConstant, timeOfNs, timeOfText } from "./time-value.ts";

/** The zone of a time; null: its type has none, or UTC. */
export function zoneOf({ zone }: Typed): TimeZone | null {
  if (zone === undefined) return null;
  const found = knownZone(zone);
  return found.spans.length === 1 && found.spans[0]!.offsetNs === 0n ? null : found;
}

function knownZone(name: string): TimeZone {
  const zone = TimeZone.of(name);
  if (zone === null) throw planError(`TZ requires a valid timezone string, got "${near(name)}"`);
  return zone;
}

/** `time` with or without a zone in its type. */
export function inZone(time: Typed, zone: string | undefined): Typed {
  const { zone: _, ...plain } = time;
  return zone === undefined ? plain : { ...plain, zone };
}

const TIMES = new Set(["time", "coarse", "date", "string", "unknown"]);

/** tz(time[, zone]): a time without a zone is UTC. */
export function tzRule({ args }: RuleInput): Typed {
  const [time, zone] = args;
  if (time === undefined || args.length > 2) throw planError(`tz expects 1 or 2 arguments, got ${args.length}`);
  if (!TIMES.has(time.kind)) throw planError(`TZ expects nanosecond timestamp data, got ${time.kind}`);
  if (zone === undefined) return inZone(asTime(time), "UTC");
  if (zone.text === undefined) throw planError("tz requires its second argument to be a timezone string, got an expression");
  return inZone(asTime(time), knownZone(zone.text).name);
}

/** `time AT TIME ZONE zone`, parsed as timezone(zone, time): a time without a zone is local time there. */
export function atTimeZoneRule({ args, scope }: RuleInput): Typed {
  const [zone, time] = args;
  if (zone?.text === undefined || time === undefined || args.length > 2) throw planError("AT TIME ZONE expects a timezone string");
  const { name } = knownZone(zone.text);
  if (time.text !== undefined) return inZone(timeConstant(timeOfText(time.text, name)), name);
  const value = asTime(time);
  if (value.zone !== undefined) return inZone(value, name);
  const times = withReach(timesOf(value, scope), 0n);
  return withMarkOf({ ...fromClock(inZone(value, name), times, null), times: () => times }, time);
}

/** to_local_time(time): the local time in the time's zone. */
export function toLocalTimeRule({ args, scope }: RuleInput): Typed {
  const [time] = args;
  if (time === undefined || args.length > 1) throw planError(`to_local_time expects 1 argument, got ${args.length}`);
  // only nanoseconds have zones
  if (time.kind === "coarse") return { ...time, mark: null };
  const value = asTime(time);
  if (zoneOf(value) === null) return { ...inZone(value, undefined), mark: null };
  const range = timesOf(value, scope);
  return { ...toClock(value, range), times: () => withReach(range, 0n) };
}

/** The possible times of a value: those of the rows that it is a column of. */
export function timesOf({ timeNs, source, times }: Typed, scope: Scope): TimeRange {
  if (timeNs !== undefined) return { minNs: timeNs, maxNs: timeNs };
  if (times !== undefined) return times();
  return source === undefined ? ALL_TIME : scope.timeRange(source.scan);
}

/** A range extended backwards, and by the hours around a clock change. */
export function withReach({ minNs, maxNs }: TimeRange, reachNs: bigint): TimeRange {
  return { minNs: clampI64(minNs - reachNs - DAY_NS), maxNs: clampI64(maxNs + DAY_NS) };
}

/** The local time in the time's zone, as a time without a zone. */
export function toClock(time: Typed, range: TimeRange): Typed {
  const zone = zoneOf(time);
  const plain = inZone(time, undefined);
  if (zone === null) return plain;
  if (time.timeNs !== undefined) return timeConstant(time.timeNs + zone.offsetAt(clampI64(time.timeNs)));
  const spans = zone.spansWithin(range);
  if (spans.length === 1) return shifted(plain, spans[0]!.offsetNs);
  return timeOfNs(bind("instant", time.node, (at) => operator("+", nanosecondsOf(at), offsetTree(at, spans))));
}

/** Converts the local time `local` to a time with that zone. `range`: possible results. `chosen`: the instant that it replaces, for
 *  repeated hours; null: the earlier one. */
export function fromClock(local: Typed, range: TimeRange, chosen: ChosenInstant | null): Typed {
  const zone = zoneOf(local);
  if (zone === null) return local;
  if (local.timeNs !== undefined) return inZone(timeConstant(zone.toUtc(local.timeNs)), local.zone);
  const spans = zone.spansWithin(range);
  if (spans.length === 1) return inZone(shifted(local, -spans[0]!.offsetNs), local.zone);
  const utc = bind("clock", local.node, (at) => operator("-", nanosecondsOf(at), clockTree(at, spans, chosen)));
  return inZone(timeOfNs(utc), local.zone);
}

export interface ChosenInstant {
  /** The offset at that instant, as BIGINT nanoseconds. */
  readonly offset: Expression;
  /** Applies only if the repeated hours are as long as this. */
  readonly leastNs: bigint;
}

/** The offset at an instant (TIMESTAMP_NS), which is used many times. */
export function offsetTree(at: Expression, spans: readonly ZoneSpan[]): Expression {
  const bounds = spans.slice(1).map(({ fromNs }) => fromNs);
  const leaves = spans.map(({ offsetNs }) => offsetNs);
  return choose(at, bounds, leaves);
}

/** A time with a zone in the format of answers, with its offset; null: it has no zone. */
export function zonedText(time: Typed, scope: Scope): Expression | null {
  if (time.zone === undefined) return null;
  const spans = zoneSpans(time, scope);
  const bounds = spans.slice(1).map(({ fromNs }) => fromNs);
  return bind("instant", time.node, (at) => {
    const local = timeOfNs(operator("+", nanosecondsOf(at), offsetTree(at, spans)));
    const texts = spans.map(({ offsetNs }) => offsetText(offsetNs));
    const offset = choose(at, bounds, texts);
    return operator("||", timeMacro("__time_text", local.node), offset);
  });
}

/** The spans of a time's zone that may apply. */
export function zoneSpans(time: Typed, scope: Scope): readonly ZoneSpan[] {
  return knownZone(time.zone ?? "UTC").spansWithin(timesOf(time, scope));
}

/** `+02:00`, without the seconds of local mean time; zero is `Z`. */
export function offsetText(offsetNs: bigint): string {
  if (offsetNs === 0n) return "Z";
  const minutes = Number((offsetNs < 0n ? -offsetNs : offsetNs) / MINUTE_NS);
  const twoDigits = (value: number): string => String(value).padStart(2, "0");
  return `${offsetNs < 0n ? "-" : "+"}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

/** The offset for converting local time to an instant. */
function clockTree(at: Expression, spans: readonly ZoneSpan[], chosen: ChosenInstant | null): Expression {
  const bounds: bigint[] = [];
  const leaves: Leaf[] = [spans[0]!.offsetNs];
  for (let i = 1; i < spans.length; i++) {
    const [before, { fromNs, offsetNs }] = [spans[i - 1]!.offsetNs, spans[i]!];
    const after = fromNs + offsetNs;
    // repeated hours start when the clock is set back to `after`
    if (offsetNs < before && chosen !== null && chosen.leastNs <= before - offsetNs) {
      bounds.push(clampI64(after));
      leaves.push(chosen.offset);
    }
    // skipped hours are interpreted with the offset before the change
    bounds.push(clampI64(offsetNs < before ? fromNs + before : after));
    leaves.push(offsetNs);
  }
  return choose(at, bounds, leaves);
}

function shifted(time: Typed, ns: bigint): Typed {
  return ns === 0n ? time : timeOfNs(operator("+", nanosecondsOf(time.node), bigintConstant(ns)));
}
