// Text → tokens on demand. The parser chooses the mode: only it knows whether a slash divides or begins a regular expression, and when the
// text of a string goes on behind an interpolated expression.
import { KEYWORDS, OPERATORS, type Token, type TokenKind } from "./tokens.ts";

/** Operators of one character by its code, and of two by both. */
const SINGLES: (TokenKind | undefined)[] = [];
const PAIRS = new Map<number, TokenKind>();
for (const [text, kind] of OPERATORS) {
  if (text.length === 1) SINGLES[text.charCodeAt(0)] = kind;
  else PAIRS.set((text.charCodeAt(0) << 16) | text.charCodeAt(1), kind);
}

export type ScanMode = "code" | "code or regex" | "string";

const IDENTIFIER = /[\p{L}_][\p{L}\p{Nd}_]*/uy;
const ATTRIBUTE = /@[\p{L}_][\p{L}\p{Nd}_]*/uy;
const DURATION_PART = /\d+(?:mo|ms|us|µs|ns|y|w|d|h|m|s)/y;
const TIME = /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2}(?:\.\d*)?(?:Z|[+-]\d{2}:\d{2})?)?/y;
const FLOAT = /\d+\.\d*|\.\d+/y;
const INT = /\d+/y;
const ESCAPED = /\\(?:[nrt\\"]|\$\{|x[0-9a-fA-F]{2})/y;

const NO_COMMENTS: readonly string[] = [];

/** What a character of ASCII can begin, or go on with. */
const SPACE = 1;
const LETTER = 2;
const DIGIT = 4;
const CLASSES = new Uint8Array(128);
for (const char of " \t\v\f\r\n") CLASSES[char.charCodeAt(0)] = SPACE;
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code);
  if (/[A-Za-z_]/.test(char)) CLASSES[code] = LETTER;
  else if (/\d/.test(char)) CLASSES[code] = DIGIT;
}
/** Only the first half of an operator of two: at the end of the text the scanner waits for the other one, and finds the end. */
const HALVES = new Set([..."!@|"].map((char) => char.charCodeAt(0)));
const [QUOTE, DOT, SLASH, AT, MINUS] = ['"', ".", "/", "@", "-"].map((char) => char.charCodeAt(0));

/** Tokenizes one text. */
export class Scanner {
  private at = 0;
  private scannedFrom = 0;

  constructor(private readonly text: string) {}

  /** The next token that is no comment; comments on the way are attached to it. */
  scan(mode: ScanMode): Token {
    this.scannedFrom = this.at;
    if (mode === "string") return this.stringPart(NO_COMMENTS);
    let comment = this.skipped();
    if (comment === "") return this.code(mode === "code or regex", NO_COMMENTS);
    const found: string[] = [];
    for (; comment !== ""; comment = this.skipped()) found.push(comment);
    return this.code(mode === "code or regex", found);
  }

  /** Goes back to where a token was scanned from, to scan it in another mode. */
  goTo(offset: number): void {
    this.at = offset;
  }

  /** Takes space, and a comment behind it if there is one. */
  private skipped(): string {
    const { text } = this;
    let { at } = this;
    while (at < text.length && CLASSES[text.charCodeAt(at)] === SPACE) at++;
    this.at = at;
    if (text.charCodeAt(at) !== SLASH || text.charCodeAt(at + 1) !== SLASH) return "";
    // no regular expression is empty: these are never one
    const end = text.indexOf("\n", at);
    this.at = end < 0 ? text.length : end + 1;
    return text.slice(at, this.at);
  }

  private code(withRegex: boolean, comments: readonly string[]): Token {
    const { text, at } = this;
    if (at >= text.length) return this.take("EOF", 0, comments);
    const code = text.charCodeAt(at);
    const kind = CLASSES[code] ?? 0;
    if (kind === LETTER || code > 127) {
      const length = this.identifierLength();
      if (length === 0) return this.illegal(comments);
      const word = text.slice(at, at + length);
      this.at = at + length;
      return { kind: KEYWORDS.get(word) ?? "IDENT", text: word, from: at, to: this.at, scannedFrom: this.scannedFrom, comments };
    }
    if (kind === DIGIT || code === DOT) {
      const number = this.number(comments);
      if (number !== null) return number;
    }
    if (code === QUOTE) {
      const end = this.textEnd(at + 1, true);
      return end < 0 ? this.take("QUOTE", 1, comments) : this.take("STRING", end - at, comments);
    }
    if (code === SLASH && withRegex) {
      const end = this.regexEnd();
      if (end > 0) return this.take("REGEX", end - at, comments);
    }
    if (code === AT) {
      const attribute = this.match(ATTRIBUTE);
      if (attribute !== "") return this.take("ATTRIBUTE", attribute.length, comments);
    }
    return this.operator(code, comments);
  }

  private identifierLength(): number {
    const { text, at } = this;
    let end = at;
    while (end < text.length && (CLASSES[text.charCodeAt(end)]! & (LETTER | DIGIT)) !== 0) end++;
    return text.charCodeAt(end) > 127 ? this.match(IDENTIFIER).length : end - at;
  }

  private operator(code: number, comments: readonly string[]): Token {
    if (this.at === this.text.length - 1 && HALVES.has(code)) {
      this.at++;
      return this.take("EOF", 0, comments);
    }
    const two = PAIRS.get((code << 16) | this.text.charCodeAt(this.at + 1));
    if (two !== undefined) return this.take(two, 2, comments);
    const one = SINGLES[code];
    return one !== undefined ? this.take(one, 1, comments) : this.illegal(comments);
  }

  /** The longest kind of number that begins here; null for a dot alone. */
  private number(comments: readonly string[]): Token | null {
    const digits = this.digitsAlone();
    if (digits > 0) return this.take("INT", digits, comments);
    const time = this.match(TIME).length;
    if (time > 0) return this.take("TIME", time, comments);
    const float = this.match(FLOAT).length;
    if (float > 0) return this.take("FLOAT", float, comments);
    const duration = this.durationLength();
    if (duration > 0) return this.take("DURATION", duration, comments);
    const int = this.match(INT).length;
    return int > 0 ? this.take("INT", int, comments) : null;
  }

  /** How many digits begin here, if nothing follows that makes them another kind of number; else 0. */
  private digitsAlone(): number {
    const { text, at } = this;
    let end = at;
    while (CLASSES[text.charCodeAt(end)] === DIGIT) end++;
    const next = text.charCodeAt(end);
    return next === DOT || next === MINUS || next > 127 || CLASSES[next] === LETTER ? 0 : end - at;
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
    return { kind, text: this.text.slice(from, this.at), from, to: this.at, scannedFrom: this.scannedFrom, comments };
  }
}
