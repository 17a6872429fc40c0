// A cursor over a statement's tokens. Gives up by throwing a constant: expressions that it does not understand get no name here.
import { Brackets } from "../parse/brackets.ts";
import type { Token } from "../parse/tokens.ts";
import type { NameNode, WindowSlot } from "./node.ts";

/** Thrown for expressions that the vendor does not name. */
export const UNNAMED: unique symbol = Symbol("no name");

/** Operators of four, three and two characters. */
const OPERATORS: readonly ReadonlySet<string>[] = [
  new Set(["!~~*"]),
  new Set(["<=>", "!~*", "~~*", "!~~", "->>", "#>>"]),
  new Set(["<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "~*", "!~", "~~", "::", "@>", "<@", "->", "//", ":=", "=>", "&&", "@@", "**"]),
];

/** Maximum nesting of expressions; deeper ones are rejected anyway. */
const DEPTH_MAX = 400;

/** Reads an expression up to an operator that binds no tighter than `above`. */
export type ReadExpression = (reader: TokenReader, above: number) => NameNode;

/** The cursor. */
export class TokenReader {
  at = 0;
  /** Named windows used so far. */
  readonly slots: WindowSlot[] = [];
  private found: Brackets | null = null;
  private depth = 0;

  /** @param readExpression the grammar, needed for calls and windows within expressions */
  constructor(
    readonly tokens: readonly Token[],
    private readonly readExpression: ReadExpression,
  ) {}

  get brackets(): Brackets {
    this.found ??= new Brackets(this.tokens);
    return this.found;
  }

  get token(): Token | undefined {
    return this.tokens[this.at];
  }

  peek(ahead: number): Token | undefined {
    return this.tokens[this.at + ahead];
  }

  /** The folded word at the cursor; "" for anything else. */
  word(ahead = 0): string {
    const token = this.tokens[this.at + ahead];
    return token?.kind === "word" ? token.text : "";
  }

  isSymbol(text: string, ahead = 0): boolean {
    const token = this.tokens[this.at + ahead];
    return token?.kind === "symbol" && token.text === text;
  }

  next(): Token {
    const token = this.tokens[this.at++];
    if (token === undefined) throw UNNAMED;
    return token;
  }

  /** Consumes up to three consecutive words. */
  takeWord(first: string, second?: string, third?: string): boolean {
    if (this.word() !== first) return false;
    if (second !== undefined && this.word(1) !== second) return false;
    if (third !== undefined && this.word(2) !== third) return false;
    this.at += third !== undefined ? 3 : second !== undefined ? 2 : 1;
    return true;
  }

  takeSymbol(text: string): boolean {
    if (!this.isSymbol(text)) return false;
    this.at++;
    return true;
  }

  expectSymbol(text: string): void {
    if (!this.takeSymbol(text)) throw UNNAMED;
  }

  expectWord(first: string, second?: string, third?: string): void {
    if (!this.takeWord(first, second, third)) throw UNNAMED;
  }

  /** Consumes an operator of symbols, the longest one; "" if there is none. */
  operator(): string {
    const { tokens, at } = this;
    const first = tokens[at];
    if (first?.kind !== "symbol") return "";
    let end = at + 1;
    while (end < at + 4 && tokens[end]?.kind === "symbol" && tokens[end]!.start === tokens[end - 1]!.end) end++;
    if (end === at + 1) return first.text;
    let joined = first.text;
    for (let i = at + 1; i < end; i++) joined += tokens[i]!.text;
    for (let count = joined.length; count > 1; count--) {
      const start = joined.slice(0, count);
      if (OPERATORS[4 - count]!.has(start)) return start;
    }
    return first.text;
  }

  /** The expression at the cursor; see ReadExpression. */
  expression(above = 0): NameNode {
    return this.readExpression(this, above);
  }

  /** Enters a nested expression. */
  enter(): void {
    if (++this.depth > DEPTH_MAX) throw UNNAMED;
  }

  leave(): void {
    this.depth--;
  }

  /** The result of `read`; null, with the cursor restored, if it gives up. */
  attempt<T>(read: () => T): T | null {
    const { at } = this;
    this.depth = 0;
    try {
      return read();
    } catch (error) {
      if (error !== UNNAMED) throw error;
      this.at = at;
      return null;
    }
  }
}
