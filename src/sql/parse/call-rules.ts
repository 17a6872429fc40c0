// What may stand behind the parentheses of a function's call in the dialect, but not in DuckDB's grammar; and words and symbols of rules.
import { Brackets } from "./brackets.ts";
import type { Token } from "./tokens.ts";

/** Aggregates that DuckDB's grammar does not know with WITHIN GROUP. */
const WITHIN_GROUP: ReadonlySet<string> = new Set(["approx_percentile_cont", "approx_percentile_cont_with_weight"]);

/** `f(a) WITHIN GROUP (ORDER BY x)` as `f(a ORDER BY x)`. */
export function withinGroup(tokens: readonly Token[]): Token[] {
  const dropped = new Set<number>();
  const brackets = new Brackets(tokens);
  tokens.forEach((token, i) => {
    if (token.kind !== "word" || !WITHIN_GROUP.has(token.text) || !isSymbol(tokens[i + 1], "(")) return;
    const close = brackets.closing(i + 1);
    if (!isWord(tokens[close + 1], "within") || !isWord(tokens[close + 2], "group") || !isSymbol(tokens[close + 3], "(")) return;
    for (let at = close; at < close + 4; at++) dropped.add(at);
  });
  return tokens.filter((_, i) => !dropped.has(i));
}

export function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === "word" && token.text === text;
}

export function isSymbol(token: Token | undefined, text: string): boolean {
  return token?.kind === "symbol" && token.text === text;
}

/** Symbols and words that the statement does not have; words stand apart from what comes before them. */
export function symbol(text: string, at: number): Token {
  return { kind: "symbol", text, start: at, end: at };
}

export function word(text: string, at: number): Token {
  return { kind: "word", text: ` ${text}`, start: at, end: at };
}
