// Arguments that no function expects: values of a type at its edges, and of any other type.
import { FluxColumn } from "../../src/flux/tables/column.ts";
import { ColumnBuilder } from "../../src/flux/tables/column-builder.ts";
import { StreamNode } from "../../src/flux/tables/stream.ts";
import { FluxTable, GroupKey } from "../../src/flux/tables/table.ts";
import { resolve, type Type } from "../../src/flux/types/type.ts";
import { COLUMN_TYPES } from "../../src/flux/values/column-type.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { compileRegexp } from "../../src/flux/values/regexp.ts";
import {
  Bytes,
  Dictionary,
  Duration,
  Dynamic,
  dictionaryKey,
  FluxArray,
  FluxFunction,
  FluxRecord,
  NULL,
  Null,
  Time,
  UInt,
  type Value,
} from "../../src/flux/values/value.ts";
import { type Below, pick } from "../support/prng.ts";

const INT_MAX = (1n << 63n) - 1n;
const UINT_MAX = (1n << 64n) - 1n;

const TEXTS = [
  "",
  " ",
  "\0",
  "a",
  "_value",
  "_time",
  "v",
  "\ud800",
  "ż\u0301🐢",
  "%",
  "(",
  "[a",
  "{}",
  "null",
  "-1",
  "1e400",
  "0x",
  "x".repeat(5000),
].concat([
  "2024-13-45T99:99:99Z",
  "http://",
  "file:///etc/passwd",
  "../..",
  "a=b,c d",
  "\r\n",
  "by",
  "mean",
  "error",
  "Europe/Nowhere",
  "#datatype,long\n#group,x\n,,\n",
]);
const INTS = [0n, 1n, -1n, 2n, 3n, 1000n, INT_MAX, -INT_MAX - 1n, 1n << 53n, 1n << 32n, -(1n << 31n)];
const FLOATS = [
  0,
  -0,
  1,
  -1,
  0.5,
  1.5,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  1e308,
  -1e308,
  5e-324,
  2 ** 53,
  90.5,
  181,
];
const DURATIONS = [
  [0n, 0n],
  [0n, 1n],
  [0n, -1n],
  [0n, INT_MAX],
  [0n, -INT_MAX - 1n],
  [1n, 0n],
  [-1n, 0n],
  [1n, 1n],
  [INT_MAX, 0n],
  [0n, 60_000_000_000n],
].map(([months, ns]) => new Duration(months!, ns!));
const TIMES = [0n, 1n, -1n, INT_MAX, -INT_MAX - 1n, 1_709_632_800_000_000_000n].map((ns) => new Time(ns));
const UINTS = [0n, 1n, UINT_MAX, 1n << 63n].map((value) => new UInt(value));
const BYTES = [[], [0], [0xff, 0xfe], [0xed, 0xa0, 0x80], [...new TextEncoder().encode('{"a":[1,null,{"b":1e999}]}')]].map(
  (bytes) => new Bytes(Uint8Array.from(bytes)),
);
const REGEXPS = ["", "a*", "(a|b)+$", "\\p{L}", "^$"].map((text) => compileRegexp(text));
const NULLS = [NULL, ...COLUMN_TYPES.map((type) => Null.of(type))];

/** A function that a script could hand over. */
class GivenFunction extends FluxFunction {
  constructor(
    parameters: readonly string[],
    private readonly body: (args: ReadonlyMap<string, Value>) => Value,
  ) {
    super(
      "given",
      parameters.map((name) => ({ name, isOptional: false, isPipe: name === "tables" })),
    );
  }

  override get typeText(): string {
    return "() => A";
  }

  override call(args: ReadonlyMap<string, Value>): Value {
    return this.body(args);
  }
}

/** Values from a seeded source: the same source gives the same values. */
export class HostileValues {
  constructor(private readonly below: Below) {}

  /** Mostly of the type. */
  of(given: Type): Value {
    return this.below(4) === 0 ? this.any() : this.typed(given, 0);
  }

  any(depth = 0): Value {
    switch (this.below(depth > 2 ? 8 : 15)) {
      case 0:
        return pick(this.below, TEXTS);
      case 1:
        return pick(this.below, INTS);
      case 2:
        return pick(this.below, FLOATS);
      case 3:
        return pick(this.below, DURATIONS);
      case 4:
        return pick(this.below, TIMES);
      case 5:
        return pick(this.below, NULLS);
      case 6:
        return pick(this.below, UINTS);
      case 7:
        return this.below(2) === 0;
      case 8:
        return pick(this.below, BYTES);
      case 9:
        return new FluxArray(this.list(() => this.any(depth + 1)));
      case 10:
        return this.record(depth);
      case 11:
        return this.dictionary(() => this.any(depth + 1));
      case 12:
        return new Dynamic(this.below(3) === 0 ? null : this.any(3));
      case 13:
        return this.function();
      default:
        return this.below(3) === 0 ? pick(this.below, REGEXPS) : this.stream();
    }
  }

  private typed(given: Type, depth: number): Value {
    const type = resolve(given);
    switch (type.kind) {
      case "basic":
        return this.basic(type.name);
      case "array":
        return new FluxArray(this.list(() => (depth > 3 ? NULL : this.typed(type.element, depth + 1))));
      case "stream":
        return this.stream();
      case "dictionary":
        return this.dictionary(() => this.typed(type.value, depth + 1));
      case "dynamic":
        return new Dynamic(this.below(3) === 0 ? null : this.any(3));
      case "field": {
        const fields = new Map<string, Value>();
        for (let rest: Type = type; rest.kind === "field"; rest = resolve(rest.rest))
          fields.set(rest.label, this.typed(rest.type, depth + 1));
        return new FluxRecord(fields);
      }
      case "empty":
        return this.record(depth);
      case "function":
        return this.function(type.result, [...type.required.map(([name]) => name), ...(type.pipe === null ? [] : ["tables"])]);
      default:
        return this.any(depth + 1);
    }
  }

  private basic(name: string): Value {
    const known: Readonly<Record<string, readonly Value[]>> = {
      ...{
        string: TEXTS,
        int: INTS,
        float: FLOATS,
        duration: DURATIONS,
        time: TIMES,
        uint: UINTS,
        bytes: BYTES,
        regexp: REGEXPS,
        bool: [true, false],
      },
    };
    return pick(this.below, known[name] ?? NULLS);
  }

  private list(make: () => Value): Value[] {
    return Array.from({ length: pick(this.below, [0, 1, 2, 5]) }, make);
  }

  private record(depth: number): FluxRecord {
    const labels = ["_value", "_time", "v", "", "\ud800", "__proto__", "zone", "offset", "lat", "lon", "polygon", "url"];
    return new FluxRecord(new Map(this.list(() => pick(this.below, labels)).map((label) => [label as string, this.any(depth + 1)])));
  }

  private dictionary(make: () => Value): Dictionary {
    const keys = this.list(() => pick<Value>(this.below, ["a", "", 1n, 2n]));
    return new Dictionary(new Map(keys.map((key) => [dictionaryKey(key), { key, value: make() }])));
  }

  private function(result?: Type, names: readonly string[] = ["r", "x", "n", "column", "key"]): FluxFunction {
    switch (this.below(5)) {
      case 0:
        return new GivenFunction(names, () => {
          throw new FluxError("refused");
        });
      case 1:
        return new GivenFunction(names, (args) => args.get(names[0] ?? "") ?? NULL);
      case 2:
        return new GivenFunction(names, (args) => (args.has("tables") ? args.get("tables")! : this.any(1)));
      default:
        return new GivenFunction(names, () => (result === undefined ? this.any(1) : this.of(result)));
    }
  }

  /** Few tables, whose columns have any type, any length up to a few rows, and nulls. */
  stream(): StreamNode {
    const tables = this.list(() => "").map(() => this.table());
    const bounds = this.below(3) === 0 ? null : { startNs: 0n, stopNs: 100_000_000_000n };
    return new StreamNode("given", [], null, () => tables, null, bounds);
  }

  private table(): FluxTable {
    const rowCount = pick(this.below, [0, 1, 2, 7]);
    const labels = ["_time", "_value", "_start", "_stop", "_measurement", "_field", "v", "host", "le", "_level", "lat", "lon", ""];
    const columns: FluxColumn[] = [];
    for (const label of labels) {
      if (this.below(4) === 0) continue;
      const type = this.below(4) === 0 ? pick(this.below, COLUMN_TYPES) : (USUAL_TYPES[label] ?? "string");
      const builder = new ColumnBuilder(label, type);
      const isConstant = this.below(3) === 0;
      const first = this.cell(type);
      for (let row = 0; row < rowCount; row++) builder.append(isConstant ? first : this.cell(type));
      columns.push(isConstant ? FluxColumn.constant(label, type, first, rowCount) : builder.build());
    }
    const inKey = columns.filter(({ mask, length }) => mask === 0 && length > 0 && this.below(2) === 0);
    return new FluxTable(
      new GroupKey(inKey.map((column) => ({ label: column.label, type: column.type, value: column.get(0) }))),
      columns,
      rowCount,
    );
  }

  private cell(type: (typeof COLUMN_TYPES)[number]): Value {
    if (this.below(5) === 0) return Null.of(type);
    if (type === "time" && this.below(3) > 0) return new Time(BigInt(this.below(100)) * 1_000_000_000n);
    if (type === "float" && this.below(2) === 0) return this.below(1000) / 8;
    return this.basic(type);
  }
}

const USUAL_TYPES: Readonly<Record<string, (typeof COLUMN_TYPES)[number]>> = {
  ...{ _time: "time", _start: "time", _stop: "time", _value: "float", v: "int", le: "float", lat: "float", lon: "float" },
};
