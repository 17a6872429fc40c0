// Parses calls: special grammars (EXTRACT, TRIM, …), clauses after the arguments, and queries in parentheses.
import type { Token } from "../parse/tokens.ts";
import { firstName } from "./function-name.ts";
import { shownCall, structOf } from "./list-operator.ts";
import { stringText, stringValue } from "./literal.ts";
import { type InnerQuery, type NameNode, type NameOrder, plainCall, text, UNNEST, type WindowSlot } from "./node.ts";
import { type TokenReader, UNNAMED } from "./token-reader.ts";
import { readType } from "./type-name.ts";
import { readOrders, readOver } from "./window.ts";

/** True if a query in parentheses starts here, or `ahead` tokens further. */
export function startsQuery(reader: TokenReader, ahead = 0): boolean {
  return reader.isSymbol("(", ahead) && ["select", "with", "values", "table"].includes(reader.word(ahead + 1));
}

/** Skips a query; returns the position of its SELECT. */
export function readQuery(reader: TokenReader): InnerQuery {
  const close = reader.brackets.closing(reader.at);
  let at = reader.at + 1;
  reader.at = close + 1;
  if (close >= reader.tokens.length) throw UNNAMED;
  for (; at < close; at++) {
    const { kind, text: word } = reader.tokens[at]!;
    if (kind === "word" && word === "select") return at;
    if (kind === "symbol" && word === "(") at = reader.brackets.closing(at);
  }
  return null;
}

/** Positioned at the parenthesis after the name `token`. */
export function readCall(reader: TokenReader, token: Token): NameNode {
  reader.expectSymbol("(");
  const special = token.kind === "word" ? SPECIAL.get(token.text) : undefined;
  return special?.(reader) ?? readPlainCall(reader, token.text);
}

/** Special grammars by function name. Nothing is parsed twice: nested calls would take exponential time. */
const SPECIAL: ReadonlyMap<string, (reader: TokenReader) => NameNode> = new Map([
  ["cast", (reader: TokenReader) => readCast(reader, false)],
  ["try_cast", (reader: TokenReader) => readCast(reader, true)],
  ["extract", readExtract],
  ["position", readPosition],
  ["substring", readSubstring],
  ["substr", readSubstring],
  ["trim", readTrim],
  ["overlay", readOverlay],
  ["struct", readStruct],
  ["unnest", readUnnest],
  ["columns", severalColumns],
]);

function readUnnest(reader: TokenReader): NameNode {
  const value = reader.expression();
  reader.expectSymbol(")");
  return plainCall(UNNEST, [value]);
}

function severalColumns(): never {
  throw UNNAMED;
}

function readCast(reader: TokenReader, isTry: boolean): NameNode {
  const value = reader.expression();
  reader.expectWord("as");
  const type = readType(reader);
  reader.expectSymbol(")");
  return { kind: "cast", value, type, isTry };
}

function readExtract(reader: TokenReader): NameNode {
  const part = reader.next();
  if (part.kind !== "word" && part.kind !== "string") throw UNNAMED;
  if (!reader.takeSymbol(",")) reader.expectWord("from");
  const value = reader.expression();
  reader.expectSymbol(")");
  return plainCall("date_part", [text(stringText(part.kind === "word" ? part.text.toUpperCase() : part.text)), value]);
}

/** `position('a' IN s)`: what precedes IN is an operand, not a test. Otherwise an ordinary call. */
function readPosition(reader: TokenReader): NameNode {
  const needle = reader.expression(BEFORE_IN);
  if (reader.takeWord("in")) {
    const value = reader.expression();
    reader.expectSymbol(")");
    return plainCall("strpos", [value, needle]);
  }
  const args = [needle];
  while (reader.takeSymbol(",")) args.push(reader.expression());
  reader.expectSymbol(")");
  return plainCall("strpos", args, "position");
}

const BEFORE_IN = 20;

/** Without FROM it starts at the first character. */
function readSubstring(reader: TokenReader): NameNode {
  const args = [reader.expression()];
  if (reader.word() === "for") args.push(text("Int64(1)"));
  while (reader.takeSymbol(",") || reader.takeWord("from") || reader.takeWord("for")) args.push(reader.expression());
  reader.expectSymbol(")");
  return plainCall("substr", args);
}

const TRIM_SIDES: ReadonlyMap<string, string> = new Map([
  ["both", "btrim"],
  ["leading", "ltrim"],
  ["trailing", "rtrim"],
]);

function readTrim(reader: TokenReader): NameNode {
  const side = TRIM_SIDES.get(reader.word());
  if (side !== undefined) reader.at++;
  const first = reader.word() === "from" ? null : reader.expression();
  const args = first === null ? [] : [first];
  if (reader.takeWord("from")) args.unshift(reader.expression());
  while (reader.takeSymbol(",")) args.push(reader.expression());
  reader.expectSymbol(")");
  return plainCall(side ?? "btrim", args);
}

function readOverlay(reader: TokenReader): NameNode {
  const args = [reader.expression()];
  while (reader.takeSymbol(",") || reader.takeWord("placing") || reader.takeWord("from") || reader.takeWord("for")) {
    args.push(reader.expression());
  }
  reader.expectSymbol(")");
  return plainCall("overlay", args);
}

function readStruct(reader: TokenReader): NameNode {
  const members: { name: string | null; value: NameNode }[] = [];
  if (!reader.takeSymbol(")")) {
    do {
      const value = reader.expression();
      members.push({ name: reader.takeWord("as") ? memberName(reader.next()) : null, value });
    } while (reader.takeSymbol(","));
    reader.expectSymbol(")");
  }
  return structOf(members, null);
}

function memberName(token: Token): string {
  return token.kind === "string" ? stringValue(token) : token.text;
}

function readPlainCall(reader: TokenReader, called: string): NameNode {
  const first = firstName(called);
  const isDistinct = reader.takeWord("distinct");
  if (!isDistinct) reader.takeWord("all");
  const args = readArguments(reader);
  let orders: readonly NameOrder[] = reader.takeWord("order", "by") ? readOrders(reader) : NO_ORDERS;
  let nulls = readNulls(reader);
  reader.expectSymbol(")");
  let isWithinGroup = false;
  let filter: NameNode | null = null;
  let over: WindowSlot | null = null;
  if (reader.token?.kind === "word") {
    isWithinGroup = reader.takeWord("within", "group");
    if (isWithinGroup) orders = readGroupOrders(reader);
    filter = readFilter(reader);
    nulls ||= readNulls(reader);
    if (reader.takeWord("over")) over = readOver(reader);
  }
  const written = first === null ? null : called;
  return shownCall({ kind: "call", name: first ?? called, written, args, isDistinct, nulls, filter, orders, isWithinGroup, over });
}

const NO_ORDERS: readonly NameOrder[] = [];

function readGroupOrders(reader: TokenReader): readonly NameOrder[] {
  reader.expectSymbol("(");
  reader.expectWord("order", "by");
  const orders = readOrders(reader);
  reader.expectSymbol(")");
  return orders;
}

/** After the opening parenthesis. */
function readArguments(reader: TokenReader): NameNode[] {
  const args: NameNode[] = [];
  if (reader.isSymbol(")")) return args;
  do {
    if (reader.takeSymbol("*")) args.push(text("*"));
    else {
      const isNamed =
        reader.token?.kind === "word" &&
        (reader.isSymbol(":", 1) || reader.isSymbol("=", 1)) &&
        [":=", "=>"].includes(operatorAhead(reader));
      if (isNamed) reader.at += 3;
      args.push(reader.expression());
    }
  } while (reader.takeSymbol(","));
  return args;
}

function operatorAhead(reader: TokenReader): string {
  reader.at++;
  const sign = reader.operator();
  reader.at--;
  return sign;
}

function readNulls(reader: TokenReader): string {
  if (reader.takeWord("ignore", "nulls")) return "IGNORE NULLS";
  return reader.takeWord("respect", "nulls") ? "RESPECT NULLS" : "";
}

function readFilter(reader: TokenReader): NameNode | null {
  if (!reader.takeWord("filter")) return null;
  reader.expectSymbol("(");
  reader.expectWord("where");
  const condition = reader.expression();
  reader.expectSymbol(")");
  return condition;
}
