// Tokens with one of look-ahead, blocks that were opened, and what is wrong: an error belongs to the node that is made next.
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

/** The tokens of one text, with one token of lookahead. */
export class FluxTokens {
  protected readonly scanner: Scanner;
  private readonly lines: LineMap;
  private ahead: Token | null = null;
  protected errors: string[] = [];
  private readonly open = new Map<TokenKind, number>();
  private depth = 0;

  constructor(readonly text: string) {
    this.scanner = new Scanner(text);
    this.lines = new LineMap(text);
  }

  protected scan(): Token {
    const token = this.ahead ?? this.scanner.scan("code");
    this.ahead = null;
    return token;
  }

  protected peek(): Token {
    this.ahead ??= this.scanner.scan("code");
    return this.ahead;
  }

  /** Where an operand may stand: a slash begins a regular expression. */
  protected peekOperand(): Token {
    if (this.ahead?.kind === "DIV") {
      this.ahead = null;
      this.scanner.unread();
      this.ahead = this.scanner.scan("code or regex");
      if (this.ahead.kind !== "DIV") return this.ahead;
    }
    this.ahead ??= this.scanner.scan("code or regex");
    return this.ahead;
  }

  /** Takes the next token and reports it if it is another. */
  protected expect(...kinds: readonly TokenKind[]): Token {
    const token = this.scan();
    if (!kinds.includes(token.kind)) this.errors.push(`expected ${listed(kinds)}, got ${this.described(token)}`);
    return token;
  }

  /** Takes the next token only if it is the right one. */
  protected expectOrSkip(kind: TokenKind): Token {
    const token = this.peek();
    if (token.kind === kind) return this.scan();
    this.errors.push(`expected ${kind}, got ${this.described(token)}`);
    return token.kind === "EOF" ? token : { kind: "ILLEGAL", text: "", from: token.from, to: token.from, comments: [] };
  }

  private described({ kind, text, from }: Token): string {
    if (kind === "EOF") return "EOF";
    const { line, column } = this.lines.position(from);
    return `${kind} (${text}) at ${line}:${column}`;
  }

  protected openBlock(start: TokenKind, end: TokenKind): Token {
    const token = this.expect(start);
    this.open.set(end, (this.open.get(end) ?? 0) + 1);
    return token;
  }

  /** False at the end of the text and at a token that closes an open block. */
  protected get hasMore(): boolean {
    const { kind } = this.peek();
    return kind !== "EOF" && (this.open.get(kind) ?? 0) === 0;
  }

  /** The token that closes the block; another one is reported and left. */
  protected closeBlock(end: TokenKind): Token {
    this.open.set(end, this.open.get(end)! - 1);
    const token = this.peek();
    if (token.kind === end) return this.scan();
    this.errors.push(`expected ${end}, got ${token.kind}`);
    return token;
  }

  /** Calls `item` while the block goes on. A call that takes no token ends the loop. */
  protected whileProgress(item: () => void): void {
    let last = this.peek().from;
    while (this.hasMore) {
      item();
      const { from } = this.peek();
      if (from === last) break;
      last = from;
    }
  }

  /** What `parse` gives, or null when the text is nested too deeply; then a token is to be taken, or nothing goes on. */
  protected nested<T>(parse: () => T): T | null {
    if (this.depth >= DEPTH_MAX) {
      this.errors.push("Program is nested too deep");
      return null;
    }
    this.depth++;
    try {
      return parse();
    } finally {
      this.depth--;
    }
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
