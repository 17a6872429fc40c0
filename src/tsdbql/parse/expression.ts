// Parses expressions: operands by recursive descent, operators by precedence with a stack, so that a chain of any length needs no
// recursion. A chain of ANDs or ORs becomes a balanced tree (their grouping is irrelevant, and they print alike), so that recursive
// traversal stays shallow even in a condition of 100,000 comparisons.

import { I64_MAX, U64_MAX } from "../../model/rows/int64.ts";
import type { BinaryOperator, Call, CastType, Expression, FieldType, VarRef } from "./ast.ts";
import { parseDuration } from "./durations.ts";
import { goRegexError } from "./go-regex.ts";
import { TSDBQL_LIMITS } from "./limits.ts";
import { quoteIdent } from "./quote.ts";
import type { TokenStream } from "./token-stream.ts";
import type { Token, TokenKind } from "./tokens.ts";

/** Maximum height of an expression's tree, which bounds the depth of recursive traversal. */
const HEIGHT_MAX = TSDBQL_LIMITS.heightMax;

const PRECEDENCE: Readonly<Partial<Record<TokenKind, number>>> = {
  ...{ "=": 3, "!=": 3, "=~": 3, "!~": 3, "<": 3, "<=": 3, ">": 3, ">=": 3 },
  ...{ "+": 4, "-": 4, "|": 4, "^": 4 },
  ...{ "*": 5, "/": 5, "%": 5, "&": 5 },
};
const FIELD_TYPES: readonly FieldType[] = ["float", "integer", "unsigned", "string", "boolean"];

/** @throws TsdbError bad_query. `p.height` is set to the height of the result, by this and all functions below */
export function parseExpression(p: TokenStream): Expression {
  const alternatives: Expression[] = [];
  let conditions: Expression[] = [];
  let highest = 0;
  let count = 0;
  for (;;) {
    conditions.push(parseComparison(p));
    highest = Math.max(highest, p.height);
    count++;
    const { kind } = p.next();
    if (kind === "AND") continue;
    alternatives.push(balanced("AND", conditions));
    if (kind !== "OR") {
      p.unscan();
      p.height = highest + (count === 1 ? 0 : 2 * Math.ceil(Math.log2(count)));
      return balanced("OR", alternatives);
    }
    conditions = [];
  }
}

/** @param operands at least one */
export function balanced(operator: "AND" | "OR", operands: readonly Expression[]): Expression {
  if (operands.length === 1) return operands[0]!;
  const middle = operands.length >> 1;
  const [left, right] = [balanced(operator, operands.slice(0, middle)), balanced(operator, operands.slice(middle))];
  return { kind: "binary", operator, left, right };
}

/** A chain of operators that bind closer than AND. */
function parseComparison(p: TokenStream): Expression {
  const operands = [parseOperand(p)];
  const heights = [p.height];
  const operators: BinaryOperator[] = [];
  const fold = (at: number) => {
    const [right, left] = [operands.pop()!, operands.pop()!];
    operands.push({ kind: "binary", operator: operators.pop()!, left, right });
    heights.push(higher(p, at, heights.pop()!, heights.pop()!));
  };
  for (;;) {
    const { kind, at } = p.next();
    const precedence = PRECEDENCE[kind];
    if (precedence === undefined) {
      p.unscan();
      while (operators.length > 0) fold(at);
      p.height = heights[0]!;
      return operands[0]!;
    }
    const right = kind === "=~" || kind === "!~" ? parseRequiredRegex(p) : parseOperand(p);
    while (operators.length > 0 && PRECEDENCE[operators.at(-1) as TokenKind]! >= precedence) fold(at);
    operators.push(kind as BinaryOperator);
    operands.push(right);
    heights.push(p.height);
  }
}

/** One more than the maximum. @throws TsdbError bad_query: too high */
function higher(p: TokenStream, at: number, ...heights: readonly number[]): number {
  const height = 1 + Math.max(0, ...heights);
  if (height > HEIGHT_MAX) throw p.errorAt(`an expression of more than ${HEIGHT_MAX} levels`, at);
  return height;
}

function parseRequiredRegex(p: TokenStream): Expression {
  const regex = p.acceptRegex();
  if (regex === null) throw p.unexpected(p.next(), ["regex"]);
  p.height = 1;
  return regexLiteral(p, regex);
}

/** @throws TsdbError bad_query if Go does not compile it */
export function regexLiteral(p: TokenStream, { literal, at }: Token): Expression & { kind: "regex" } {
  const { patternCharsMax } = TSDBQL_LIMITS;
  if (literal.length > patternCharsMax) throw p.errorAt(`a regular expression of more than ${patternCharsMax} characters`, at);
  const error = goRegexError(literal);
  if (error !== null) throw p.errorAt(`error parsing regexp: ${error}`, at);
  return { kind: "regex", source: literal };
}

function parseOperand(p: TokenStream): Expression {
  const token = p.next();
  const { kind, literal, at } = token;
  p.height = 1;
  switch (kind) {
    case "(": {
      const inner = p.nested(at, () => parseExpression(p));
      p.expect(")");
      p.height = higher(p, at, p.height);
      return { kind: "paren", inner };
    }
    case "ident":
      if (p.scan().kind === "(") return parseCall(p, literal, at);
      p.unscan();
      p.unscan();
      return parseVarRef(p);
    case "DISTINCT":
      return parseDistinct(p);
    case "string":
      return { kind: "string", value: literal };
    case "number":
      return { kind: "number", value: Number(literal) };
    case "integer":
      return parseInteger(p, token);
    case "true":
    case "false":
      return { kind: "boolean", value: kind === "true" };
    case "duration":
      return { kind: "duration", ns: durationOf(p, literal) };
    case "*":
      return { kind: "wildcard", of: parseWildcardType(p) };
    case "regex":
      return regexLiteral(p, token);
    case "param":
      throw parameterError(p, literal.slice(literal.startsWith("$") ? 1 : 0));
    case "+":
    case "-":
      return parseSigned(p, kind, at);
    default:
      throw p.unexpected(token, ["identifier", "string", "number", "bool"]);
  }
}

/** For a parameter whose value cannot be bound, `name` already is the reason. */
function parameterError(p: TokenStream, name: string): Error {
  return p.error(name === "" ? "empty bound parameter" : `missing parameter: ${name}`);
}

function parseInteger(p: TokenStream, { literal, at }: Token): Expression {
  const value = literal.length > 40 && /^0*\d{21}/.test(literal.replace(/^0+/, "")) ? U64_MAX + 1n : BigInt(literal);
  if (value > U64_MAX) throw p.errorAt("unable to parse integer", at);
  return { kind: "integer", value, unsigned: value > I64_MAX };
}

/** In nanoseconds. @throws TsdbError bad_query without a position, as 1.x for expressions */
function durationOf(p: TokenStream, literal: string): bigint {
  try {
    return parseDuration(literal);
  } catch (error) {
    throw p.error((error as Error).message);
  }
}

/** A sign before a literal is part of it; before anything else it becomes a multiplication. */
function parseSigned(p: TokenStream, sign: "+" | "-", at: number): Expression {
  const token = p.next();
  if (!["number", "integer", "duration", "(", "ident"].includes(token.kind)) {
    throw p.unexpected(token, ["identifier", "number", "duration", "("]);
  }
  p.unscan();
  const operand = p.nested(at, () => parseOperand(p));
  const minus = sign === "-";
  switch (operand.kind) {
    case "number":
      return minus ? { kind: "number", value: -operand.value } : operand;
    case "duration":
      return minus ? { kind: "duration", ns: -operand.ns } : operand;
    case "integer":
      if (!minus) return operand;
      if (operand.value > I64_MAX + 1n) throw p.error(`constant -${operand.value} underflows int64`);
      return { kind: "integer", value: -operand.value, unsigned: false };
    default: {
      p.height = higher(p, at, p.height);
      const one: Expression = { kind: "integer", value: minus ? -1n : 1n, unsigned: false };
      return { kind: "binary", operator: "*", left: one, right: operand };
    }
  }
}

function parseWildcardType(p: TokenStream): "field" | "tag" | null {
  if (p.scan().kind !== "::") {
    p.unscan();
    return null;
  }
  const token = p.scan();
  if (token.kind === "FIELD") return "field";
  if (token.kind === "TAG") return "tag";
  throw p.unexpected(token, ["field", "tag"]);
}

function parseDistinct(p: TokenStream): Expression {
  const token = p.scan();
  if (token.kind === "(") return parseCall(p, "distinct", token.at);
  if (token.kind !== "space") throw p.unexpected(token, ["(", "identifier"]);
  return { kind: "distinct", name: p.expect("ident", "identifier").literal };
}

/** After the name and the opening parenthesis. */
function parseCall(p: TokenStream, name: string, at: number): Call {
  const args: Expression[] = [];
  let height = 0;
  const parseArgument = () => {
    args.push(p.nested(at, () => parseExpression(p)));
    height = Math.max(height, p.height);
  };
  const regex = p.acceptRegex();
  if (regex !== null) args.push(regexLiteral(p, regex));
  else if (p.scan().kind === ")") return { kind: "call", name: name.toLowerCase(), args };
  else {
    p.unscan();
    parseArgument();
  }
  while (p.accept(",")) {
    const next = p.acceptRegex();
    if (next !== null) args.push(regexLiteral(p, next));
    else parseArgument();
  }
  const token = p.scan();
  if (token.kind !== ")") throw p.unexpected(token, [")"]);
  p.height = higher(p, at, height);
  return { kind: "call", name: name.toLowerCase(), args };
}

/** `name`, `"a name"`, `a.b`, optionally followed by `::type`. */
function parseVarRef(p: TokenStream): VarRef {
  const name = parseSegments(p).join(".");
  if (p.scan().kind === "::") return { kind: "ref", name, cast: parseCast(p) };
  p.unscan();
  return { kind: "ref", name, cast: null };
}

function parseCast(p: TokenStream): CastType {
  const token = p.scan();
  if (token.kind === "FIELD") return "field";
  if (token.kind === "TAG") return "tag";
  const type = FIELD_TYPES.find((one) => one === token.literal.toLowerCase());
  if (token.kind === "ident" && type !== undefined) return type;
  // 1.x omits one type if no name follows
  throw p.unexpected(token, [...FIELD_TYPES.filter((one) => token.kind === "ident" || one !== "unsigned"), "field", "tag"]);
}

/** `db.rp.measurement`, `db..measurement`: one to three names, "" between two dots. What follows a last dot (a regular expression or a
 *  colon) is left to the caller. */
export function parseSegments(p: TokenStream): readonly string[] {
  const names = [p.expect("ident", "identifier").literal];
  for (;;) {
    if (p.scan().kind !== ".") {
      p.unscan();
      break;
    }
    const char = p.peekChar();
    if (char === "/" || char === ":") break;
    names.push(char === "." ? "" : p.expect("ident", "identifier").literal);
  }
  if (names.length > 3) throw p.errorAt(`too many segments in ${quoteIdent(...names)}`, 0);
  return names;
}
