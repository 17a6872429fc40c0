// Parentheses where the dialect groups bitwise operators otherwise than DuckDB's grammar: there `^` is a power that precedes `*`, and `&`,
// `|`, `<<`, `>>`, `||` and pattern operators have one precedence, from left to right.
import { checkTokens } from "./brackets.ts";
import { isSymbol, symbol } from "./call-rules.ts";
import { BINDS } from "./precedence.ts";
import type { Token } from "./tokens.ts";

/** How strongly the dialect's operators bind; all of them more than comparisons. */
const SIGNS: ReadonlyMap<string, number> = new Map([
  ["|", BINDS.bitOr],
  ...["^", "#", "<<", ">>"].map((sign) => [sign, BINDS.bitXor] as const),
  ["&", BINDS.bitAnd],
  ["xor", BINDS.xor],
  ...["+", "-"].map((sign) => [sign, BINDS.sum] as const),
  ...["*", "/", "//", "%", "||"].map((sign) => [sign, BINDS.product] as const),
]);
const BITWISE: ReadonlySet<string> = new Set(["|", "^", "#", "<<", ">>", "&", "xor"]);
const PATTERNS: ReadonlySet<string> = new Set(["<~>", "<!~>", "<~*>", "<!~*>"]);
const OPERATOR_CHARS: ReadonlySet<string> = new Set("+-*/<>=~!@#%^&|?");
/** Words that continue an operand after its value: `'…' AT TIME ZONE '…'`, `f(x) OVER (…)`, `x::DOUBLE PRECISION`. */
const CONTINUES: ReadonlySet<string> = new Set(
  "at time zone over filter within group collate unsigned precision varying with without".split(" "),
);
/** Words that end a run of operands. */
const LOOSE: ReadonlySet<string> = new Set(
  `and or not is in like ilike similar between escape as case when then else end select distinct all any some from where by having order limit
   offset union except intersect on using join values asc desc nulls window qualify partition rows range groups exclude replace from for to
   placing lambda`.split(/\s+/),
);
const OPENS: ReadonlySet<string> = new Set(["(", "[", "{"]);
const CLOSES: ReadonlySet<string> = new Set([")", "]", "}"]);

/** Operands and the operators between them, without comparisons; positions of tokens. */
interface Run {
  /** First and last token of each operand. */
  readonly operands: [first: number, last: number][];
  readonly signs: string[];
  /** True if an operand was read after the last operator. */
  isComplete: boolean;
  /** True if a pattern operator precedes it. */
  readonly isPattern: boolean;
}

/** Marks that call for the rule: `<<` and `>>` are two tokens, the word is a sign by then. */
export const GROUPED_SIGNS: readonly string[] = ["^", "&", "|", "#", "<<", ">>", "xor"];

/** The tokens with parentheses around operations that DuckDB would group otherwise. @throws TsdbError bad_query: nested too deep */
export function operatorGroups(tokens: readonly Token[]): readonly Token[] {
  const found = new OperatorRuns(tokens);
  found.read();
  if (found.opened.size === 0) return tokens;
  const grouped = tokens.flatMap((token, at) => [
    ...Array.from({ length: found.opened.get(at) ?? 0 }, () => symbol("(", token.start)),
    token,
    ...Array.from({ length: found.closed.get(at) ?? 0 }, () => symbol(")", token.end)),
  ]);
  checkTokens(grouped);
  return grouped;
}

class OperatorRuns {
  /** Parentheses to insert before and after tokens, by position. */
  readonly opened = new Map<number, number>();
  readonly closed = new Map<number, number>();
  private run = newRun(false);
  private readonly outer: Run[] = [];

  constructor(private readonly tokens: readonly Token[]) {}

  read(): void {
    for (let at = 0; at < this.tokens.length; ) at = this.step(at);
    while (this.outer.length > 0) this.leave(this.tokens.length - 1);
    this.end();
  }

  /** Reads one token or operator. Returns the position after it. */
  private step(at: number): number {
    const { kind, text } = this.tokens[at]!;
    if (kind === "word") return this.word(at, text);
    if (kind !== "symbol") return this.extend(at);
    if (OPENS.has(text)) {
      this.extend(at);
      this.outer.push(this.run);
      this.run = newRun(false);
    } else if (CLOSES.has(text)) this.leave(at);
    else if (PATTERNS.has(text)) this.restart(true);
    else if (OPERATOR_CHARS.has(text)) return this.operator(at);
    else if (text === "." || text === ":") return this.extend(at);
    else this.restart(false);
    return at + 1;
  }

  private word(at: number, text: string): number {
    if (text === "case") {
      this.extend(at);
      this.outer.push(this.run);
      this.run = newRun(false);
      return at + 1;
    }
    if (text === "end" && this.outer.length > 0) this.leave(at);
    else if (LOOSE.has(text) || (this.run.isComplete && !this.mayContinue(at, text))) this.restart(false);
    else this.extend(at);
    return at + 1;
  }

  /** False for an alias without AS. */
  private mayContinue(at: number, text: string): boolean {
    const before = this.tokens[at - 1]!;
    if (CONTINUES.has(text) || isSymbol(before, ".") || isSymbol(before, ":")) return true;
    const [first] = this.run.operands[this.run.operands.length - 1]!;
    return this.tokens[first]!.kind === "word" && this.tokens[first]!.text === "interval";
  }

  private operator(at: number): number {
    let end = at + 1;
    let sign = this.tokens[at]!.text;
    // `<<`, `||`; a sign of the operand behind it is none of the operator
    while (
      isSymbolChar(this.tokens[end]) &&
      this.tokens[end]!.start === this.tokens[end - 1]!.end &&
      !"+-".includes(this.tokens[end]!.text)
    ) {
      sign += this.tokens[end++]!.text;
    }
    // the word has become a sign (word-rules.ts)
    if (sign === "^" && this.tokens[at]!.end - this.tokens[at]!.start > 1) sign = "xor";
    if (!this.run.isComplete) {
      for (let i = at; i < end; i++) this.extend(i, false);
      if (sign === "*") this.run.isComplete = true;
    } else if (SIGNS.has(sign)) {
      this.run.signs.push(sign);
      this.run.isComplete = false;
    } else this.restart(false);
    return end;
  }

  /** Adds a token to the current operand, or starts one. */
  private extend(at: number, isValue = true): number {
    const { operands, signs } = this.run;
    if (operands.length > signs.length) operands[operands.length - 1]![1] = at;
    else operands.push([at, at]);
    if (isValue) this.run.isComplete = true;
    return at + 1;
  }

  private leave(at: number): void {
    this.end();
    this.run = this.outer.pop() ?? newRun(false);
    this.extend(at);
  }

  private restart(isPattern: boolean): void {
    this.end();
    this.run = newRun(isPattern);
  }

  /** Groups the operators of a complete run. */
  private end(): void {
    const { operands, signs, isComplete, isPattern } = this.run;
    if (!isComplete || signs.length === 0 || operands.length !== signs.length + 1) return;
    const isBitwise = signs.some((sign) => BITWISE.has(sign));
    if (isPattern && (isBitwise || signs.includes("||"))) this.wrap(operands[0]![0], operands[signs.length]![1]);
    if (!isBitwise || signs.length === 1) return;
    const [first, ...others] = operands.map((span): Part => ({ first: span[0], last: span[1], sign: null }));
    const parts: Part[] = [first!];
    // operators wait here for a weaker one: `a | b & c` is grouped from the right
    const waiting: string[] = [];
    const reduce = (binds: number): void => {
      while (waiting.length > 0 && SIGNS.get(waiting.at(-1)!)! >= binds) {
        const right = parts.pop()!;
        parts.push(this.join(parts.pop()!, waiting.pop()!, right));
      }
    };
    signs.forEach((sign, i) => {
      reduce(SIGNS.get(sign)!);
      waiting.push(sign);
      parts.push(others[i]!);
    });
    reduce(0);
  }

  /** One operation, with parentheses around operands that DuckDB would read otherwise. */
  private join(left: Part, sign: string, right: Part): Part {
    if (left.sign !== null && bindsInDuck(left.sign) < bindsInDuck(sign)) this.wrap(left.first, left.last);
    if (right.sign !== null && bindsInDuck(right.sign) <= bindsInDuck(sign)) this.wrap(right.first, right.last);
    return { first: left.first, last: right.last, sign };
  }

  private wrap(first: number, last: number): void {
    this.opened.set(first, (this.opened.get(first) ?? 0) + 1);
    this.closed.set(last, (this.closed.get(last) ?? 0) + 1);
  }
}

/** An operand or an operation, as positions of tokens. */
interface Part {
  readonly first: number;
  readonly last: number;
  /** Of an operation. */
  readonly sign: string | null;
}

function bindsInDuck(sign: string): number {
  if (sign === "^" || sign === "xor") return 50;
  return BITWISE.has(sign) || sign === "||" ? 20 : SIGNS.get(sign)!;
}

function newRun(isPattern: boolean): Run {
  return { operands: [], signs: [], isComplete: false, isPattern };
}

function isSymbolChar(token: Token | undefined): token is Token {
  return token?.kind === "symbol" && OPERATOR_CHARS.has(token.text);
}
