// The predicate of POST /api/v2/delete: comparisons of tags and the measurement with texts, joined by AND. Its tokens are those of
// InfluxQL, its errors the vendor's.
import { near, TsdbError } from "../../../model/errors.ts";
import { goQuoted } from "../../../model/query/go-quoted.ts";
import type { Expression } from "../../../tsdbql/parse/ast.ts";
import { balanced, parseExpression } from "../../../tsdbql/parse/expression.ts";
import { NO_PARAMS } from "../../../tsdbql/parse/params.ts";
import { TokenStream } from "../../../tsdbql/parse/token-stream.ts";
import { kindName, type Token } from "../../../tsdbql/parse/tokens.ts";

export interface DeletePredicate {
  /** Null: rows of every measurement. */
  readonly measurement: string | null;
  /** On tags; null: all rows. A row without a tag fits no comparison with it. */
  readonly condition: Expression | null;
}

interface Rule {
  readonly key: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

const CHARS_MAX = 65_536;
const VALUES: ReadonlySet<string> = new Set(["ident", "number", "integer", "duration", "true", "false"]);
/** Null: no row fits. @throws TsdbError bad_request, not_implemented */
export function parseDeletePredicate(text: string): DeletePredicate | null {
  if (text.length > CHARS_MAX) throw invalid(`the predicate is longer than ${CHARS_MAX} characters`);
  const rules = text === "" ? [] : parseRules(text);
  const measurements = new Set<string>();
  const comparisons: Expression[] = [];
  for (const { key, operator, value } of rules) {
    const isOwn = key === "_field" || key === "_measurement";
    // the vendor's finds no series by it
    if (isOwn && operator === "!=") return null;
    if (key === "_field") throw new TsdbError("not_implemented", "delete by field is not supported");
    if (key === "_measurement") {
      measurements.add(value);
    } else if (operator === "=") {
      // no tag is empty
      if (value === "") return null;
      comparisons.push(comparison(key, "=", value));
    } else comparisons.push(comparison(key, "!=", value), comparison(key, "!=", ""));
  }
  if (measurements.size > 1) return null;
  const [measurement = null] = measurements;
  return { measurement, condition: comparisons.length === 0 ? null : balanced("AND", comparisons) };
}

function comparison(name: string, operator: "=" | "!=", value: string): Expression {
  return { kind: "binary", operator, left: { kind: "ref", name, cast: null }, right: { kind: "string", value } };
}

function parseRules(text: string): Rule[] {
  const p = tokensOf(text);
  const rules: Rule[] = [];
  let openCount = 0;
  let isJoined = true;
  for (;;) {
    const token = next(p);
    if (token.kind === "end") break;
    if (token.kind === "AND") isJoined = true;
    else if (token.kind === "OR") throw invalid(`the logical operator OR is not supported yet at position ${position(p, token)}`);
    else if (token.kind === ")") openCount -= 1;
    else if (token.kind === "(") openCount += 1;
    else if (["ident", "number", "integer", "NAME"].includes(token.kind)) {
      p.unscan();
      rules.push(parseRule(p));
      if (!isJoined) throw invalid("the logical operator '\\x00' is invalid");
      isJoined = false;
    } else throw invalid(`bad logical expression, at position ${position(p, token)}`);
    if (openCount < 0) throw invalid("extra ) seen");
  }
  if (openCount > 0) throw invalid("extra ( seen");
  checkGrammar(text);
  return rules;
}

function parseRule(p: TokenStream): Rule {
  const key = next(p);
  if (key.kind !== "ident") throw invalid(`bad tag key, at position ${position(p, key)}`);
  const operator = next(p);
  const { kind } = operator;
  if (kind === "=~" || kind === "!~") throw invalid(`operator: "${kind}" at position: ${position(p, operator)} is not supported yet`);
  if (kind !== "=" && kind !== "!=") {
    throw invalid(`invalid operator "${kindName(kind)}" at position: ${position(p, operator)}`);
  }
  let value = "";
  let token = next(p);
  for (; token.kind === "-"; token = next(p)) value = "-";
  if (!VALUES.has(token.kind)) throw invalid(`bad tag value: ${goQuoted(near(token.literal))}, at position ${position(p, token)}`);
  value += token.kind === "true" || token.kind === "false" ? token.kind : token.literal;
  return { key: key.literal, operator: kind, value };
}

/** What the loop above lets pass: AND without a comparison, empty parentheses. */
function checkGrammar(text: string): void {
  try {
    parseExpression(tokensOf(text));
  } catch (error) {
    if (!(error instanceof TsdbError) || error.kind !== "bad_query") throw error;
    const reason = error.message.replace(/^error parsing query: /, "");
    throw new TsdbError("bad_request", `invalid request; error parsing predicate: ${reason}`);
  }
}

function tokensOf(text: string): TokenStream {
  return new TokenStream(text, NO_PARAMS, "2.x", "not");
}

/** Also comments, which stand nowhere in a predicate. */
function next(p: TokenStream): Token {
  const token = p.scan();
  return token.kind === "space" ? p.scan() : token;
}

function position(p: TokenStream, { at }: Token): number {
  return p.position(at).column;
}

function invalid(message: string): TsdbError {
  return new TsdbError("bad_request", `error decoding json body: ${message}`);
}
