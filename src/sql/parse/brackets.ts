// Matches the brackets of a statement's tokens, once for all users.
import { checkLimit, STATEMENT_LIMITS } from "../../model/query/statement-limits.ts";
import type { Token } from "./tokens.ts";

/** The matching brackets of one statement. */
export class Brackets {
  /** For each bracket: the position of its partner. */
  private readonly partners: Int32Array;
  /** For each token: the innermost enclosing bracket; -1: none. */
  private readonly around: Int32Array;

  constructor(private readonly tokens: readonly Token[]) {
    this.partners = new Int32Array(tokens.length).fill(-1);
    this.around = new Int32Array(tokens.length);
    const open: number[] = [];
    for (let i = 0; i < tokens.length; i++) {
      const { kind, text } = tokens[i]!;
      if (kind === "symbol" && text === ")") {
        const start = open.pop();
        if (start !== undefined) {
          this.partners[start] = i;
          this.partners[i] = start;
        }
      }
      this.around[i] = open.at(-1) ?? -1;
      if (kind === "symbol" && text === "(") open.push(i);
    }
  }

  /** The bracket that closes the one at `open`; the number of tokens if none. */
  closing(open: number): number {
    const close = this.partners[open] ?? -1;
    return close < 0 ? this.tokens.length : close;
  }

  /** The bracket that opens the one at `close`; -1 if none. */
  opening(close: number): number {
    return this.partners[close] ?? -1;
  }

  /** The bracket that closes the one around `at`; the number of tokens if none. */
  enclosing(at: number): number {
    const open = this.around[at] ?? -1;
    return open < 0 ? this.tokens.length : this.closing(open);
  }
}

/** Keywords that may follow the list of GROUP BY, or start a query within it. */
const ENDS_GROUPING: ReadonlySet<string> = new Set("having order limit offset union except intersect window qualify select".split(" "));

/** @throws TsdbError bad_query where DuckDB's parser would exhaust its stack, or take quadratic time */
export function checkTokens(tokens: readonly Token[]): void {
  /** For each open bracket: commas so far in its enclosing GROUP BY; -1: none. */
  const open: number[] = [];
  let commas = -1;
  for (let i = 0; i < tokens.length; i++) {
    const { kind, text } = tokens[i]!;
    if (kind === "word" || kind === "quoted") {
      checkLimit("characters in one name", text.length, STATEMENT_LIMITS.nameCharsMax);
      if (kind === "quoted") continue;
      if (text === "by" && tokens[i - 1]?.text === "group") commas = Math.max(commas, 0);
      else if (ENDS_GROUPING.has(text)) commas = -1;
    } else if (kind === "symbol") {
      if (text === "(" || text === "[" || text === "{") {
        open.push(commas);
        checkLimit("brackets inside of each other", open.length, STATEMENT_LIMITS.bracketsMax);
      } else if (text === ")" || text === "]" || text === "}") {
        const outside = open.pop() ?? -1;
        if (commas < 0 || outside < 0) commas = outside;
      } else if (text === "," && commas >= 0) checkLimit("commas in GROUP BY", ++commas, STATEMENT_LIMITS.groupingCommasMax);
    }
  }
}
