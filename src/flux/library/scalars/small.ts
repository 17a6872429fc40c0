// Small packages: options that others read, and compositions of a few functions.
import { systemTime } from "../../values/system-time.ts";
import { FluxRecord, Time } from "../../values/value.ts";
import { timeOf } from "../date/date.ts";
import type { LibraryPackage } from "../native-call.ts";
import { fillEmpty } from "../universe/fill.ts";

export const PLANNER: LibraryPackage = {
  path: "planner",
  name: "planner",
  source: 'option disableLogicalRules = [""]\noption disablePhysicalRules = [""]',
  natives: {},
};
export const PROFILER: LibraryPackage = { path: "profiler", name: "profiler", source: 'option enabledProfilers = [""]', natives: {} };

export const RUNTIME: LibraryPackage = {
  path: "runtime",
  name: "runtime",
  source: "builtin version : () => string",
  natives: { version: () => "v0.196.1" },
};
export const SYSTEM: LibraryPackage = {
  path: "system",
  name: "system",
  source: "builtin time : () => time",
  natives: { time: systemTime },
};
const NEVER = new Time(0n);

export const TASKS: LibraryPackage = {
  path: "influxdata/influxdb/tasks",
  name: "tasks",
  source: `
builtin _never : time
builtin _or : (orTime: T, last: time) => time where T: Timeable
option lastSuccessTime = _never
lastSuccess = (orTime) => _or(orTime: orTime, last: lastSuccessTime)
`,
  natives: {
    _never: { value: NEVER },
    _or: (call) => {
      const last = call.time("last");
      return last.ns === NEVER.ns ? timeOf(call.value("orTime"), call) : last;
    },
  },
};
export const TABLE: LibraryPackage = {
  path: "experimental/table",
  name: "table",
  source: "builtin fill : (<-tables: stream[A]) => stream[A] where A: Record",
  natives: { fill: fillEmpty },
};
export const AGGREGATE: LibraryPackage = {
  path: "experimental/aggregate",
  name: "aggregate",
  source: `
import "experimental"
rate = (tables=<-, every, groupColumns=[], unit=1s) =>
    tables
        |> derivative(nonNegative: true, unit: unit)
        |> aggregateWindow(every: every, fn: (tables=<-, column) => tables |> mean(column: column) |> group(columns: groupColumns) |> experimental.group(columns: ["_start", "_stop"], mode: "extend") |> sum())
`,
  natives: {},
};
export const RECORD: LibraryPackage = {
  path: "experimental/record",
  name: "record",
  source: `
builtin any : A where A: Record
builtin get : (r: A, key: string, default: B) => B where A: Record
`,
  natives: {
    any: { value: new FluxRecord(new Map()) },
    get: (call) => call.record("r").get(call.string("key")) ?? call.value("default"),
  },
};
export const QUERY: LibraryPackage = {
  path: "experimental/query",
  name: "query",
  source: `
fromRange = (bucket, start, stop=now()) => from(bucket: bucket) |> range(start: start, stop: stop)
filterMeasurement = (table=<-, measurement) => table |> filter(fn: (r) => r._measurement == measurement)
filterFields = (table=<-, fields=[]) =>
    if length(arr: fields) == 0 then table else table |> filter(fn: (r) => contains(value: r._field, set: fields))
inBucket = (bucket, measurement, start, stop=now(), fields=[], predicate=(r) => true) =>
    fromRange(bucket: bucket, start: start, stop: stop)
        |> filterMeasurement(measurement: measurement)
        |> filter(fn: predicate)
        |> filterFields(fields: fields)
`,
  natives: {},
};
export const EXPERIMENTAL_ARRAY: LibraryPackage = {
  path: "experimental/array",
  name: "array",
  source: `
import "array"
from = array.from
concat = array.concat
map = array.map
filter = array.filter
toBool = (arr=<-) => array.map(arr: arr, fn: (x) => bool(v: x))
toDuration = (arr=<-) => array.map(arr: arr, fn: (x) => duration(v: x))
toFloat = (arr=<-) => array.map(arr: arr, fn: (x) => float(v: x))
toInt = (arr=<-) => array.map(arr: arr, fn: (x) => int(v: x))
toString = (arr=<-) => array.map(arr: arr, fn: (x) => string(v: x))
toTime = (arr=<-) => array.map(arr: arr, fn: (x) => time(v: x))
toUInt = (arr=<-) => array.map(arr: arr, fn: (x) => uint(v: x))
`,
  natives: {},
};
