// Time bins: date_bin by an interval from an origin, in UTC or local time, date_trunc, and DuckDB's time_bucket with its origins. The
// macros are in macros.ts.
import { ALL_TIME, type TimeRange } from "../../../model/query/scan.ts";
import { I64_MAX, I64_MIN } from "../../../model/rows/int64.ts";
import { DAY_NS } from "../../../model/time/time-units.ts";
import type { TimeZone, ZoneSpan } from "../../../model/time/time-zone.ts";
import type { Typed } from "../../bind/kind.ts";
import type { Scope } from "../../bind/scope.ts";
import { isNullConstant } from "../../bind/type-notes.ts";
import { type Interval, intervalNs, PLURALS, parseInterval } from "../../parse/interval.ts";
import { addInterval, clampI64, dateOf, daysOf, floorDiv } from "../../parse/time-text.ts";
import { bigintConstant, castTo, operator, stringConstant } from "../../parse/tree.ts";
import { argumentCount, nullOf, planError, type RuleInput } from "../rule.ts";
import { typed } from "../typed.ts";
import { bind, nanosecondsOf, timeMacro } from "./time-macro.ts";
import { inUnitOf } from "./time-unit.ts";
import { asTime, timeConstant, timeOfNs } from "./time-value.ts";
import { fromClock, inZone, offsetTree, timesOf, toClock, withReach, zoneOf } from "./time-zone.ts";

/** Midnight of a Monday, the origin of weeks. */
const MONDAY_NS = -3n * DAY_NS;

/** The units of date_trunc. */
const TRUNC_UNITS: ReadonlyMap<string, Interval> = new Map(
  "nanosecond microsecond millisecond second minute hour day week month quarter year decade century millennium"
    .split(" ")
    .map((unit) => [unit, parseInterval(`1 ${unit}`)!]),
);

/** The remainder and its shift must fit i64: a third of it, 97 years. Longer bins are counted in months. */
const STEP_MAX = I64_MAX / 3n;

/** The start of the bin of `stepNs` from `originNs` that contains `time`; NULL if it is before the least time. */
export function bin(time: Typed, stepNs: bigint, originNs: bigint): Typed {
  checkStep(stepNs);
  if (stepNs === 1n) return { ...time, mark: null };
  const startOf = (ns: bigint): bigint => originNs + floorDiv(ns - originNs, stepNs) * stepNs;
  if (time.timeNs !== undefined) return inZone(constantBin(startOf(time.timeNs)), time.zone);
  const remainder = originNs - floorDiv(originNs, stepNs) * stepNs;
  const first = startOf(I64_MIN + 1n) + stepNs;
  const [step, shift] = [bigintConstant(stepNs), bigintConstant(remainder === 0n ? stepNs : 2n * stepNs - remainder)];
  const ends = [bigintConstant(first), timeConstant(startOf(I64_MAX)).node];
  const node = timeMacro("__bin", time.node, step, shift, ...ends);
  const { source } = time;
  const value = inZone(typed(node, "time"), time.zone);
  return source === undefined ? value : { ...value, bin: { scan: source.scan, widthNs: stepNs, originNs: remainder, firstNs: first } };
}

function checkStep(stepNs: bigint): void {
  if (stepNs <= 0n) throw planError("DATE_BIN stride must be non-zero and positive");
  if (stepNs > STEP_MAX) throw planError("DATE_BIN stride is longer than 97 years");
}

/** DuckDB cannot represent the first two times of i64. */
function constantBin(startNs: bigint): Typed {
  return startNs < I64_MIN + 2n ? typed(nullOf("TIMESTAMP_NS"), "time") : timeConstant(startNs);
}

const MICROSECOND = 1_000n;
/** October 1677, in months since year 0: the first month that starts within i64 nanoseconds. */
const FIRST_MONTH = 1677n * 12n + 9n;

/** Bins of whole months. */
function binMonths(time: Typed, months: bigint, originNs: bigint): Typed {
  if (months <= 0n) throw planError("DATE_BIN stride must be non-zero and positive");
  if (time.timeNs !== undefined) return inZone(constantBin(monthStart(time.timeNs, months, originNs)), time.zone);
  const dayNumber = floorDiv(originNs, DAY_NS);
  const { year, month, day } = dateOf(Number(dayNumber));
  const rest = originNs - floorDiv(originNs, MICROSECOND) * MICROSECOND;
  const origin = castTo(timeConstant(originNs - rest).node, "TIMESTAMP");
  const n = bigintConstant(months);
  if (day === 1 && dayNumber * DAY_NS === originNs) {
    const originIndex = BigInt(year * 12 + month - 1);
    const firstIndex = originIndex - floorDiv(originIndex - FIRST_MONTH, months) * months;
    const first = BigInt(daysOf(Number(floorDiv(firstIndex, 12n)), Number(firstIndex % 12n) + 1, 1)) * DAY_NS;
    const ends = [origin, timeConstant(first).node];
    const node = timeMacro("__bin_months", time.node, castTo(n, "INTEGER"), ...ends);
    return inZone(typed(node, "time"), time.zone);
  }
  const originMonth = bigintConstant(BigInt(year * 12 + month));
  const node = timeMacro("__bin_months_from", time.node, n, origin, bigintConstant(rest), originMonth);
  return inZone(typed(node, "time"), time.zone);
}

/** The latest time of the form origin + n * `months` that is at most `timeNs`, or `ahead` steps later. */
export function monthStart(timeNs: bigint, months: bigint, originNs: bigint, ahead = 0n): bigint {
  const monthOf = (ns: bigint): bigint => {
    const { year, month } = dateOf(Number(floorDiv(ns, DAY_NS)));
    return BigInt(year * 12 + month);
  };
  const startOf = (k: bigint): bigint => addInterval(originNs, { months: Number(k * months), days: 0, ns: 0n });
  const k = floorDiv(monthOf(timeNs) - monthOf(originNs), months);
  return startOf((startOf(k) <= timeNs ? k : k - 1n) + ahead);
}

interface BinArguments {
  readonly interval: Interval;
  readonly time: Typed;
  readonly originNs: bigint;
}

/** @throws TsdbError bad_query */
function binArguments(name: string, { args }: Pick<RuleInput, "args">): BinArguments {
  const [stride, time, origin] = args;
  if (stride === undefined || time === undefined || args.length > 3) throw argumentCount(name, "2 or 3", args.length);
  const title = name.toUpperCase();
  const interval = stride.interval ?? (stride.text === undefined ? null : parseInterval(stride.text));
  if (interval === null) throw planError(`${title} expects the stride to be an interval literal`);
  const originNs = origin === undefined ? 0n : (asTime(origin).timeNs ?? midnight(origin));
  if (originNs === undefined) throw planError(`${title} expects the origin to be a constant`);
  if (interval.months !== 0 && (interval.days !== 0 || interval.ns !== 0n)) {
    throw planError(`${title} stride does not support combination of month, day and nanosecond intervals`);
  }
  return { interval, time: asTime(time), originNs };
}

/** The start of a constant date; undefined if it is none. */
function midnight({ kind, node }: Typed): bigint | undefined {
  const text = kind === "date" && node.class === "CAST" && node.child.class === "CONSTANT" ? node.child.value.value : undefined;
  return typeof text === "string" ? asTime({ node: stringConstant(text), kind: "string", text }).timeNs : undefined;
}

/** Rewrites date_bin(interval, time, origin). @throws TsdbError bad_query */
export function dateBin(input: RuleInput): Typed {
  const { interval, time, originNs } = binArguments("date_bin", input);
  const { months } = interval;
  const value = months === 0 ? bin(time, intervalNs(interval), originNs) : binMonths(time, BigInt(months), originNs);
  const reachNs = months === 0 ? intervalNs(interval) : BigInt(months) * LONG_MONTH_NS;
  // an origin makes them nanoseconds
  const start = input.args.length === 2 ? inUnitOf(value, input.args[1]!) : value;
  return { ...start, times: () => withReach(timesOf(time, input.scope), reachNs) };
}

const LONG_MONTH_NS = 31n * DAY_NS;

/** date_bin_wallclock(interval, time[, origin]): bins by local time in the time's zone; the origin is a local time too. */
export function dateBinWallclock(input: RuleInput): Typed {
  const { interval, time, originNs } = binArguments("date_bin_wallclock", input);
  if (input.args[2]?.zone !== undefined) throw planError("DATE_BIN_WALLCLOCK expects an origin without a time zone");
  const value =
    interval.months === 0
      ? wallclockBin(time, { stepNs: intervalNs(interval), originNs, leastNs: leastOverlap(interval) }, input.scope)
      : wallclockMonths(time, { months: BigInt(interval.months), originNs, leastNs: I64_MAX }, input.scope);
  return inUnitOf(value, input.args[1]!);
}

function wallclockMonths(
  time: Typed,
  { months, originNs, leastNs }: { months: bigint; originNs: bigint; leastNs: bigint },
  scope: Scope,
): Typed {
  const times = (): TimeRange => withReach(timesOf(time, scope), months * LONG_MONTH_NS);
  const range = zoneOf(time) === null ? ALL_TIME : times();
  return { ...onClock(time, range, leastNs, (local) => binMonths(local, months, originNs)), times };
}

function wallclockBin(time: Typed, bins: ClockBins, scope: Scope): Typed {
  const { stepNs, originNs, leastNs } = bins;
  checkStep(stepNs);
  const zone = zoneOf(time);
  const times = (): TimeRange => withReach(timesOf(time, scope), stepNs);
  if (zone === null) return { ...bin(time, stepNs, originNs), times };
  if (time.timeNs !== undefined) return inZone(timeConstant(wallclockStart(time.timeNs, zone, bins)), time.zone);
  const spans = zone.spansWithin(times());
  if (areFixed(spans, stepNs, originNs)) return { ...bin(time, stepNs, originNs - spans[0]!.offsetNs), times };
  return { ...onClock(time, times(), leastNs, (local) => bin(local, stepNs, originNs)), times };
}

/** Of repeated hours the first are meant, unless they are at least as long as the interval: then those of the time itself. */
export function leastOverlap(interval: Interval): bigint {
  return interval.days !== 0 ? I64_MAX : interval.ns;
}

export interface ClockBins {
  readonly stepNs: bigint;
  readonly originNs: bigint;
  readonly leastNs: bigint;
}

/** The start of the bin of an instant. */
function wallclockStart(timeNs: bigint, zone: TimeZone, { stepNs, originNs, leastNs }: ClockBins): bigint {
  const offsetNs = zone.offsetAt(timeNs);
  const localNs = timeNs + offsetNs;
  return zone.toUtc(originNs + floorDiv(localNs - originNs, stepNs) * stepNs, { offsetNs, leastNs });
}

/** True if clock changes are whole bins at the end of a bin: then the bins equal bins in UTC. */
function areFixed(spans: readonly ZoneSpan[], stepNs: bigint, originNs: bigint): boolean {
  return spans.every(({ fromNs, offsetNs }, i) => {
    const before = spans[i - 1]?.offsetNs;
    return before === undefined || ((before - offsetNs) % stepNs === 0n && (fromNs + before - originNs) % stepNs === 0n);
  });
}

/** Applies `move` to the local time in the time's zone. `range`: of the time, and of the result. */
export function onClock(time: Typed, range: TimeRange, leastNs: bigint, move: (local: Typed) => Typed): Typed {
  const zone = zoneOf(time);
  if (zone === null) return inZone(move(inZone(time, undefined)), time.zone);
  if (time.timeNs !== undefined) {
    const offsetNs = zone.offsetAt(clampI64(time.timeNs));
    const { timeNs } = move(timeConstant(time.timeNs + offsetNs));
    const utc = timeNs === undefined ? typed(nullOf("TIMESTAMP_NS"), "time") : timeConstant(zone.toUtc(timeNs, { offsetNs, leastNs }));
    return inZone(utc, time.zone);
  }
  if (zone.spansWithin(range).length === 1) {
    return fromClock(inZone(move(toClock(time, range)), time.zone), range, null);
  }
  const spans = zone.spansWithin(range);
  const node = bind("instant", time.node, (at) => {
    const offset = offsetTree(at, spans);
    const local = timeOfNs(operator("+", nanosecondsOf(at), offset));
    return fromClock(inZone(move(local), time.zone), range, { offset, leastNs }).node;
  });
  return inZone(typed(node, "time"), time.zone);
}

const MONDAY_OF_2000_NS = 946_857_600_000_000_000n;
const NEW_YEAR_OF_2000_NS = 946_684_800_000_000_000n;

/** DuckDB's function for bins, with its origins but with nanoseconds; `time_bucket(width, time, interval)` is left to DuckDB. */
export function timeBucket({ args }: RuleInput): Typed | null {
  const [width, time, origin] = args;
  const interval = width?.interval;
  const originNs = origin === undefined ? undefined : origin.text === undefined ? origin.timeNs : asTime(origin).timeNs;
  if (interval === undefined || time?.kind !== "time" || args.length > 3 || (origin !== undefined && originNs === undefined)) return null;
  if (interval.months === 0) return bin(time, intervalNs(interval), originNs ?? MONDAY_OF_2000_NS);
  return interval.days === 0 && interval.ns === 0n ? binMonths(time, BigInt(interval.months), originNs ?? NEW_YEAR_OF_2000_NS) : null;
}

/** The name of a unit or part of a time, in any case, singular or plural. */
export function unitName(value: Typed | undefined): string | null {
  if (value?.text === undefined) return null;
  const name = value.text.trim().toLowerCase();
  return PLURALS.get(name) ?? name.replace(/s$/, "");
}

/** Rewrites date_trunc(unit, value); null if DuckDB's function does. @throws TsdbError bad_query */
export function dateTrunc({ args, scope }: RuleInput): Typed | null {
  const [unit, value] = args;
  if (args.length !== 2 || value === undefined) throw argumentCount("date_trunc", "2", args.length);
  if (isNullConstant(value)) return { node: nullOf("TIMESTAMP_NS"), kind: "time" };
  if (!["time", "coarse", "date"].includes(value.kind) && value.text === undefined) return null;
  const name = unitName(unit) ?? "";
  const step = TRUNC_UNITS.get(name);
  if (step === undefined) throw planError(`Unsupported date_trunc granularity: ${unit?.text ?? "not a constant"}`);
  const time = asTime(value);
  // a repeated local time stays in its own hour
  const start =
    step.months === 0
      ? wallclockBin(time, { stepNs: intervalNs(step), originNs: name === "week" ? MONDAY_NS : 0n, leastNs: 0n }, scope)
      : wallclockMonths(time, { months: BigInt(step.months), originNs: 0n, leastNs: 0n }, scope);
  return inUnitOf(start, value);
}
