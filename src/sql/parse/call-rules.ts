// Clauses after a call's parentheses that the dialect allows but DuckDB's grammar does not; and helpers for words and symbols in rules.
import { Brackets } from "./brackets.ts";
import type { Token } from "./tokens.ts";

/** Aggregates for which DuckDB's grammar does not allow WITHIN GROUP. */
const WITHIN_GROUP: ReadonlySet<string> = new Set(["approx_percentile_cont", "approx_percentile_cont_with_weight", "array_agg"]);

/** Rewrites `f(a) WITHIN GROUP (ORDER BY x)` to `f(a ORDER BY x)`. */
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

/** Functions for which DuckDB's grammar has a form of words: `position(a IN b)`. */
export const WORDED_CALLS: readonly string[] = ["overlay", "position", "substr"];

/** Makes `position(a, b)` and `overlay(a, b, 1)` calls like others by quoting the name; `substr(a FROM 2)` is `substring(a FROM 2)`. */
export function wordedCalls(tokens: readonly Token[]): readonly Token[] {
  const named = new Map<number, Token>();
  /** For each open bracket: the name of such a call before it; -1: none. */
  const open: number[] = [];
  for (const [i, token] of tokens.entries()) {
    const call = open.at(-1) ?? -1;
    const name = tokens[call];
    if (token.kind === "symbol" && "([{".includes(token.text)) {
      const before = tokens[i - 1];
      open.push(token.text === "(" && before?.kind === "word" && WORDED_CALLS.includes(before.text) ? i - 1 : -1);
    } else if (token.kind === "symbol" && ")]}".includes(token.text)) open.pop();
    else if (name === undefined) continue;
    else if (name.text !== "substr" && isSymbol(token, ",")) named.set(call, { ...name, kind: "quoted" });
    else if (name.text === "substr" && (isWord(token, "from") || isWord(token, "for"))) named.set(call, { ...name, text: "substring" });
  }
  return named.size === 0 ? tokens : tokens.map((token, i) => named.get(i) ?? token);
}

/** True for an unquoted word, in any case. */
export function isWord(token: Token | undefined, text: string): boolean {
  return token?.kind === "word" && token.text === text;
}

/** True for this operator or punctuation. */
export function isSymbol(token: Token | undefined, text: string): boolean {
  return token?.kind === "symbol" && token.text === text;
}

/** A symbol or word that the statement does not contain; words are separated from the preceding token. */
export function symbol(text: string, at: number): Token {
  return { kind: "symbol", text, start: at, end: at };
}

/** A word that a rule inserts at a position of the source. */
export function word(text: string, at: number): Token {
  return { kind: "word", text: ` ${text}`, start: at, end: at };
}
