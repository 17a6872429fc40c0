// Trees that clients send as `ast` and `extern`: what is no tree is refused with a reason, and a sound one runs as its text does.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { filesOfJson, packageJson } from "../../src/flux/parse/json.ts";
import { parseFile } from "../../src/flux/parse/parser.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { MemorySource } from "./memory-source.ts";

/** What the JSON ends in: its answer, or the message of the error. */
function outcome(json: unknown): string {
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  try {
    let answer = "";
    const query = { text: "", extern: filesOfJson(json), now: parseTime("2024-03-05T10:30:00Z")!, dialect };
    for (const piece of answerQuery(query, fluxLibrary(), new MemorySource())) if (typeof piece === "string") answer += piece;
    return answer;
  } catch (error) {
    if (error instanceof FluxError || (error instanceof TsdbError && error.kind === "bad_query")) return error.message;
    throw error;
  }
}

const one = { type: "IntegerLiteral", value: "1" };
const x = { type: "Identifier", name: "x" };
const file = (...body: unknown[]) => ({ type: "File", package: null, imports: [], body });
const shown = (expression: unknown) => file({ type: "ExpressionStatement", expression });
const nested = (depth: number): unknown => {
  let expression: unknown = one;
  for (let i = 0; i < depth; i++) expression = { type: "ParenExpression", expression };
  return expression;
};
const call = (callee: unknown, ...args: unknown[]) => ({ type: "CallExpression", callee, arguments: args });
const record = (...properties: unknown[]) => ({ type: "ObjectExpression", properties });

test("a sound tree runs as its text does", () => {
  const text = 'import "array"\narray.from(rows: [{v: 1, d: string(v: 1h30m), b: not false, t: "a" + "b"}])';
  const json: unknown = JSON.parse(JSON.stringify(packageJson(parseFile(text), text)));
  expect(outcome(json)).toContain(",,0,1,1h30m,true,ab\r\n");
});

const BAD: readonly (readonly [what: string, json: unknown, message: RegExp])[] = [
  // what is no file
  ["null", null, /^invalid AST: a tree is expected$/],
  ["a number", 1, /a tree is expected/],
  ["a list", [], /a tree is expected/],
  ["files that are no list", { type: "Package", files: {} }, /files is no list/],
  ["a number as a file", { type: "Package", files: [1] }, /a file is expected/],
  ["a body that is no list", { type: "File", body: "x" }, /body is no list/],
  ["a package that is no clause", { type: "File", package: one, body: [] }, /IntegerLiteral where PackageClause is expected/],
  ["a number as an import", { type: "File", imports: [one], body: [] }, /IntegerLiteral where ImportDeclaration is expected/],
  [
    "a path that is no text",
    { type: "File", imports: [{ type: "ImportDeclaration", path: x }], body: [] },
    /where StringLiteral is expected/,
  ],
  // nodes
  ["a statement without a type", file({}), /unknown node ""/],
  ["a statement that is null", file(null), /a node is expected/],
  ["an unknown node", file({ type: "EvilStatement" }), /unknown node "EvilStatement"/],
  ["a name of every object", file({ type: "constructor" }), /unknown node "constructor"/],
  ["an expression as a statement", file(one), /IntegerLiteral where an expression|IntegerLiteral where/],
  ["a statement without its expression", file({ type: "ExpressionStatement" }), /ExpressionStatement without expression/],
  ["a statement as an expression", shown({ type: "ReturnStatement", argument: one }), /ReturnStatement where an expression is expected/],
  [
    "a variable whose name is a number",
    file({ type: "VariableAssignment", id: one, init: one }),
    /IntegerLiteral where Identifier is expected/,
  ],
  [
    "a variable whose name is none",
    file({ type: "VariableAssignment", id: { type: "Identifier", name: 1 }, init: one }),
    /a text is expected/,
  ],
  [
    "an option that assigns nothing",
    file({ type: "OptionStatement", assignment: one }),
    /where VariableAssignment or MemberAssignment is expected/,
  ],
  ["a call of nothing", shown({ type: "CallExpression" }), /CallExpression without callee/],
  ["a call with two records", shown(call(x, record(), record())), /a call has one record of arguments/],
  ["a call with a list", shown(call(x, [])), /a node is expected/],
  ["a call with a number", shown(call(x, one)), /where ObjectExpression is expected/],
  ["a pipe to a number", shown({ type: "PipeExpression", argument: one, call: one }), /where CallExpression is expected/],
  ["a record of numbers", shown(record(one)), /where Property is expected/],
  ["a property without a key", shown(record({ type: "Property", value: one })), /Property without key/],
  [
    "a property whose key is a number",
    shown(record({ type: "Property", key: one, value: one })),
    /where Identifier or StringLiteral is expected/,
  ],
  ["with a number", shown({ type: "ObjectExpression", with: one, properties: [] }), /where Identifier is expected/],
  ["elements that are no list", shown({ type: "ArrayExpression", elements: { length: 3 } }), /elements is no list/],
  ["a dictionary of numbers", shown({ type: "DictExpression", elements: [1] }), /a node is expected/],
  [
    "parts of a text that are expressions",
    shown({ type: "StringExpression", parts: [one] }),
    /where TextPart or InterpolatedPart is expected/,
  ],
  [
    "a function whose body is a statement",
    shown({ type: "FunctionExpression", params: [], body: { type: "ReturnStatement", argument: one } }),
    /ReturnStatement where/,
  ],
  // operators
  ["an unknown operator", shown({ type: "BinaryExpression", operator: "<=>", left: one, right: one }), /"<=>" is none of/],
  [
    "an operator of every object",
    shown({ type: "BinaryExpression", operator: "toString", left: one, right: one }),
    /"toString" is none of/,
  ],
  ["an operator that is a node", shown({ type: "LogicalExpression", operator: x, left: one, right: one }), /is none of and or/],
  ["an unknown sign", shown({ type: "UnaryExpression", operator: "~", argument: one }), /"~" is none of/],
  // literals
  ["an integer that is too large", shown({ type: "IntegerLiteral", value: "9223372036854775808" }), /is not between/],
  ["an integer of 400 digits", shown({ type: "IntegerLiteral", value: "9".repeat(400) }), /an integer is expected/],
  ["an integer with a fraction", shown({ type: "IntegerLiteral", value: 1.5 }), /an integer is expected/],
  ["an unsigned integer below 0", shown({ type: "UnsignedIntegerLiteral", value: "-1" }), /is not between/],
  ["a float that is a text", shown({ type: "FloatLiteral", value: "1" }), /a number is expected/],
  ["a float that is no number", shown({ type: "FloatLiteral", value: Number.POSITIVE_INFINITY }), /a number is expected/],
  ["a boolean that is a number", shown({ type: "BooleanLiteral", value: 1 }), /true or false is expected/],
  ["a text that is a list", shown({ type: "StringLiteral", value: ["a"] }), /a text is expected/],
  ["a duration of nothing", shown({ type: "DurationLiteral", values: [null] }), /a duration is expected/],
  ["a duration of an unknown unit", shown({ type: "DurationLiteral", values: [{ magnitude: 1, unit: "parsec" }] }), /"parsec" is none of/],
  ["a duration that is too long", shown({ type: "DurationLiteral", values: [{ magnitude: 1e300, unit: "y" }] }), /an integer is expected/],
  [
    "an invalid regular expression",
    shown({ type: "RegexpLiteral", value: "(" }),
    /error parsing regexp|regex parse error|no streaming data/,
  ],
  ["an invalid time", shown({ type: "DateTimeLiteral", value: "2024-99-99" }), /no streaming data/],
  // depth
  ["201 parentheses", shown(nested(201)), /nodes are nested too deep/],
  ["10,000 parentheses", shown(nested(10_000)), /nodes are nested too deep/],
  ["197 parentheses", shown(nested(197)), /Program is nested too deep/],
  // what the grammar allows and the language does not
  ["a pipe literal", shown({ type: "PipeLiteral" }), /a pipe literal may only be used/],
  ["a return at the top", file({ type: "ReturnStatement", argument: one }), /return not valid in file block/],
  [
    "a function without a result",
    shown({ type: "FunctionExpression", params: [], body: { type: "Block", body: [] } }),
    /missing return statement/,
  ],
  ["an unknown name", shown(x), /undefined identifier x/],
];

test.each(BAD)("%s", (_, json, message) => expect(outcome(json)).toMatch(message));
