// Values outside tables: types of lists that are empty, JSON, dynamic values, members of what is no record, operands that are no booleans.
// Expected: the answers of InfluxDB 2.8.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { MemorySource } from "./memory-source.ts";

const PACKAGES = ["array", "date", "dict", "experimental/json", "experimental/dynamic", "internal/debug", "internal/promql", "regexp"];
const IMPORTS = [...PACKAGES, "strings", "timezone"].map((name) => `import "${name}"\n`).join("");

/** The values of the answer's rows, or what went wrong without the place of the call. */
function answer(script: string): string {
  const query = {
    text: IMPORTS + script,
    now: parseTime("2024-03-05T10:30:00Z")!,
    dialect: { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS },
  };
  let body = "";
  try {
    for (const piece of answerQuery(query, fluxLibrary(), new MemorySource())) body += piece ?? "";
  } catch (error) {
    return (error as Error).message.replace(/@( ?)\d+:\d+-\d+:\d+/g, "@");
  }
  const lines = body.split("\r\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines
    .slice(1)
    .map((line) => line.split(",").slice(3).join())
    .join(" ");
}

const resultOf = (expression: string, before = "") => answer(`${before}\narray.from(rows: [{v: ${expression}}])`);
const json = (text: string) => `x = json.parse(data: bytes(v: ${JSON.stringify(text)}))`;

const EMPTY = "array.filter(arr: [1], fn: (x) => x > 5)";
const TYPES: readonly (readonly [expression: string, type: string])[] = [
  [EMPTY, "[int]"],
  [`array.map(arr: ${EMPTY}, fn: (x) => "s")`, "[int]"],
  [`array.concat(arr: ${EMPTY}, v: [])`, "[int]"],
  [`[${EMPTY}]`, "[[int]]"],
  ['array.filter(arr: [{b: "x", a: 1}], fn: (x) => false)', "[{a: int, b: string}]"],
  ['strings.split(v: "", t: "")', "[string]"],
  ['regexp.findStringIndex(r: /a/, v: "b")', "[int]"],
  ['array.from(rows: [{a: 1}]) |> findColumn(fn: (key) => true, column: "b")', "[string]"],
  ['dict.remove(dict: ["a": 1], key: "a")', "[string: int]"],
  ['dict.fromList(pairs: array.filter(arr: [{key: "a", value: 1}], fn: (x) => false))', "[string: int]"],
  [`dynamic.asArray(v: dynamic.dynamic(v: ${EMPTY}))`, "[dynamic]"],
];

test.each(TYPES)("the type of %s is %s", (expression, type) => {
  expect(resultOf(expression)).toBe(`cannot represent the type ${type} as column data`);
});

test("a dictionary of no pairs takes pairs", () => {
  const empty = 'dict.fromList(pairs: array.filter(arr: [{key: "a", value: 1}], fn: (x) => false))';
  expect(resultOf(`dict.get(dict: dict.insert(dict: ${empty}, key: "q", value: 3), key: "q", default: 0)`)).toBe("3");
});

const OTHER_LISTS = ['[{"a":1},{"b":2}]', '[{"a":1},{"a":"x"}]', '[[1],["x"]]', "[[1],[]]", "[{},{}, [1]]", "[1,null]"];
const SAME_LISTS = ["[[],[]]", "[null,1]", '[{"a":1,"b":2},{"b":3,"a":4}]', "[[null],[]]", '[{"a":[]},{"a":[]}]'];

test.each([...OTHER_LISTS, '{"a":[{"b":[null]},{"b":[1]}]}'])("items of %s have several types", (text) => {
  expect(resultOf("display(v: x)", json(text))).toBe('error calling function "parse" @: array values must all be the same type');
});

test.each(SAME_LISTS)("items of %s have one type", (text) => {
  expect(resultOf("exists x", json(text))).toBe("true");
});

const RECORD = json('{"a":1,"n":null,"l":[1]}');
const MEMBERS: readonly (readonly [expression: string, elsewhere: string, inItems: string])[] = [
  ["x.n.b", "invalid", "null value; expected record"],
  ["exists x.n.b", "invalid", "null value; expected record"],
  ["x.a.b", "float", "value with type float; expected record"],
  ["x.l.b", "array", "value with type array; expected record"],
];

test.each(MEMBERS)("%s", (expression, elsewhere, inItems) => {
  const called = `${RECORD}\nf = (t) => ${expression.replace("x.", "t.")}`;
  const problem = `cannot access property "b" on value of type ${elsewhere}`;
  expect(resultOf("display(v: f(t: x))", called)).toBe(`error calling function "f" @: ${problem}`);
  const mapped = (fn: string) => answer(`${called}\narray.from(rows: [{q: 1}]) |> map(fn: (r) => ({v: display(v: ${fn})}))`);
  expect(mapped(expression)).toBe(`runtime error @: map: failed to evaluate map function: cannot access property of a ${inItems}`);
  expect(mapped("f(t: x)")).toBe(`runtime error @: map: failed to evaluate map function: ${problem}`);
});

test("what is not there has no members in functions of items", () => {
  const problem = 'member "c" with type object is not in the record';
  expect(answer(`${RECORD}\narray.from(rows: [{q: 1}]) |> filter(fn: (r) => exists x.c.b)`)).toEndWith(problem);
  expect(answer(`${RECORD.replace("x", "y")}\narray.from(rows: array.map(arr: [1], fn: (x) => ({v: y.c.b})))`)).toEndWith(problem);
});

test("JSON that is null has no members", () => {
  expect(resultOf("exists x.a", json("null"))).toBe('cannot access property "a" on value of type invalid');
});

const CLASHES: readonly (readonly [list: string, test: string, problem: string])[] = [
  ["[2024-01-01T00:00:00Z]", "x > 5", "cannot compile @: unsupported binary expression time > int"],
  ['[{a: 1, b: "x"}]', "x.a == x.b", "cannot compile @: unsupported binary expression int == string"],
  ["y", 'x.a + "a" == "b"', "type conflict: string != float"],
  ["y", "x.a + 1 == 2", "type conflict: int != float"],
  ["y", "x.a =~ /a/", "type conflict: string != float"],
  ["y", 'strings.toUpper(v: x.a) == "A"', "type conflict: string != float"],
];

test.each(CLASHES)("of items of %s: %s", (list, condition, problem) => {
  const before = json('[{"a":1}]').replace("x", "y");
  expect(resultOf(`display(v: array.filter(arr: ${list}, fn: (x) => ${condition}))`, before)).toBe(
    `error calling function "filter" @: ${problem}`,
  );
});

const WITH = 'on left hand side of "with" in record literal';
test.each([
  ['["a": 1]', `value ${WITH} has type dictionary; expected record`],
  ["[1]", `value ${WITH} has type array; expected record`],
  ['debug.null(type: "int")', `null value ${WITH}`],
])("%s cannot be extended", (value, problem) => {
  expect(answer(`d = ${value}\narray.from(rows: [{q: 1}]) |> map(fn: (r) => ({d with c: 1}))`)).toBe(
    `runtime error @: map: failed to evaluate map function: ${problem}`,
  );
});

const BOOLEANS: readonly (readonly [expression: string, problem: string])[] = [
  ["x and true", "left operand to logical expression is not a boolean value, got float"],
  ["true and x", "right operand to logical expression is not a boolean value"],
  ["false or x", "right operand to logical expression is not a boolean value"],
  ["if x then 1 else 2", "conditional test expression is not a boolean value"],
  ["not x", "operand to unary expression is not a boolean value, got float"],
  ['debug.null(type: "time") and true', "left operand to logical expression is not a boolean value, got time"],
  ["x.a and true", 'cannot access property "a" on value of type float'],
];

test.each(BOOLEANS)("%s: %s", (expression, problem) => {
  expect(resultOf(expression, json("1"))).toBe(problem);
});

test("nulls are operands in functions of items", () => {
  const nothing = 'debug.null(type: "bool")';
  expect(resultOf(`array.map(arr: [1], fn: (x) => if ${nothing} then 1 else 2)[0]`)).toBe("2");
  expect(resultOf(`array.map(arr: [1], fn: (x) => ${nothing} or false)[0]`)).toBe("false");
  expect(resultOf("array.map(arr: [1], fn: (x) => ({v: true and y}))[0].v", json("1").replace("x", "y"))).toBe(
    'error calling function "map" @: cannot use operand of type float with logical and; expected boolean',
  );
});

const LISTS: readonly (readonly [value: string, shown: string])[] = [
  ["1", "int"],
  ['{b: "x", a: 1}', "{a: dynamic, b: dynamic}"],
  ['["a": 1]', "[string: int]"],
  ['debug.null(type: "int")', "<null>"],
];

test.each(LISTS)("dynamic %s is no list", (value, shown) => {
  expect(resultOf(`display(v: dynamic.asArray(v: dynamic.dynamic(v: ${value})))`)).toBe(
    `error calling function "asArray" @: unable to convert ${shown} to array`,
  );
});

test("dynamic values are not compared", () => {
  const before = "d = dynamic.dynamic(v: {a: 1})";
  expect(resultOf("d.a == 1", before)).toBe("error @: dynamic (dynamic) is not Equatable");
  expect(resultOf("1 <= d.a", before)).toBe("error @: dynamic (dynamic) is not Equatable\n\nerror @: dynamic (dynamic) is not Comparable");
});

test("functions of the package that moved say so", () => {
  const moved = 'error calling function "die" @date/boundaries.flux|';
  expect(answer('import b "date/boundaries"\nx = b.week(start_sunday: true)').replace(/\d+:\d+-.*/, "")).toEndWith(moved);
});

test("the months of a location's offset count", () => {
  const at = (part: string, time: string, offset: string) =>
    resultOf(`date.${part}(t: ${time}, location: timezone.fixed(offset: ${offset}))`);
  expect(at("year", "2024-12-15T23:30:00Z", "1mo")).toBe("2025");
  expect(at("monthDay", "2024-12-15T23:30:00Z", "12mo1h")).toBe("16");
  // wraps to 64 bits
  expect(at("year", "2262-04-11T23:47:16Z", "1h")).toBe("1677");
  expect(resultOf("string(v: date.scale(d: 1y, n: 3074457345618258603))")).toBe("4mo");
  expect(resultOf("string(v: date.scale(d: 2mo, n: 9223372036854775807))")).toBe("0ns");
});

/** Rows of a column of the type; N is null. */
const column = (type: string, values: string) => {
  const cell = (text: string) => (text === "N" ? `debug.null(type: "${type}")` : type === "uint" ? `uint(v: "${text}")` : text);
  const rows = values.split(" ").map((text, i) => `{_time: 2024-01-01T00:00:0${i}Z, _value: ${cell(text)}}`);
  return `array.from(rows: [${rows.join()}])`;
};
const TIMES = /2024-01-01T00:00:0\dZ,/g;

const INTEGERS: readonly (readonly [type: string, values: string, call: string, made: string])[] = [
  ["int", "3 N -1 9223372036854775807 5 5", "mean()", "1844674407370955300"],
  ["int", "9223372036854775807 9223372036854775807", "mean()", "-1"],
  ["uint", "1 18446744073709551615 3", "difference(nonNegative: true, initialZero: true)", " 4"],
  ["uint", "1 18446744073709551615 3", "increase()", "0 0 4"],
  ["uint", "3 1 7 2", "chandeMomentumOscillator(n: 1)", "100 100 100"],
  ["int", "9223372036854775807 -9223372036854775807 5 9", "chandeMomentumOscillator(n: 2)", "-100 -100"],
  ["int", "9007199254740993 9007199254740992 9007199254740995", "kaufmansER(n: 2)", "0.5"],
  ["uint", "7 7 9", "kaufmansAMA(n: 2)", "7.888888888888889"],
];

test.each(INTEGERS)("%s %s |> %s", (type, values, call, made) => {
  expect(answer(`${column(type, values)} |> ${call}`).replace(TIMES, "")).toBe(made);
});

test("promql.promHistogramQuantile without bounds has its column", () => {
  const rows = '[{le: "1", _value: 1.0}, {le: "2", _value: 3.0}]';
  const call = 'promql.promHistogramQuantile(quantile: 0.5, upperBoundColumn: "zz", valueColumn: "q")';
  expect(answer(`array.from(rows: ${rows}) |> ${call} |> columns(column: "name") |> keep(columns: ["name"])`)).toBe("q");
});
