// What the tests of the vendor's Flux library look at and the recorded cases do not. Expected: the answers of InfluxDB 2.8.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { MemorySource } from "./memory-source.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;

/** Header and rows of the answer; what went wrong is its last line. */
function answer(script: string): string[] {
  let text = "";
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  try {
    for (const piece of answerQuery({ text: script, now: NOW, dialect }, fluxLibrary(), new MemorySource())) {
      if (piece !== null && !(piece instanceof Promise)) text += typeof piece === "string" ? piece : Buffer.from(piece).toString();
    }
  } catch (error) {
    text += (error as Error).message;
  }
  return text.split("\r\n").filter((line) => line !== "" && !line.startsWith("#"));
}

const ROWS = (f1: string) =>
  'import "array"\nimport "experimental"\n' +
  'array.from(rows: [{_measurement: "m", tag: "t", f0: 10.1, f1: 10, _time: 2018-12-01T00:00:00Z}])'.replace("f1: 10", `f1: ${f1}`) +
  ' |> group(columns: ["_measurement"]) |> experimental.unpivot';

test.each<[string, string[]]>([
  ['(otherColumns: ["_time", "tag"])', [",result,table,_measurement,_field,_time,tag,_value", ",,0,m,f0,2018-12-01T00:00:00Z,t,10.1"]],
  [
    '(otherColumns: ["_time", "tag", "_field"])',
    [",result,table,_measurement,_time,tag,_field,_value", ",,0,m,2018-12-01T00:00:00Z,t,f0,10.1", ",,0,m,2018-12-01T00:00:00Z,t,f1,10.2"],
  ],
])("unpivot%s", (call, lines) => {
  expect(answer(ROWS("10.2") + call)).toEqual(expect.arrayContaining(lines));
});

test("unpivot cannot have values of two types in a table", () => {
  expect(answer(`${ROWS("10")}(otherColumns: ["_time", "tag", "_field"])`).join()).toContain(
    'unpivot: schema collision detected: column "_value" is both of type int and float',
  );
});

const SIDES = `import "array"
l = array.from(rows: [{r: "r1", i: "p1", v: 1}, {r: "r2", i: "p1", v: 2}, {r: "r1", i: "p2", v: 3}, {r: "r2", i: "p2", v: 4}])
t = array.from(rows: [{r: "r1", i: "p1", d: "a"}, {r: "r1", i: "p2", d: "b"}, {r: "r2", i: "p2", d: "c"}, {r: "r2", i: "p1", d: "d"}])
`;

test.each(['["r", "i"]', '["i", "r"]'])("join(on: %s) orders rows by the names of its columns", (on) => {
  expect(answer(`${SIDES}join(tables: {l: l, t: t}, on: ${on})`)).toEqual([
    ",result,table,d,i,r,v",
    ...[",,0,a,p1,r1,1", ",,0,d,p1,r2,2", ",,0,b,p2,r1,3", ",,0,c,p2,r2,4"],
  ]);
});

test("the key of an incident does not change with its level, or with the range", () => {
  const keys = ["ok", "crit"].flatMap((level) =>
    ["2021-06-08T09:00:00Z", "2021-06-08T08:00:00Z"].map((start) => {
      const rows = `[{_time: 2021-06-08T10:00:00Z, _measurement: "m0", _field: "f0", _level: "${level}", host: "a", _value: 0.0}]`;
      const grouped = 'group(columns: ["_measurement", "_field", "_level", "host"])';
      const script = `array.from(rows: ${rows}) |> ${grouped} |> range(start: ${start}, stop: 2021-06-08T12:00:00Z) |> pagerduty.dedupKey()`;
      return answer(`import "array"\nimport "pagerduty"\n${script}`)[1]!.split(",").at(-1);
    }),
  );
  // SHA-256 of "_field\nf0\n_measurement\nm0\nhost\na\n"
  expect(new Set(keys)).toEqual(new Set(["4989af42de08cdfbcd8cf398809af7b87bc256ea226fbca5f528185cac9d4a7f"]));
});

const DYNAMIC = 'import "array"\nimport "experimental/dynamic"\nimport "internal/debug"\n';

test.each<[value: string, text: string]>([
  ["dynamic.dynamic(v: {f0: 123}).f1", "dynamic(<null>)"],
  ['bytes(v: dynamic.dynamic(v: "abc"))', "0x616263"],
  ["dynamic._isNotDistinct(a: dynamic.dynamic(v: {f: 1, g: [1, 2]}), b: dynamic.dynamic(v: {g: [1, 2], f: 1}))", "true"],
])("%s is %s", (value, text) => {
  expect(answer(`${DYNAMIC}array.from(rows: [{a: display(v: ${value})}])`)).toEqual([",result,table,a", `,,0,${text}`]);
});

test.each<[value: string, problem: string]>([
  ["dynamic.dynamic(v: debug.null()).f0", 'cannot access property "f0" on value of type invalid'],
  ["dynamic.dynamic(v: {f0: 123}).f1.f2.f3", 'cannot access property "f2" on value of type invalid'],
  ["dynamic.dynamic(v: 3).f1", 'cannot access property "f1" on value of type int'],
  ["bytes(v: dynamic.dynamic(v: 1))", "cannot convert int to bytes"],
  ["bytes(v: dynamic.dynamic(v: debug.null()))", "cannot convert null to bytes"],
])("%s: %s", (value, problem) => {
  expect(answer(`${DYNAMIC}array.from(rows: [{a: display(v: ${value})}])`).join()).toContain(problem);
});

test.each<[value: string, problem: string]>([
  ["dynamic.dynamic(v: {f0: 123}).f1.f2", "cannot access property of a null value; expected record"],
  ["dynamic.dynamic(v: 3).f1", "cannot access property of a value with type int; expected record"],
])("of rows, %s: %s", (value, problem) => {
  const script = `${DYNAMIC}array.from(rows: [{x: 1}]) |> map(fn: (r) => ({a: display(v: ${value})}))`;
  expect(answer(script).join()).toContain(`map: failed to evaluate map function: ${problem}`);
});

const TYPES = "#datatype,string,long,double\n#group,false,false,true\n#default,_result,,\n";
const NO_TYPES = "failed to read metadata: missing expected annotation datatype";

test.each<[csv: string, lines: string[], problem: string | null]>([
  [`${TYPES.slice(1)},result,table,_value\n,,0,50.12`, [",,0,50.12"], null],
  [`#other,a,b,c\n${TYPES},result,table,_value\n,,0,50.12`, [",,0,50.12"], null],
  [`${TYPES},result,table,_value\n,,0,50.12\n\nfoo,string,long,double\n,,0,50.12`, [",,0,50.12"], `${NO_TYPES}. consider using`],
  [`${TYPES},result,table,_value\n,,0,50.12\nx,,0,51.12`, [",,0,50.12"], `${NO_TYPES}. consider using`],
  ["x,string,long,double\n,,0,50.12", [], `${NO_TYPES}. consider using`],
  ["#group,false,false,true\n#default,_result,,", [], `${NO_TYPES}. Consider using`],
  ["#datatype,string,long,double\n#group,false,false,true", [], "missing expected annotation default"],
  ["#datatype,string\n#group,true\n#default,\n,error\n,boom", [], 'failed to read "datatype" annotation: wrong number of fields'],
  ["#datatype,string,string\n#group,true,true\n#default,,\n,error,other\n,boom,897", [], "error in csv.from(): boom"],
  ["#datatype,string,string\n#group,true,true\n#default,,\n,error,reference\n", [], "failed to read metadata: unexpected EOF"],
  [TYPES, [], "missing expected header row"],
  ["#other,a,b", [], null],
  ["#datatype,string,long\n#group,false,false\n#default,_result,\n,result,table\n,,0", [], null],
])("csv %j", (csv, lines, problem) => {
  const given = answer(`import "csv"\ncsv.from(csv: ${JSON.stringify(csv)})`);
  expect(given.filter((line) => line.startsWith(",,"))).toEqual(lines);
  if (problem === null) expect(given.join()).not.toContain("error");
  else expect(given.join()).toContain(problem);
});

const OTHER_VALUES = (rows: string) =>
  `import "csv"\ncsv.from(csv: "#datatype,string,long,string,double\n#group,false,false,true,false\n#default,,,,\n,result,table,g,v\n${rows}")`;

test.each<[string, string[]]>([
  ["map(fn: (r) => ({r with w: r.v}))", [",result,table,g,v,w", ",,0,a,1.5,1.5", ",,1,b,2.5,2.5", ",,1,b,3.5,3.5"]],
  ["map(fn: (r) => ({g: r.g, w: string(v: r.v)}))", [",result,table,g,w", ",,0,a,1.5", ",,1,b,2.5", ",,1,b,3.5"]],
  ['map(fn: (r) => ({w: r.g + "!"}))', [",result,table,w", ",,0,a!", ",,0,b!", ",,0,b!"]],
  ['map(fn: (r) => ({v: if r.g == "b" then 1 else 2}))', [",result,table,v", ",,0,2", ",,0,1", ",,0,1"]],
  ['reduce(fn: (r, accumulator) => ({s: accumulator.s + r.g}), identity: {s: ""})', [",result,table,g,s", ",,0,a,abb"]],
  // a filter tests the key instead
  ['filter(fn: (r) => r.g == "b")', []],
])("rows from CSV with other values than their key: %s", (call, lines) => {
  expect(answer(`${OTHER_VALUES(",,0,a,1.5\n,,0,b,2.5\n,,0,b,3.5\n")} |> ${call}`)).toEqual(lines);
});

const JOINED = (on: string) => `import "array"
import "join"
x = array.from(rows: [{h: "a", n: 1, b: true}])
y = array.from(rows: [{h: "a", n: 1}])
s = "a"
o = {n: 1}
f = (v) => v
join.inner(left: x, right: y, on: (l, r) => ${on}, as: (l, r) => ({l with m: r.n}))`;

test.each([["l.n == (r.n) and (r.h) == l.h"], ["(l.h == r.h)"]])("join on %s", (on) => {
  expect(answer(JOINED(on))).toEqual([",result,table,b,h,m,n", ",,0,true,a,1,1"]);
});

test.each([
  ['l.h == "x"', "illegal expression type in join predicate: StringLiteral"],
  ["l.n == -1", "illegal expression type in join predicate: IntegerLiteral"],
  ["l.n == -r.n", "illegal expression type in join predicate: UnaryExpression"],
  ["l.n == [1, 2][r.n]", "illegal expression type in join predicate: IntegerLiteral"],
  ["[l.n] == [r.n]", "illegal expression type in join predicate: ArrayExpression"],
  ["l.h == f(v: r.h)", "illegal expression type in join predicate: Identifier"],
  ["l.h == (() => r.h)()", "illegal expression type in join predicate: ObjectExpression"],
  [`l.h == "a\${r.n}"`, "illegal expression type in join predicate: InterpolatedPart"],
  [`l.h == "\${r.n}a"`, "illegal expression type in join predicate: TextPart"],
  ["l.h =~ /x/", "illegal expression type in join predicate: RegexpLiteral"],
  ["l.h == r.h or true", "illegal expression type in join predicate: BooleanLiteral"],
  ["if true then l.h == r.h else l.h == r.h", "illegal expression type in join predicate: BooleanLiteral"],
  ["exists l.h and true", "illegal expression type in join predicate: BooleanLiteral"],
  ["l.h == s", "illegal expression type in join predicate: StringLiteral"],
  ["l.n == o.n", "illegal expression type in join predicate: IntegerLiteral"],
  ["l.n < r.n or l.h == r.h", "unsupported operator in join predicate: <"],
  ["l.n == r.n + r.n", "unsupported operator in join predicate: +"],
  ["l.h == l.h", "binary expression operands must reference `l` or `r` only, and may not reference the same object"],
  ["l == r", "left side of comparison is not a member expression"],
  ["l.n == x", "right side of comparison is not a member expression"],
  ["{ z = l.h return z == r.h }", "function body should be a single logical expression that compares columns from each table"],
])("join on %s: %s", (on, problem) => {
  const [line] = answer(JOINED(on));
  expect(line).toEndWith(`are not yet supported in the \`on\` parameter: ${problem}`);
});

test.each([
  ["option a = a + 1", "error @1:12-1:13: undefined identifier a"],
  [
    "option a = a + 1\noption b = a",
    'error @2:12-2:13: option "b" depends on option "a", which is defined in the same package\n\nerror @1:12-1:13: undefined identifier a',
  ],
  [
    'x = 1 + "a"\nbuiltin y : foo\ntestcase t {\n  builtin z : (<-a: int, <-b: int) => bar\n}',
    "error @2:13-2:16: invalid named type foo\n\nerror @4:26-4:34: function types can have at most one pipe parameter\n\n" +
      "error @4:39-4:42: invalid named type bar\n\nerror @1:9-1:12: expected int but found string",
  ],
  ["x = 1\nx = 2\nbuiltin y : foo", 'error @3:13-3:16: invalid named type foo\n\nerror @2:1-2:6: variable "x" reassigned'],
])("order of what is wrong with %j", (script, problems) => {
  expect(answer(script).join()).toBe(problems);
});

const UNKNOWN = `import "array"
import "internal/debug"
array.from(rows: [{n: debug.null(type: "int"), b: true, s: "a", _time: 2021-01-01T00:00:00Z}])`;

test.each([
  // whole columns: constants are computed first, and are told from columns
  ['map(fn: (r) => ({r with v: 1 < "x"}))', "runtime error: unsupported binary expression int < string"],
  ["map(fn: (r) => ({r with v: 1 == 2 == 3}))", "runtime error: unsupported binary expression bool == int"],
  ["map(fn: (r) => ({r with v: 2 ^ 3 + 1}))", "runtime error: unsupported binary expression float + int"],
  ['map(fn: (r) => ({r with v: r.b and 1 == "x"}))', "runtime error: unsupported binary expression int == string"],
  ['map(fn: (r) => ({r with v: r.n == "x"}))', "runtime error: unsupported type for vector Equal: int == string"],
  // rows: types are checked whether there is a value or not
  ["map(fn: (r) => ({r with v: r.n == [1]}))", "unsupported binary expression int == array"],
  ["map(fn: (r) => ({r with v: r.n != 0s}))", "unsupported binary expression int != duration"],
  ["map(fn: (r) => ({r with v: {a: 1} == r.n}))", "unsupported binary expression object == int"],
  ["map(fn: (r) => ({r with v: false and r.n < 1s}))", "unsupported binary expression int < duration"],
  ['filter(fn: (r) => r.n == "x")', "cannot compile @ 4:16-4:33: unsupported binary expression int == string"],
  ["stateCount(fn: (r) => r.n == [1])", "unsupported binary expression int == array"],
  ['reduce(fn: (r, accumulator) => ({v: r.n == "x"}), identity: {v: true})', "unsupported binary expression int == string"],
])("types of operands without values: %s", (call, problem) => {
  expect(answer(`${UNKNOWN}\n |> ${call}`).join()).toContain(problem);
});

test.each([
  ['true or 1 == "x"', "true"],
  ['false and r.n == "x"', "false"],
  ['1 == 2 and r.n == "x"', "false"],
  ['not (true and false and 1 == "x")', "true"],
  ['if false then 1 == "x" else true', "true"],
])("a constant decides whether whole columns are compared: %s", (value, shown) => {
  expect(answer(`${UNKNOWN}\n |> map(fn: (r) => ({s: r.s, v: ${value}}))`)).toEqual([",result,table,s,v", `,,0,a,${shown}`]);
});

test("pivot names columns by times with nine digits", () => {
  const rows = '[{_time: 2024-03-05T10:03:00.5Z, h: "c", i: 1, _value: 1}, {_time: 2024-03-05T10:03:00Z, h: "c", i: 2, _value: 2}]';
  const pivoted = (keys: string) =>
    answer(`import "array"\narray.from(rows: ${rows}) |> pivot(rowKey: ["h"], columnKey: ${keys}, valueColumn: "_value")`);
  expect(pivoted('["_time"]')[0]).toBe(",result,table,h,2024-03-05T10:03:00.500000000Z,2024-03-05T10:03:00.000000000Z");
  expect(pivoted('["i", "_time"]')[0]).toBe(",result,table,h,1_2024-03-05T10:03:00.500000000Z,2_2024-03-05T10:03:00.000000000Z");
});

test("system.time() is the clock's time, whatever now() is", () => {
  const script = 'import "array"\nimport "system"\noption now = () => 2020-01-01T00:00:00Z\n';
  expect(answer(`${script}array.from(rows: [{a: system.time() > 2024-01-01T00:00:00Z, b: now()}])`)).toEqual([
    ",result,table,a,b",
    ",,0,true,2020-01-01T00:00:00Z",
  ]);
});
