// Package `experimental/date/boundaries`: days and weeks before today, and months around it.
import { DAY_NS, floorDiv } from "../../values/duration.ts";
import { Duration, FluxRecord, type Time } from "../../values/value.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { locationOfCall, moved, truncated, weekDayOf } from "./date.ts";

const DAY = new Duration(0n, DAY_NS);
const MONTH = new Duration(1n, 0n);
const WEEK = 7n;

function today(call: NativeCall): Time {
  return truncated(call.run.nowTime, DAY, locationOfCall(call));
}

function bounds(start: Time, length: Duration, call: NativeCall): FluxRecord {
  return FluxRecord.of({ start, stop: moved(start, length, locationOfCall(call)) });
}

function days(call: NativeCall, from: Time, count: bigint): Time {
  return moved(from, new Duration(0n, count * DAY_NS), locationOfCall(call));
}

function weekDayAt(call: NativeCall, time: Time): number {
  return weekDayOf(Number(floorDiv(locationOfCall(call).toLocal(time.ns), DAY_NS)));
}

/** The latest such day before today. */
function latest(weekDay: number): NativeBody {
  return (call) => {
    const now = today(call);
    const back = (weekDayAt(call, now) - weekDay + 7) % 7 || 7;
    return bounds(days(call, now, BigInt(-back)), DAY, call);
  };
}

export const BOUNDARIES: LibraryPackage = {
  path: "experimental/date/boundaries",
  name: "boundaries",
  source: `
builtin yesterday : () => {start: time, stop: time}
builtin monday : () => {start: time, stop: time}
builtin tuesday : () => {start: time, stop: time}
builtin wednesday : () => {start: time, stop: time}
builtin thursday : () => {start: time, stop: time}
builtin friday : () => {start: time, stop: time}
builtin saturday : () => {start: time, stop: time}
builtin sunday : () => {start: time, stop: time}
builtin month : (?month_offset: int) => {start: time, stop: time}
builtin week : (?week_offset: int, ?start_sunday: bool) => {start: time, stop: time}
`,
  natives: {
    yesterday: (call) => bounds(days(call, today(call), -1n), DAY, call),
    monday: latest(1),
    tuesday: latest(2),
    wednesday: latest(3),
    thursday: latest(4),
    friday: latest(5),
    saturday: latest(6),
    sunday: latest(0),
    month: (call) => {
      const location = locationOfCall(call);
      const start = moved(truncated(call.run.nowTime, MONTH, location), new Duration(call.bigint("month_offset", 0n), 0n), location);
      return bounds(start, MONTH, call);
    },
    week: (call) => {
      const now = today(call);
      const first = call.condition("start_sunday", false) ? 0 : 1;
      const back = BigInt((weekDayAt(call, now) - first + 7) % 7);
      return bounds(days(call, now, call.bigint("week_offset", 0n) * WEEK - back), new Duration(0n, WEEK * DAY_NS), call);
    },
  },
};

const NAMES = ["yesterday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const MOVED = "the 'date/boundaries' package has been moved to 'experimental/date/boundaries'";

/** No bounds, but of their type, as parameters have the types that `start` gives them. */
const noBounds = (start: string) => `({stop: time(v: die(msg: "${MOVED}")), start: time(v: ${start})})`;

/** The path that the package had for a while: as recorded, its functions say where they are. */
export const DATE_BOUNDARIES: LibraryPackage = {
  path: "date/boundaries",
  name: "boundaries",
  source: `
${NAMES.map((name) => `${name} = () => ${noBounds("0")}`).join("\n")}
month = (month_offset=0) => ${noBounds("0 + month_offset")}
week = (start_sunday=false, week_offset=0) => ${noBounds("if start_sunday then 0 else 0 + week_offset")}
`,
  natives: {},
};
