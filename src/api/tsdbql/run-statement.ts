// Runs one InfluxQL statement for any API: statements that read rows go to the query path; those that change something or list names are
// executed here.
import type { ProvenCaller } from "../../auth/authorizer.ts";
import { TsdbError } from "../../model/errors.ts";
import type { QueryAnswer, QueryFormat, TsdbqlOptions } from "../../model/query/query.ts";
import type { ResultType } from "../../model/query/result-batch.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import { isNoPolicy, type PolicyLookup, type PolicyRules } from "../../model/retention-policies.ts";
import type { Definition, Measurement, PlacedStatement, Statement } from "../../tsdbql/parse/ast.ts";
import { requiredPermissions } from "../../tsdbql/parse/required-permissions.ts";
import type { DefinitionScope, DefinitionService } from "../../tsdbql/plan/definition-service.ts";
import type { AppServices } from "../services.ts";
import { writeInto } from "./into.ts";
import { PolicyAccess } from "./policy-access.ts";

/** Kinds of statements that change something. */
const CHANGING: ReadonlySet<string> = new Set<Definition["kind"]>([
  "create database",
  "drop database",
  "create retention policy",
  "alter retention policy",
  "drop retention policy",
  "drop measurement",
  "drop series",
  "delete",
  "drop shard",
  "kill query",
]);

/** The common context of all statements of a request. */
export interface StatementContext {
  readonly caller: ProvenCaller;
  /** Null for calls other than v1, where each policy is a separate database. */
  readonly policies: PolicyLookup | null;
  /** "" if the request names none. */
  readonly database: string;
  readonly retentionPolicy: string | null;
  /** Bind parameters, a JSON object. */
  readonly params: string | null;
  readonly nowNs: bigint;
  readonly signal: AbortSignal;
}

/** Bytes in the requested format, or series that still must be encoded. */
export type StatementResult =
  | QueryAnswer
  | { readonly pieces: readonly SeriesPiece[] /** It changed something. */; readonly changed: boolean; readonly notes: readonly string[] };

/** @throws TsdbError bad_query, bad_request, unknown_database, forbidden, and errors of the query and write paths */
export async function runStatement(
  services: AppServices,
  context: StatementContext,
  { statement, text }: PlacedStatement,
  form: { readonly format: QueryFormat; readonly answer: TsdbqlOptions["answer"] },
): Promise<StatementResult> {
  const { caller } = context;
  const access = new PolicyAccess(caller, context.policies);
  const policyRules = checkAccess(context, access, statement);
  const ask = ({ format, answer } = form) => {
    const { database, retentionPolicy, params, nowNs, signal } = context;
    const policies = statement.kind.startsWith("show ") ? readablePolicies(services, caller, access) : undefined;
    const tsdbql = { retentionPolicy, policyRules, nowNs, params, answer, ...(policies === undefined ? {} : { policies }) };
    return services.query.query({ database, statement: text, params: {}, format, queryType: "influxql", tsdbql, signal });
  };
  if (statement.kind === "refused") {
    throw new TsdbError("bad_query", `${statement.what} is not supported: there are no users, privileges or continuous queries here`);
  }
  if (statement.kind === "explain") return ask();
  if (statement.kind === "select") {
    if (statement.into === null) return ask();
    const { name } = statement.into;
    const measurement = typeof name === "string" && name !== "" ? name : null;
    const target = services.definitions(caller).checkTarget(...intoTarget(statement.into, context));
    const { body } = await ask({ format: "json", answer: { measurement } });
    const written = await writeInto(services.write, target, body);
    return { pieces: [writtenPiece(written)], changed: true, notes: [] };
  }
  if (isDefinition(statement)) {
    const notes = await services.definitions(caller).run(statement, scopeOf(context, access));
    return { pieces: [], changed: true, notes };
  }
  const pieces = services.definitions(caller).show(statement, scopeOf(context, access));
  return pieces === null ? ask() : { pieces, changed: false, notes: [] };
}

/** True for statements that change databases, policies or rows. */
export function isDefinition(statement: Statement): statement is Definition {
  return CHANGING.has(statement.kind);
}

function intoTarget(into: Measurement, context: StatementContext): Parameters<DefinitionService["checkTarget"]> {
  const database = into.database ?? context.database;
  if (database === "") throw new TsdbError("bad_query", "database name required");
  const policy = isNoPolicy(into.retentionPolicy) ? context.retentionPolicy : into.retentionPolicy;
  return [database, policy, context.policies];
}

const TIME: ResultType = { kind: "timestamp", unit: "ns", zone: null };
const INTEGER: ResultType = { kind: "int", bits: 64, signed: true };

/** The answer of version 1.x to INTO. */
function writtenPiece(rows: number): SeriesPiece {
  const fields = [
    { name: "time", type: TIME },
    { name: "written", type: INTEGER },
  ];
  const columns = [0n, BigInt(rows)].map((value) => ({ validity: null, values: BigInt64Array.of(value) }));
  return { head: { name: "result", tags: null, fields }, batch: { rowCount: 1, columns } };
}

function scopeOf({ database, nowNs, signal }: StatementContext, access: PolicyAccess): DefinitionScope {
  const isVisible = (name: string) => access.canSee(name);
  const mayDelete = (name: string) => access.allows(name, "delete");
  return { database, nowNs, signal, isVisible, mayDelete };
}

/** Databases that are retention policies of others and that the caller may read; undefined: all. */
function readablePolicies(services: AppServices, caller: ProvenCaller, access: PolicyAccess): readonly string[] | undefined {
  if (caller.isAdmin) return undefined;
  const names = services
    .databaseList(caller)
    .list({ showDeleted: false })
    .map(({ name }) => name);
  return names.filter((name) => name.includes("/") && access.allows(name, "read"));
}

/** The policy rules of the databases that the statement names, where set. @throws TsdbError forbidden */
function checkAccess(context: StatementContext, access: PolicyAccess, statement: Statement): Readonly<Record<string, PolicyRules>> {
  const { caller, policies } = context;
  const required = requiredPermissions(statement, context);
  if (required === "admin") {
    caller.requireAdmin();
    return {};
  }
  for (const { database, action } of required) access.require(database, action);
  const rules = new Map(required.map(({ named }) => [named, policies?.rules(named) ?? null]));
  return Object.fromEntries([...rules].filter((entry): entry is [string, PolicyRules] => entry[1] !== null));
}
