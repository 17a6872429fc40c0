// Tokens with look-ahead, brackets and the lists in them, and what is wrong: an error belongs to the node that is made next.
import { NOWHERE, type Position, type SourceLocation } from "./ast.ts";
import { LineMap } from "./line-map.ts";
import { Scanner } from "./scanner.ts";
import type { Token, TokenKind } from "./tokens.ts";

/** Expressions, statements and types in each other. */
const DEPTH_MAX = 80;

const NO_COMMENTS: readonly string[] = [];

/** Lines and columns are found when they are asked for: few places are ever shown. */
class Place implements SourceLocation {
  constructor(
    private readonly lines: LineMap,
    readonly from: number,
    readonly to: number,
  ) {}

  get start(): Position {
    return this.lines.position(this.from);
  }

  get end(): Position {
    return this.lines.position(this.to);
  }
}

interface NodeStart {
  readonly location: SourceLocation;
  readonly errors?: readonly string[];
  readonly comments?: readonly string[];
}

/** What stands between two brackets. */
export interface Bracketed<T> {
  readonly start: Token;
  readonly inner: T;
  /** The closing bracket, or the token in its place. */
  readonly end: Token;
}

/** The tokens of one text. */
export class FluxTokens {
  private readonly scanner: Scanner;
  private readonly lines: LineMap;
  /** Scanned and not yet taken. */
  private readonly ahead: Token[] = [];
  protected errors: string[] = [];
  /** What closes the brackets that are open, the innermost last. */
  private readonly closers: TokenKind[] = [];
  private depth = 0;

  constructor(text: string) {
    this.scanner = new Scanner(text);
    this.lines = new LineMap(text);
  }

  protected scan(): Token {
    return this.ahead.shift() ?? this.scanner.scan("code");
  }

  /** The token behind `skipped` others. No operand may stand there: a slash divides. */
  protected peek(skipped = 0): Token {
    while (this.ahead.length <= skipped) this.ahead.push(this.scanner.scan("code"));
    return this.ahead[skipped]!;
  }

  /** Where an operand may stand: a slash begins a regular expression. */
  protected peekOperand(): Token {
    if (this.ahead[0]?.kind === "DIV") {
      this.scanner.goTo(this.ahead[0].scannedFrom);
      this.ahead.length = 0;
    }
    if (this.ahead.length === 0) this.ahead.push(this.scanner.scan("code or regex"));
    return this.ahead[0]!;
  }

  /** Within quotes: the next part of a string. Nothing has been peeked at. */
  protected scanText(): Token {
    return this.scanner.scan("string");
  }

  protected isNext(kind: TokenKind): boolean {
    return this.peek().kind === kind;
  }

  protected isNextOf(kinds: readonly TokenKind[]): boolean {
    return kinds.includes(this.peek().kind);
  }

  protected takeIf(kind: TokenKind): boolean {
    if (this.peek().kind !== kind) return false;
    this.scan();
    return true;
  }

  /** Takes the next token and reports it if it is another. */
  protected expect(...kinds: readonly TokenKind[]): Token {
    const token = this.scan();
    if (!kinds.includes(token.kind)) this.errors.push(`expected ${listed(kinds)}, got ${this.described(token)}`);
    return token;
  }

  /** Takes the next token only if it is the right one; else reports it, and null. */
  protected expectIfThere(kind: TokenKind): Token | null {
    const token = this.peek();
    if (token.kind === kind) return this.scan();
    this.errors.push(`expected ${kind}, got ${this.described(token)}`);
    return null;
  }

  private described({ kind, text, from }: Token): string {
    if (kind === "EOF") return "EOF";
    const { line, column } = this.lines.position(from);
    return `${kind} (${text}) at ${line}:${column}`;
  }

  /** Brackets and what `parse` makes of what stands in them. A token in place of the closing one is reported and left. */
  protected bracketed<T>(opening: TokenKind, closing: TokenKind, parse: () => T): Bracketed<T> {
    const start = this.expect(opening);
    this.closers.push(closing);
    const inner = parse();
    this.closers.pop();
    if (this.isNext(closing)) return { start, inner, end: this.scan() };
    const end = this.peek();
    this.errors.push(`expected ${closing}, got ${end.kind}`);
    return { start, inner, end };
  }

  /** False at the end of the text and at what closes any open bracket: lists end there, however broken they are. */
  protected get hasMore(): boolean {
    const { kind } = this.peek();
    return kind !== "EOF" && !this.closers.includes(kind);
  }

  /** Items up to the end of the bracket. An item that takes no token is the last.
   *  @param missingComma hears of a token in a comma's place */
  protected separated<T>(item: () => T, missingComma: (got: TokenKind, itemCount: number) => void = () => {}): T[] {
    const items: T[] = [];
    let itemFrom = -1;
    while (this.hasMore && this.peek().from !== itemFrom) {
      itemFrom = this.peek().from;
      items.push(item());
      if (!this.takeIf("COMMA") && this.hasMore) missingComma(this.peek().kind, items.length);
    }
    return items;
  }

  /** What `parse` gives, or null when the text is nested too deeply; then a token is to be taken, or nothing goes on. */
  protected nested<T>(parse: () => T): T | null {
    if (this.depth >= DEPTH_MAX) {
      this.errors.push("Program is nested too deep");
      return null;
    }
    this.depth++;
    const parsed = parse();
    this.depth--;
    return parsed;
  }

  protected location(from: number, to: number): SourceLocation {
    if (to < from) return NOWHERE;
    return new Place(this.lines, from, to);
  }

  /** `1:2-1:5` */
  protected placeOf({ from, to }: { readonly from: number; readonly to: number }): string {
    const { start, end } = this.location(from, to);
    return `${start.line}:${start.column}-${end.line}:${end.column}`;
  }

  /** The members that every node has; takes the errors that are waiting. */
  protected node(from: number, to: number, comments: readonly string[] = []): NodeStart {
    const location = this.location(from, to);
    const errors = this.errors;
    if (errors.length === 0) return comments.length === 0 ? { location } : { location, comments };
    this.errors = [];
    return comments.length === 0 ? { location, errors } : { location, errors, comments };
  }

  /** The node with the errors that are waiting. */
  protected made<N extends object>(node: N, comments: readonly string[] = NO_COMMENTS): N {
    if (this.errors.length === 0) return comments.length === 0 ? node : { ...node, comments };
    const { errors } = this;
    this.errors = [];
    return comments.length === 0 ? { ...node, errors } : { ...node, errors, comments };
  }

  protected nodeOf(token: Token): NodeStart {
    return this.node(token.from, token.to, token.comments);
  }
}

function listed(kinds: readonly TokenKind[]): string {
  if (kinds.length === 1) return kinds[0]!;
  // as recorded, with a blank before each
  return kinds.map((kind, i) => `${i === 0 ? "" : i < kinds.length - 1 ? "," : " or"} \`${kind}\``).join("");
}
