// One statement of the v1-style language, whichever API it came by: what is asked of rows goes to the query path, what changes something or
// lists names is done here.
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

/** Definitions among the other kinds. */
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

/** What all statements of a request have in common. */
export interface StatementContext {
  readonly caller: ProvenCaller;
  /** Null: no v1 call, to which databases are what they are called. */
  readonly policies: PolicyLookup | null;
  /** "" when the request names none. */
  readonly database: string;
  readonly retentionPolicy: string | null;
  /** Bind parameters, a JSON object. */
  readonly params: string | null;
  readonly nowNs: bigint;
  readonly signal: AbortSignal;
}

/** Bytes in the form that was asked for, or what is still to be written in it. */
export type StatementResult =
  | QueryAnswer
  | { readonly pieces: readonly SeriesPiece[] /** It changed something. */; readonly changed: boolean; readonly notes: readonly string[] };

/** @throws TsdbError bad_query, bad_request, unknown_database, forbidden, what the query and the write path throw */
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

function isDefinition(statement: Statement): statement is Definition {
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

/** What 1.x answers to INTO. */
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

/** Databases that are retention policies of others, as far as the caller may read them; undefined: all. */
function readablePolicies(services: AppServices, caller: ProvenCaller, access: PolicyAccess): readonly string[] | undefined {
  if (caller.isAdmin) return undefined;
  const names = services
    .databaseList(caller)
    .list({ showDeleted: false })
    .map(({ name }) => name);
  return names.filter((name) => name.includes("/") && access.allows(name, "read"));
}

/** The rules of the databases that the statement names, as far as there are any. @throws TsdbError forbidden */
function checkAccess(context: StatementContext, access: PolicyAccess, statement: Statement): Readonly<Record<string, PolicyRules>> {
  const { caller, policies } = context;
  const touched = requiredPermissions(statement, context);
  if (touched === "admin") {
    caller.requireAdmin();
    return {};
  }
  for (const { database, action } of touched) access.require(database, action);
  const rules = new Map(touched.map(({ named }) => [named, policies?.rules(named) ?? null]));
  return Object.fromEntries([...rules].filter((entry): entry is [string, PolicyRules] => entry[1] !== null));
}
