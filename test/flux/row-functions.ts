// Functions of rows that nobody would write, over tables with all types and nulls.
import { type Below, pick } from "../support/prng.ts";

const FLOATS = ["0.0", "1.5", "-2.25", "100.0", "0.1", "-0.0", "12345678.875"];
const INTS = ["0", "1", "-7", "3", "1000000", "9007199254740993", "9223372036854775807"];
const TEXTS = ['"a"', '"bc"', '""', '"żółw 🐢"', '"12"'];
const TIMES = ["2024-01-01T00:00:00Z", "1969-12-31T23:59:59.5Z"];

type Kind = "float" | "int" | "uint" | "bool" | "string" | "time";
const KINDS: readonly Kind[] = ["float", "int", "uint", "bool", "string", "time"];
const COLUMNS: Readonly<Record<Kind, readonly string[]>> = {
  float: ["r.f", "r.g"],
  int: ["r.i", "r.j"],
  uint: ["r.u"],
  bool: ["r.b"],
  string: ["r.s", "r.k"],
  time: ["r.t"],
};
const LITERALS: Readonly<Record<Kind, readonly string[]>> = {
  float: FLOATS,
  int: INTS,
  uint: ["uint(v: 3)", "uint(v: 0)"],
  bool: ["true", "false"],
  string: TEXTS,
  time: TIMES,
};

/** Expressions of a kind; some use what the table lacks, or names of the script. */
class ExpressionMaker {
  constructor(
    private readonly below: Below,
    private readonly accumulator = false,
  ) {}

  of(kind: Kind, depth: number): string {
    if (depth <= 0 || this.below(5) === 0) return this.leaf(kind);
    if (this.below(8) === 0) return `(if ${this.of("bool", depth - 1)} then ${this.of(kind, depth - 1)} else ${this.of(kind, depth - 1)})`;
    const inner = depth - 1;
    switch (kind) {
      case "float":
        return this.float(inner);
      case "int":
        return this.pick([() => this.arithmetic("int", inner), () => `int(v: ${this.any(inner)})`, () => `-(${this.of("int", inner)})`]);
      case "uint":
        return this.pick([() => this.arithmetic("uint", inner), () => `uint(v: ${this.any(inner)})`]);
      case "bool":
        return this.bool(inner);
      case "string":
        return this.string(inner);
      case "time":
        return this.leaf("time");
    }
  }

  private float(depth: number): string {
    return this.pick([
      () => this.arithmetic("float", depth),
      () => `float(v: ${this.of(this.pickKind("int", "uint", "bool", "float"), depth)})`,
      () => `-(${this.of("float", depth)})`,
      () => `math.floor(x: ${this.of("float", depth)})`,
      () => `twice(x: ${this.of("float", depth)})`,
    ]);
  }

  private bool(depth: number): string {
    const both = (kind: Kind, operators: readonly string[]) =>
      `(${this.of(kind, depth)} ${pick(this.below, operators)} ${this.of(kind, depth)})`;
    return this.pick([
      () => both("bool", ["and", "or", "==", "!="]),
      () => both(this.pickKind("float", "int", "uint", "string", "time"), ["==", "!=", "<", "<=", ">", ">="]),
      () => `(${this.of(this.pickKind("float", "int", "uint"), depth)} <= ${this.of(this.pickKind("float", "int", "uint"), depth)})`,
      () => `(not ${this.of("bool", depth)})`,
      () => `(exists ${pick(this.below, ["r.f", "r.missing", "r.s", "r.k"])})`,
      () => `(${this.of("string", depth)} ${pick(this.below, ["=~", "!~"])} /^[a-b]?ż?/)`,
    ]);
  }

  private string(depth: number): string {
    return this.pick([
      () => `(${this.of("string", depth)} + ${this.of("string", depth)})`,
      () => `string(v: ${this.any(depth)})`,
      () => `strings.toUpper(v: ${this.of("string", depth)})`,
      () => `"<\${${this.of(this.pickKind("int", "float", "bool", "string", "time"), 0)}}>"`,
    ]);
  }

  private arithmetic(kind: Kind, depth: number): string {
    return `(${this.of(kind, depth)} ${pick(this.below, ["+", "-", "*", "/", "%", "^"])} ${this.of(kind, depth)})`;
  }

  private any(depth: number): string {
    return this.of(pick(this.below, KINDS), depth);
  }

  private leaf(kind: Kind): string {
    const from = this.below(10);
    if (this.accumulator && from < 4 && kind in ACCUMULATOR) return ACCUMULATOR[kind]!;
    if (from < 7) return pick(this.below, COLUMNS[kind]);
    return from === 7 ? pick(this.below, ["r.missing", "outer.x", ...COLUMNS[kind]]) : pick(this.below, LITERALS[kind]);
  }

  private pick(choices: readonly (() => string)[]): string {
    return pick(this.below, choices)();
  }

  private pickKind(...kinds: readonly Kind[]): Kind {
    return pick(this.below, kinds);
  }
}

const ACCUMULATOR: Partial<Readonly<Record<Kind, string>>> = {
  float: "accumulator.f",
  int: "accumulator.n",
  string: "accumulator.s",
  bool: "accumulator.b",
};

/** Annotated CSV: tables by `k`, with nulls, borders of the types, and columns that one table lacks. */
export function tables(below: Below, rowCount: number): string {
  const cell = (choices: readonly string[]) => (below(5) === 0 ? "" : pick(below, choices));
  const rows = (table: number, key: string) =>
    Array.from({ length: rowCount }, () =>
      [
        ...["", "", String(table), key, cell(["0", "1.5", "-2.25", "NaN", "+Inf", "100", "7"]), cell(["1", "2"])],
        ...[cell(["0", "1", "-7", "12", "9007199254740992"]), cell(["5", "-1"]), cell(["0", "3", "18446744073709551615"])],
        ...[cell(["true", "false"]), cell(["a", "b", "12", "żółw"]), cell(["2024-01-01T00:00:00Z", "1970-01-01T00:00:00.000000001Z"])],
      ].join(","),
    );
  const head = [
    "#datatype,string,long,string,double,double,long,long,unsignedLong,boolean,string,dateTime:RFC3339",
    "#group,false,false,true,false,false,false,false,false,false,false,false",
    "#default,_result,,,,,,,,,,",
    ",result,table,k,f,g,i,j,u,b,s,t",
  ];
  return [...head, ...rows(0, "x"), ...rows(1, "y"), ""].join("\n");
}

/** A script of one row function, or of a join, over the tables. */
export function rowScript(below: Below, csv: string): string {
  const depth = 1 + below(4);
  const head = `import "csv"\nimport "math"\nimport "strings"\nouter = {x: 2.5}\ntwice = (x, y=1.0) => x * 2.0 + y\ndata = csv.from(csv: ${JSON.stringify(csv).replaceAll("$", "\\$")})\n`;
  const make = new ExpressionMaker(below);
  const property = () => `${pick(below, ["a", "f", "k", "i", "z"])}: ${make.of(pick(below, KINDS), depth)}`;
  switch (below(4)) {
    case 0:
      return `${head}data |> filter(fn: (r) => ${make.of("bool", depth)}, onEmpty: "${pick(below, ["keep", "drop"])}")`;
    case 1:
      return `${head}data |> map(fn: (r) => ({${pick(below, ["r with ", "", "k: r.k, t: r.t, "])}${property()}, c: ${make.of(pick(below, KINDS), depth)}}))`;
    case 2:
      return `import "join"\n${head}${joinScript(below, make, depth)}`;
    default:
      return `${head}data |> reduce(fn: (r, accumulator) => (${fold(below, depth)}), identity: {f: 0.0, n: 0, s: "", b: false})`;
  }
}

function joinScript(below: Below, make: ExpressionMaker, depth: number): string {
  const method = pick(below, ["inner", "left", "right", "full"]);
  const on = pick(below, ["l.i == r.j", "l.s == r.s", "l.f == r.f and l.b == r.b", "l.t == r.t", "l.u == r.i", "l.k == r.k"]);
  const base = pick(below, ["l with ", "k: l.k, t: l.t, ", "r with "]);
  const made = `{${base}f: ${make.of("float", depth)}, c: ${make.of(pick(below, KINDS), depth)}}`;
  return `other = data |> limit(n: ${below(6)})\njoin.${method}(left: data, right: other, on: (l, r) => ${on}, as: (l, r) => (${made}))`;
}

function fold(below: Below, depth: number): string {
  const make = new ExpressionMaker(below, true);
  const fields = [`f: ${make.of("float", depth)}`, `n: ${make.of("int", depth)}`, `s: ${below(3) === 0 ? make.of("string", 1) : '"s"'}`];
  const whole = `{${fields.join(", ")}, b: ${make.of("bool", depth)}}`;
  return below(3) === 0 ? `{accumulator with ${pick(below, fields)}}` : whole;
}
