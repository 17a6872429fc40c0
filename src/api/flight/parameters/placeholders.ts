// The placeholders of a prepared statement: `?` by position, `$1` and `$name` by name, and their assignment to a client's parameter
// columns.
import { near, TsdbError } from "../../../model/errors.ts";
import { checkLimit, STATEMENT_LIMITS } from "../../../model/query/statement-limits.ts";
import { parameterNames } from "../../../sql/parse/parameter-names.ts";
import { type Token, tokenize } from "../../../sql/parse/tokens.ts";

const QUESTION_MARK = "?";
const WORD = /[\p{L}\p{N}_$]/u;

/** Replaces each `?` by `$1`, `$2` …. @throws TsdbError bad_query if there are other placeholders too */
export function numberPlaceholders(statement: string): string {
  const tokens = tokensOf(statement);
  const marks = tokens.filter(isMark);
  if (marks.length === 0) return statement;
  const other = tokens.find(({ kind }) => kind === "parameter");
  if (other !== undefined) throw new TsdbError("bad_query", `placeholders are either ? or names, got both ? and ${near(other.text)}`);
  return replaceTokens(statement, marks, (_, i) => `$${i + 1}`);
}

/** @throws TsdbError bad_query, for a longer text than a statement may be too */
function tokensOf(statement: string): Token[] {
  checkLength(statement.length);
  return tokenize(statement);
}

function checkLength(length: number): void {
  checkLimit("characters", length, STATEMENT_LIMITS.charsMax);
}

function isMark({ kind, text }: Token): boolean {
  return kind === "symbol" && text === QUESTION_MARK;
}

/** The placeholders of one statement, and their replacement by expressions. */
export class Placeholders {
  private readonly tokens: readonly Token[];
  private readonly names: readonly string[];

  /** @throws TsdbError bad_query */
  constructor(private readonly statement: string) {
    this.tokens = tokensOf(statement).filter(({ kind }) => kind === "parameter");
    this.names = parameterNames(this.tokens);
  }

  /** For each column the placeholder with its name or, if no names match, with its position. @throws TsdbError bad_request */
  namesFor(columns: readonly string[]): readonly string[] {
    const names = columns.map((name) => name.replace(/^\$/, ""));
    const known = new Set(this.names);
    if (names.every((name) => known.has(name)) && new Set(names).size === names.length) return names;
    if (columns.length === this.names.length) return this.names;
    const wanted = this.names.map((name) => `$${name}`).join(", ");
    throw new TsdbError(
      "bad_request",
      `got ${columns.length} parameters (${near(columns.join(", "))}), want ${this.names.length} (${near(wanted)})`,
    );
  }

  /** The statement with placeholders replaced by these expressions, in which ? stands for the placeholder itself. */
  inForms(forms: ReadonlyMap<string, string>): string {
    const changed = this.tokens.filter((token) => forms.has(nameOf(token)));
    return replaceTokens(this.statement, changed, (token) => forms.get(nameOf(token))!.replace(QUESTION_MARK, () => token.text));
  }
}

function nameOf({ text }: Token): string {
  return text.slice(1);
}

/** @param tokens those of `statement`, in order @throws TsdbError bad_query for a text that becomes too long */
function replaceTokens(statement: string, tokens: readonly Token[], textOf: (token: Token, index: number) => string): string {
  let text = "";
  let at = 0;
  for (const [i, token] of tokens.entries()) {
    const before = statement.slice(at, token.start);
    const isApart = WORD.test(statement.charAt(token.end));
    text += `${before}${textOf(token, i)}${isApart ? " " : ""}`;
    checkLength(text.length);
    at = token.end;
  }
  return text + statement.slice(at);
}
