// Parses the SHOW statements.
import type { Measurement, MeasurementCondition, MeasurementPlaces, Show, ShowScope, SortField, TagKeyCondition } from "./ast.ts";
import { regexLiteral } from "./expression.ts";
import { parseGroupBy, parseLimits, parseList, parseMeasurement, parseOrderBy, parseSeriesLimits, parseWhere } from "./select.ts";
import type { TokenStream } from "./token-stream.ts";

/** A name. @throws TsdbError bad_query */
export function parseIdent(p: TokenStream): string {
  return p.expect("ident", "identifier").literal;
}

const parseOn = (p: TokenStream): string | null => (p.accept("ON") ? parseIdent(p) : null);

const parseFrom = (p: TokenStream): Measurement[] => (p.accept("FROM") ? parseList(p, () => parseMeasurement(p)) : []);

function parseSort(p: TokenStream): readonly SortField[] {
  const sort = parseOrderBy(p);
  return sort === null ? [] : [sort];
}

const NO_SERIES_LIMITS = { slimit: 0, soffset: 0 };

/** After SHOW RETENTION POLICIES. */
export function parseShowRetentionPolicies(p: TokenStream): Show {
  return { kind: "show retention policies", database: parseOn(p) };
}

/** After SHOW MEASUREMENTS. */
export function parseShowMeasurements(p: TokenStream): Show {
  const { database, places } = p.grammar === "2.x" ? parsePlaces(p) : { database: parseOn(p), places: null };
  const measurement = p.accept("WITH") ? parseWithMeasurement(p) : null;
  const where = parseWhere(p);
  const scope: ShowScope = { database, sources: [], where, sort: parseSort(p), ...parseLimits(p), ...NO_SERIES_LIMITS };
  return { kind: "show measurements", measurement, places, ...scope };
}

/** A database alone, or places with a wildcard or a policy. */
function parsePlaces(p: TokenStream): { readonly database: string | null; readonly places: MeasurementPlaces | null } {
  if (!p.accept("ON")) return { database: null, places: null };
  const database = parseIdentOrAll(p);
  if (p.accept(".")) return { database: null, places: { database, policy: parseIdentOrAll(p) } };
  return database === null ? { database, places: { database } } : { database, places: null };
}

/** Null: all. */
function parseIdentOrAll(p: TokenStream): string | null {
  const token = p.next();
  if (token.kind === "*") return null;
  if (token.kind !== "ident") throw p.unexpected(token, ["identifier or *"]);
  return token.literal;
}

/** Both forms of the grammar take a source: `=` accepts a regular expression, too. */
function parseWithMeasurement(p: TokenStream): MeasurementCondition {
  p.expect("MEASUREMENT");
  const token = p.next();
  if (token.kind !== "=" && token.kind !== "=~") throw p.unexpected(token, ["=", "=~"]);
  return { operator: token.kind, source: parseMeasurement(p) };
}

/** SHOW SERIES [EXACT] CARDINALITY is another statement; EXACT alone has no effect. */
export function parseShowSeries(p: TokenStream): Show {
  const exact = p.accept("EXACT");
  if (p.accept("CARDINALITY")) return parseCardinality(p, "show series cardinality", exact);
  return { kind: "show series", ...parseScope(p, { hasSeriesLimits: false }) };
}

/** After SHOW TAG KEYS. */
export function parseShowTagKeys(p: TokenStream): Show {
  return { kind: "show tag keys", ...parseScope(p, { hasSeriesLimits: true }) };
}

function parseScope(p: TokenStream, { hasSeriesLimits }: { readonly hasSeriesLimits: boolean }): ShowScope {
  return {
    ...{ database: parseOn(p), sources: parseFrom(p), where: parseWhere(p), sort: parseSort(p), ...parseLimits(p) },
    ...(hasSeriesLimits ? parseSeriesLimits(p) : NO_SERIES_LIMITS),
  };
}

/** The grammar allows no WHERE here. */
export function parseShowFieldKeys(p: TokenStream): Show {
  const scope = { database: parseOn(p), sources: parseFrom(p), where: null, sort: parseSort(p), ...parseLimits(p) };
  return { kind: "show field keys", ...scope, ...NO_SERIES_LIMITS };
}

/** After SHOW TAG VALUES. */
export function parseShowTagValues(p: TokenStream): Show {
  const { kind } = p.next();
  if (kind === "EXACT") p.expect("CARDINALITY");
  if (kind === "EXACT" || kind === "CARDINALITY") {
    const [database, sources, condition] = [parseOn(p), parseFrom(p), parseWithKey(p)];
    const rest = { where: parseWhere(p), dimensions: parseGroupBy(p), ...parseLimits(p), ...NO_SERIES_LIMITS, sort: [] };
    return { kind: "show tag values cardinality", exact: kind === "EXACT", database, sources, with: condition, ...rest };
  }
  p.unscan();
  const [database, sources, condition] = [parseOn(p), parseFrom(p), parseWithKey(p)];
  const rest = { where: parseWhere(p), sort: parseSort(p), ...parseLimits(p), ...NO_SERIES_LIMITS };
  return { kind: "show tag values", database, sources, with: condition, ...rest };
}

function parseWithKey(p: TokenStream): TagKeyCondition {
  p.expect("WITH");
  p.expect("KEY");
  const token = p.next();
  switch (token.kind) {
    case "IN": {
      p.expect("(");
      const keys = parseList(p, () => parseIdent(p));
      p.expect(")");
      return { operator: "IN", keys, regex: null };
    }
    case "=":
    case "!=":
      return { operator: token.kind, keys: [parseIdent(p)], regex: null };
    case "=~":
    case "!~": {
      const regex = p.acceptRegex();
      if (regex === null) throw p.unexpected(p.next(), ["regex"]);
      return { operator: token.kind, keys: [], regex: regexLiteral(p, regex) };
    }
    default:
      throw p.unexpected(token, ["IN", "=", "=~"]);
  }
}

type CardinalityKind =
  | "show series cardinality"
  | "show measurement cardinality"
  | "show tag key cardinality"
  | "show field key cardinality";

/** SHOW MEASUREMENT, SHOW TAG KEY, SHOW FIELD KEY: [EXACT] CARDINALITY follows. */
export function parseNamedCardinality(p: TokenStream, kind: CardinalityKind): Show {
  const exact = p.accept("EXACT");
  const token = p.next();
  if (token.kind !== "CARDINALITY") throw p.unexpected(token, exact ? ["CARDINALITY"] : ["EXACT", "CARDINALITY"]);
  return parseCardinality(p, kind, exact);
}

function parseCardinality(p: TokenStream, kind: CardinalityKind, exact: boolean): Show {
  const scope = { database: parseOn(p), sources: parseFrom(p), where: parseWhere(p), dimensions: parseGroupBy(p), ...parseLimits(p) };
  return { kind, exact, ...scope, sort: [], ...NO_SERIES_LIMITS };
}

/** SHOW STATS and SHOW DIAGNOSTICS. */
export function parseShowModule(p: TokenStream, kind: "show stats" | "show diagnostics"): Show {
  return { kind, module: p.accept("FOR") ? p.expect("string").literal : null };
}
