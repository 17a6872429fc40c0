// Packages `internal/debug` and `generate`.

import { GroupKey, TableBuilder } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { COLUMN_TYPES } from "../../values/column-type.ts";
import { FluxError } from "../../values/flux-error.ts";
import { isNull, NULL, Null, Time, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { operator, streamOf } from "../operator.ts";
import { timeArgument } from "../universe/sources.ts";

const pass = operator(() => (input) => input, "tables", { flow: "rows", sortsTables: true });

const nothing = operator(
  () =>
    function* (input) {
      for (const table of input) if (table === null) yield null;
    },
);

const NULL_TYPES = [...COLUMN_TYPES, "duration", "bytes", "regexp", "array", "dictionary", "object", "function", "stream", "dynamic"];

function optionOf(value: Value | undefined): Value {
  if (value === undefined || isNull(value)) throw new FluxError("option does not exist");
  return value;
}

export const DEBUG: LibraryPackage = {
  path: "internal/debug",
  name: "debug",
  source: `
builtin pass : (<-tables: stream[A]) => stream[A] where A: Record
builtin opaque : (<-tables: stream[A]) => stream[B] where A: Record, B: Record
builtin slurp : (<-tables: stream[A]) => stream[A] where A: Record
builtin sink : (<-tables: stream[A]) => stream[A] where A: Record
builtin getOption : (pkg: string, name: string) => A
builtin feature : (key: string) => A
option vectorize = false
builtin null : (?type: string) => A where A: Basic
`,
  natives: {
    pass,
    opaque: pass,
    slurp: pass,
    sink: nothing,
    // none of the features that scripts can ask for is known
    feature: (call) => {
      call.string("key");
      return NULL;
    },
    null: (call) => {
      const type = call.string("type", "");
      if (call.has("type") && !(NULL_TYPES as readonly string[]).includes(type)) throw new FluxError(`Invalid null type \`${type}\``);
      return Null.of((COLUMN_TYPES as readonly string[]).includes(type) ? (type as FluxColumnType) : "invalid");
    },
    getOption: (call) => {
      const [path, name] = [call.string("pkg"), call.string("name")];
      return optionOf(call.run.options.get(path, name));
    },
  },
};

const MOST_ROWS = 10_000_000;

/** `count` rows at equal distances, each with a value of its number. */
const generateFrom: NativeBody = (call) => {
  const now = call.run.nowTime;
  const [start, stop] = [timeArgument(call.value("start"), now), timeArgument(call.value("stop"), now)];
  const count = call.int("count");
  if (count > MOST_ROWS) throw new FluxError(`generate.from makes at most ${MOST_ROWS} rows`);
  const make = call.function("fn").prepare(["n"]);
  return streamOf(call, [], () => {
    // as recorded, the key has columns that the table has not
    const bounds = [
      { label: "_start", type: "time", value: start },
      { label: "_stop", type: "time", value: stop },
    ] as const;
    const builder = new TableBuilder(new GroupKey(bounds));
    if (count < 0)
      for (const [label, type] of [
        ["_time", "time"],
        ["_value", "int"],
      ] as const)
        builder.column(label, type);
    const step = count > 0 ? (stop.ns - start.ns) / BigInt(count) : 0n;
    for (let i = 0; i < count; i++) {
      builder.column("_time", "time").append(new Time(start.ns + step * BigInt(i)));
      builder.column("_value", "int").append(make(BigInt(i)));
      builder.endRow();
    }
    return [builder.build()];
  });
};

export const GENERATE: LibraryPackage = {
  path: "generate",
  name: "generate",
  source:
    "builtin from : (start: A, stop: A, count: int, fn: (n: int) => int) => stream[{_start: time, _stop: time, _time: time, _value: int}] where A: Timeable",
  natives: { from: generateFrom },
};
