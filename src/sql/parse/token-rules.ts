// Rewrites tokens that DuckDB's grammar rejects or interprets differently, between tokenizer and parser. A rule maps tokens to tokens;
// positions stay those of the statement. Rules for function calls are in call-rules.ts.
import { Brackets } from "./brackets.ts";
import { isSymbol, isWord, symbol, WORDED_CALLS, withinGroup, word, wordedCalls } from "./call-rules.ts";
import { equalityLists } from "./equality-lists.ts";
import { nullTreatment } from "./null-treatment.ts";
import { GROUPED_SIGNS, operatorGroups } from "./operator-groups.ts";
import type { Token } from "./tokens.ts";
import { RULED_WORDS, wordRules } from "./word-rules.ts";

interface Rule {
  /** The rule can change a statement only if its tokens contain one of these: words, symbols, `<<`, `>>`, or ZERO. */
  readonly marks: readonly string[];
  apply(tokens: readonly Token[]): readonly Token[];
}

/** Stands for decimals equal to zero. */
const ZERO = "0.0";
const DECIMALS: ReadonlySet<string> = new Set(["decimal", "numeric", "dec"]);

/** In order. Each traverses the tokens a few times, however they are nested. */
const RULES: readonly Rule[] = [
  { marks: RULED_WORDS, apply: wordRules },
  { marks: ["except"], apply: starsExcept },
  { marks: ["extract"], apply: extractedParts },
  { marks: WORDED_CALLS, apply: wordedCalls },
  { marks: ["ifnull"], apply: nullChoices },
  { marks: ["unsigned"], apply: unsignedTypes },
  { marks: [...DECIMALS], apply: plainDecimals },
  { marks: ["struct"], apply: structMembers },
  { marks: ["values"], apply: valuesLists },
  { marks: ["x"], apply: hexLiterals },
  { marks: ["similar"], apply: similarTo },
  { marks: ["~"], apply: regexOperators },
  { marks: [ZERO], apply: (tokens) => tokens.map(floatZero) },
  { marks: ["within"], apply: withinGroup },
  { marks: ["nulls"], apply: nullTreatment },
  { marks: ["or", "and"], apply: equalityLists },
  { marks: ["~", ...GROUPED_SIGNS], apply: operatorGroups },
];
/** The rules by mark, one bit each. */
const RULES_OF_MARK: ReadonlyMap<string, number> = rulesOfMarks();

function rulesOfMarks(): Map<string, number> {
  const rules = new Map<string, number>();
  for (const [i, { marks }] of RULES.entries()) for (const mark of marks) rules.set(mark, (rules.get(mark) ?? 0) | (1 << i));
  return rules;
}

/** Applies the rules whose marks occur in the tokens. No rule creates a mark of another. */
export function applyTokenRules(tokens: readonly Token[]): readonly Token[] {
  let called = 0;
  let shift = "";
  for (const { kind, text } of tokens) {
    if (kind === "number" && isZero(text)) called |= RULES_OF_MARK.get(ZERO)!;
    else if (kind === "word" || kind === "symbol") called |= RULES_OF_MARK.get(shift === text ? text + text : text) ?? 0;
    shift = kind === "symbol" && (text === "<" || text === ">") ? text : "";
  }
  return RULES.reduce((ruled, { apply }, i) => ((called & (1 << i)) === 0 ? ruled : apply(ruled)), tokens);
}

/** `extract(part, time)` is `extract(part FROM time)`. */
function extractedParts(tokens: readonly Token[]): readonly Token[] {
  return tokens.map((token, i) =>
    isSymbol(token, ",") && isSymbol(tokens[i - 2], "(") && isWord(tokens[i - 3], "extract") ? word("from", token.start) : token,
  );
}

/** `ifnull(a, b)` is `nvl(a, b)`: DuckDB's parser would make it `coalesce(a, b)`, which reads texts as numbers. */
function nullChoices(tokens: readonly Token[]): readonly Token[] {
  return tokens.map((token, i) => (isWord(token, "ifnull") && isSymbol(tokens[i + 1], "(") ? { ...token, text: "nvl" } : token));
}

/** `* EXCEPT (a, b)` is `* EXCLUDE (a, b)`. */
function starsExcept(tokens: readonly Token[]): readonly Token[] {
  return tokens.map((token, i) => {
    const isClause = isWord(token, "except") && isSymbol(tokens[i - 1], "*") && isSymbol(tokens[i + 1], "(");
    return isClause ? { ...token, text: "exclude" } : token;
  });
}

/** True for a decimal equal to zero, which a rule changes. */
export function isZero(text: string): boolean {
  return /^0*\.0*$/.test(text);
}

/** `-0.0`, `-(0.0)`: decimals in DuckDB, which have no negative zero. */
function isNegativeZero(token: Token, index: number, tokens: readonly Token[]): boolean {
  if (token.kind !== "number" || !isZero(token.text)) return false;
  let before = index - 1;
  while (isSymbol(tokens[before], "(")) before--;
  return isSymbol(tokens[before], "-");
}

function floatZero(token: Token, index: number, tokens: readonly Token[]): Token {
  return isNegativeZero(token, index, tokens) ? { ...token, text: `${token.text}e0` } : token;
}

const OPERATOR_CHARS = new Set("+-*/<>=~!@#%^&|`?");

/** PostgreSQL's `a ~ b` searches for the pattern; DuckDB's matches the whole text. These operators are ours (rewrite/function.ts). */
const REGEX_OPERATORS: Readonly<Record<string, string>> = { "~": "<~>", "!~": "<!~>", "~*": "<~*>", "!~*": "<!~*>" };

function regexOperators(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; ) {
    let end = i;
    while (end < tokens.length && isOperatorChar(tokens[end]!) && (end === i || tokens[end]!.start === tokens[end - 1]!.end)) end++;
    if (end === i) {
      out.push(tokens[i++]!);
      continue;
    }
    const group = tokens.slice(i, end);
    const text = REGEX_OPERATORS[group.map((token) => token.text).join("")];
    if (text !== undefined && endsOperand(out[out.length - 1])) {
      out.push({ kind: "symbol", text, start: group[0]!.start, end: group[group.length - 1]!.end });
    } else out.push(...group);
    i = end;
  }
  return out;
}

/** Unsigned types by the dialect's names of signed ones. */
const UNSIGNED: ReadonlyMap<string, string> = new Map([
  ["bigint", "ubigint"],
  ["int", "uinteger"],
  ["integer", "uinteger"],
  ["smallint", "usmallint"],
  ["tinyint", "utinyint"],
]);

/** `BIGINT UNSIGNED` */
function unsignedTypes(tokens: readonly Token[]): readonly Token[] {
  return tokens.flatMap((token, i) => {
    if (isUnsigned(tokens, i)) return [{ ...token, text: UNSIGNED.get(token.text)! }];
    return isUnsigned(tokens, i - 1) ? [] : [token];
  });
}

/** A type name within a cast. */
function isUnsigned(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  const inCast = isWord(tokens[at - 1], "as") || isSymbol(tokens[at - 1], ":");
  return inCast && token?.kind === "word" && UNSIGNED.has(token.text) && isWord(tokens[at + 1], "unsigned");
}

function isDecimal(token: Token): boolean {
  return token.kind === "word" && DECIMALS.has(token.text);
}

/** `DECIMAL` without digits in a cast: the dialect's defaults differ from DuckDB's. */
function plainDecimals(tokens: readonly Token[]): readonly Token[] {
  const brackets = new Brackets(tokens);
  return tokens.flatMap((token, i) => {
    if (!isDecimal(token) || isSymbol(tokens[i + 1], "(") || !(isSymbol(tokens[i - 1], ":") || endsCast(tokens, i, brackets)))
      return [token];
    return [token, ...["(", "38", ",", "10", ")"].map((text) => symbol(text, token.end))];
  });
}

/** The type in `CAST(x AS type)`, not a name in `(SELECT x AS name)`. */
function endsCast(tokens: readonly Token[], at: number, brackets: Brackets): boolean {
  if (!isWord(tokens[at - 1], "as") || !isSymbol(tokens[at + 1], ")")) return false;
  const called = tokens[brackets.opening(at + 1) - 1];
  return isWord(called, "cast") || isWord(called, "try_cast");
}

/** `FROM VALUES (1), (2)` becomes `FROM (VALUES (1), (2))`, and `VALUES ROW(1)` becomes `VALUES (1)`. */
function valuesLists(tokens: readonly Token[]): readonly Token[] {
  const brackets = new Brackets(tokens);
  const dropped = new Set<number>();
  const opened = new Set<number>();
  const closed = new Set<number>();
  for (let i = 0; i < tokens.length; i++) {
    if (!isWord(tokens[i], "values")) continue;
    const end = endOfRows(tokens, i + 1, brackets, dropped);
    if (end < 0 || !(isWord(tokens[i - 1], "from") || isWord(tokens[i - 1], "join"))) continue;
    opened.add(i);
    closed.add(end);
  }
  if (dropped.size + opened.size === 0) return tokens;
  return tokens.flatMap((token, i): readonly Token[] => {
    if (dropped.has(i)) return [];
    const before = opened.has(i) ? [symbol("(", token.start)] : [];
    return [...before, token, ...(closed.has(i) ? [symbol(")", token.end)] : [])];
  });
}

/** The position of the last row's closing bracket; -1 if no row begins at `at`. ROWs on the way are dropped. */
function endOfRows(tokens: readonly Token[], at: number, brackets: Brackets, dropped: Set<number>): number {
  let end = -1;
  for (let next = at; ; next = end + 2) {
    const hasRow = isWord(tokens[next], "row");
    const open = hasRow ? next + 1 : next;
    if (!isSymbol(tokens[open], "(") || brackets.closing(open) >= tokens.length) return end;
    if (hasRow) dropped.add(next);
    end = brackets.closing(open);
    if (!isSymbol(tokens[end + 1], ",")) return end;
  }
}

function isStruct(token: Token, index: number, tokens: readonly Token[]): boolean {
  return isWord(token, "struct") && isSymbol(tokens[index + 1], "(");
}

/** `struct(a AS x, b)` becomes `struct(x := (a), b)` for DuckDB. */
function structMembers(tokens: readonly Token[]): readonly Token[] {
  const brackets = new Brackets(tokens);
  /** Names of members, by their first token and by the AS that ends them. */
  const starts = new Map<number, Token>();
  const ends = new Set<number>();
  for (let i = 0; i < tokens.length; i++) {
    if (!isStruct(tokens[i]!, i, tokens)) continue;
    for (const { start, end } of argumentsOf(tokens, i + 2, brackets)) {
      const last = tokens[end - 1];
      const name: Token | undefined = last?.kind === "string" ? asName(last) : last;
      const isName = name?.kind === "word" || name?.kind === "quoted";
      if (end - start < 3 || !isName || !isWord(tokens[end - 2], "as")) continue;
      starts.set(start, name);
      ends.add(end - 2);
    }
  }
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const name = starts.get(i);
    if (name !== undefined) out.push(name, symbol(":=", name.end), symbol("(", name.end));
    if (ends.has(i)) out.push(symbol(")", tokens[i++ - 1]!.end));
    else out.push(tokens[i]!);
  }
  return out;
}

/** A plain text may be the name of a member. */
function asName(token: Token): Token {
  const isPlain = token.text.startsWith("'") && token.text.length > 2;
  return isPlain ? { ...token, kind: "quoted", text: token.text.slice(1, -1).replaceAll("''", "'") } : token;
}

/** The comma-separated ranges within the parentheses that start before `from`; nested parentheses are skipped. */
function argumentsOf(tokens: readonly Token[], from: number, brackets: Brackets): { start: number; end: number }[] {
  const parts: { start: number; end: number }[] = [];
  const to = brackets.closing(from - 1);
  let start = from;
  let depth = 0;
  for (let i = from; i < to; i++) {
    const token = tokens[i]!;
    if (token.kind !== "symbol") continue;
    if (token.text === "(") i = Math.min(brackets.closing(i), to) - 1;
    else if ("[{".includes(token.text)) depth++;
    else if ("]}".includes(token.text)) depth--;
    else if (token.text === "," && depth === 0) {
      parts.push({ start, end: i });
      start = i + 1;
    }
  }
  parts.push({ start, end: to });
  return parts;
}

/** The letter of `X'616263'`. */
function isHexMark(token: Token, index: number, tokens: readonly Token[]): boolean {
  const next = tokens[index + 1];
  return isWord(token, "x") && next?.kind === "string" && next.start === token.end && next.text.startsWith("'");
}

/** Binary literals, which DuckDB reads as text. */
function hexLiterals(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token, i) => {
    if (isHexMark(token, i, tokens)) return [{ ...token, text: "unhex" }, symbol("(", token.end)];
    return i > 0 && isHexMark(tokens[i - 1]!, i - 1, tokens) ? [token, symbol(")", token.end)] : [token];
  });
}

/** `a [NOT] SIMILAR TO b` means `a ~ b` in the dialect: a regular expression search. */
function similarTo(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const isNegated = isWord(tokens[i], "not");
    const at = isNegated ? i + 1 : i;
    if (isWord(tokens[at], "similar") && isWord(tokens[at + 1], "to") && endsOperand(out[out.length - 1])) {
      out.push({ kind: "symbol", text: isNegated ? "<!~>" : "<~>", start: tokens[i]!.start, end: tokens[at + 1]!.end });
      i = at + 1;
    } else out.push(tokens[i]!);
  }
  return out;
}

function isOperatorChar(token: Token): boolean {
  return token.kind === "symbol" && OPERATOR_CHARS.has(token.text);
}

/** Between two operands an operator is binary; `~5` is not. */
function endsOperand(token: Token | undefined): boolean {
  if (token === undefined) return false;
  if (token.kind === "symbol") return token.text === ")" || token.text === "]";
  return token.kind !== "word" || !BEFORE_OPERAND.has(token.text);
}

const BEFORE_OPERAND = new Set([
  "select",
  "where",
  "and",
  "or",
  "not",
  "on",
  "when",
  "then",
  "else",
  "by",
  "having",
  "in",
  "case",
  "distinct",
  "all",
]);
