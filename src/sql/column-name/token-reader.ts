// Goes through a statement's tokens, and gives up by throwing one value: what is not understood gets no name here.
import { Brackets } from "../parse/brackets.ts";
import type { Token } from "../parse/tokens.ts";
import type { NameNode, WindowSlot } from "./node.ts";

/** Thrown where an expression is none that the vendor names. */
export const UNNAMED: unique symbol = Symbol("no name");

/** Operators of four, three and two characters. */
const OPERATORS: readonly ReadonlySet<string>[] = [
  new Set(["!~~*"]),
  new Set(["<=>", "!~*", "~~*", "!~~", "->>", "#>>"]),
  new Set(["<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "~*", "!~", "~~", "::", "@>", "<@", "->", "//", ":=", "=>", "&&", "@@", "**"]),
];

/** Expressions inside of each other; deeper ones are refused anyway. */
const DEPTH_MAX = 400;

/** Reads an expression up to an operator that binds no tighter than `above`. */
export type ReadExpression = (reader: TokenReader, above: number) => NameNode;

export class TokenReader {
  at = 0;
  /** Windows that were called by their names. */
  readonly slots: WindowSlot[] = [];
  private found: Brackets | null = null;
  private depth = 0;

  /** `readExpression`: the grammar's, which calls and windows in an expression need for what stands in them. */
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

  /** The folded word here; "" for anything else. */
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

  /** Up to three words in a row. */
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

  /** The operator of symbols here, as many of them as belong together; "" for none. */
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

  /** The expression here; see ReadExpression. */
  expression(above = 0): NameNode {
    return this.readExpression(this, above);
  }

  /** Into an expression in another one. */
  enter(): void {
    if (++this.depth > DEPTH_MAX) throw UNNAMED;
  }

  leave(): void {
    this.depth--;
  }

  /** What `read` gives; null, and back at the same place, where it gives up. */
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
