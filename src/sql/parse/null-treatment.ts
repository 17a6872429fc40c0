// Rewrites `f(x) IGNORE NULLS` for DuckDB's grammar: `f(x IGNORE NULLS) OVER …`; without OVER `f(x) FILTER (WHERE x IS NOT NULL)`.
import { checkLimit } from "../../model/query/statement-limits.ts";
import { Brackets } from "./brackets.ts";
import { isSymbol, isWord, symbol, word } from "./call-rules.ts";
import type { Token } from "./tokens.ts";

/** Maximum growth of the text for nested calls, as a multiple of its length: each level copies its argument once more. */
const COPIES_MAX = 4;

interface Call {
  readonly open: number;
  readonly close: number;
  /** The tokens IGNORE NULLS. */
  readonly words: readonly Token[];
}

/** The tokens with IGNORE NULLS and RESPECT NULLS in DuckDB's position. */
export function nullTreatment(tokens: readonly Token[]): readonly Token[] {
  if (!tokens.some((_, i) => isTreatment(tokens, i))) return tokens;
  const treatment = new NullTreatment(tokens);
  treatment.put(0, tokens.length);
  return treatment.out;
}

/** True if IGNORE NULLS or RESPECT NULLS starts at `at`. */
function isTreatment(tokens: readonly Token[], at: number): boolean {
  return isWord(tokens[at + 1], "nulls") && (isWord(tokens[at], "ignore") || isWord(tokens[at], "respect"));
}

/** Window functions without a value that could be NULL: the words mean nothing. */
const RANKS: ReadonlySet<string> = new Set(["cume_dist", "dense_rank", "ntile", "percent_rank", "rank", "row_number"]);

class NullTreatment {
  readonly out: Token[] = [];
  private readonly brackets: Brackets;
  /** Calls that ignore NULLs, by their closing parenthesis. */
  private readonly calls = new Map<number, Call>();
  private copied = 0;

  constructor(private readonly tokens: readonly Token[]) {
    this.brackets = new Brackets(tokens);
    for (let i = 0; i < tokens.length; i++) {
      if (!isTreatment(tokens, i)) continue;
      // the words follow the call or are, at its end, inside it
      const close = isSymbol(tokens[i - 1], ")") ? this.callBehind(i - 1) : this.brackets.enclosing(i);
      const open = this.brackets.opening(close);
      const isRank = tokens[open - 1]?.kind === "word" && RANKS.has(tokens[open - 1]!.text.toLowerCase());
      if (open >= 0 && isWord(tokens[i], "ignore") && !isRank) this.calls.set(close, { open, close, words: tokens.slice(i, i + 2) });
    }
  }

  /** The call that ends here, or to which a FILTER that ends here belongs. */
  private callBehind(close: number): number {
    const open = this.brackets.opening(close);
    return isWord(this.tokens[open - 1], "filter") ? open - 2 : close;
  }

  /** Emits the tokens of a range, rewritten. */
  put(from: number, to: number): void {
    const { tokens, out } = this;
    for (let i = from; i < to; i++) {
      if (isTreatment(tokens, i) && this.belongsToCall(i)) {
        i++;
        continue;
      }
      const call = this.calls.get(i);
      if (call === undefined) out.push(tokens[i]!);
      else i = this.putEnd(call) - 1;
    }
  }

  /** Words without a call stay, and DuckDB's parser rejects them. */
  private belongsToCall(at: number): boolean {
    return isSymbol(this.tokens[at - 1], ")") || this.brackets.enclosing(at) < this.tokens.length;
  }

  /** Emits the end of a call and its FILTER. Returns the position after it. */
  private putEnd(call: Call): number {
    const { tokens, out } = this;
    const filter = this.filterBehind(call.close);
    const end = this.behindWords(filter === null ? call.close + 1 : filter.close + 1);
    if (isWord(tokens[end], "over")) {
      out.push(...asOne(call.words), tokens[call.close]!);
      return call.close + 1;
    }
    const place = tokens[call.close]!.end;
    const [start, stop] = this.firstArgument(call);
    out.push(tokens[call.close]!, word("filter", place), symbol("(", place), word("where", place), symbol("(", place));
    this.putAgain(start, stop);
    out.push(symbol(")", place), ...["is", "not", "null"].map((text) => word(text, place)));
    if (filter !== null) {
      out.push(word("and", place), symbol("(", place));
      this.put(filter.condition, filter.close);
      out.push(symbol(")", place));
    }
    out.push(symbol(")", place));
    return end;
  }

  private putAgain(from: number, to: number): void {
    const before = this.out.length;
    this.put(from, to);
    this.copied += this.out.length - before;
    checkLimit("tokens in arguments of IGNORE NULLS", this.copied, COPIES_MAX * this.tokens.length);
  }

  /** The position after removed words. */
  private behindWords(at: number): number {
    return isTreatment(this.tokens, at) ? at + 2 : at;
  }

  /** `FILTER (WHERE …)` after a call. */
  private filterBehind(close: number): { readonly condition: number; readonly close: number } | null {
    const at = this.behindWords(close + 1);
    if (!isWord(this.tokens[at], "filter") || !isSymbol(this.tokens[at + 1], "(")) return null;
    return { condition: at + 3, close: this.brackets.closing(at + 1) };
  }

  /** From its first token up to the one behind it. */
  private firstArgument({ open, close }: Call): [from: number, to: number] {
    let depth = 0;
    for (let i = open + 1; i < close; i++) {
      const token = this.tokens[i]!;
      if (token.kind === "symbol" && "([{".includes(token.text)) depth++;
      else if (token.kind === "symbol" && ")]}".includes(token.text)) depth--;
      else if (depth === 0 && (isSymbol(token, ",") || isWord(token, "order") || isTreatment(this.tokens, i))) return [open + 1, i];
    }
    return [open + 1, close];
  }
}

/** Tokens that are moved together keep their separators. */
function asOne(words: readonly Token[]): Token[] {
  const [first] = words;
  return [{ ...first!, text: ` ${words.map(({ text }) => text).join(" ")}` }];
}
