// Parses statements that change databases or data, and those that are parsed only to be rejected.
import { TsdbError } from "../../model/errors.ts";
import { U64_MAX } from "../../model/rows/int64.ts";
import type { Definition, Expression, Measurement, Refused, RetentionClause, Select } from "./ast.ts";
import { parseDuration } from "./durations.ts";
import { parseList, parseMeasurement, parseSelect, parseWhere } from "./select.ts";
import { parseIdent } from "./show.ts";
import type { TokenStream } from "./token-stream.ts";
import { describeToken, type Keyword, type Token } from "./tokens.ts";

const I32_MAX = 2 ** 31 - 1;

/** The node of a rejected statement. */
export const refused = (what: string): Refused => ({ kind: "refused", what });

// Databases and retention policies --------------------------------------------------------------------------------------------------

/** After CREATE DATABASE. */
export function parseCreateDatabase(p: TokenStream): Definition {
  const name = parseIdent(p);
  if (!p.accept("WITH")) return { kind: "create database", name, retention: null };
  const token = p.next();
  const options: readonly Keyword[] = ["DURATION", "NAME", "REPLICATION", "SHARD"];
  if (!options.some((option) => option === token.kind)) throw p.unexpected(token, options);
  p.unscan();
  const retention: RetentionClause = {
    durationNs: p.accept("DURATION") ? parseDurationOrInf(p) : null,
    replication: p.accept("REPLICATION") ? parseReplication(p) : null,
    shardDurationNs: p.accept("SHARD") ? parseShardDuration(p, { mayBeInf: true }) : null,
    name: p.accept("NAME") ? parseIdent(p) : null,
    isDefault: true,
  };
  return { kind: "create database", name, retention };
}

/** After CREATE RETENTION POLICY. */
export function parseCreateRetentionPolicy(p: TokenStream): Definition {
  const { name, database } = parseNameOn(p, parseIdent);
  p.expect("DURATION");
  const durationNs = parseDurationOrInf(p);
  p.expect("REPLICATION");
  const replication = parseReplication(p);
  const shardDurationNs = p.accept("SHARD") ? parseShardDuration(p, { mayBeInf: false }) : null;
  const isDefault = p.accept("DEFAULT");
  const retention = { name, durationNs, replication, shardDurationNs, isDefault };
  return { kind: "create retention policy", name, database, retention };
}

/** After ALTER RETENTION POLICY. */
export function parseAlterRetentionPolicy(p: TokenStream): Definition {
  const { name, database } = parseNameOn(p, parsePolicyName);
  const retention = { name, durationNs: null as bigint | null, replication: null as number | null };
  const found = new Set<string>();
  let shardDurationNs: bigint | null = null;
  for (;;) {
    const token = p.next();
    if (found.has(token.kind)) throw p.errorAt(`found duplicate ${describeToken(token)} option`, token.at);
    if (token.kind === "DURATION") retention.durationNs = parseDurationOrInf(p);
    else if (token.kind === "REPLICATION") retention.replication = parseReplication(p);
    else if (token.kind === "SHARD") shardDurationNs = parseShardDuration(p, { mayBeInf: false });
    else if (token.kind !== "DEFAULT") {
      if (found.size === 0) throw p.unexpected(token, ["DURATION", "REPLICATION", "SHARD", "DEFAULT"]);
      p.unscan();
      const isDefault = found.has("DEFAULT");
      return { kind: "alter retention policy", name, database, retention: { ...retention, shardDurationNs, isDefault } };
    }
    found.add(token.kind);
  }
}

/** After DROP RETENTION POLICY. */
export function parseDropRetentionPolicy(p: TokenStream): Definition {
  return { kind: "drop retention policy", ...parseNameOn(p, parseIdent) };
}

function parseNameOn(p: TokenStream, parseName: (p: TokenStream) => string): { readonly name: string; readonly database: string } {
  const name = parseName(p);
  p.expect("ON");
  return { name, database: parseIdent(p) };
}

/** The keyword DEFAULT is a name here. */
function parsePolicyName(p: TokenStream): string {
  const token = p.next();
  if (token.kind === "DEFAULT") return "default";
  if (token.kind === "ident") return token.literal;
  throw p.unexpected(token, ["identifier"]);
}

/** INF means 0. */
function parseDurationOrInf(p: TokenStream): bigint {
  const token = p.next();
  if (token.kind === "INF") return 0n;
  return durationAt(p, token);
}

function durationAt(p: TokenStream, token: Token): bigint {
  if (token.kind !== "duration") throw p.unexpected(token, ["duration"]);
  try {
    return parseDuration(token.literal);
  } catch (error) {
    throw error instanceof TsdbError ? p.errorAt(error.message, token.at) : error;
  }
}

function parseShardDuration(p: TokenStream, { mayBeInf }: { readonly mayBeInf: boolean }): bigint {
  p.expect("DURATION");
  const token = p.next();
  if (token.kind === "INF" && !mayBeInf) throw p.errorAt("invalid duration INF for shard duration", token.at);
  p.unscan();
  return parseDurationOrInf(p);
}

function parseReplication(p: TokenStream): number {
  const { literal, at } = p.expect("integer");
  const value = Number(literal);
  if (value > Number.MAX_SAFE_INTEGER) throw p.errorAt(`strconv.Atoi: parsing "${literal}": value out of range`, at);
  if (value < 1 || value > I32_MAX) throw p.errorAt(`invalid value ${value}: must be 1 <= n <= ${I32_MAX}`, at);
  return value;
}

// Data -------------------------------------------------------------------------------------------------------------------------------

/** DELETE and DROP SERIES. */
export function parseRemoval(p: TokenStream, kind: "delete" | "drop series"): Definition {
  const token = p.next();
  let sources: readonly Measurement[] = [];
  if (token.kind === "FROM") sources = parseUnqualified(p);
  else p.unscan();
  const where: Expression | null = parseWhere(p);
  if (where === null && sources.length === 0) throw p.unexpected(token, ["FROM", "WHERE"]);
  return { kind, sources, where };
}

/** They apply to all retention policies of the request's database. */
function parseUnqualified(p: TokenStream): readonly Measurement[] {
  const sources = parseList(p, () => parseMeasurement(p));
  const wrong = sources.findLast(({ database, retentionPolicy }) => database !== null || retentionPolicy !== null);
  if (wrong !== undefined) throw p.errorAt(`${wrong.retentionPolicy !== null ? "retention policy" : "database"} not supported`, 0);
  return sources;
}

/** After DROP MEASUREMENT. */
export function parseDropMeasurement(p: TokenStream): Definition {
  return { kind: "drop measurement", name: parseIdent(p) };
}

/** After DROP DATABASE. */
export function parseDropDatabase(p: TokenStream): Definition {
  return { kind: "drop database", name: parseIdent(p) };
}

/** After DROP SHARD. */
export function parseDropShard(p: TokenStream): Definition {
  return { kind: "drop shard", id: parseId(p) };
}

/** After KILL QUERY. */
export function parseKillQuery(p: TokenStream): Definition {
  const id = parseId(p);
  return { kind: "kill query", id, host: p.accept("ON") ? parseIdent(p) : null };
}

function parseId(p: TokenStream): bigint {
  const { literal, at } = p.expect("integer");
  const id = literal.length > 30 ? U64_MAX + 1n : BigInt(literal);
  if (id > U64_MAX) throw p.errorAt(`strconv.ParseUint: parsing "${literal}": value out of range`, at);
  return id;
}

// Refused ----------------------------------------------------------------------------------------------------------------------------

/** After CREATE USER. */
export function parseCreateUser(p: TokenStream): Refused {
  parseIdent(p);
  p.expect("WITH");
  p.expect("PASSWORD");
  p.expect("string");
  if (p.accept("WITH")) {
    p.expect("ALL");
    p.expect("PRIVILEGES");
  }
  return refused("CREATE USER");
}

/** After SET PASSWORD FOR. */
export function parseSetPassword(p: TokenStream): Refused {
  parseIdent(p);
  p.expect("=");
  p.expect("string");
  return refused("SET PASSWORD");
}

/** GRANT and REVOKE. */
export function parsePrivilege(p: TokenStream, what: "GRANT" | "REVOKE"): Refused {
  const direction = what === "GRANT" ? "TO" : "FROM";
  const privilege = p.next();
  if (privilege.kind === "ALL") p.accept("PRIVILEGES");
  else if (privilege.kind !== "READ" && privilege.kind !== "WRITE") {
    throw p.unexpected(privilege, ["READ", "WRITE", "ALL [PRIVILEGES]"]);
  }
  const isAll = privilege.kind === "ALL";
  const token = p.next();
  if (token.kind === "ON") {
    parseIdent(p);
    p.expect(direction);
  } else if (!isAll || token.kind !== direction) throw p.unexpected(token, isAll ? ["ON", direction] : ["ON"]);
  parseIdent(p);
  return refused(token.kind === "ON" ? what : `${what} ALL`);
}

/** After CREATE SUBSCRIPTION. */
export function parseCreateSubscription(p: TokenStream): Refused {
  parseSubscriptionName(p);
  p.expect("DESTINATIONS");
  const mode = p.next();
  if (mode.kind !== "ALL" && mode.kind !== "ANY") throw p.unexpected(mode, ["ALL", "ANY"]);
  parseList(p, () => p.expect("string"));
  return refused("CREATE SUBSCRIPTION");
}

/** After DROP SUBSCRIPTION. */
export function parseDropSubscription(p: TokenStream): Refused {
  parseSubscriptionName(p);
  return refused("DROP SUBSCRIPTION");
}

/** `name ON db.rp` */
function parseSubscriptionName(p: TokenStream): void {
  parseNameOn(p, parseIdent);
  const dot = p.scan();
  if (dot.kind !== ".") throw p.unexpected(dot, ["."]);
  parseIdent(p);
}

/** After DROP CONTINUOUS QUERY. */
export function parseDropContinuousQuery(p: TokenStream): Refused {
  parseNameOn(p, parseIdent);
  return refused("DROP CONTINUOUS QUERY");
}

/** After CREATE CONTINUOUS QUERY. */
export function parseCreateContinuousQuery(p: TokenStream): Refused {
  parseNameOn(p, parseIdent);
  if (p.accept("RESAMPLE")) parseResample(p);
  p.expect("BEGIN");
  p.expect("SELECT");
  const select = parseSelect(p, { needsInto: true });
  if (hasCall(select) && !hasInterval(select)) {
    p.unscan();
    p.unscan();
    throw p.unexpected(p.next(), ["GROUP BY time(...)"]);
  }
  p.expect("END");
  return refused("CREATE CONTINUOUS QUERY");
}

function parseResample(p: TokenStream): void {
  const every = p.accept("EVERY") ? durationAt(p, p.next()) : 0n;
  const span = p.accept("FOR") ? durationAt(p, p.next()) : 0n;
  if (every === 0n && span === 0n) throw p.unexpected(p.next(), ["EVERY", "FOR"]);
}

function hasCall({ fields }: Select): boolean {
  const contains = (expression: Expression): boolean => {
    if (expression.kind === "call") return true;
    if (expression.kind === "paren") return contains(expression.inner);
    return expression.kind === "binary" && (contains(expression.left) || contains(expression.right));
  };
  return fields.some(({ expression }) => contains(expression));
}

function hasInterval({ dimensions }: Select): boolean {
  return dimensions.some((one) => one.kind === "call" && one.name === "time" && one.args[0]?.kind === "duration" && one.args[0].ns > 0n);
}
