// The token pass: cuts a statement as DuckDB's lexer does, folds unquoted identifiers and encodes quoted ones (names.ts).
// A mistake here can only spoil a name: what may run is decided on DuckDB's own tree.
import { TsdbError } from "../model/errors.ts";
import { encodeName, foldName, ident } from "./names.ts";

export type TokenKind = "word" | "quoted" | "string" | "number" | "parameter" | "symbol";

export interface Token {
  readonly kind: TokenKind;
  /** Words folded, quoted names without their quotes and not yet encoded, anything else as written. */
  readonly text: string;
  /** Characters in the statement. */
  readonly start: number;
  readonly end: number;
}

const WORD_START = /[A-Za-z_\u0080-\uffff]/;
const WORD = /[A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER = /(?:\d[\d_]*)?(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
const PARAMETER = /\$[A-Za-z0-9_\u0080-\uffff]+/y;

/** The tokens of a statement, without white space and comments. @throws TsdbError bad_query for an open quote or comment */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < sql.length) {
    const char = sql[at]!;
    if (/\s/.test(char)) {
      at++;
      continue;
    }
    const comment = skipComment(sql, at);
    if (comment > at) {
      at = comment;
      continue;
    }
    const token = nextToken(sql, at, char);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function nextToken(sql: string, start: number, char: string): Token {
  if (char === '"') {
    const end = endOfQuote(sql, start, '"', false);
    return { kind: "quoted", text: sql.slice(start + 1, end - 1).replaceAll('""', '"'), start, end };
  }
  if (char === "'") return token("string", sql, start, endOfQuote(sql, start, "'", false));
  if ((char === "e" || char === "E") && sql[start + 1] === "'") return token("string", sql, start, endOfQuote(sql, start + 1, "'", true));
  if (char === "$") {
    const tag = matchAt(DOLLAR_TAG, sql, start);
    if (tag !== "") {
      const close = sql.indexOf(tag, start + tag.length);
      if (close < 0) throw open("dollar-quoted string", start);
      return token("string", sql, start, close + tag.length);
    }
    const parameter = matchAt(PARAMETER, sql, start);
    if (parameter !== "") return token("parameter", sql, start, start + parameter.length);
  }
  if (WORD_START.test(char)) {
    const text = matchAt(WORD, sql, start);
    return { kind: "word", text: foldName(text), start, end: start + text.length };
  }
  if (/\d/.test(char) || (char === "." && /\d/.test(sql[start + 1] ?? ""))) {
    return token("number", sql, start, start + Math.max(1, matchAt(NUMBER, sql, start).length));
  }
  return token("symbol", sql, start, start + 1);
}

function token(kind: TokenKind, sql: string, start: number, end: number): Token {
  return { kind, text: sql.slice(start, end), start, end };
}

function matchAt(pattern: RegExp, sql: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0] ?? "";
}

/** The position after a comment that starts at `at`; `at` when none does. Block comments nest. */
function skipComment(sql: string, at: number): number {
  if (sql.startsWith("--", at)) {
    const end = sql.indexOf("\n", at);
    return end < 0 ? sql.length : end + 1;
  }
  if (!sql.startsWith("/*", at)) return at;
  let depth = 1;
  let i = at + 2;
  while (depth > 0) {
    if (i >= sql.length) throw open("comment", at);
    if (sql.startsWith("*/", i)) {
      depth--;
      i += 2;
    } else if (sql.startsWith("/*", i)) {
      depth++;
      i += 2;
    } else i++;
  }
  return i;
}

function endOfQuote(sql: string, start: number, quote: string, backslash: boolean): number {
  for (let i = start + 1; i < sql.length; i++) {
    if (backslash && sql[i] === "\\") i++;
    else if (sql[i] === quote) {
      if (sql[i + 1] !== quote) return i + 1;
      i++;
    }
  }
  throw open(quote === '"' ? "quoted identifier" : "string", start);
}

function open(what: string, position: number): TsdbError {
  return new TsdbError("bad_query", `SQL error: unterminated ${what} at position ${position + 1}`, { position });
}

/** A statement with its identifiers encoded, and the way back from positions in it. */
export class EncodedText {
  private constructor(
    readonly sql: string,
    private readonly original: string,
    /** [position in `sql`, position in `original`] of every token, ascending. */
    private readonly marks: readonly (readonly [number, number])[],
  ) {}

  /** Joins `tokens` of `original` again, with a space or line end between tokens that were apart. */
  static from(original: string, tokens: readonly Token[]): EncodedText {
    const marks: [number, number][] = [];
    let sql = "";
    let end = -1;
    for (const token of tokens) {
      // 'a' 'b' is one string only across a line end
      if (end >= 0 && token.start > end) sql += original.slice(end, token.start).includes("\n") ? "\n" : " ";
      marks.push([sql.length, token.start]);
      sql += token.kind === "quoted" ? ident(encodeName(token.text)) : token.text;
      end = token.end;
    }
    marks.push([sql.length, Math.max(end, 0)]);
    return new EncodedText(sql, original, marks);
  }

  /** Line and column (from 1) in the original of a byte offset in `sql`. */
  locate(byteOffset: number): { line: number; column: number; position: number } {
    const char = Buffer.from(this.sql, "utf8").subarray(0, byteOffset).toString("utf8").length;
    let mark = this.marks[0]!;
    for (const candidate of this.marks) if (candidate[0] <= char) mark = candidate;
    const position = mark[1];
    const before = this.original.slice(0, position);
    return { line: before.split("\n").length, column: position - (before.lastIndexOf("\n") + 1) + 1, position };
  }
}
