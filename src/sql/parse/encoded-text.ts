// A statement as DuckDB's parser gets it, its names encoded (names.ts), and the way back from places in it to the user's text.
import { encodeName, ident } from "./names.ts";
import type { Token } from "./tokens.ts";

const LINE_FEED = 0x0a;

/** From 1, and in characters from 0. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly position: number;
}

export class EncodedText {
  private joined: string | undefined;
  private starts: readonly number[] | undefined;

  /** `tokens` of `original`, which may have been cut, dropped and changed; positions are those of `original`. */
  constructor(
    private readonly original: string,
    readonly tokens: readonly Token[],
  ) {}

  /** Characters of the statement. */
  get length(): number {
    return this.original.length;
  }

  /** The tokens with a space or line end between those that were apart. */
  get sql(): string {
    this.joined ??= this.join();
    return this.joined;
  }

  /** The text without the rest of some lists, which begin with these tokens, have as many items, and commas between them. */
  without(lists: ReadonlyMap<Token, readonly unknown[]>): EncodedText {
    const tokens: Token[] = [];
    for (let i = 0; i < this.tokens.length; i++) {
      const token = this.tokens[i]!;
      tokens.push(token);
      i += 2 * ((lists.get(token)?.length ?? 1) - 1);
    }
    return new EncodedText(this.original, tokens);
  }

  /** What stands between a token and the one before it. */
  gapBefore(index: number): "" | " " | "\n" {
    if (index === 0) return "";
    const [from, to] = [this.tokens[index - 1]!.end, this.tokens[index]!.start];
    if (to <= from) return "";
    // 'a' 'b' is one string only across a line end
    for (let at = from; at < to; at++) if (this.original.charCodeAt(at) === LINE_FEED) return "\n";
    return " ";
  }

  /** The last token that starts at or before a byte of `sql`; the number of tokens for its end. */
  tokenAt(byteOffset: number): number {
    this.starts ??= this.byteStarts();
    const { starts } = this;
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= byteOffset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Where a token, or the end behind the last one, stands in the user's text. */
  placeOf(token: number): Place {
    const position = this.tokens[token]?.start ?? this.tokens[this.tokens.length - 1]?.end ?? 0;
    const before = this.original.slice(0, position);
    return { line: before.split("\n").length, column: position - (before.lastIndexOf("\n") + 1) + 1, position };
  }

  /** The parts of the name that begins with a token: of `a."B".c` three; none of what is no name. */
  nameAt(token: number): string[] {
    const names: string[] = [];
    for (let at = token; ; at += 2) {
      const part = this.tokens[at];
      if (part?.kind !== "word" && part?.kind !== "quoted") return names;
      names.push(part.text);
      if (this.tokens[at + 1]?.text !== ".") return names;
    }
  }

  private join(): string {
    let sql = "";
    for (const [index, token] of this.tokens.entries()) sql += this.gapBefore(index) + encodedToken(token);
    return sql;
  }

  /** Where each token begins in `sql`, in bytes of UTF-8, and where the last one ends. */
  private byteStarts(): number[] {
    const starts: number[] = [];
    let at = 0;
    for (const [index, token] of this.tokens.entries()) {
      at += this.gapBefore(index).length;
      starts.push(at);
      at += Buffer.byteLength(encodedToken(token));
    }
    starts.push(at);
    return starts;
  }
}

/** A token as DuckDB gets it. */
export function encodedToken(token: Token): string {
  return token.kind === "quoted" ? ident(encodeName(token.text)) : token.text;
}
