// Text → tokens on demand. The parser chooses the mode: only it knows whether a slash divides or begins a regular expression, and when the
// text of a string goes on behind an interpolated expression.
import { KEYWORDS, OPERATORS, type Token, type TokenKind } from "./tokens.ts";

export type ScanMode = "code" | "code or regex" | "string";

const SPACE = /[ \t\v\f\r\n]*/y;
const IDENTIFIER = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const COMMENT = /\/\/[^\n]*\n?/y;
const ATTRIBUTE = /@[\p{L}_][\p{L}\p{Nd}_]*/uy;
const DURATION_PART = /\d+(?:mo|ms|us|µs|ns|y|w|d|h|m|s)/y;
const TIME = /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d*)?(?:Z|[+-]\d{2}:\d{2})?)?/y;
const FLOAT = /\d+\.\d*|\.\d+/y;
const INT = /\d+/y;
const ESCAPED = /\\(?:[nrt\\"]|\$\{|x[0-9a-fA-F]{2})/y;

export class Scanner {
  private at = 0;
  private beforeLatest = 0;

  constructor(private readonly text: string) {}

  /** The next token that is no comment; comments on the way are attached to it. */
  scan(mode: ScanMode, comments: readonly string[] = []): Token {
    this.beforeLatest = this.at;
    const found = [...comments];
    for (;;) {
      const token = mode === "string" ? this.stringPart(found) : this.code(mode === "code or regex", found);
      if (token.kind !== "COMMENT") return token;
      found.push(token.text);
    }
  }

  /** Goes back to before the latest token, to scan it in another mode. */
  unread(): void {
    this.at = this.beforeLatest;
  }

  private code(withRegex: boolean, comments: readonly string[]): Token {
    this.at += this.match(SPACE).length;
    if (this.at >= this.text.length) return this.take("EOF", 0, comments);
    const char = this.text[this.at]!;
    if (char === "/") {
      if (withRegex) {
        const end = this.regexEnd();
        if (end > 0) return this.take("REGEX", end - this.at, comments);
      }
      const comment = this.match(COMMENT);
      if (comment !== "") return this.take("COMMENT", comment.length, []);
    }
    if (char === '"') {
      const end = this.textEnd(this.at + 1, true);
      return end < 0 ? this.take("QUOTE", 1, comments) : this.take("STRING", end - this.at, comments);
    }
    if ((char >= "0" && char <= "9") || char === ".") {
      const number = this.number(comments);
      if (number !== null) return number;
    }
    const word = this.match(IDENTIFIER);
    if (word !== "") return this.take(KEYWORDS.get(word) ?? "IDENT", word.length, comments);
    if (char === "@") {
      const attribute = this.match(ATTRIBUTE);
      if (attribute !== "") return this.take("ATTRIBUTE", attribute.length, comments);
    }
    const two = OPERATORS.get(this.text.slice(this.at, this.at + 2));
    if (two !== undefined && two !== OPERATORS.get(char)) return this.take(two, 2, comments);
    const one = OPERATORS.get(char);
    return one !== undefined ? this.take(one, 1, comments) : this.illegal(comments);
  }

  /** The longest kind of number that begins here; null for a dot alone. */
  private number(comments: readonly string[]): Token | null {
    const time = this.match(TIME).length;
    if (time > 0) return this.take("TIME", time, comments);
    const float = this.match(FLOAT).length;
    if (float > 0) return this.take("FLOAT", float, comments);
    const duration = this.durationLength();
    if (duration > 0) return this.take("DURATION", duration, comments);
    const int = this.match(INT).length;
    return int > 0 ? this.take("INT", int, comments) : null;
  }

  private durationLength(): number {
    const from = this.at;
    for (let part = this.match(DURATION_PART); part !== ""; part = this.match(DURATION_PART)) this.at += part.length;
    const length = this.at - from;
    this.at = from;
    return length;
  }

  /** Where a regular expression ends, or 0. Its end is the first slash without a backslash, or else the last one with. */
  private regexEnd(): number {
    let end = 0;
    for (let i = this.at + 1; i < this.text.length; i++) {
      if (this.text[i] !== "/") continue;
      if (i === this.at + 1) return 0;
      end = i + 1;
      if (this.text[i - 1] !== "\\") break;
    }
    return end;
  }

  /** Where text of a string ends that begins at `from`. A whole string ends with its quote, or gives -1: an interpolation or an invalid
   *  escape comes first, or the end. */
  private textEnd(from: number, isWhole: boolean): number {
    let i = from;
    while (i < this.text.length) {
      const char = this.text[i]!;
      if (char === '"') return isWhole ? i + 1 : i;
      if (char === "\\") {
        ESCAPED.lastIndex = i;
        const escaped = ESCAPED.exec(this.text);
        if (escaped === null) break;
        i += escaped[0].length;
      } else if (char === "$") {
        const next = this.text[i + 1];
        if (isWhole && next === '"') return i + 2;
        if (next === "{" || next === '"' || next === undefined) break;
        i += 2;
      } else i++;
    }
    return isWhole ? -1 : i;
  }

  private stringPart(comments: readonly string[]): Token {
    if (this.at >= this.text.length) return this.take("EOF", 0, comments);
    if (this.text.startsWith("${", this.at)) return this.take("STRINGEXPR", 2, comments);
    if (this.text.startsWith('$"', this.at)) return this.take("TEXT", 1, comments);
    if (this.text[this.at] === '"') return this.take("QUOTE", 1, comments);
    const end = this.textEnd(this.at, false);
    return end === this.at ? this.illegal(comments) : this.take("TEXT", end - this.at, comments);
  }

  /** One character that begins no token; a pair of surrogates is one. */
  private illegal(comments: readonly string[]): Token {
    return this.take("ILLEGAL", this.text.codePointAt(this.at)! > 0xffff ? 2 : 1, comments);
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0] ?? "";
  }

  private take(kind: TokenKind, length: number, comments: readonly string[]): Token {
    const from = this.at;
    this.at += length;
    return { kind, text: this.text.slice(from, this.at), from, to: this.at, comments };
  }
}
