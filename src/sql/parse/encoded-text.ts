// The text of a statement for DuckDB's parser, with encoded names (names.ts), and the mapping of positions back to the user's text.
import { encodeName, ident } from "./names.ts";
import type { Token } from "./tokens.ts";

const LINE_FEED = 0x0a;
const NUL = "\0";

/** Line and column from 1, the column in code points; offset in characters from 0. */
export interface Place {
  readonly line: number;
  readonly column: number;
  readonly position: number;
}

/** A statement as tokens with their original positions. */
export class EncodedText {
  private joined: string | undefined;
  private starts: readonly number[] | undefined;

  /** @param tokens those of `original`, possibly removed and changed; positions are those of `original` */
  constructor(
    private readonly original: string,
    readonly tokens: readonly Token[],
  ) {}

  /** Number of characters in the statement. */
  get length(): number {
    return this.original.length;
  }

  /** The tokens, separated by a space or line end where they were separated. */
  get sql(): string {
    this.joined ??= this.join();
    return this.joined;
  }

  /** The text without the rest of some lists, which start with these tokens, have as many items, separated by commas. */
  without(lists: ReadonlyMap<Token, readonly unknown[]>): EncodedText {
    const tokens: Token[] = [];
    for (let i = 0; i < this.tokens.length; i++) {
      const token = this.tokens[i]!;
      tokens.push(token);
      i += 2 * ((lists.get(token)?.length ?? 1) - 1);
    }
    return new EncodedText(this.original, tokens);
  }

  /** The separator between a token and the previous one. */
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

  /** The byte at which a code point of `sql` begins. */
  byteOf(codePoint: number): number {
    return Buffer.byteLength([...this.sql].slice(0, codePoint).join(""));
  }

  /** The position of a token in the user's text, or of its end. */
  placeOf(token: number): Place {
    const position = this.tokens[token]?.start ?? this.tokens[this.tokens.length - 1]?.end ?? 0;
    const lines = this.original.slice(0, position).split("\n");
    return { line: lines.length, column: [...lines.at(-1)!].length + 1, position };
  }

  /** The parts of the name that starts with a token: three for `a."B".c`; none if it is not a name. */
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

  /** The start of each token in `sql`, in bytes of UTF-8, and the end of the last one. */
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

/** A token in the form for DuckDB. */
export function encodedToken({ kind, text }: Token): string {
  if (kind === "quoted") return ident(encodeName(text));
  return kind === "string" && text.includes(NUL) ? withoutNul(text) : text;
}

/** A string as an expression: DuckDB's parser takes NUL for the end of its text. */
function withoutNul(written: string): string {
  const quote = /^(?:'|\$[^$]*\$)/.exec(written)![0];
  const value = written.slice(quote.length, -quote.length);
  const parts = (quote === "'" ? value.replaceAll("''", "'") : value).split(NUL).map((part) => `'${part.replaceAll("'", "''")}'`);
  return `(${parts.join("||chr(0)||")})`;
}
