// Package `experimental`: operators on `_value`, and a few of its own.
import { FluxColumn } from "../../tables/column.ts";
import { drain, eachTable, type Tables } from "../../tables/stream.ts";
import { FluxTable } from "../../tables/table.ts";
import { FluxError } from "../../values/flux-error.ts";
import { FluxArray, type FluxRecord, isNull, NULL, Null, FluxRecord as Record, UInt } from "../../values/value.ts";
import { groupTables } from "../group-tables.ts";
import { TableMerge } from "../merge-tables.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { setColumns } from "../universe/shape.ts";
import { UNIVERSE } from "../universe/universe.ts";
import { diff } from "./diff.ts";
import { join } from "./join.ts";

/** Functions of `universe` that take no other column here. */
const SAME = [
  ...["count", "mean", "mode", "quantile", "skew", "spread", "stddev", "sum", "kaufmansAMA", "distinct", "fill", "first", "last", "max"],
  ...["min", "unique", "histogram", "histogramQuantile", "integral", "window"],
];

const group = operator((call) => {
  const mode = call.string("mode");
  if (mode !== "extend") throw new FluxError(`invalid group mode "${mode}"; experimental.group requires mode "extend"`);
  const columns = new Set(call.strings("columns").toSorted());
  return function* (input): Tables {
    const merge = new TableMerge();
    for (const table of input) {
      yield null;
      if (table === null) continue;
      for (const label of columns) if (table.column(label) === undefined) throw new FluxError(`unknown column ${JSON.stringify(label)}`);
      for (const made of drain(groupTables([table], (label) => columns.has(label) || table.key.has(label)))) merge.append(made.key, made);
    }
    yield* merge.tables();
  };
});

/** `_field` and `_value` are made anew. */
function checkUnpivot(table: FluxTable, others: Iterable<string>): void {
  const has = (label: string) => table.column(label) !== undefined;
  if (has("_field") || has("_value")) throw new FluxError(`unpivot can't have "_field" or "_value" as an input column`);
  for (const label of others) {
    if (label !== "_field" && !has(label)) throw new FluxError(`unpivot could not find column named ${JSON.stringify(label)}`);
  }
}

/** Each column that is neither in the key nor among the others becomes rows of `_field` and `_value`. `_field` is in the key, unless it is
 *  one of the others. */
const unpivot = operator(
  (call) => {
    const others = new Set(call.strings("otherColumns", ["_time"]));
    return function* (input): Tables {
      const merge = new TableMerge();
      for (const table of input) {
        yield null;
        if (table === null) continue;
        checkUnpivot(table, others);
        const keyed = table.columns.filter(({ label }) => table.key.has(label));
        for (const column of table.columns) {
          if (others.has(column.label) || table.key.has(column.label)) continue;
          const rows = Uint32Array.from({ length: table.rowCount }, (_, row) => row).filter((row) => !column.isNull(row));
          const field = FluxColumn.constant("_field", "string", column.label, rows.length);
          const isInKey = !others.has("_field");
          const columns = [
            ...keyed.map((each) => each.take(rows)),
            ...(isInKey ? [field] : []),
            ...[...others].map((label) => (label === "_field" ? field : table.column(label)!.take(rows))),
            column.take(rows).labelled("_value"),
          ];
          const key = isInKey ? table.key.with({ label: "_field", type: "string", value: column.label }) : table.key;
          // a column without values is a table, too
          merge.append(key, new FluxTable(key, columns, rows.length));
        }
      }
      yield* merge.tables();
    };
  },
  "tables",
  { flow: "rows" },
);

const preview = operator(
  (call) => {
    const [rows, tables] = [call.int("nrows", 5), call.int("ntables", 5)];
    return (input) => {
      let seen = 0;
      return eachTable(input, (table) => (seen++ < tables || tables < 0 ? table.slice(0, Math.min(rows, table.rowCount)) : null));
    };
  },
  "tables",
  { flow: "rows" },
);

/** Runs the first stream to its end, then gives the second. */
const chain: NativeBody = (call) => {
  const [first, second] = [call.stream("first"), call.stream("second")];
  return streamOf(call, [first, second], function* ([before, after]) {
    for (const table of before!) if (table === null) yield null;
    yield* after!;
  });
};

const catchError: NativeBody = (call) => {
  try {
    const value = call.function("fn").call(new Map());
    return Record.of({ value, code: Null.of("uint"), msg: Null.of("string") });
  } catch (error) {
    if (!(error instanceof FluxError)) throw error;
    return Record.of({ value: NULL, code: new UInt(error.code === "not found" ? 5n : 3n), msg: error.message });
  }
};

export const EXPERIMENTAL: LibraryPackage = {
  path: "experimental",
  name: "experimental",
  source: `
import "date"
import "influxdata/influxdb"
builtin group : (<-tables: stream[A], mode: string, columns: [string]) => stream[A] where A: Record
builtin objectKeys : (o: A) => [string] where A: Record
builtin set : (<-tables: stream[A], o: B) => stream[C] where A: Record, B: Record, C: Record
builtin join : (left: stream[A], right: stream[B], fn: (left: A, right: B) => C) => stream[C] where A: Record, B: Record, C: Record
builtin chain : (first: stream[A], second: stream[B]) => stream[B] where A: Record, B: Record
builtin integral : (<-tables: stream[{T with _time: time, _value: B}], ?unit: duration, ?interpolate: string) => stream[{T with _value: B}]
builtin count : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: int}]
builtin histogramQuantile : (<-tables: stream[{T with _value: float, le: float}], ?quantile: float, ?minValue: float) => stream[{T with _value: float}]
builtin mean : (<-tables: stream[{T with _value: float}]) => stream[{T with _value: float}]
builtin mode : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}]
builtin quantile : (<-tables: stream[{T with _value: float}], q: float, ?compression: float, ?method: string) => stream[{T with _value: float}]
builtin skew : (<-tables: stream[{T with _value: float}]) => stream[{T with _value: float}]
builtin spread : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}] where A: Numeric
builtin stddev : (<-tables: stream[{T with _value: float}], ?mode: string) => stream[{T with _value: float}]
builtin sum : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}] where A: Numeric
builtin kaufmansAMA : (<-tables: stream[{T with _value: A}], n: int) => stream[{T with _value: float}] where A: Numeric
builtin distinct : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}]
builtin fill : (<-tables: stream[{T with _value: A}], ?value: A, ?usePrevious: bool) => stream[{T with _value: A}]
builtin first : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}]
builtin last : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}]
builtin max : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}]
builtin min : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}]
builtin unique : (<-tables: stream[{T with _value: A}]) => stream[{T with _value: A}]
builtin histogram : (<-tables: stream[{T with _value: float}], bins: [float], ?normalize: bool) => stream[{T with _value: float, le: float}]
builtin preview : (<-tables: stream[A], ?nrows: int, ?ntables: int) => stream[A] where A: Record
builtin unpivot : (<-tables: stream[{A with _time: time}], ?otherColumns: [string]) => stream[{B with _field: string, _value: C}] where A: Record, B: Record
builtin catch : (fn: () => A) => {value: A, code: uint, msg: string}
builtin diff : (<-got: stream[A], want: stream[A]) => stream[{A with _diff: string}]
builtin window : (<-tables: stream[{T with _start: time, _stop: time, _time: time}], ?every: duration, ?period: duration, ?offset: duration, ?location: {zone: string, offset: duration}, ?createEmpty: bool) => stream[{T with _start: time, _stop: time, _time: time}]
addDuration = (d, to, location=location) => date.add(d: d, to: to, location: location)
subDuration = (d, from, location=location) => date.sub(d: d, from: from, location: location)
to = influxdb.wideTo
alignTime = (tables=<-, alignTo=time(v: 0)) =>
    tables
        |> stateDuration(fn: (r) => true, column: "__since", unit: 1ns)
        |> map(fn: (r) => ({r with _time: time(v: r.__since + int(v: alignTo))}))
        |> drop(columns: ["__since"])
`,
  natives: {
    ...Object.fromEntries(SAME.flatMap((name) => (name in UNIVERSE.natives ? [[name, UNIVERSE.natives[name]!]] : []))),
    group,
    join,
    diff,
    unpivot,
    preview,
    chain,
    catch: catchError,
    objectKeys: (call) => {
      if (isNull(call.value("o"))) throw new FluxError('parameter "o" is not an object');
      return new FluxArray([...call.record("o").labels()]);
    },
    set: operator((call) => {
      const values: FluxRecord = call.record("o");
      return (input) => setColumns(input, values, call.stream());
    }),
  },
};
