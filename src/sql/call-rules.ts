// What may stand behind the parentheses of a function's call in the dialect and inside of them, or not at all, in DuckDB's grammar.
import type { Token } from "./tokens.ts";

/** Aggregates that DuckDB's grammar does not know with WITHIN GROUP. */
const WITHIN_GROUP: ReadonlySet<string> = new Set(["approx_percentile_cont", "approx_percentile_cont_with_weight"]);

export function callRules(tokens: readonly Token[]): readonly Token[] {
  const grouped = tokens.some((token) => isWord(token, "within")) ? withinGroup(tokens) : tokens;
  return grouped.some((token) => isWord(token, "nulls")) ? nullTreatment(grouped) : grouped;
}

/** `f(a) WITHIN GROUP (ORDER BY x)` as `f(a ORDER BY x)`. */
function withinGroup(tokens: readonly Token[]): Token[] {
  const dropped = new Set<number>();
  tokens.forEach((token, i) => {
    if (token.kind !== "word" || !WITHIN_GROUP.has(token.text) || !isSymbol(tokens[i + 1], "(")) return;
    const close = closingParenthesis(tokens, i + 1);
    if (!isWord(tokens[close + 1], "within") || !isWord(tokens[close + 2], "group") || !isSymbol(tokens[close + 3], "(")) return;
    for (let at = close; at < close + 4; at++) dropped.add(at);
  });
  return tokens.filter((_, i) => !dropped.has(i));
}

/** `f(x) IGNORE NULLS OVER …` as `f(x IGNORE NULLS) OVER …`; without OVER as `f(x) FILTER (WHERE x IS NOT NULL)`. */
function nullTreatment(tokens: readonly Token[]): readonly Token[] {
  const at = tokens.findIndex(
    (token, i) => isWord(token, "nulls") && (isWord(tokens[i - 1], "ignore") || isWord(tokens[i - 1], "respect")),
  );
  if (at < 0) return tokens;
  const isIgnored = isWord(tokens[at - 1], "ignore");
  const without = [...tokens.slice(0, at - 1), ...tokens.slice(at + 1)];
  // the call that the words belong to: they stand behind it or, before its end, in it
  const close = isSymbol(tokens[at - 2], ")") ? callBehind(tokens, at - 2) : enclosing(without, at - 1);
  const open = openingParenthesis(without, close);
  if (open < 0) return tokens;
  const rest = isIgnored ? ignoring(without, { open, close, words: tokens.slice(at - 1, at + 1) }) : without;
  return nullTreatment(rest);
}

interface Call {
  readonly open: number;
  readonly close: number;
  readonly words: readonly Token[];
}

function ignoring(tokens: readonly Token[], { open, close, words }: Call): readonly Token[] {
  const filter = filterBehind(tokens, close);
  const end = filter === null ? close : filter.close;
  if (isWord(tokens[end + 1], "over")) return [...tokens.slice(0, close), ...asOne(words), ...tokens.slice(close)];
  const argument = firstArgument(tokens, open, close);
  const place = tokens[close]!.end;
  const isPresent = [symbol("(", place), ...argument, symbol(")", place), ...["is", "not", "null"].map((text) => word(text, place))];
  const condition =
    filter === null ? isPresent : [...isPresent, word("and", place), symbol("(", place), ...filter.condition, symbol(")", place)];
  const made = [word("filter", place), symbol("(", place), word("where", place), ...condition, symbol(")", place)];
  return [...tokens.slice(0, close + 1), ...made, ...tokens.slice(end + 1)];
}

/** Tokens that are moved together keep the gaps between them. */
function asOne(words: readonly Token[]): Token[] {
  const [first] = words;
  return [{ ...first!, text: ` ${words.map(({ text }) => text).join(" ")}` }];
}

/** `FILTER (WHERE …)` behind a call. */
function filterBehind(tokens: readonly Token[], close: number): { close: number; condition: readonly Token[] } | null {
  if (!isWord(tokens[close + 1], "filter") || !isSymbol(tokens[close + 2], "(")) return null;
  const end = closingParenthesis(tokens, close + 2);
  return { close: end, condition: tokens.slice(close + 4, end) };
}

function firstArgument(tokens: readonly Token[], open: number, close: number): readonly Token[] {
  let depth = 0;
  for (let i = open + 1; i < close; i++) {
    const token = tokens[i]!;
    if (token.kind === "symbol" && "([{".includes(token.text)) depth++;
    else if (token.kind === "symbol" && ")]}".includes(token.text)) depth--;
    else if (depth === 0 && (isSymbol(token, ",") || isWord(token, "order"))) return tokens.slice(open + 1, i);
  }
  return tokens.slice(open + 1, close);
}

/** The parenthesis that closes what `at` lies in; the number of tokens for none. */
function enclosing(tokens: readonly Token[], at: number): number {
  let depth = 0;
  for (let i = at; i < tokens.length; i++) {
    if (isSymbol(tokens[i], "(")) depth++;
    else if (isSymbol(tokens[i], ")") && depth-- === 0) return i;
  }
  return tokens.length;
}

/** The end of a call: of the one that a FILTER stands behind, if it is one that ends here. */
function callBehind(tokens: readonly Token[], close: number): number {
  const open = openingParenthesis(tokens, close);
  return isWord(tokens[open - 1], "filter") ? open - 2 : close;
}

function openingParenthesis(tokens: readonly Token[], close: number): number {
  let depth = 0;
  for (let i = close; i >= 0; i--) {
    if (isSymbol(tokens[i], ")")) depth++;
    else if (isSymbol(tokens[i], "(") && --depth === 0) return i;
  }
  return -1;
}

export function closingParenthesis(tokens: readonly Token[], open: number): number {
  let depth = 0;
  for (let i = open; i < tokens.length; i++) {
    if (isSymbol(tokens[i], "(")) depth++;
    else if (isSymbol(tokens[i], ")") && --depth === 0) return i;
  }
  return tokens.length;
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

function word(text: string, at: number): Token {
  return { kind: "word", text: ` ${text}`, start: at, end: at };
}
