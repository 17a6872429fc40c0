// Parses SELECT and clauses shared with other statements.
import { TimeZone } from "../../model/time/time-zone.ts";
import type { BinaryOperator, Expression, Fill, Measurement, Select, SelectField, Source } from "./ast.ts";
import { parseExpression, parseSegments, regexLiteral } from "./expression.ts";
import { TSDBQL_LIMITS } from "./limits.ts";
import { printExpression } from "./print.ts";
import type { TokenStream } from "./token-stream.ts";
import type { Keyword } from "./tokens.ts";

/** After SELECT. `needsInto`: for a continuous query. */
export function parseSelect(p: TokenStream, { needsInto = false } = {}): Select {
  const fields = parseFields(p);
  const into = parseInto(p, needsInto);
  p.expect("FROM");
  return {
    kind: "select",
    ...{ fields, into },
    sources: parseList(p, () => parseSource(p)),
    where: parseWhere(p),
    dimensions: parseGroupBy(p),
    fill: parseFill(p),
    descending: parseOrderBy(p)?.descending ?? false,
    ...parseLimits(p),
    ...parseSeriesLimits(p),
    timeZone: parseTimeZone(p),
  };
}

/** A comma-separated list. @throws TsdbError bad_query if it is too long */
export function parseList<T>(p: TokenStream, parseOne: () => T): T[] {
  const list = [parseOne()];
  while (p.accept(",")) {
    checkCount(p, list, TSDBQL_LIMITS.listMax, "names in a list");
    list.push(parseOne());
  }
  return list;
}

/** @throws TsdbError bad_query if the list has reached its maximum and another item follows */
function checkCount(p: TokenStream, list: readonly unknown[], most: number, what: string): void {
  if (list.length >= most) throw p.error(`more than ${most} ${what}`);
}

function parseFields(p: TokenStream): SelectField[] {
  const fields: SelectField[] = [];
  for (;;) {
    checkCount(p, fields, TSDBQL_LIMITS.fieldsMax, "fields in SELECT");
    fields.push(parseField(p));
    if (p.scan().kind === ",") continue;
    p.unscan();
    return fields;
  }
}

function parseField(p: TokenStream): SelectField {
  const regex = p.acceptRegex();
  const expression = regex !== null ? regexLiteral(p, regex) : parseFieldExpression(p);
  const alias = p.accept("AS") ? p.expect("ident", "identifier").literal : null;
  p.skipSpace();
  return { expression, alias };
}

const TRUTHS: ReadonlySet<BinaryOperator> = new Set(["=", "!=", "=~", "!~", "<", "<=", ">", ">=", "AND", "OR"]);

function parseFieldExpression(p: TokenStream): Expression {
  const { at } = p.next();
  p.unscan();
  const expression = parseExpression(p);
  const truth = findTruth(expression);
  if (truth === null) return expression;
  const { line, column } = p.position(at);
  throw p.error(
    `invalid operator ${truth} in SELECT clause at line ${line + 1}, char ${column + 1}; operator is intended for WHERE clause`,
  );
}

/** The first comparison or logical operator, from the root down and from left to right. */
function findTruth(expression: Expression): BinaryOperator | null {
  switch (expression.kind) {
    case "binary":
      if (TRUTHS.has(expression.operator)) return expression.operator;
      return findTruth(expression.left) ?? findTruth(expression.right);
    case "paren":
      return findTruth(expression.inner);
    case "call": {
      for (const argument of expression.args) {
        const truth = findTruth(argument);
        if (truth !== null) return truth;
      }
      return null;
    }
    default:
      return null;
  }
}

/** For `INTO db.rp.:MEASUREMENT` the name is "": each measurement keeps its own. */
function parseInto(p: TokenStream, isRequired: boolean): Measurement | null {
  const token = p.next();
  if (token.kind !== "INTO") {
    if (isRequired) throw p.unexpected(token, ["INTO"]);
    p.unscan();
    return null;
  }
  const all = [...parseSegments(p)];
  if (all.length < 3 && p.peekChar() === ":") {
    p.expect(":");
    p.expect("MEASUREMENT");
    all.push("");
  }
  return measurementOf(all.slice(0, -1), all.at(-1)!);
}

function measurementOf(qualifiers: readonly string[], name: Measurement["name"]): Measurement {
  const [retentionPolicy, database] = [...qualifiers].reverse();
  return { kind: "measurement", database: database || null, retentionPolicy: retentionPolicy || null, name };
}

function parseSource(p: TokenStream): Source {
  const regex = p.acceptRegex();
  if (regex !== null) return measurementOf([], regexLiteral(p, regex));
  const token = p.next();
  if (token.kind === "(") {
    p.expect("SELECT");
    const select = p.nested(token.at, () => parseSelect(p));
    p.expect(")");
    return { kind: "subquery", select };
  }
  p.unscan();
  return parseNamedMeasurement(p);
}

/** Where a subquery is not allowed. */
export function parseMeasurement(p: TokenStream): Measurement {
  const regex = p.acceptRegex();
  return regex !== null ? measurementOf([], regexLiteral(p, regex)) : parseNamedMeasurement(p);
}

function parseNamedMeasurement(p: TokenStream): Measurement {
  const names = parseSegments(p);
  if (names.length < 3 && !isCommaNext(p)) {
    const regex = p.acceptRegex();
    if (regex !== null) return measurementOf(names, regexLiteral(p, regex));
  }
  return measurementOf(names.slice(0, -1), names.at(-1)!);
}

/** 1.x skips the comma of `FROM a, /b/` and then rejects it, against its own grammar; here it separates two sources. */
function isCommaNext(p: TokenStream): boolean {
  if (!p.hasGivenBack) return false;
  const { kind } = p.scan();
  p.unscan();
  return kind === ",";
}

/** The condition of WHERE, or null. */
export function parseWhere(p: TokenStream): Expression | null {
  return p.accept("WHERE") ? parseExpression(p) : null;
}

/** Valid dimensions are checked together with the rest of the statement. */
export function parseGroupBy(p: TokenStream): Expression[] {
  if (!p.accept("GROUP")) return [];
  p.expect("BY");
  const dimensions: Expression[] = [];
  for (;;) {
    checkCount(p, dimensions, TSDBQL_LIMITS.dimensionsMax, "dimensions in GROUP BY");
    const regex = p.acceptRegex();
    dimensions.push(regex !== null ? regexLiteral(p, regex) : parseExpression(p));
    if (regex === null) p.skipSpace();
    if (p.scan().kind === ",") continue;
    p.unscan();
    return dimensions;
  }
}

/** The only argument of a call with that name, if one follows. */
function parseClauseCall(p: TokenStream, name: string, needsArgument: string): Expression | null {
  const { kind, literal } = p.next();
  p.unscan();
  if (kind !== "ident" || literal.toLowerCase() !== name) return null;
  const call = parseExpression(p);
  if (call.kind !== "call") throw p.error(`${name} must be a function call`);
  if (call.args.length !== 1) throw p.error(needsArgument);
  return call.args[0]!;
}

function parseFill(p: TokenStream): Fill | null {
  const argument = parseClauseCall(p, "fill", "fill requires an argument, e.g.: 0, null, none, previous, linear");
  if (argument === null) return null;
  const word = printExpression(argument);
  if (word === "null" || word === "none" || word === "previous" || word === "linear") return { kind: word };
  if (argument.kind === "number") return { kind: "value", value: argument.value };
  if (argument.kind === "integer" && !argument.unsigned) return { kind: "value", value: argument.value };
  throw p.error("expected number argument in fill()");
}

function parseTimeZone(p: TokenStream): string | null {
  const argument = parseClauseCall(p, "tz", "tz requires exactly one argument");
  if (argument === null) return null;
  if (argument.kind !== "string") throw p.error("expected string argument in tz()");
  const name = argument.value === "" ? "UTC" : argument.value;
  // offsets are valid zone names elsewhere, but not in this language
  if (!/^[A-Za-z]/.test(name) || TimeZone.of(name) === null) throw p.error(`unable to find time zone ${argument.value}`);
  return name;
}

/** `time` first, or only a direction. */
export function parseOrderBy(p: TokenStream): { readonly name: string; readonly descending: boolean } | null {
  if (!p.accept("ORDER")) return null;
  p.expect("BY");
  const token = p.next();
  if (token.kind !== "ASC" && token.kind !== "DESC" && token.kind !== "ident") {
    throw p.unexpected(token, ["identifier", "ASC", "DESC"]);
  }
  const direction = token.kind === "ident" ? parseDirection(p) : token.kind;
  const onlyTime = p.error("only ORDER BY time supported at this time");
  if (token.kind === "ident" && token.literal !== "time") throw onlyTime;
  while (p.accept(",")) {
    p.expect("ident", "identifier");
    parseDirection(p);
    throw onlyTime;
  }
  return { name: token.kind === "ident" ? token.literal : "", descending: direction === "DESC" };
}

function parseDirection(p: TokenStream): "ASC" | "DESC" {
  const { kind } = p.next();
  if (kind === "ASC" || kind === "DESC") return kind;
  p.unscan();
  return "ASC";
}

/** LIMIT and OFFSET. */
export function parseLimits(p: TokenStream): Pick<Select, "limit" | "hasLimitZero" | "offset"> {
  const limit = parseCount(p, "LIMIT");
  return { limit: limit ?? 0, hasLimitZero: limit === 0, offset: parseCount(p, "OFFSET") ?? 0 };
}

/** SLIMIT and SOFFSET. */
export function parseSeriesLimits(p: TokenStream): { readonly slimit: number; readonly soffset: number } {
  return { slimit: parseCount(p, "SLIMIT") ?? 0, soffset: parseCount(p, "SOFFSET") ?? 0 };
}

/** Null if the clause is absent. */
function parseCount(p: TokenStream, word: Keyword): number | null {
  if (!p.accept(word)) return null;
  return Math.min(Number(p.expect("integer").literal), Number.MAX_SAFE_INTEGER);
}
