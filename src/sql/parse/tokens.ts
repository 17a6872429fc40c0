// The tokenizer: splits a statement like DuckDB's lexer and folds unquoted identifiers. An error here can only misread a name: what may run
// is decided on DuckDB's tree.
import { TsdbError } from "../../model/errors.ts";
import { checkLimit, STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import { foldName } from "./names.ts";

export type TokenKind = "word" | "quoted" | "string" | "number" | "parameter" | "symbol";

export interface Token {
  readonly kind: TokenKind;
  /** Words folded, quoted names without quotes and not encoded, `E'…'` without escapes, all others as written. */
  readonly text: string;
  /** Offset in the statement in characters. */
  readonly start: number;
  readonly end: number;
}

const NUMBER = /(?:\d[\d_]*)?(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?/y;
const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
const PARAMETER = /\$[A-Za-z0-9_\u0080-\uffff]+/y;

const QUOTE = 0x27;
const DOUBLE_QUOTE = 0x22;
const BACK_TICK = 0x60;
const DOLLAR = 0x24;
const DASH = 0x2d;
const DOT = 0x2e;
const SLASH = 0x2f;

/** Classes of ASCII characters; all others are letters unless they are whitespace. */
const SPACE = 1;
const LETTER = 2;
const DIGIT = 3;
const UPPER = 4;
const CLASSES = (() => {
  const classes = new Uint8Array(128);
  for (const space of " \t\n\v\f\r") classes[space.charCodeAt(0)] = SPACE;
  classes.fill(LETTER, 0x61, 0x7b);
  classes.fill(UPPER, 0x41, 0x5b);
  classes.fill(DIGIT, 0x30, 0x3a);
  classes[0x5f] = LETTER;
  return classes;
})();

function classOf(code: number): number {
  return code < 128 ? CLASSES[code]! : LETTER;
}

/** The tokens of a statement, without whitespace and comments. @throws TsdbError bad_query: an unterminated quote or comment, too many
 *  tokens */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < sql.length) {
    const code = sql.charCodeAt(at);
    if (code < 128 ? CLASSES[code] === SPACE : /\s/.test(sql[at]!)) {
      at++;
      continue;
    }
    const comment = code === DASH || code === SLASH ? skipComment(sql, at) : at;
    if (comment > at) {
      at = comment;
      continue;
    }
    const token = nextToken(sql, at, code);
    tokens.push(token);
    checkLimit("words, names, literals and marks", tokens.length, STATEMENT_LIMITS.tokensMax);
    at = token.end;
  }
  return tokens;
}

function nextToken(sql: string, start: number, code: number): Token {
  if (code === DOUBLE_QUOTE) {
    const end = endOfQuote(sql, start, '"');
    return { kind: "quoted", text: sql.slice(start + 1, end - 1).replaceAll('""', '"'), start, end };
  }
  if (code === BACK_TICK) {
    const end = endOfQuote(sql, start, "`");
    return { kind: "quoted", text: sql.slice(start + 1, end - 1).replaceAll("``", "`"), start, end };
  }
  if (code === QUOTE) return token("string", sql, start, endOfQuote(sql, start, "'"));
  if ((code === 0x65 || code === 0x45) && sql.charCodeAt(start + 1) === QUOTE) return escapedString(sql, start);
  if (code === DOLLAR) {
    const tag = matchAt(DOLLAR_TAG, sql, start);
    if (tag !== "") {
      const close = sql.indexOf(tag, start + tag.length);
      if (close < 0) throw open("dollar-quoted string", start);
      return token("string", sql, start, close + tag.length);
    }
    const parameter = matchAt(PARAMETER, sql, start);
    if (parameter !== "") return token("parameter", sql, start, start + parameter.length);
  }
  const kind = classOf(code);
  if (kind === LETTER || kind === UPPER) return word(sql, start);
  if (code === 0) throw new TsdbError("bad_query", `SQL error: unexpected \\0 at position ${start + 1}`, { position: start });
  if (kind === DIGIT || (code === DOT && classOf(sql.charCodeAt(start + 1)) === DIGIT)) {
    return token("number", sql, start, start + Math.max(1, matchAt(NUMBER, sql, start).length));
  }
  return token("symbol", sql, start, start + 1);
}

function word(sql: string, start: number): Token {
  let end = start;
  let hasUpper = false;
  let isAscii = true;
  for (; end < sql.length; end++) {
    const code = sql.charCodeAt(end);
    const kind = classOf(code);
    if (kind === UPPER) hasUpper = true;
    else if (kind !== LETTER && kind !== DIGIT && code !== DOLLAR) break;
    else if (code >= 128) isAscii = false;
  }
  const text = sql.slice(start, end);
  return { kind: "word", text: !hasUpper ? text : isAscii ? text.toLowerCase() : foldName(text), start, end };
}

function token(kind: TokenKind, sql: string, start: number, end: number): Token {
  return { kind, text: sql.slice(start, end), start, end };
}

function matchAt(pattern: RegExp, sql: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(sql)?.[0] ?? "";
}

/** The position after a comment that starts at `at`; `at` if none does. Block comments nest. */
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

/** `E'…'` in the form without escapes. */
function escapedString(sql: string, start: number): Token {
  const end = endOfEscapedString(sql, start);
  const value = unescaped(sql.slice(start + 2, end - 1));
  if (value === null) throw new TsdbError("bad_query", `SQL error: invalid escape in string at position ${start + 1}`, { position: start });
  return { kind: "string", text: `'${value.replaceAll("'", "''")}'`, start, end };
}

const CHARACTERS: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|([^\n]|\n))|''/g;
const BYTE = 0xff;
const CODE_POINT_MAX = 0x10ffff;

/** The value of what stands between the quotes; null where an escape names no character, or NUL. */
function unescaped(written: string): string | null {
  let isValid = true;
  const value = written.replace(ESCAPE, (all, short?: string, long?: string, hex?: string, octal?: string, char?: string) => {
    if (all === "''") return "'";
    if (char !== undefined) return CHARACTERS[char] ?? char;
    const code = octal === undefined ? Number.parseInt((short ?? long ?? hex)!, 16) : Number.parseInt(octal, 8) & BYTE;
    if (code === 0 || code > CODE_POINT_MAX) isValid = false;
    return isValid ? String.fromCodePoint(code) : "";
  });
  return isValid && value.isWellFormed() ? value : null;
}

/** The position after the quoted text that starts at `start`; a doubled quote stands for one. */
function endOfQuote(sql: string, start: number, quote: string): number {
  for (let from = start + 1; ; ) {
    const at = sql.indexOf(quote, from);
    if (at < 0) throw open(quote === "'" ? "string" : "quoted identifier", start);
    if (sql[at + 1] !== quote) return at + 1;
    from = at + 2;
  }
}

/** The same for `E'…'`, with backslash escapes. */
function endOfEscapedString(sql: string, start: number): number {
  for (let i = start + 2; i < sql.length; i++) {
    if (sql[i] === "\\") i++;
    else if (sql[i] === "'") {
      if (sql[i + 1] !== "'") return i + 1;
      i++;
    }
  }
  throw open("string", start + 1);
}

function open(what: string, position: number): TsdbError {
  return new TsdbError("bad_query", `SQL error: unterminated ${what} at position ${position + 1}`, { position });
}
