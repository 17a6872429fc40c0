// Package `internal/promql`: what another query language asks of rows, as functions of tables.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable } from "../../tables/stream.ts";
import { FluxTable, GroupKey } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { compileRegexp, regexpError } from "../../values/regexp.ts";
import { Time } from "../../values/value.ts";
import { checkNew } from "../merge-tables.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { operator } from "../operator.ts";
import { expanded } from "../regexp/regexp.ts";
import { floatColumn } from "../universe/averages.ts";
import { bucketQuantile } from "./bucket-quantile.ts";
import { emptyTable } from "./empty-table.ts";
import { changes, extrapolated, instant, type Rows, regression, resets, smoothed } from "./samples.ts";

type Compute = (rows: Rows) => number | null;

function rowsOf(table: FluxTable, needsTime: boolean): Rows {
  const values = table.column("_value");
  if (values === undefined) throw new FluxError("value column not found: _value");
  if (values.type !== "float") throw new FluxError(`column "_value" must be of type float, got ${values.type}`);
  const times = table.column("_time");
  if (needsTime && times?.type !== "time") throw new FluxError("time column not found: _time");
  const rows: { value: number; ns: bigint }[] = [];
  for (let row = 0; row < table.rowCount; row++) {
    const ns = needsTime ? times!.get(row) : new Time(0n);
    if (!values.isNull(row) && ns instanceof Time) rows.push({ value: values.get(row) as number, ns: ns.ns });
  }
  return rows;
}

/** One row of a table: the key and the number; without a number an empty table. */
function reduced(compute: (table: FluxTable) => number | null): NativeBody {
  return operator(() => (input) => eachTable(input, (table) => valueRow(table.key, compute(table))));
}

function valueRow(key: GroupKey, value: number | null): FluxTable {
  try {
    if (value !== null) checkNew("_value", key.columns);
  } catch (error) {
    throw error instanceof FluxError ? error.within("error appending value column") : error;
  }
  const count = value === null ? 0 : 1;
  const columns = key.columns.map((column) => FluxColumn.constant(column.label, column.type, column.value, count));
  return new FluxTable(key, value === null ? columns : [...columns, FluxColumn.constant("_value", "float", value, 1)], count);
}

function prepared(needsTime: boolean, prepare: (call: NativeCall) => (table: FluxTable) => Compute): NativeBody {
  return operator((call) => {
    const computeOf = prepare(call);
    return (input) =>
      eachTable(input, (table) => {
        const compute = computeOf(table);
        return valueRow(table.key, compute(rowsOf(table, needsTime)));
      });
  });
}

/** A bound of the range, which has to be in the key. */
function bound({ key }: FluxTable, label: "_start" | "_stop"): bigint {
  const value = key.get(label)?.value;
  if (value instanceof Time) return value.ns;
  throw new FluxError(`${label.slice(1)} column not found in the group key: ${label}`);
}

const extrapolatedRate = prepared(true, (call) => {
  const [isCounter, isRate] = [call.bool("isCounter", false), call.bool("isRate", false)];
  return (table) => {
    const [start, stop] = [bound(table, "_start"), bound(table, "_stop")];
    return (rows) => extrapolated(rows, { start, stop, isCounter, isRate });
  };
});

const holtWinters = prepared(true, (call) => {
  const factors = [call.float("smoothingFactor", 0), call.float("trendFactor", 0)] as const;
  const [smoothing, trend] = factors;
  return () => {
    if (smoothing <= 0 || smoothing >= 1) {
      throw new FluxError(`invalid smoothing factor. Expected: 0 < sf < 1, got: ${smoothing.toFixed(6)}`);
    }
    if (trend <= 0 || trend >= 1) throw new FluxError(`invalid trend factor. Expected: 0 < tf < 1, got: ${trend.toFixed(6)}`);
    return (rows) => smoothed(rows, smoothing, trend);
  };
});

const linearRegression = prepared(true, (call) => {
  const isPrediction = call.bool("predict", false);
  const fromNow = call.float("fromNow", 0);
  return (table) => {
    const stop = bound(table, "_stop");
    return (rows) => regression(rows, isPrediction ? { stop, fromNow } : null);
  };
});

const timestamp = operator(
  () => (input) =>
    eachTable(input, (table) => {
      const times = table.column("_time") ?? table.column("_stop");
      if (times?.type !== "time") throw new FluxError('neither "_time" nor "_stop" column found');
      if (table.column("_value") === undefined) throw new FluxError("value column not found: _value");
      const seconds = Array.from({ length: table.rowCount }, (_, row) => {
        const time = times.get(row);
        return time instanceof Time ? Number(time.ns / 1_000_000n) / 1e3 : null;
      });
      return table.set(floatColumn("_value", seconds));
    }),
);

/** A column of the key made of another by a pattern that has to match all of it. */
const labelReplace = operator((call) => {
  const [source, destination, replacement] = [call.string("source"), call.string("destination"), call.string("replacement")];
  const pattern = `^(?:${call.string("regex")})$`;
  if (regexpError(pattern) !== null) throw new FluxError(`invalid regular expression in label_replace(): ${call.string("regex")}`);
  const regexp = compileRegexp(pattern);
  return (input) =>
    eachTable(input, (table) => {
      const values = table.column("_value");
      if (values === undefined) throw new FluxError("value column not found: _value");
      const given = table.key.get(source)?.value;
      const text = typeof given === "string" ? given : "";
      const groups = regexp.matcher.find(text, 0);
      let { key } = table;
      if (groups !== null) {
        const made = expanded(replacement, text, groups, regexp);
        const others = key.columns.filter(({ label }) => label !== destination);
        key = new GroupKey(made === "" ? others : [...others, { label: destination, type: "string", value: made }]);
      }
      const columns = key.columns.map((column) => FluxColumn.constant(column.label, column.type, column.value, table.rowCount));
      return new FluxTable(key, [...columns, values], table.rowCount);
    });
});

/** As recorded: the column is there without a value, too. */
function quantileRow(key: GroupKey, label: string, value: number | null): FluxTable {
  const made = valueRow(key, value);
  return new FluxTable(
    key,
    [...made.columns.slice(0, key.columns.length), FluxColumn.constant(label, "float", value ?? 0, made.rowCount)],
    made.rowCount,
  );
}

const promHistogramQuantile = operator((call) => {
  const quantile = call.float("quantile");
  const [countLabel, boundLabel] = [call.string("countColumn", "_value"), call.string("upperBoundColumn", "le")];
  const valueLabel = call.string("valueColumn", "_value");
  return (input) =>
    eachTable(input, (table) => {
      checkNew(valueLabel, table.key.columns);
      const [counts, bounds] = [table.column(countLabel), table.column(boundLabel)];
      if (counts === undefined) throw new FluxError(`table is missing count column "${countLabel}"`);
      if (counts.type !== "float") throw new FluxError(`count column "${countLabel}" must be of type float`);
      if (bounds === undefined) return quantileRow(table.key, valueLabel, null);
      if (bounds.type !== "string") throw new FluxError(`upper bound column "${boundLabel}" must be of type string`);
      const buckets: { bound: number; count: number }[] = [];
      for (let row = 0; row < table.rowCount; row++) {
        if (counts.isNull(row)) throw new FluxError("unexpected null in the countColumn");
        const text = bounds.isNull(row) ? "" : String(bounds.get(row));
        const value = /^\+?inf$/i.test(text) ? Number.POSITIVE_INFINITY : text.trim() === "" ? Number.NaN : Number(text);
        if (!Number.isNaN(value)) buckets.push({ bound: value, count: counts.get(row) as number });
      }
      return quantileRow(table.key, valueLabel, bucketQuantile(quantile, buckets));
    });
});

/** A number of a date in UTC, from seconds since 1970. */
function ofDate(read: (date: Date) => number): NativeBody {
  return (call) => {
    const date = new Date(Math.floor(call.float("timestamp") * 1000));
    return read(date);
  };
}

const DATES = ["promqlDayOfMonth", "promqlDayOfWeek", "promqlDaysInMonth", "promqlHour", "promqlMinute", "promqlMonth", "promqlYear"];

export const PROMQL: LibraryPackage = {
  path: "internal/promql",
  name: "promql",
  source: `
import "experimental"
import "math"
import "universe"
builtin changes : (<-tables: stream[{A with _value: float}]) => stream[{B with _value: float}]
${DATES.map((name) => `builtin ${name} : (timestamp: float) => float`).join("\n")}
builtin emptyTable : () => stream[{_start: time, _stop: time, _time: time, _value: float}]
builtin extrapolatedRate : (<-tables: stream[{A with _start: time, _stop: time, _time: time, _value: float}], ?isCounter: bool, ?isRate: bool) => stream[{B with _value: float}]
builtin holtWinters : (<-tables: stream[{A with _time: time, _value: float}], ?smoothingFactor: float, ?trendFactor: float) => stream[{B with _value: float}]
builtin instantRate : (<-tables: stream[{A with _time: time, _value: float}], ?isRate: bool) => stream[{B with _value: float}]
builtin labelReplace : (<-tables: stream[{A with _value: float}], source: string, destination: string, regex: string, replacement: string) => stream[{B with _value: float}]
builtin linearRegression : (<-tables: stream[{A with _time: time, _stop: time, _value: float}], ?predict: bool, ?fromNow: float) => stream[{B with _value: float}]
builtin promHistogramQuantile : (<-tables: stream[A], ?quantile: float, ?countColumn: string, ?upperBoundColumn: string, ?valueColumn: string) => stream[B] where A: Record, B: Record
builtin resets : (<-tables: stream[{A with _value: float}]) => stream[{B with _value: float}]
builtin timestamp : (<-tables: stream[{A with _value: float}]) => stream[{A with _value: float}]
_always = (tables=<-, value) => tables |> reduce(identity: {_value: value}, fn: (r, accumulator) => accumulator)
quantile = (q, tables=<-, method="exact_mean") =>
    if q < 0.0 then
        tables |> _always(value: math.mInf(sign: -1))
    else if q > 1.0 then
        tables |> _always(value: math.mInf(sign: 1))
    else
        tables |> universe.quantile(q: q, method: method)
join = experimental.join
`,
  natives: {
    changes: reduced((table) => changes(rowsOf(table, false))),
    resets: reduced((table) => resets(rowsOf(table, false))),
    extrapolatedRate,
    holtWinters,
    instantRate: prepared(true, (call) => {
      const isRate = call.bool("isRate", false);
      return () => (rows) => instant(rows, isRate);
    }),
    linearRegression,
    timestamp,
    labelReplace,
    promHistogramQuantile,
    promqlDayOfMonth: ofDate((date) => date.getUTCDate()),
    promqlDayOfWeek: ofDate((date) => date.getUTCDay()),
    promqlDaysInMonth: ofDate((date) => new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()),
    promqlHour: ofDate((date) => date.getUTCHours()),
    promqlMinute: ofDate((date) => date.getUTCMinutes()),
    promqlMonth: ofDate((date) => date.getUTCMonth() + 1),
    promqlYear: ofDate((date) => date.getUTCFullYear()),
    emptyTable,
  },
};
