// Package `sampledata`: two small tables of each type, for examples.
import { type FluxTable, GroupKey, TableBuilder } from "../../tables/table.ts";
import type { FluxColumnType } from "../../values/column-type.ts";
import { Null, Time, UInt, type Value } from "../../values/value.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { streamOf } from "../operator.ts";

const START_NS = 1_609_459_200_000_000_000n;
const STEP_NS = 10_000_000_000n;

/** Values by tag, one each ten seconds; as recorded. */
const FLOATS = { t1: [-2.18, 10.92, 7.35, 17.53, 15.23, 4.43], t2: [19.85, 4.97, -3.75, 19.77, 13.86, 1.86] };
const STRINGS = {
  t1: ["smpl_g9qczs", "smpl_0mgv9n", "smpl_phw664", "smpl_guvzy4", "smpl_5v3cce", "smpl_s9fmgy"],
  t2: ["smpl_b5eida", "smpl_eu4oxp", "smpl_5g7tz4", "smpl_sox1ut", "smpl_wfm757", "smpl_dtn2bv"],
};
const BOOLS = { t1: [true, true, false, true, false, false], t2: [false, true, false, true, true, false] };
/** Rows that are null when nulls are asked for. */
const NULLS: Readonly<Record<string, readonly number[]>> = { t1: [1, 3, 4], t2: [0, 4] };

type Rows = Readonly<Record<"t1" | "t2", readonly Value[]>>;

function mapped<T>(rows: Readonly<Record<"t1" | "t2", readonly T[]>>, change: (value: T) => Value): Rows {
  return { t1: rows.t1.map(change), t2: rows.t2.map(change) };
}

function sample(type: FluxColumnType, rows: Rows): NativeBody {
  return (call) => {
    const hasNulls = call.condition("includeNull", false);
    return streamOf(call, [], () => Object.entries(rows).map(([tag, values]) => table(type, tag, values, hasNulls)));
  };
}

function table(type: FluxColumnType, tag: string, values: readonly Value[], hasNulls: boolean): FluxTable {
  const builder = new TableBuilder(new GroupKey([{ label: "tag", type: "string", value: tag }]));
  // converted columns stand in the order of their names
  const labels = type === "int" || type === "uint" ? ["_time", "_value", "tag"] : ["_time", "tag", "_value"];
  for (const label of labels) builder.column(label, label === "_time" ? "time" : label === "tag" ? "string" : type);
  values.forEach((value, row) => {
    builder.column("_time", "time").append(new Time(START_NS + STEP_NS * BigInt(row)));
    builder.column("tag", "string").append(tag);
    builder.column("_value", type).append(hasNulls && NULLS[tag]!.includes(row) ? Null.of(type) : value);
    builder.endRow();
  });
  return builder.build();
}

/** What scripts know of the rows: conversions tell the type of a value, and nothing else does. */
const CONVERTED = (type: string) => `{A with _value: B, _value: ${type}}`;
const TYPES: Readonly<Record<string, string>> = {
  ...{ float: "A", string: "A", bool: "A" },
  ...{ int: CONVERTED("int"), uint: CONVERTED("uint"), numericBool: CONVERTED("int") },
};

export const SAMPLEDATA: LibraryPackage = {
  path: "sampledata",
  name: "sampledata",
  source: `
start = 2021-01-01T00:00:00Z
stop = 2021-01-01T00:01:00Z
${Object.entries(TYPES)
  .map(([name, type]) => `builtin ${name} : (?includeNull: bool) => stream[${type}] where A: Record`)
  .join("\n")}
`,
  natives: {
    float: sample("float", FLOATS),
    int: sample(
      "int",
      mapped(FLOATS, (value) => BigInt(Math.trunc(value))),
    ),
    uint: sample(
      "uint",
      mapped(FLOATS, (value) => new UInt(BigInt.asUintN(64, BigInt(Math.trunc(value))))),
    ),
    string: sample("string", STRINGS),
    bool: sample("bool", BOOLS),
    numericBool: sample(
      "int",
      mapped(BOOLS, (value) => (value ? 1n : 0n)),
    ),
  },
};
