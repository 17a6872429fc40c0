// The parser's view of tokens: allows pushing back up to two, substitutes bind parameters, and words errors like 1.x.

import { TsdbError } from "../../model/errors.ts";
import type { Position } from "./ast.ts";
import { TSDBQL_LIMITS } from "./limits.ts";
import type { Params } from "./params.ts";
import { describeToken, isSpace, Lexer, normalizeText, type Token, type TokenKind } from "./tokens.ts";

/** Nested parentheses, calls and subqueries. */
const NESTING_MAX = TSDBQL_LIMITS.nestingMax;
const KEPT = 3;

/** Of the vendor's server 2.x: SHOW MEASUREMENTS may name databases and policies by wildcards. */
export type Grammar = "1.x" | "2.x";

/** "around": the request's text is trimmed, as 1.x does. */
type Trimmed = "around" | "not";

/** The tokens of one request. */
export class TokenStream {
  private readonly lexer: Lexer;
  /** The latest tokens, newest last; `back` of them were pushed back. */
  private readonly kept: Token[] = [];
  private back = 0;
  private nesting = 0;
  /** Height of the last parsed expression's tree, or an upper bound. */
  height = 0;

  constructor(
    text: string,
    readonly params: Params,
    readonly grammar: Grammar = "1.x",
    trimmed: Trimmed = "around",
  ) {
    const whole = normalizeText(text);
    this.lexer = new Lexer(trimmed === "around" ? whole.trim() : whole);
  }

  /** The parsed text: line ends are `\n`. */
  get text(): string {
    return this.lexer.text;
  }

  /** The next token, including whitespace and comments. */
  scan(): Token {
    return this.bound(this.fetch(() => this.lexer.scan()));
  }

  /** The next token other than whitespace and comments. */
  next(): Token {
    for (;;) {
      const token = this.scan();
      if (token.kind !== "space" && token.kind !== "comment") return token;
    }
  }

  /** Pushes back the newest token, or the one before. */
  unscan(): void {
    this.back++;
  }

  /** Consumes the next token if it is of that kind. */
  accept(kind: TokenKind): boolean {
    if (this.next().kind === kind) return true;
    this.unscan();
    return false;
  }

  /** @throws TsdbError bad_query if another token follows */
  expect(kind: TokenKind, name: string = kind): Token {
    const token = this.next();
    if (token.kind !== kind) throw this.unexpected(token, [name]);
    return token;
  }

  /** The first character after the last token; "" at the end. */
  peekChar(): string {
    return this.lexer.peek();
  }

  /** True if the next token was pushed back: then `peekChar` returns a character after it. */
  get hasGivenBack(): boolean {
    return this.back > 0;
  }

  skipSpace(): void {
    if (this.scan().kind !== "space") this.unscan();
  }

  /** A regular expression, where one is allowed; null if something else follows. @throws TsdbError bad_query: unterminated */
  acceptRegex(): Token | null {
    if (isSpace(this.peekChar())) this.skipSpace();
    const char = this.peekChar();
    if (char === "$") {
      const { kind } = this.scan();
      this.unscan();
      if (kind !== "regex") return null;
    } else if (char !== "/" || this.lexer.isComment()) return null;
    const token = this.bound(this.fetch(() => this.lexer.scanRegex()));
    if (token.kind === "bad regex") throw this.errorAt("bad regex: ", token.at);
    if (token.kind !== "regex") throw this.unexpected(token, ["regex"]);
    return token;
  }

  /** Runs `parse` one nesting level deeper. @throws TsdbError bad_query: too deep */
  nested<T>(at: number, parse: () => T): T {
    if (this.nesting >= NESTING_MAX) throw this.errorAt(`nested deeper than ${NESTING_MAX} levels`, at);
    this.nesting++;
    const result = parse();
    this.nesting--;
    return result;
  }

  /** `found X, expected Y at line L, char C`. */
  unexpected(found: Token, expected: readonly string[]): TsdbError {
    return this.errorAt(`found ${describeToken(found)}, expected ${expected.join(", ")}`, found.at);
  }

  errorAt(message: string, at: number): TsdbError {
    const { line, column } = this.position(at);
    return this.error(`${message} at line ${line + 1}, char ${column + 1}`);
  }

  error(message: string): TsdbError {
    return new TsdbError("bad_query", `error parsing query: ${message}`);
  }

  /** Counts Unicode characters, not UTF-16 units. */
  position(at: number): Position {
    const before = this.text.slice(0, at);
    const lineFrom = before.lastIndexOf("\n") + 1;
    let line = 0;
    for (let end = before.indexOf("\n"); end !== -1; end = before.indexOf("\n", end + 1)) line++;
    const column = [...before.slice(lineFrom)].length + Math.max(at - this.text.length, 0);
    return { line, column };
  }

  private fetch(scan: () => Token): Token {
    if (this.back > 0) this.back--;
    else {
      if (this.kept.length === KEPT) this.kept.shift();
      this.kept.push(scan());
    }
    return this.kept[this.kept.length - 1 - this.back]!;
  }

  private bound(token: Token): Token {
    if (token.kind !== "param") return token;
    const value = this.params.get(token.literal.slice(1));
    return value === undefined ? token : { ...value, at: token.at };
  }
}
