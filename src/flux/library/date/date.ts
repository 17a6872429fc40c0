// Package `date`: parts of times, arithmetic with the calendar.
import { addDuration, civilOf, DAY_NS, daysOf, floorDiv, negated, SECOND_NS } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import { type Location, locationOf } from "../../values/location.ts";
import { Duration, isNull, kindOf, Null, Time, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { Windows } from "../universe/window-bounds.ts";

const ZERO = new Duration(0n, 0n);

/** @throws FluxError: what is no column has no type, and others than times are none where they are missing, too */
function checkTimeable(value: Value): void {
  if (isNull(value) && value.type !== "time") throw new FluxError(`${value.type} is not Timeable`);
}

/** A time, or a duration from now. */
export function timeOf(value: Value, call: NativeCall): Time {
  if (value instanceof Time) return value;
  if (value instanceof Duration) return addDuration(call.run.nowTime, value);
  throw new FluxError(`${kindOf(value)} is not Timeable`);
}

/** The time, or null for a time that is missing, at the start of its unit. @throws FluxError for other values */
export function truncate(call: NativeCall): Value {
  const value = call.value("t");
  checkTimeable(value);
  return isNull(value) ? Null.of("time") : truncated(timeOf(value, call), call.duration("unit"), locationOfCall(call));
}

/** The argument `location`, or the script's option. @throws FluxError for an unknown zone */
export function locationOfCall(call: NativeCall): Location {
  return locationOf(call.record("location", call.run.location));
}

interface Clock {
  /** Days since 1970. */
  readonly days: number;
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Within the day. */
  readonly ns: bigint;
}

function clockOf(localNs: bigint): Clock {
  const days = floorDiv(localNs, DAY_NS);
  return { days: Number(days), ...civilOf(Number(days)), ns: localNs - days * DAY_NS };
}

/** 0 is Sunday. */
export function weekDayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7;
}

/** ISO 8601: the week that holds the year's first Thursday is 1. */
function isoWeek({ days }: Clock): number {
  const thursday = days - ((weekDayOf(days) + 6) % 7) + 3;
  const { year } = civilOf(thursday);
  return Math.floor((thursday - daysOf(year, 1, 1)) / 7) + 1;
}

function part(read: (clock: Clock) => number | bigint): NativeBody {
  return partOf((ns, call) => {
    const record = call.record("location", call.run.location);
    const offset = record.get("offset");
    const later = offset instanceof Duration ? addDuration(new Time(ns), new Duration(offset.months, 0n)).ns : ns;
    return read(clockOf(BigInt.asIntN(64, locationOf(record).toLocal(later))));
  });
}

/** A part that is the same everywhere, as recorded: no location is asked for. */
function smallPart(read: (clock: Clock) => bigint): NativeBody {
  return partOf((ns) => read(clockOf(ns)));
}

function partOf(read: (ns: bigint, call: NativeCall) => number | bigint): NativeBody {
  return (call) => {
    const value = call.value("t");
    checkTimeable(value);
    return isNull(value) ? Null.of("int") : BigInt(read(timeOf(value, call).ns, call));
  };
}

/** The start of the unit that holds the time. */
export function truncated(time: Time, unit: Duration, location: Location): Time {
  for (const { startNs } of new Windows(unit, unit, ZERO, location).holding(time.ns)) return new Time(startNs);
  return time;
}

/** The time later by the duration; months are added to the clock of the location. */
export function moved(time: Time, by: Duration, location: Location): Time {
  // everything moves the local clock
  const local = addDuration(new Time(location.toLocal(time.ns)), by);
  return new Time(BigInt.asIntN(64, location.toUtc(local.ns)));
}

/** As recorded: of a number beyond 64 bits the low ones remain, and none when they are below zero. */
function scaledMonths(months: bigint, n: bigint): bigint {
  const product = months * n;
  const size = BigInt.asIntN(64, product < 0n ? -product : product);
  return size < 0n ? 0n : product < 0n ? -size : size;
}

export const DATE: LibraryPackage = {
  path: "date",
  name: "date",
  source: `
builtin second : (t: T) => int where T: Timeable
builtin minute : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin hour : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin weekDay : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin monthDay : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin yearDay : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin month : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin quarter : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin year : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin week : (t: T, ?location: {zone: string, offset: duration}) => int where T: Timeable
builtin millisecond : (t: T) => int where T: Timeable
builtin microsecond : (t: T) => int where T: Timeable
builtin nanosecond : (t: T) => int where T: Timeable
builtin time : (t: T, ?location: {zone: string, offset: duration}) => time where T: Timeable
builtin add : (d: duration, to: T, ?location: {zone: string, offset: duration}) => time where T: Timeable
builtin sub : (from: T, d: duration, ?location: {zone: string, offset: duration}) => time where T: Timeable
builtin truncate : (t: T, unit: duration, ?location: {zone: string, offset: duration}) => time where T: Timeable
builtin scale : (d: duration, n: int) => duration
Sunday = 0
Monday = 1
Tuesday = 2
Wednesday = 3
Thursday = 4
Friday = 5
Saturday = 6
January = 1
February = 2
March = 3
April = 4
May = 5
June = 6
July = 7
August = 8
September = 9
October = 10
November = 11
December = 12
`,
  natives: {
    second: smallPart(({ ns }) => (ns / SECOND_NS) % 60n),
    minute: part(({ ns }) => (ns / (60n * SECOND_NS)) % 60n),
    hour: part(({ ns }) => ns / (3600n * SECOND_NS)),
    weekDay: part(({ days }) => weekDayOf(days)),
    monthDay: part(({ day }) => day),
    yearDay: part(({ days, year }) => days - daysOf(year, 1, 1) + 1),
    month: part(({ month }) => month),
    quarter: part(({ month }) => Math.ceil(month / 3)),
    year: part(({ year }) => year),
    week: part(isoWeek),
    millisecond: smallPart(({ ns }) => (ns % SECOND_NS) / 1_000_000n),
    microsecond: smallPart(({ ns }) => (ns % SECOND_NS) / 1000n),
    nanosecond: smallPart(({ ns }) => ns % SECOND_NS),
    // as recorded: what the clock of the location shows, as a time of UTC
    time: (call) => new Time(BigInt.asIntN(64, locationOfCall(call).toLocal(timeOf(call.value("t"), call).ns))),
    add: (call) => moved(timeOf(call.value("to"), call), call.duration("d"), locationOfCall(call)),
    sub: (call) => moved(timeOf(call.value("from"), call), negated(call.duration("d")), locationOfCall(call)),
    truncate,
    scale: (call) => {
      const given = call.value("d");
      // as recorded, it is named after the function
      if (isNull(given)) throw new FluxError(`keyword argument "scale" should be of kind duration, but got ${given.type}`);
      const [{ months, ns }, n] = [call.duration("d"), call.bigint("n")];
      return new Duration(scaledMonths(months, n), BigInt.asIntN(64, ns * n));
    },
  },
};
