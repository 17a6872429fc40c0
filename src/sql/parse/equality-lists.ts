// Rewrites long chains of `x = 1 OR x = 2 OR …` and `x <> 1 AND x <> 2 AND …` to `x IN (1, 2, …)` and `x NOT IN (…)`: a list is a single
// literal of its statement (literals.ts) and a set to DuckDB, whose planner compares each part of a chain with each.
import { isSymbol, isWord, symbol } from "./call-rules.ts";
import { kindOf, type LiteralKind } from "./literals.ts";
import type { Token } from "./tokens.ts";

/** Shorter chains are unchanged. */
const TERMS_MIN = 16;
/** `name = literal`, and OR or AND. */
const TERM_TOKENS_MIN = 4;

/** Clauses that contain conditions; result columns are named by their text, so they are not changed. */
const CONDITIONS: ReadonlySet<string> = new Set(["where", "having", "on", "qualify"]);
const OTHER_CLAUSES: ReadonlySet<string> = new Set("select from group order limit offset window values using set".split(" "));
/** Tokens that may precede a term so that it is an operand of OR or AND only. */
const BEFORE: ReadonlySet<string> = new Set(["where", "having", "on", "qualify", "when"]);
/** Tokens that may follow a chain and bind looser. */
const BEHIND: ReadonlySet<string> = new Set(
  "group order limit offset having window qualify union except intersect then join left right full inner cross natural".split(" "),
);

/** `name = literal`; tokens `start` .. `end` - 1. */
interface Term {
  readonly start: number;
  readonly end: number;
  /** The end of the name. */
  readonly nameEnd: number;
  /** Equal for equal names and kinds of literals. */
  readonly key: string;
  readonly isEqual: boolean;
}

/** Replaces chains in a statement's tokens. */
export function equalityLists(tokens: readonly Token[]): readonly Token[] {
  if (tokens.length < TERMS_MIN * TERM_TOKENS_MIN) return tokens;
  let out: Token[] | null = null;
  let copied = 0;
  const places = new Places();
  for (let i = 0; i < tokens.length; i++) {
    places.pass(tokens, i);
    if (!places.mayBegin) continue;
    const chain = chainAt(tokens, i, places.isInAnd);
    if (chain.length < TERMS_MIN) continue;
    const last = chain.at(-1)!;
    out ??= [];
    for (; copied < i; copied++) out.push(tokens[copied]!);
    putList(out, tokens, chain);
    copied = last.end;
    i = last.end - 1;
    places.skip();
  }
  if (out === null) return tokens;
  for (; copied < tokens.length; copied++) out.push(tokens[copied]!);
  return out;
}

/** The context of the next token. */
class Places {
  private isCondition = false;
  /** BETWEEN without its AND so far. */
  private isBetween = false;
  private readonly open: { readonly isCondition: boolean; readonly isBetween: boolean }[] = [];
  private before: "start" | "or" | "and" | null = null;
  /** True if a chain may start with the last token. */
  mayBegin = false;
  /** True if it follows an AND. */
  isInAnd = false;

  pass(tokens: readonly Token[], at: number): void {
    const token = tokens[at]!;
    this.mayBegin = this.isCondition && this.before !== null && (token.kind === "word" || token.kind === "quoted");
    this.isInAnd = this.before === "and";
    this.before = null;
    if (token.kind === "symbol") this.symbol(token.text);
    else if (token.kind === "word" && !isOfItem(tokens, at)) this.word(token.text);
  }

  /** A chain was skipped. */
  skip(): void {
    this.before = null;
  }

  private symbol(text: string): void {
    if (text === "(") {
      this.open.push({ isCondition: this.isCondition, isBetween: this.isBetween });
      this.isBetween = false;
      this.before = "start";
    } else if (text === ")") Object.assign(this, this.open.pop() ?? { isCondition: false, isBetween: false });
  }

  private word(text: string): void {
    if (BEFORE.has(text)) this.before = "start";
    else if (text === "or") this.before = "or";
    else if (text === "and") {
      if (!this.isBetween) this.before = "and";
      this.isBetween = false;
    } else if (text === "between") this.isBetween = true;
    if (CONDITIONS.has(text)) this.isCondition = true;
    else if (OTHER_CLAUSES.has(text)) this.isCondition = false;
  }
}

/** `FILTER (WHERE` and `DISTINCT ON` are part of the select list. */
function isOfItem(tokens: readonly Token[], at: number): boolean {
  return isWord(tokens[at], "where") ? isWord(tokens[at - 2], "filter") : isWord(tokens[at], "on") && isWord(tokens[at - 1], "distinct");
}

/** The longest chain that starts at a token. */
function chainAt(tokens: readonly Token[], at: number, isInAnd: boolean): readonly Term[] {
  const chain: Term[] = [];
  for (let start = at; ; ) {
    const term = termAt(tokens, start);
    const [first] = chain;
    if (term === null || (first !== undefined && (term.key !== first.key || term.isEqual !== first.isEqual))) break;
    // AND binds closer than OR
    if (isInAnd && term.isEqual) break;
    chain.push(term);
    if (!isWord(tokens[term.end], term.isEqual ? "or" : "and")) break;
    start = term.end + 1;
  }
  const last = chain.at(-1);
  if (last !== undefined && !mayEnd(tokens[last.end], last.isEqual)) chain.pop();
  return chain;
}

function mayEnd(behind: Token | undefined, isEqual: boolean): boolean {
  if (behind === undefined || isSymbol(behind, ")") || isWord(behind, "or")) return true;
  return behind.kind === "word" && (BEHIND.has(behind.text) || (!isEqual && behind.text === "and"));
}

function termAt(tokens: readonly Token[], start: number): Term | null {
  const nameEnd = endOfName(tokens, start);
  if (nameEnd === start) return null;
  const sign = signAt(tokens, nameEnd);
  if (sign === null) return null;
  const at = nameEnd + sign.length;
  const negative = isSymbol(tokens[at], "-") && tokens[at]!.start > tokens[at - 1]!.end;
  const literal = negative ? at + 1 : at;
  const kind = literal < tokens.length ? kindOf(tokens, literal) : null;
  if (kind === null || (negative && kind === "s")) return null;
  return { start, end: literal + 1, nameEnd, key: keyOf(tokens, start, nameEnd, kind), isEqual: sign.isEqual };
}

function keyOf(tokens: readonly Token[], start: number, end: number, kind: LiteralKind): string {
  let key: string = kind;
  for (let i = start; i < end; i++) key += `\0${tokens[i]!.kind}\0${tokens[i]!.text}`;
  return key;
}

/** The end of `a.b.c` at `start`. */
function endOfName(tokens: readonly Token[], start: number): number {
  const isName = (at: number) => tokens[at]?.kind === "word" || tokens[at]?.kind === "quoted";
  if (!isName(start)) return start;
  let end = start + 1;
  while (isSymbol(tokens[end], ".") && isName(end + 1)) end += 2;
  return end;
}

function signAt(tokens: readonly Token[], at: number): { readonly isEqual: boolean; readonly length: number } | null {
  const [first, second] = [tokens[at], tokens[at + 1]];
  const areOne = first?.end === second?.start;
  if (isSymbol(first, "=")) return areOne && second?.kind === "symbol" ? null : { isEqual: true, length: 1 };
  const isNot = areOne && ((isSymbol(first, "<") && isSymbol(second, ">")) || (isSymbol(first, "!") && isSymbol(second, "=")));
  if (!isNot || (tokens[at + 2]?.kind === "symbol" && tokens[at + 2]!.start === second!.end)) return null;
  return { isEqual: false, length: 2 };
}

function putList(out: Token[], tokens: readonly Token[], chain: readonly Term[]): void {
  const [first] = chain;
  const { start, nameEnd, isEqual } = first!;
  for (let i = start; i < nameEnd; i++) out.push(tokens[i]!);
  // positions that separate words which the statement does not contain
  let at = tokens[nameEnd - 1]!.end;
  for (const text of isEqual ? ["in"] : ["not", "in"]) {
    at++;
    out.push({ kind: "word", text, start: at, end: at });
  }
  out.push(symbol("(", at));
  for (const [i, term] of chain.entries()) {
    if (i > 0) out.push(symbol(",", out.at(-1)!.end));
    const literal = term.end - 1;
    if (isSymbol(tokens[literal - 1], "-")) out.push(tokens[literal - 1]!);
    out.push(tokens[literal]!);
  }
  out.push(symbol(")", out.at(-1)!.end));
}
