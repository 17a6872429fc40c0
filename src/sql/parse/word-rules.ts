// Token rules for words and clauses of the dialect that DuckDB's grammar rejects: names that are keywords there, LIMIT with two numbers,
// semi and anti joins, XOR, intervals of numbers.
import { checkLimit } from "../../model/query/statement-limits.ts";
import { Brackets } from "./brackets.ts";
import { isSymbol, isWord, symbol, word } from "./call-rules.ts";
import { isUnit, scaledUnit } from "./interval.ts";
import type { Token } from "./tokens.ts";

/** DuckDB's keywords that are names in the dialect where a value or a table is expected. */
const NAMES: ReadonlySet<string> = new Set(
  `analyse analyze asymmetric both check collate column constraint create default deferrable describe do foreign grant group initially into
   lambda leading limit offset only order pivot pivot_longer pivot_wider placing primary references returning show summarize symmetric table
   to trailing unique unpivot variadic`.split(/\s+/),
);

/** Tokens that precede a value or a table. */
const BEFORE_NAME: ReadonlySet<string> = new Set(
  "select distinct from join where and or not by on when then else having in between".split(" "),
);
/** Tokens that may follow it, besides symbols. */
const AFTER_NAME: ReadonlySet<string> = new Set(
  `from where and or group order having limit offset union except intersect as is in not between like then when else end asc desc nulls join
   left right full inner cross natural on using window qualify`.split(/\s+/),
);

/** Words that these rules apply to. */
export const RULED_WORDS: readonly string[] = [...NAMES, "interval", "xor", "semi", "anti"];

/** The tokens with words and clauses in DuckDB's form. */
export function wordRules(tokens: readonly Token[]): readonly Token[] {
  const has = (list: readonly Token[], text: string): boolean => list.some((token) => isWord(token, text));
  const isNamed = tokens.some((_, i) => isName(tokens, i));
  const named = isNamed ? tokens.map((token, i) => (isName(tokens, i) ? { ...token, kind: "quoted" as const } : token)) : tokens;
  const limited = has(named, "limit") ? limitPairs(named) : named;
  const xored = has(limited, "xor") ? limited.map((token, i) => exclusiveOr(token, limited[i - 1])) : limited;
  const measured = has(xored, "interval") ? numberIntervals(xored) : xored;
  return has(measured, "semi") || has(measured, "anti") ? oneSidedJoins(measured) : measured;
}

/** `INTERVAL -1 DAY`, `INTERVAL 1.5 DAY`, and `INTERVAL 90` in seconds: a text. */
function numberIntervals(tokens: readonly Token[]): readonly Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    out.push(tokens[i]!);
    if (!isWord(tokens[i], "interval")) continue;
    const sign = isSymbol(tokens[i + 1], "-") ? "-" : "";
    const [amount, unit] = tokens.slice(i + 1 + sign.length, i + 3 + sign.length);
    if (amount?.kind !== "number") continue;
    const start = tokens[i + 1]!.start;
    if (unit?.kind !== "word" || !isUnit(unit.text)) {
      out.push({ kind: "string", text: `'${sign}${amount.text}'`, start, end: amount.end });
      i += 1 + sign.length;
    } else if ((sign === "-" || amount.text.includes(".")) && scaledUnit(amount.text, unit.text) !== null) {
      out.push({ kind: "string", text: `'${sign}${amount.text} ${unit.text}'`, start, end: unit.end });
      i += 2 + sign.length;
    }
  }
  return out;
}

function exclusiveOr(token: Token, before: Token | undefined): Token {
  return isWord(token, "xor") && endsValue(before) ? { kind: "symbol", text: "^", start: token.start, end: token.end } : token;
}

/** `FROM order`, `SELECT group FROM …`; not `ORDER BY`, `LIMIT 1`. */
function isName(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]!;
  if (token.kind !== "word" || !NAMES.has(token.text)) return false;
  const [before, after] = [tokens[at - 1], tokens[at + 1]];
  const begins =
    before !== undefined &&
    (before.kind === "word" ? BEFORE_NAME.has(before.text) : before.kind === "symbol" && !(before.text === ")" || before.text === "]"));
  if (!begins || isWord(after, "by")) return false;
  if (after === undefined) return true;
  return after.kind === "word" ? AFTER_NAME.has(after.text) : after.kind === "symbol" && after.text !== "(" && after.text !== "[";
}

function endsValue(token: Token | undefined): boolean {
  if (token === undefined) return false;
  return token.kind === "symbol" ? token.text === ")" || token.text === "]" : !BEFORE_NAME.has(token.text);
}

/** `LIMIT 2, 3`: three rows after the first two. */
function limitPairs(tokens: readonly Token[]): readonly Token[] {
  const isCount = (token: Token | undefined): boolean => token?.kind === "number" || token?.kind === "parameter";
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    out.push(tokens[i]!);
    const [skipped, comma, rows] = tokens.slice(i + 1, i + 4);
    if (!isWord(tokens[i], "limit") || !isCount(skipped) || !isSymbol(comma, ",") || !isCount(rows)) continue;
    out.push(rows!, word("offset", comma!.start), blank(skipped!), skipped!);
    i += 3;
  }
  return out;
}

/** Each traverses all tokens again. */
const RIGHT_JOINS_MAX = 16;

/** `a LEFT SEMI JOIN b` is `a SEMI JOIN b`; `a RIGHT SEMI JOIN b` is `b SEMI JOIN a`. */
function oneSidedJoins(tokens: readonly Token[]): readonly Token[] {
  const isOneSided = (list: readonly Token[], at: number): boolean =>
    (isWord(list[at + 1], "semi") || isWord(list[at + 1], "anti")) && isWord(list[at + 2], "join");
  const out = tokens.filter((token, i) => !(isWord(token, "left") && isOneSided(tokens, i)));
  let joins = 0;
  for (let i = 0; i < out.length; i++) {
    if (!isWord(out[i], "right") || !isOneSided(out, i)) continue;
    checkLimit("joins that keep their right side", ++joins, RIGHT_JOINS_MAX);
    const brackets = new Brackets(out);
    const from = beginOfTables(out, i, brackets);
    const to = endOfTable(out, i + 3, brackets);
    const left = out.slice(from, i);
    const join = out.slice(i + 1, i + 3);
    const right = out.slice(i + 3, to);
    const isJoin = left.some((token) => isWord(token, "join"));
    const kept = isJoin ? [symbol("(", left[0]!.start), ...left, symbol(")", left.at(-1)!.end)] : left;
    out.splice(from, to - from, ...right, blank(join[0]!), ...join, blank(left[0]!), ...kept, blank(out[to]));
  }
  return out;
}

/** Separates a moved token from the preceding one. */
function blank(before: Token | undefined): Token {
  return symbol(" ", before?.start ?? 0);
}

/** The start of the tables that a join at `at` continues: after FROM, or the comma. */
function beginOfTables(tokens: readonly Token[], at: number, brackets: Brackets): number {
  for (let i = at - 1; i >= 0; i--) {
    const token = tokens[i]!;
    if (isSymbol(token, ")")) i = Math.max(brackets.opening(i), 0);
    else if (isWord(token, "from") || isSymbol(token, ",") || isSymbol(token, "(")) return i + 1;
  }
  return 0;
}

/** The ON or USING after the table that starts at `at`. */
function endOfTable(tokens: readonly Token[], at: number, brackets: Brackets): number {
  for (let i = at; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (isSymbol(token, "(")) i = brackets.closing(i);
    else if (isWord(token, "on") || isWord(token, "using") || isSymbol(token, ")")) return i;
  }
  return tokens.length;
}
