// Scripts made from the types of the library: each calls functions with values of the right types, at the borders of what they take.
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { type FunctionType, resolve, type Type, type TypeVariable } from "../../src/flux/types/type.ts";
import { type Below, pick } from "../support/prng.ts";

const INTS = ["0", "1", "-1", "2", "3", "10", "100", "9223372036854775807", "(-9223372036854775807 - 1)", "1000000"];
const FLOATS = [
  "0.0",
  "-0.0",
  "1.5",
  "-2.25",
  "0.5",
  "1000000.0",
  'float(v: "NaN")',
  'float(v: "+Inf")',
  'float(v: "-Inf")',
  "1.0e300".replace("e300", ""),
];
const STRINGS = [
  '""',
  '"a"',
  '"_value"',
  '"_time"',
  '"tag"',
  '"mean"',
  '"1h"',
  '"żółw 🐢"',
  '"a,b\\n1,2"',
  '"{\\"a\\": [1]}"',
  '"["',
  '"%"',
  '"by"',
  '"inner"',
  '"UTC"',
  '"Europe/Warsaw"',
  '"2024-01-01T00:00:00Z"',
  '"\\x00"',
  '"(", '.slice(0, 3),
  '"2006-01-02"',
];
const DURATIONS = ["1ns", "1s", "1m", "-1h", "1d", "1mo", "-1y", "0s", "1mo1d", "300y", "1w"];
const TIMES = [
  "2024-01-01T00:00:00Z",
  "1970-01-01T00:00:00Z",
  "1677-09-21T00:12:44Z",
  "2262-04-11T23:47:16Z",
  "2024-03-31T01:30:00.5+01:00",
];
const REGEXPS = ["/a/", "/^$/", "/(a)(b)?/", "/[^a]*/", "/./", "/(?P<x>a)/"];
const LABELS = ["_value", "_time", "_field", "_measurement", "tag", "a", "lat", "lon", "s2_cell_id", "le"];

/** Functions that wait, ask the network or load a lot. */
const LEFT_OUT: ReadonlySet<string> = new Set(["debug.sleep", "sampledata.int"]);

export interface CallMaker {
  script(): string;
}

interface Named {
  readonly path: string;
  readonly local: string;
  readonly type: FunctionType;
}

function libraryFunctions(): Named[] {
  const library = fluxLibrary();
  const all: Named[] = [];
  [...library.paths].forEach((path, i) => {
    for (const [name, scheme] of library.importPackage(path)!.members.entries()) {
      const type = resolve(scheme.type);
      const isPrelude = path === "universe" || path === "influxdata/influxdb";
      if (type.kind !== "function" || LEFT_OUT.has(`${path}.${name}`)) continue;
      all.push({ path: isPrelude ? "" : path, local: isPrelude ? name : `p${i}.${name}`, type });
    }
  });
  return all;
}

/** Random calls of the functions of all packages. */
export class LibraryCalls implements CallMaker {
  private readonly functions = libraryFunctions();
  private readonly imports = new Map<string, string>();

  constructor(private readonly below: Below) {}

  script(): string {
    this.imports.clear();
    const lines: string[] = [];
    const count = 1 + this.below(2);
    let last: Named | null = null;
    for (let i = 0; i < count; i++) {
      last = pick(this.below, this.functions);
      lines.push(`x${i} = ${this.call(last, new Map(), 3)}`);
    }
    lines.push(this.shown(`x${count - 1}`, resolve(last!.type.result).kind === "stream"));
    const imports = [...this.imports].map(([path, name]) => `import ${name} "${path}"`);
    return ['import "array"', 'import "csv"', ...imports, ...lines].join("\n");
  }

  private shown(name: string, isStream: boolean): string {
    if (!isStream) return `array.from(rows: [{v: display(v: ${name})}])`;
    const uses = [
      "",
      "",
      "",
      '|> yield(name: "a")',
      "|> map(fn: (r) => ({r with a: r._value}))",
      "|> aggregateWindow(every: 1h, fn: mean)",
      "|> group()",
    ];
    return `${name} ${pick(this.below, uses)}`;
  }

  private call({ path, local, type }: Named, known: Map<TypeVariable, string>, depth: number): string {
    if (path !== "") this.imports.set(path, local.slice(0, local.indexOf(".")));
    const args: string[] = [];
    for (const [name, each] of type.required) args.push(`${name}: ${this.value(each, known, depth - 1)}`);
    for (const [name, each] of type.optional) if (this.below(3) === 0) args.push(`${name}: ${this.value(each, known, depth - 1)}`);
    if (this.below(200) === 0) args.push(`extra: ${pick(this.below, INTS)}`);
    if (this.below(200) === 0) args.pop();
    const call = `${local}(${args.join(", ")})`;
    return type.pipe === null ? call : `${this.value(type.pipe.type, known, depth - 1)} |> ${call}`;
  }

  /** Text of a value of the type; now and then of another one. */
  private value(given: Type, known: Map<TypeVariable, string>, depth: number): string {
    const type = resolve(given);
    if (this.below(200) === 0) return pick(this.below, [...INTS, ...STRINGS, ...FLOATS, "[]", "{}", "now", "(x) => x"]);
    switch (type.kind) {
      case "variable": {
        let value = known.get(type);
        if (value === undefined) {
          value = this.any(type, known, depth);
          known.set(type, value);
        }
        return value;
      }
      case "basic":
        return this.basic(type.name, depth);
      case "array":
        return `[${Array.from({ length: this.below(4) }, () => this.value(type.element, known, depth - 1)).join(", ")}]`;
      case "dictionary":
        return `[${this.value(type.key, known, depth - 1)}: ${this.value(type.value, known, depth - 1)}]`;
      case "stream":
        return this.stream(depth);
      case "vector":
        return "[1]";
      case "empty":
      case "field":
        return this.record(type, known, depth);
      case "function":
        return this.function(type, known, depth);
      case "dynamic":
      case "error":
        return "1";
    }
  }

  private any(type: TypeVariable, known: Map<TypeVariable, string>, depth: number): string {
    if (type.kinds.includes("Record")) return `{_value: ${pick(this.below, FLOATS)}, tag: ${pick(this.below, STRINGS)}}`;
    const isNumber = type.kinds.includes("Numeric") || type.kinds.includes("Divisible") || type.kinds.includes("Subtractable");
    if (isNumber) return pick(this.below, [...INTS, ...FLOATS]);
    if (type.kinds.includes("Timeable")) return pick(this.below, [...TIMES, ...DURATIONS]);
    const kinds = ["int", "float", "string", "bool", "time", "duration", "uint", "array", "record", "record"] as const;
    const kind = pick(this.below, kinds);
    if (kind === "array") return `[${pick(this.below, INTS)}]`;
    if (kind === "record") return this.record({ kind: "empty" }, known, depth);
    return this.basic(kind, depth);
  }

  private basic(name: string, depth: number): string {
    if (depth > 0 && this.below(6) === 0) {
      const made = this.functions.filter(({ type, path }) => {
        const result = resolve(type.result);
        return result.kind === "basic" && result.name === name && path !== "internal/debug";
      });
      if (made.length > 0) return `(${this.call(pick(this.below, made), new Map(), depth - 1)})`;
    }
    switch (name) {
      case "bool":
        return pick(this.below, ["true", "false"]);
      case "int":
        return pick(this.below, INTS);
      case "uint":
        return `uint(v: ${pick(this.below, INTS)})`;
      case "float":
        return pick(this.below, FLOATS);
      case "duration":
        return pick(this.below, DURATIONS);
      case "time":
        return pick(this.below, TIMES);
      case "regexp":
        return pick(this.below, REGEXPS);
      case "bytes":
        return `bytes(v: ${pick(this.below, STRINGS)})`;
      default:
        return pick(this.below, STRINGS);
    }
  }

  private record(type: Type, known: Map<TypeVariable, string>, depth: number): string {
    const fields = new Map<string, string>();
    let rest = type;
    while (rest.kind === "field") {
      if (!fields.has(rest.label)) fields.set(rest.label, this.value(rest.type, known, depth - 1));
      rest = resolve(rest.rest);
    }
    const more = fields.size === 0 ? 1 + this.below(2) : this.below(2);
    for (let i = 0; i < more; i++) {
      const label = pick(this.below, LABELS);
      if (!fields.has(label)) fields.set(label, pick(this.below, [...INTS, ...FLOATS, ...STRINGS, ...TIMES]));
    }
    return `{${[...fields].map(([label, value]) => `${label}: ${value}`).join(", ")}}`;
  }

  private function({ required, optional, pipe, result }: FunctionType, known: Map<TypeVariable, string>, depth: number): string {
    const parameters = [
      ...(pipe === null ? [] : [pipe.name === "<-" ? "tables=<-" : `${pipe.name}=<-`]),
      ...required.map(([name]) => name),
      ...optional.map(([name]) => `${name}=1`),
    ];
    const names = required.map(([name]) => name);
    const body =
      pipe !== null && resolve(result).kind === "stream"
        ? `${pipe.name === "<-" ? "tables" : pipe.name} |> limit(n: 2)`
        : names.includes("r") && this.below(2) === 0
          ? pick(this.below, ["r", "r._value > 1.0", "{r with z: r._value}", 'r.tag == "a"', "exists r.nothing", "{r with _value: 1}"])
          : names.length > 0 && this.below(3) === 0
            ? pick(this.below, names)
            : this.value(result, known, depth - 1);
    return `(${parameters.join(", ")}) => (${body})`;
  }

  private stream(depth: number): string {
    const cell = () => pick(this.below, [FLOATS, FLOATS, INTS, STRINGS, ["true", "false"], TIMES]);
    const choices = cell();
    const rows = Array.from({ length: 1 + this.below(5) }, (_, i) => {
      const fields = [
        `_time: ${i % 3 === 0 ? pick(this.below, TIMES) : `2024-01-01T00:0${i}:00Z`}`,
        `_value: ${pick(this.below, choices)}`,
      ];
      if (i >= 0)
        fields.push(
          `tag: ${pick(this.below, ['"a"', '"b"'])}`,
          `_measurement: "m"`,
          `_field: ${pick(this.below, ['"f"', '"g"', '"lat"'])}`,
        );
      return `{${fields.join(", ")}}`;
    });
    let stream = `array.from(rows: [${rows.join(", ")}])`;
    if (this.below(8) === 0) {
      const cells = [",,0,2024-01-01T00:00:00Z,1,a", ",,0,,,", ",,1,2024-01-01T00:00:00Z,,b", ",,1,2024-01-02T00:00:00Z,NaN,b"];
      const head =
        "#datatype,string,long,dateTime:RFC3339,double,string\n#group,false,false,false,false,true\n#default,_result,,,,\n,result,table,_time,_value,tag\n";
      stream = `csv.from(csv: ${JSON.stringify(`${head}${cells.join("\n")}\n`)})`;
    }
    if (this.below(3) === 0) stream += ' |> group(columns: ["tag"])';
    if (this.below(3) === 0) stream += " |> range(start: 2024-01-01T00:00:00Z, stop: 2024-01-03T00:00:00Z)";
    if (this.below(8) === 0) stream += " |> window(every: 1d)";
    if (this.below(10) === 0) stream += " |> filter(fn: (r) => false)";
    if (depth > 0 && this.below(6) === 0) {
      const made = this.functions.filter(
        ({ type }) => type.pipe !== null && resolve(type.result).kind === "stream" && resolve(type.pipe.type).kind === "stream",
      );
      const { path, local, type } = pick(this.below, made);
      stream += this.call({ path, local, type: { ...type, pipe: null } }, new Map(), depth - 1).replace(/^/, " |> ");
    }
    return stream;
  }
}
