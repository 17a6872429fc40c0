// Parses expressions with the vendor's grammar: precedence determines what a name shows.
import { BINDS } from "../parse/precedence.ts";
import type { Token } from "../parse/tokens.ts";
import { readCall, readQuery, startsQuery } from "./call.ts";
import { field, listOperator, subscript } from "./list-operator.ts";
import { binaryText, isNumber, stringText, stringValue } from "./literal.ts";
import { type NameNode, parts, plainCall, text } from "./node.ts";
import { type TokenReader, UNNAMED } from "./token-reader.ts";
import { readType } from "./type-name.ts";

interface BinaryOperator {
  readonly binds: number;
  readonly shown: string;
}

const operatorsOf = (binds: number, names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([name, shown]) => [name, { binds, shown }] as const);

const SYMBOLS: ReadonlyMap<string, BinaryOperator> = new Map([
  ...operatorsOf(BINDS.between, { "=": "=", "==": "=", "<>": "!=", "!=": "!=", "<": "<", ">": ">", "<=": "<=", ">=": ">=" }),
  ...operatorsOf(BINDS.between, { "<=>": "IS NOT DISTINCT FROM" }),
  ...operatorsOf(BINDS.sum, { "+": "+", "-": "-" }),
  ...operatorsOf(BINDS.product, { "*": "*", "/": "/", "%": "%", "||": "||", "//": "DIV" }),
  ...operatorsOf(BINDS.bitOr, { "|": "|" }),
  ...operatorsOf(BINDS.bitXor, { "^": "BIT_XOR", "#": "BIT_XOR", "<<": "<<", ">>": ">>" }),
  ...operatorsOf(BINDS.bitAnd, { "&": "&" }),
  ...operatorsOf(BINDS.like, { "~": "~", "~*": "~*", "!~": "!~", "!~*": "!~*", "~~": "~~", "~~*": "~~*", "!~~": "!~~", "!~~*": "!~~*" }),
  ...operatorsOf(BINDS.arrow, { "@>": "@>", "<@": "<@" }),
  ...operatorsOf(BINDS.cast, { "::": "" }),
  ...operatorsOf(BINDS.field, { "[": "", ".": "" }),
]);

const WORDS: ReadonlyMap<string, BinaryOperator> = new Map([
  ...operatorsOf(BINDS.or, { or: "OR" }),
  ...operatorsOf(BINDS.and, { and: "AND" }),
  ...operatorsOf(BINDS.xor, { xor: "BIT_XOR" }),
  ...operatorsOf(BINDS.product, { div: "DIV" }),
  ...operatorsOf(BINDS.is, { is: "" }),
  ...operatorsOf(BINDS.between, { in: "", between: "" }),
  ...operatorsOf(BINDS.like, { like: "LIKE", ilike: "ILIKE", similar: "SIMILAR TO" }),
  ...operatorsOf(BINDS.zone, { at: "" }),
]);

/** Maximum tests, casts and member accesses on one operand; operator chains may be of any length. */
const WRAPS_MAX = 200;

/** Reads an expression whose operators bind more strongly than `above`. @throws UNNAMED for syntax that gets no name */
export function readExpression(reader: TokenReader, above = 0): NameNode {
  reader.enter();
  let left = readPrefix(reader);
  let wraps = 0;
  for (;;) {
    const operator = operatorHere(reader);
    if (operator === undefined || operator.binds <= above) break;
    left = readInfix(reader, left, operator);
    if (left.kind !== "binary" && ++wraps > WRAPS_MAX) throw UNNAMED;
  }
  reader.leave();
  return left;
}

function operatorHere(reader: TokenReader): BinaryOperator | undefined {
  const { token } = reader;
  if (token?.kind === "symbol") return token.text === "," || token.text === ")" ? undefined : SYMBOLS.get(reader.operator());
  if (token?.kind !== "word") return undefined;
  if (token.text !== "not") return WORDS.get(token.text);
  const next = WORDS.get(reader.word(1));
  return next?.binds === BINDS.between || next?.binds === BINDS.like ? next : undefined;
}

function readInfix(reader: TokenReader, left: NameNode, operator: BinaryOperator): NameNode {
  const sign = reader.operator();
  if (sign === "") return readWordInfix(reader, left, operator);
  reader.at += sign.length;
  if (sign === "::") return { kind: "cast", value: left, type: readType(reader), isTry: false };
  if (sign === "[") return subscript(reader, left);
  if (sign === ".") return field(left, nameOf(reader.next()));
  if (["any", "some", "all"].includes(reader.word()) && reader.isSymbol("(", 1)) return readAny(reader, left, sign);
  const right = readExpression(reader, operator.binds);
  return listOperator(sign, left, right) ?? { kind: "binary", left, operator: operator.shown, right };
}

/** `x = ANY(list)` */
function readAny(reader: TokenReader, left: NameNode, sign: string): NameNode {
  if (reader.next().text === "all" || sign !== "=" || startsQuery(reader, 1)) throw UNNAMED;
  reader.expectSymbol("(");
  const list = readExpression(reader);
  reader.expectSymbol(")");
  return plainCall("array_has", [list, left]);
}

function readWordInfix(reader: TokenReader, left: NameNode, operator: BinaryOperator): NameNode {
  const isNot = reader.takeWord("not");
  const word = reader.next().text;
  switch (word) {
    case "is":
      return readIs(reader, left);
    case "in":
      return readIn(reader, left, isNot);
    case "between": {
      const low = readExpression(reader, BINDS.between);
      reader.expectWord("and");
      return parts(left, isNot ? " NOT BETWEEN " : " BETWEEN ", low, " AND ", readExpression(reader, BINDS.between));
    }
    case "at": {
      reader.expectWord("time", "zone");
      const zone = reader.next();
      if (zone.kind !== "string") throw UNNAMED;
      return { kind: "cast", value: left, type: `Timestamp(ns, "${stringValue(zone)}")`, isTry: false };
    }
    case "similar":
      reader.expectWord("to");
  }
  const right = readExpression(reader, operator.binds);
  if (operator.binds !== BINDS.like) return { kind: "binary", left, operator: operator.shown, right };
  const shown = ` ${isNot ? "NOT " : ""}${operator.shown} `;
  if (!reader.takeWord("escape")) return parts(left, shown, right);
  const char = reader.next();
  if (char.kind !== "string") throw UNNAMED;
  return parts(left, shown, right, ` CHAR '${stringValue(char)}'`);
}

function readIs(reader: TokenReader, left: NameNode): NameNode {
  const not = reader.takeWord("not") ? " NOT" : "";
  if (reader.takeWord("distinct", "from")) {
    return { kind: "binary", left, operator: `IS${not} DISTINCT FROM`, right: readExpression(reader) };
  }
  const word = reader.next().text;
  if (!["null", "true", "false", "unknown"].includes(word)) throw UNNAMED;
  return parts(left, ` IS${not} ${word.toUpperCase()}`);
}

function readIn(reader: TokenReader, value: NameNode, isNot: boolean): NameNode {
  if (startsQuery(reader)) {
    readQuery(reader);
    return { kind: "query", form: "test", value, words: isNot ? "NOT IN" : "IN" };
  }
  reader.expectSymbol("(");
  const items = readList(reader, ")");
  return { kind: "in", value, isNot, items };
}

/** A comma-separated list up to and including `close`. */
function readList(reader: TokenReader, close: string): NameNode[] {
  const items: NameNode[] = [];
  if (reader.takeSymbol(close)) return items;
  do items.push(readExpression(reader));
  while (reader.takeSymbol(","));
  reader.expectSymbol(close);
  return items;
}

function readPrefix(reader: TokenReader): NameNode {
  const token = reader.next();
  switch (token.kind) {
    case "number":
      return readNumber(reader, token);
    case "string":
      if (reader.token?.kind === "string") throw UNNAMED;
      return text(stringText(stringValue(token)));
    case "parameter":
      return text(token.text);
    case "quoted":
      return readName(reader, token);
    case "word":
      return readWord(reader, token);
    case "symbol":
      return readSymbol(reader, token.text);
  }
}

/** `5.` consists of two tokens. */
function readNumber(reader: TokenReader, token: Token): NameNode {
  const isPoint = reader.token?.start === token.end && reader.takeSymbol(".");
  const written = isPoint ? `${token.text}.` : token.text;
  if (!isNumber(written)) throw UNNAMED;
  return { kind: "number", written, isNegative: false };
}

function readSymbol(reader: TokenReader, symbol: string): NameNode {
  switch (symbol) {
    case "(":
      return readParentheses(reader);
    case "[":
      return plainCall("make_array", readList(reader, "]"));
    case "{":
      return plainCall(
        "named_struct",
        readMembers(reader).flatMap(({ key, value }) => [key, value]),
      );
    case "+":
      return readExpression(reader, BINDS.product);
    case "-":
      return readMinus(reader);
  }
  throw UNNAMED;
}

/** A minus before a number or an interval is part of it. */
function readMinus(reader: TokenReader): NameNode {
  const isDirect = reader.token?.kind === "number" || reader.word() === "interval";
  const value = readExpression(reader, BINDS.product);
  const isLiteral = isDirect && (value.kind === "number" || value.kind === "interval");
  return isLiteral ? { ...value, isNegative: true } : parts("(- ", value, ")");
}

function readParentheses(reader: TokenReader): NameNode {
  reader.at--;
  if (startsQuery(reader)) return { kind: "query", form: "scalar", query: readQuery(reader) };
  reader.at++;
  const items = readList(reader, ")");
  if (items.length === 0) throw UNNAMED;
  return items.length === 1 ? items[0]! : plainCall("struct", items);
}

/** `'a': 1, 'b': 2}` */
function readMembers(reader: TokenReader): { key: NameNode; value: NameNode }[] {
  const members: { key: NameNode; value: NameNode }[] = [];
  if (reader.takeSymbol("}")) return members;
  do {
    const isName = (reader.token?.kind === "word" || reader.token?.kind === "quoted") && reader.isSymbol(":", 1);
    const key = isName ? text(stringText(reader.next().text)) : readExpression(reader);
    reader.expectSymbol(":");
    members.push({ key, value: readExpression(reader) });
  } while (reader.takeSymbol(","));
  reader.expectSymbol("}");
  return members;
}

const CONSTANTS: ReadonlyMap<string, NameNode> = new Map([
  ["true", text("Boolean(true)")],
  ["false", text("Boolean(false)")],
  ["null", text("NULL")],
]);
/** Functions without parentheses. */
const BARE_CALLS: ReadonlySet<string> = new Set(["current_date", "current_time", "current_timestamp"]);
/** Types that may precede a string literal. */
const TYPED: ReadonlySet<string> = new Set(
  `date time timestamp timestamptz char varchar text string bytea boolean bool tinyint smallint int integer bigint real float double decimal
   numeric`.split(/\s+/),
);
/** Keywords that cannot start an expression. */
const RESERVED: ReadonlySet<string> = new Set(
  "as when then else end and or from where group having order select union in is by on".split(" "),
);

/** `SELECT group FROM t`: a keyword is a column where an operand is required and no clause follows. */
function mayBeName({ token }: TokenReader, word: string): boolean {
  if (["from", "select", "when", "then", "else", "end", "as"].includes(word)) return false;
  return token === undefined || token.kind === "symbol" || (token.kind === "word" && ["from", "as"].includes(token.text));
}

function readWord(reader: TokenReader, token: Token): NameNode {
  const { text: word } = token;
  const next = reader.token;
  if (next?.kind === "string") {
    if (next.start === token.end && next.text.startsWith("'")) {
      reader.at++;
      if (word === "x") return text(binaryText(stringValue(next)));
      throw UNNAMED;
    }
  }
  if (TYPED.has(word) && (next?.kind === "string" || reader.word() === "with")) return readTyped(reader);
  switch (word) {
    case "case":
      return readCase(reader);
    case "not":
      return readNot(reader);
    case "exists":
      if (!startsQuery(reader)) break;
      readQuery(reader);
      return { kind: "query", form: "test", value: null, words: "EXISTS" };
    case "interval":
      if (next?.kind === "string" || next?.kind === "number") return readInterval(reader, false);
      if (reader.isSymbol("-") && reader.peek(1)?.kind === "number" && UNIT.test(reader.word(2))) {
        reader.at++;
        return readInterval(reader, true);
      }
      break;
    case "array":
      if (reader.takeSymbol("[")) return plainCall("make_array", readList(reader, "]"));
      break;
    case "map":
      if (reader.takeSymbol("{")) return mapOf(readMembers(reader));
  }
  if (reader.isSymbol("(")) return readCall(reader, token);
  if (RESERVED.has(word) && !mayBeName(reader, word)) throw UNNAMED;
  const constant = CONSTANTS.get(word);
  if (constant !== undefined) return constant;
  if (BARE_CALLS.has(word)) return plainCall(word, []);
  return readName(reader, token);
}

function mapOf(members: readonly { key: NameNode; value: NameNode }[]): NameNode {
  return plainCall("map", [
    plainCall(
      "make_array",
      members.map(({ key }) => key),
    ),
    plainCall(
      "make_array",
      members.map(({ value }) => value),
    ),
  ]);
}

/** `DATE '2024-01-01'`, `TIMESTAMP WITH TIME ZONE '…'`: a cast. */
function readTyped(reader: TokenReader): NameNode {
  reader.at--;
  const type = readType(reader);
  const value = reader.next();
  if (value.kind !== "string") throw UNNAMED;
  return { kind: "cast", value: text(stringText(stringValue(value))), type, isTry: false };
}

function readNot(reader: TokenReader): NameNode {
  if (reader.word() === "exists" && startsQuery(reader, 1)) {
    reader.at++;
    readQuery(reader);
    return { kind: "query", form: "test", value: null, words: "NOT EXISTS" };
  }
  return parts("NOT ", readExpression(reader, BINDS.not));
}

function readCase(reader: TokenReader): NameNode {
  const shown: (string | NameNode)[] = ["CASE "];
  if (reader.word() !== "when") shown.push(readExpression(reader), " ");
  do {
    reader.expectWord("when");
    shown.push("WHEN ", readExpression(reader));
    reader.expectWord("then");
    shown.push(" THEN ", readExpression(reader), " ");
  } while (reader.word() === "when");
  if (reader.takeWord("else")) shown.push("ELSE ", readExpression(reader), " ");
  reader.expectWord("end");
  return parts(...shown, "END");
}

const UNIT =
  /^(?:year|quarter|month|week|day|hour|minute|second|millisecond|microsecond|nanosecond|decade|century|millennium)s?$|^centuries$|^millennia$/;

/** After INTERVAL: a text or a number, and an optional unit. */
function readInterval(reader: TokenReader, isNegative: boolean): NameNode {
  const value = reader.next();
  const amount = value.kind === "string" ? stringValue(value) : value.text;
  const unit = UNIT.test(reader.word()) ? reader.next().text : "";
  if (reader.word() === "to") throw UNNAMED;
  return { kind: "interval", written: unit === "" ? amount : `${amount} ${unit}`, isNegative };
}

/** The text of an identifier. @throws UNNAMED for other tokens */
function nameOf(token: Token): string {
  if (token.kind !== "word" && token.kind !== "quoted") throw UNNAMED;
  return token.text;
}

/** `a`, `a.b`, `a."B".c` */
function readName(reader: TokenReader, first: Token): NameNode {
  const names = [first.text];
  while (reader.isSymbol(".")) {
    reader.at++;
    names.push(nameOf(reader.next()));
  }
  if (reader.isSymbol("(")) {
    if (names.length > 1) throw UNNAMED;
    return readCall(reader, first);
  }
  return { kind: "column", names };
}
