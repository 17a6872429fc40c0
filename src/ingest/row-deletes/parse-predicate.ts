// Parses the predicate of a request to delete rows. It is a subset of SQL's conditions, on the tokens of SQL: tags compared with texts, and
// bounds of time that are joined to the rest by AND.
import { near, TsdbError } from "../../model/errors.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { compareTexts } from "../../model/rows/text-order.ts";
import { parseInterval } from "../../sql/parse/interval.ts";
import { addInterval, parseTimeText } from "../../sql/parse/time-text.ts";
import { type Token, tokenize } from "../../sql/parse/tokens.ts";
import { goRegexError } from "../../tsdbql/parse/go-regex.ts";
import { compileRegex } from "../../tsdbql/regex/matcher.ts";
import { isLike, likePattern, type Predicate } from "./predicate.ts";

const CHARS_MAX = 65_536;
const DEPTH_MAX = 100;
const TIME = "time";
const EVERY: Predicate = { kind: "constant", value: true };

type Operator = "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~" | "~*" | "!~*";
/** The operator with its sides exchanged. */
const FLIPPED: Readonly<Record<string, Operator>> = { "=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };
const OPERATORS: Readonly<Record<string, Operator>> = {
  ...{ "=": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">=" },
  ...{ "~": "~", "!~": "!~", "~*": "~*", "!~*": "!~*" },
};
const SYMBOLS = "=<>!~*";

export interface ParsedPredicate {
  readonly condition: Predicate;
  /** Both bounds inclusive. */
  readonly range: TimeRange;
}

/** Bounds of time stand in the tree until they are known to be joined by AND alone. */
type Node =
  | Exclude<Predicate, { kind: "and" | "or" | "not" }>
  | { readonly kind: "and" | "or"; readonly parts: readonly Node[] }
  | { readonly kind: "not"; readonly part: Node }
  | ({ readonly kind: "bound" } & TimeRange);

type Side = { readonly column: string } | { readonly text: string } | { readonly timeNs: bigint };

/** @param all the times that rows may have @param nowNs what now() is. @throws TsdbError bad_request saying where and what */
export function parsePredicate(text: string, all: TimeRange, nowNs: bigint): ParsedPredicate {
  if (text.length > CHARS_MAX) throw bad(`it is longer than ${CHARS_MAX} characters`);
  if (text.trim() === "") return { condition: EVERY, range: all };
  return new Parser(text, tokensOf(text), { all, nowNs }).whole();
}

function tokensOf(text: string): Token[] {
  try {
    return tokenize(text);
  } catch (error) {
    throw error instanceof TsdbError ? bad(error.message) : error;
  }
}

function bad(what: string): TsdbError {
  return new TsdbError("bad_request", `the predicate cannot be understood: ${what}`);
}

class Parser {
  private at = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly tokens: readonly Token[],
    private readonly moment: { readonly all: TimeRange; readonly nowNs: bigint },
  ) {}

  whole(): ParsedPredicate {
    const tree = this.or();
    if (this.at < this.tokens.length) throw this.unexpected("AND, OR or the end");
    return split(tree, this.moment.all);
  }

  private or(): Node {
    const parts: Node[] = [];
    do parts.push(this.and());
    while (this.takeWord("or"));
    return parts.length === 1 ? parts[0]! : { kind: "or", parts: merged(parts, "values") };
  }

  private and(): Node {
    const parts: Node[] = [];
    do parts.push(this.not());
    while (this.takeWord("and"));
    return parts.length === 1 ? parts[0]! : { kind: "and", parts: merged(parts, "excluded") };
  }

  private not(): Node {
    if (++this.depth > DEPTH_MAX) throw bad(`it is nested deeper than ${DEPTH_MAX} levels`);
    try {
      if (this.takeWord("not")) return { kind: "not", part: this.not() };
      if (!this.takeSymbol("(")) return this.comparison();
      const inner = this.or();
      if (!this.takeSymbol(")")) throw this.unexpected("a closing parenthesis");
      return inner;
    } finally {
      this.depth -= 1;
    }
  }

  private comparison(): Node {
    if (this.takeWord("true")) return EVERY;
    if (this.takeWord("false")) return { kind: "constant", value: false };
    const left = this.side();
    if ("column" in left) {
      const special = this.columnTest(left.column);
      if (special !== null) return special;
    }
    const operator = this.operator();
    const right = this.side();
    if ("column" in left && !("column" in right)) return this.compare(left.column, operator, right);
    if ("column" in right && !("column" in left)) {
      const flipped = FLIPPED[operator];
      if (flipped === undefined) throw bad(`a pattern stands right of ${operator}`);
      return this.compare(right.column, flipped, left);
    }
    throw bad("a comparison is of one tag, or time, with a value");
  }

  /** IS NULL, IN, LIKE and BETWEEN; null for other tests. */
  private columnTest(column: string): Node | null {
    if (this.takeWord("is")) {
      const isNegated = this.takeWord("not");
      if (!this.takeWord("null")) throw this.unexpected("NULL");
      return column === TIME ? { kind: "constant", value: isNegated } : { kind: "absent", tag: column, isNegated };
    }
    const isNegated = this.takeWord("not");
    const test = this.listTest(column);
    if (test === null && isNegated) throw this.unexpected("IN, LIKE or BETWEEN");
    return test !== null && isNegated ? { kind: "not", part: test } : test;
  }

  private listTest(column: string): Node | null {
    if (this.takeWord("between")) {
      const low = this.side();
      if (!this.takeWord("and")) throw this.unexpected("AND");
      const high = this.side();
      if ("column" in low || "column" in high) throw bad("BETWEEN takes two values");
      return { kind: "and", parts: [this.compare(column, ">=", low), this.compare(column, "<=", high)] };
    }
    if (this.takeWord("in")) {
      const values = this.list();
      requireTag(column, "IN");
      return { kind: "test", tag: column, test: (value) => values.has(value), values: [...values] };
    }
    const isInsensitive = this.takeWord("ilike");
    if (!isInsensitive && !this.takeWord("like")) return null;
    requireTag(column, "LIKE");
    const pattern = this.textValue();
    const fold = (text: string) => (isInsensitive ? text.toLowerCase() : text);
    const parts = likePattern(fold(pattern));
    return { kind: "like", tag: column, test: (value) => isLike(parts, fold(value)) };
  }

  private list(): Set<string> {
    if (!this.takeSymbol("(")) throw this.unexpected("a list in parentheses");
    const values = new Set<string>();
    do values.add(this.textValue());
    while (this.takeSymbol(","));
    if (!this.takeSymbol(")")) throw this.unexpected("a closing parenthesis");
    return values;
  }

  private textValue(): string {
    const side = this.side();
    if ("text" in side) return side.text;
    throw bad("tags are compared with texts in single quotes");
  }

  private compare(column: string, operator: Operator, value: Exclude<Side, { column: string }>): Node {
    if (column === TIME) return { kind: "bound", ...this.bound(operator, value) };
    if (!("text" in value)) throw bad(`${near(column)} is compared with a time: tags are compared with texts`);
    const { text } = value;
    const test = textTest(operator, text);
    const texts = operator === "=" ? { values: [text] } : operator === "!=" ? { values: null, excluded: [text] } : { values: null };
    return { kind: "test", tag: column, test, ...texts };
  }

  private bound(operator: Operator, value: Exclude<Side, { column: string }>): TimeRange {
    const timeNs = "timeNs" in value ? value.timeNs : this.timeOf(value.text);
    const { minNs, maxNs } = this.moment.all;
    if (operator === ">=") return { minNs: timeNs, maxNs };
    if (operator === ">") return { minNs: timeNs + 1n, maxNs };
    if (operator === "<=") return { minNs, maxNs: timeNs };
    if (operator === "<") return { minNs, maxNs: timeNs - 1n };
    if (operator === "=") return { minNs: timeNs, maxNs: timeNs };
    throw bad(`time is compared by =, <, <=, > and >=, not by ${operator}`);
  }

  /** A column, a text in single quotes, or a time: `TIMESTAMP '…'`, `now()`, either with an interval added or subtracted. */
  private side(): Side {
    const token = this.tokens[this.at];
    if (token === undefined) throw this.unexpected("a tag or a value");
    this.at += 1;
    if (token.kind === "quoted") return { column: token.text };
    if (token.kind === "string") return { text: this.unquoted(token) };
    if (token.kind !== "word") {
      this.at -= 1;
      throw this.unexpected(
        token.kind === "number" ? "a text: numbers are values of fields, by which rows cannot be deleted;" : "a tag or a value",
      );
    }
    const next = this.tokens[this.at];
    if (token.text === "timestamp" && next?.kind === "string") {
      this.at += 1;
      return { timeNs: this.shifted(this.timeOf(this.unquoted(next))) };
    }
    if (token.text === "now" && this.takeSymbol("(")) {
      if (!this.takeSymbol(")")) throw this.unexpected("a closing parenthesis");
      return { timeNs: this.shifted(this.moment.nowNs) };
    }
    return { column: token.text };
  }

  private shifted(timeNs: bigint): bigint {
    let shifted = timeNs;
    for (;;) {
      const sign = this.takeSymbol("+") ? 1 : this.takeSymbol("-") ? -1 : 0;
      if (sign === 0) return shifted;
      const token = this.tokens[this.at + 1];
      if (!this.takeWord("interval") || token?.kind !== "string") throw this.unexpected("INTERVAL '…'");
      this.at += 1;
      const interval = this.intervalOf(this.unquoted(token));
      const months = interval.months * sign;
      const days = interval.days * sign;
      const ns = interval.ns * BigInt(sign);
      shifted = addInterval(shifted, { months, days, ns });
    }
  }

  private intervalOf(text: string) {
    try {
      const interval = parseInterval(text);
      if (interval !== null) return interval;
    } catch (error) {
      if (!(error instanceof TsdbError)) throw error;
    }
    throw bad(`"${near(text)}" is no interval`);
  }

  /** A time outside of what rows may have is the nearest that they may. */
  private timeOf(text: string): bigint {
    const time = parseTimeText(text);
    if (time === null) throw bad(`"${near(text)}" is no time; want one as '2026-01-31T12:00:00Z'`);
    const { minNs, maxNs } = this.moment.all;
    if (time === "range") return Number.parseInt(text, 10) < 1970 ? minNs : maxNs;
    return time < minNs ? minNs : time > maxNs ? maxNs : time;
  }

  private unquoted({ text }: Token): string {
    if (!text.startsWith("'")) throw bad(`write texts in single quotes, got ${near(text)}`);
    return text.slice(1, -1).replaceAll("''", "'");
  }

  private operator(): Operator {
    const first = this.tokens[this.at];
    let text = "";
    for (; ; this.at++) {
      const token = this.tokens[this.at];
      if (token?.kind !== "symbol" || !SYMBOLS.includes(token.text) || token.start !== (first?.start ?? 0) + text.length) break;
      text += token.text;
    }
    const operator = Object.hasOwn(OPERATORS, text) ? OPERATORS[text] : undefined;
    if (operator !== undefined) return operator;
    this.at -= text.length;
    throw this.unexpected("a comparison");
  }

  private takeWord(word: string): boolean {
    const token = this.tokens[this.at];
    if (token?.kind !== "word" || token.text !== word) return false;
    this.at += 1;
    return true;
  }

  private takeSymbol(symbol: string): boolean {
    const token = this.tokens[this.at];
    if (token?.kind !== "symbol" || token.text !== symbol) return false;
    this.at += 1;
    return true;
  }

  private unexpected(wanted: string): TsdbError {
    const token = this.tokens[this.at];
    if (token === undefined) return bad(`it ends where ${wanted} should follow`);
    return bad(`want ${wanted} at character ${token.start + 1}, got ${near(this.text.slice(token.start))}`);
  }
}

/** Takes the bounds of time out of a tree. @throws TsdbError bad_request if they stand elsewhere than in an outermost AND */
function split(tree: Node, all: TimeRange): ParsedPredicate {
  let { minNs, maxNs } = all;
  const outermost = (node: Node): Predicate => {
    if (node.kind === "and") return { kind: "and", parts: node.parts.map(outermost) };
    if (node.kind !== "bound") return inner(node);
    if (node.minNs > minNs) minNs = node.minNs;
    if (node.maxNs < maxNs) maxNs = node.maxNs;
    return EVERY;
  };
  const inner = (node: Node): Predicate => {
    if (node.kind === "bound") throw bad("conditions on time are joined to the others by AND, outside of OR and NOT");
    if ("parts" in node) return { kind: node.kind, parts: node.parts.map(inner) };
    return "part" in node ? { kind: "not", part: inner(node.part) } : node;
  };
  const condition = outermost(tree);
  return { condition, range: { minNs, maxNs } };
}

/** Looks up together what a tag is compared with: `=` and IN of OR (`values`), `!=` of AND (`excluded`). There may be thousands. */
function merged(parts: readonly Node[], of: "values" | "excluded"): Node[] {
  const rest: Node[] = [];
  const byTag = new Map<string, Set<string>>();
  for (const part of parts) {
    const texts = part.kind === "test" ? part[of] : undefined;
    if (part.kind !== "test" || !texts) rest.push(part);
    else for (const text of texts) byTag.set(part.tag, (byTag.get(part.tag) ?? new Set()).add(text));
  }
  if (rest.length + byTag.size === parts.length) return [...parts];
  const isIn = of === "values";
  const looked = [...byTag].map(([tag, texts]): Node => ({ kind: "test", tag, test: (value) => texts.has(value) === isIn, values: null }));
  return [...rest, ...looked];
}

function requireTag(column: string, what: string): void {
  if (column === TIME) throw bad(`time is compared by =, <, <=, >, >= and BETWEEN, not by ${what}`);
}

/** Texts are ordered by their bytes. */
function textTest(operator: Operator, text: string): (value: string) => boolean {
  switch (operator) {
    case "=":
      return (value) => value === text;
    case "!=":
      return (value) => value !== text;
    case "<":
      return (value) => compareTexts(value, text) < 0;
    case "<=":
      return (value) => compareTexts(value, text) <= 0;
    case ">":
      return (value) => compareTexts(value, text) > 0;
    case ">=":
      return (value) => compareTexts(value, text) >= 0;
    default: {
      const regex = regexOf(operator.endsWith("*") ? `(?i)${text}` : text);
      const isNegated = operator.startsWith("!");
      return (value) => regex.test(value) !== isNegated;
    }
  }
}

function regexOf(source: string): { test(value: string): boolean } {
  const mistake = goRegexError(source);
  if (mistake !== null) throw bad(mistake);
  try {
    return compileRegex(source);
  } catch (error) {
    throw error instanceof TsdbError ? bad(error.message) : error;
  }
}
