// The lexer of InfluxQL. It works on demand, because only the parser knows whether a slash is a division or starts a regular expression,
// and counts positions like 1.x, including where it places the end of the text, so that errors report the same position.

import { near } from "../../model/errors.ts";

export type LiteralKind = "ident" | "param" | "number" | "integer" | "duration" | "string" | "true" | "false" | "regex";
export type BadKind = "illegal" | "bad string" | "bad escape" | "bad regex";
export type Keyword = (typeof KEYWORDS)[number];
export type Sign = "+" | "-" | "*" | "/" | "%" | "&" | "|" | "^" | "=" | "!=" | "=~" | "!~" | "<" | "<=" | ">" | ">=";
export type Punctuation = "(" | ")" | "," | ":" | "::" | ";" | ".";
export type TokenKind = "end" | "space" | "comment" | LiteralKind | BadKind | Keyword | Sign | Punctuation;

export interface Token {
  readonly kind: TokenKind;
  /** Unescaped; "" if the kind determines it. */
  readonly literal: string;
  /** UTF-16 offset; one beyond the text's length if an earlier token already reached the end. */
  readonly at: number;
}

const KEYWORDS = [
  ...(["ALL", "ALTER", "ANALYZE", "AND", "ANY", "AS", "ASC", "BEGIN", "BY", "CARDINALITY", "CREATE", "CONTINUOUS", "DATABASE"] as const),
  ...(["DATABASES", "DEFAULT", "DELETE", "DESC", "DESTINATIONS", "DIAGNOSTICS", "DISTINCT", "DROP", "DURATION", "END", "EVERY"] as const),
  ...(["EXACT", "EXPLAIN", "FIELD", "FOR", "FROM", "GRANT", "GRANTS", "GROUP", "GROUPS", "IN", "INF", "INSERT", "INTO", "KEY"] as const),
  ...(["KEYS", "KILL", "LIMIT", "MEASUREMENT", "MEASUREMENTS", "NAME", "OFFSET", "ON", "OR", "ORDER", "PASSWORD", "POLICY"] as const),
  ...(["POLICIES", "PRIVILEGES", "QUERIES", "QUERY", "READ", "REPLICATION", "RESAMPLE", "RETENTION", "REVOKE", "SELECT"] as const),
  ...(["SERIES", "SET", "SHOW", "SHARD", "SHARDS", "SLIMIT", "SOFFSET", "STATS", "SUBSCRIPTION", "SUBSCRIPTIONS", "TAG", "TO"] as const),
  ...(["USER", "USERS", "VALUES", "WHERE", "WITH", "WRITE"] as const),
] as const;

const BY_NAME: ReadonlyMap<string, TokenKind> = new Map<string, TokenKind>([
  ...KEYWORDS.map((word) => [word.toLowerCase(), word] as const),
  ["true", "true"],
  ["false", "false"],
]);
const KEYWORD_CHARS_MAX = Math.max(...KEYWORDS.map(({ length }) => length));

const DESCRIBED_CHARS_MAX = 1000;

/** Names in errors for tokens without a literal. */
const NAMES: Readonly<Partial<Record<TokenKind, string>>> = {
  ...{ end: "EOF", space: "WS", comment: "", ident: "IDENT", param: "", number: "NUMBER", integer: "", duration: "DURATIONVAL" },
  ...{ string: "STRING", true: "TRUE", false: "FALSE", regex: "REGEX", illegal: "ILLEGAL" },
  ...{ "bad string": "BADSTRING", "bad escape": "BADESCAPE", "bad regex": "" },
};

/** A keyword, `true`, `false`, or `ident`; case-insensitive. */
export function lookupWord(word: string): TokenKind {
  return word.length > KEYWORD_CHARS_MAX ? "ident" : (BY_NAME.get(word.toLowerCase()) ?? "ident");
}

/** The token's name in errors. */
export function describeToken({ kind, literal }: Token): string {
  return literal !== "" ? near(literal, DESCRIBED_CHARS_MAX) : kindName(kind);
}

/** The name of a token of which only the kind is told. */
export function kindName(kind: TokenKind): string {
  return NAMES[kind] ?? kind;
}

/** True for whitespace between tokens. */
export const isSpace = (char: string) => char === " " || char === "\t" || char === "\n";
const isDigit = (char: string) => char >= "0" && char <= "9" && char.length === 1;
const isLetter = (char: string) => char.length === 1 && ((char >= "a" && char <= "z") || (char >= "A" && char <= "Z"));
const isUnitLetter = (char: string) => isLetter(char) || char === "µ";
/** True for characters of an unquoted name. */
export const isWordChar = (char: string) => isLetter(char) || isDigit(char) || char === "_";
/** True for the first character of an unquoted name. */
export const isWordStart = (char: string) => isLetter(char) || char === "_";

/** Pairs of characters that form one token. */
const PAIRS: Readonly<Record<string, Readonly<Record<string, Sign | Punctuation>>>> = {
  "=": { "~": "=~" },
  "!": { "=": "!=", "~": "!~" },
  ">": { "=": ">=" },
  "<": { "=": "<=", ">": "!=" },
  ":": { ":": "::" },
};
const SINGLE: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%", "&", "|", "^", "=", "<", ">", "(", ")", ",", ":", ";", "."]);
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", "\\": "\\", '"': '"', "'": "'" };

/** Converts line ends to `\n` and ignores everything after a NUL, like 1.x. */
export function normalizeText(text: string): string {
  const nul = text.indexOf("\0");
  const ended = nul === -1 ? text : text.slice(0, nul);
  return ended.includes("\r") ? ended.replace(/\r\n?/g, "\n") : ended;
}

/** Reads tokens on demand. */
export class Lexer {
  private next = 0;
  /** The end was read as part of a token: 1.x then places it one character further. */
  private metEnd = false;

  /** @param text normalized */
  constructor(readonly text: string) {}

  /** The first character of the next token; "" at the end. Peeking at the end counts as reaching it. */
  peek(): string {
    if (this.next >= this.text.length) this.metEnd = true;
    return this.text[this.next] ?? "";
  }

  /** No regular expression starts with a star, so this is a comment, whatever 1.x makes of it. */
  isComment(): boolean {
    return this.text.startsWith("/*", this.next) && this.text.includes("*/", this.next + 2);
  }

  scan(): Token {
    const at = this.next;
    if (at >= this.text.length) return this.scanEnd();
    const char = this.text[at]!;
    if (isSpace(char)) return this.take("space", at, this.run(at, isSpace, true));
    if (isWordStart(char) || char === '"') return this.scanWord(at);
    if (isDigit(char) || (char === "." && isDigit(this.text[at + 1] ?? ""))) return this.scanNumber(at);
    if (char === "'") return this.scanString(at);
    if (char === "$") return this.scanParameter(at);
    if (char === "-" && this.text[at + 1] === "-") return this.scanLineComment(at);
    if (char === "/" && this.text[at + 1] === "*") return this.scanComment(at);
    const pair = PAIRS[char]?.[this.text[at + 1] ?? ""];
    if (pair !== undefined) return this.take(pair, at, at + 2, "");
    if (SINGLE.has(char)) return this.take(char as Sign, at, at + 1, "");
    const end = at + String.fromCodePoint(this.text.codePointAt(at)!).length;
    return this.take("illegal", at, end);
  }

  /** Call it when the next character is a slash. Errors are placed at the preceding character, like those of strings. */
  scanRegex(): Token {
    const before = Math.max(this.next - 1, 0);
    let end = this.next + 1;
    for (; end < this.text.length; end++) {
      const char = this.text[end];
      if (char === "/") {
        const source = this.text.slice(this.next + 1, end).replaceAll("\\/", "/");
        this.next = end + 1;
        return { kind: "regex", literal: source, at: before };
      }
      if (char === "\n") break;
      if (char === "\\" && this.text[end + 1] === "/") end++;
    }
    this.metEnd ||= end >= this.text.length;
    this.next = Math.min(end + 1, this.text.length);
    return { kind: "bad regex", literal: "", at: before };
  }

  private scanEnd(): Token {
    const at = this.text.length + (this.metEnd ? 1 : 0);
    this.metEnd = true;
    return { kind: "end", literal: "", at };
  }

  private take(kind: TokenKind, at: number, end: number, literal = this.text.slice(at, end)): Token {
    this.next = end;
    return { kind, literal, at };
  }

  /** End of the run of matching characters that starts at `at`. */
  private run(at: number, belongs: (char: string) => boolean, readsEnd: boolean): number {
    let end = at;
    while (end < this.text.length && belongs(this.text[end]!)) end++;
    if (readsEnd && end >= this.text.length) this.metEnd = true;
    return end;
  }

  /** A keyword or a name; if a quoted name follows directly, that one is used. */
  private scanWord(at: number): Token {
    const end = this.run(at, isWordChar, true);
    if (this.text[end] === '"') {
      const quoted = this.scanString(end);
      return quoted.kind === "string" ? { ...quoted, kind: "ident", at } : quoted;
    }
    const word = this.text.slice(at, end);
    const kind = lookupWord(word);
    return this.take(kind, at, end, kind === "ident" ? word : "");
  }

  private scanParameter(at: number): Token {
    const end = this.run(at + 1, isWordChar, true);
    if (this.text[end] !== '"') return this.take("param", at, end);
    const quoted = this.scanString(end);
    const literal = `$${quoted.literal}`;
    return quoted.kind === "string" ? { kind: "param", literal, at } : { ...quoted, literal };
  }

  /** A string whose opening quote is at `open`. Its position is the preceding character. */
  private scanString(open: number): Token {
    const quote = this.text[open]!;
    const at = Math.max(open - 1, 0);
    let [literal, from, end] = ["", open + 1, open + 1];
    for (; end < this.text.length; end++) {
      const char = this.text[end]!;
      if (char === quote) return this.take("string", at, end + 1, literal + this.text.slice(from, end));
      if (char === "\n") break;
      if (char !== "\\") continue;
      const escaped = this.text.slice(end + 1, end + 2);
      const meant = ESCAPES[escaped];
      if (meant === undefined) {
        this.metEnd ||= escaped === "";
        return this.take("bad escape", end + 1, end + 1 + escaped.length, `\\${escaped}`);
      }
      literal += this.text.slice(from, end) + meant;
      from = end + 2;
      end++;
    }
    this.metEnd ||= end >= this.text.length;
    return this.take("bad string", at, Math.min(end + 1, this.text.length), literal + this.text.slice(from, end));
  }

  private scanNumber(at: number): Token {
    const whole = this.run(at, isDigit, false);
    if (this.text[whole] === ".") {
      const end = this.run(whole + 1, isDigit, false);
      // a dot without digits after it is skipped
      return this.take("number", at, end, this.text.slice(at, end === whole + 1 ? whole : end));
    }
    if (!isUnitLetter(this.text[whole] ?? "")) return this.take("integer", at, whole);
    return this.take(
      "duration",
      at,
      this.run(whole, (char) => isUnitLetter(char) || isDigit(char), false),
    );
  }

  private scanLineComment(at: number): Token {
    const newline = this.text.indexOf("\n", at);
    if (newline === -1) this.metEnd = true;
    return this.take("comment", at, newline === -1 ? this.text.length : newline + 1, "");
  }

  private scanComment(at: number): Token {
    const end = this.text.indexOf("*/", at + 2);
    if (end !== -1) return this.take("comment", at, end + 2, "");
    this.metEnd = true;
    return this.take("illegal", at, this.text.length, "");
  }
}
