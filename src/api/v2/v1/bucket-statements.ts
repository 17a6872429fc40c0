// Runs single InfluxQL statements over buckets: those that read rows go to the query path; lists of names and deletions are executed here.
// Everything else is refused, in the vendor's words.

import { databaseList, policyList } from "../../../ingest/definitions/tsdbql-lists.ts";
import type { Principal } from "../../../metadata/access/principal.ts";
import { ReadableBuckets } from "../../../metadata/resources/readable-buckets.ts";
import { databaseIdOf } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { MappedDatabase, QueryAnswer, TsdbqlOptions } from "../../../model/query/query.ts";
import type { SeriesPiece } from "../../../model/query/series-piece.ts";
import type { V1Answer } from "../../../model/query/v1-answer.ts";
import { isNoPolicy, noPolicy } from "../../../model/retention-policies.ts";
import type { Definition, MeasurementPlaces, PlacedStatement, Source, Statement } from "../../../tsdbql/parse/ast.ts";
import { isEstimate } from "../../../tsdbql/parse/estimates.ts";
import { requiredPermissions } from "../../../tsdbql/parse/required-permissions.ts";
import type { StatementResult } from "../../tsdbql/run-statement.ts";
import type { V1Query } from "../../v1/query-request.ts";
import type { V2Services } from "../app/services.ts";
import { V1Databases } from "./databases.ts";
import { meantPlaces, placedMeasurements, statementOfPlace } from "./placed-measurements.ts";

/** Statements that read rows. */
const READING: ReadonlySet<string> = new Set<Statement["kind"]>([
  ...(["select", "explain", "show measurements", "show series", "show tag keys", "show tag values", "show field keys"] as const),
  ...(["show series cardinality", "show measurement cardinality", "show tag key cardinality"] as const),
  ...(["show tag values cardinality", "show field key cardinality"] as const),
]);
const NS_PER_SECOND = 1_000_000_000n;

type ShowMeasurements = Extract<Statement, { kind: "show measurements" }>;
type ReadOptions = Pick<TsdbqlOptions, "retentionPolicy" | "mappings" | "answer"> & { readonly database: string };
type Deletion = Definition & { readonly kind: "delete" | "drop measurement" };

/** The statements of one request. */
export class BucketStatements {
  private readonly databases: V1Databases;
  private deletions = 0;

  constructor(
    private readonly services: V2Services,
    private readonly principal: Principal,
    private readonly query: V1Query,
    private readonly nowNs: bigint,
    /** Whose databases are meant, for a request that names a bucket; absent: the sender's. */
    private readonly orgID?: string,
  ) {
    this.databases = new V1Databases(services.line(), principal, orgID);
  }

  /** Of those that were executed. */
  get deletionCount(): number {
    return this.deletions;
  }

  /** @throws TsdbError bad_query, unknown_database, and errors of the query path and of deletions */
  async run({ statement, text }: PlacedStatement, answer: V1Answer, signal: AbortSignal): Promise<StatementResult> {
    switch (statement.kind) {
      case "show databases": {
        const names = new Set(this.databases.readable(null).map(({ mapping }) => mapping.database));
        return { pieces: databaseList([...names]), changed: false, notes: [] };
      }
      case "show retention policies":
        return { pieces: policyList(this.policies(statement.database ?? this.query.database)), changed: false, notes: [] };
      case "delete":
      case "drop measurement":
        await this.delete(statement as Deletion, signal);
        this.deletions += 1;
        return { pieces: [], changed: true, notes: [] };
    }
    if (statement.kind === "select" || statement.kind === "explain") this.checkNames(statement);
    if (statement.kind === "select" && statement.into !== null) {
      this.checkPolicies(statement.sources);
      throw notImplemented("SELECT INTO");
    }
    if (!READING.has(statement.kind) || isEstimate(statement)) throw notImplemented(nameOf(statement));
    if (statement.kind === "show measurements" && statement.places !== null) {
      return { pieces: await this.placedMeasurements(statement, statement.places, signal), changed: false, notes: [] };
    }
    const { database } = this.query;
    const mappings = this.mappings(statement);
    const retentionPolicy = this.policyOf(statement, mappings);
    return this.read(text, { database, retentionPolicy, mappings, answer: { v1: answer } }, signal);
  }

  /** What a statement reads has a database, before it is asked what it makes of it. @throws TsdbError bad_query, unknown_database */
  private checkNames(statement: Statement): void {
    const required = requiredPermissions(statement, { ...this.query, policies: null });
    if (required === "admin") return;
    for (const { named } of required) {
      if (named === "") throw new TsdbError("bad_query", "database name required");
      if (this.databases.mapped(named) === undefined) throw unknown(named);
    }
  }

  /** @throws TsdbError unknown_database */
  private checkPolicies(sources: readonly Source[]): void {
    for (const source of sources) {
      if (source.kind === "subquery") {
        this.checkPolicies(source.select.sources);
        continue;
      }
      const database = source.database ?? this.query.database;
      const policy = isNoPolicy(source.retentionPolicy) ? this.query.retentionPolicy : source.retentionPolicy;
      const mapped = this.databases.mapped(database);
      if (isNoPolicy(policy)) {
        if ((mapped?.defaultName ?? null) === null) throw noDefault(database);
      } else if (mapped?.policies.has(policy) !== true) throw noPolicy(policy, database);
    }
  }

  /** @throws TsdbError unknown_database */
  private policyOf(statement: Statement, mappings: ReadonlyMap<string, MappedDatabase>): string | null {
    if (this.orgID !== undefined || !isByDefault(statement)) return this.query.retentionPolicy;
    const name = statement.database ?? this.query.database;
    const isUnknown = name !== "" && (mappings.get(name)?.defaultName ?? null) === null;
    if (isUnknown && statement.kind !== "show measurements" && statement.sources.every(({ database }) => database === null)) {
      throw noDefault(name);
    }
    return null;
  }

  private read(statement: string, { database, ...options }: ReadOptions, signal: AbortSignal): Promise<QueryAnswer> {
    const { query, line } = this.services;
    const tsdbql = { ...options, nowNs: this.nowNs, params: this.query.params };
    const scope = new ReadableBuckets(line().buckets, this.principal);
    return query.query({ database, scope, statement, params: {}, format: "json", queryType: "influxql", tsdbql, signal });
  }

  private async placedMeasurements(statement: ShowMeasurements, of: MeasurementPlaces, signal: AbortSignal): Promise<SeriesPiece[]> {
    const places = meantPlaces(of, this.databases.readable(of.database));
    const text = statementOfPlace(statement);
    const names: string[][] = [];
    for (const { mapping } of places) {
      const { database, retentionPolicy, bucketID } = mapping;
      const mappings = new Map([[database, { policies: new Map([[retentionPolicy, bucketID]]), defaultName: bucketID }]]);
      const { body } = await this.read(text, { database, retentionPolicy: null, mappings, answer: null }, signal);
      const rows = (await new Response(body).json()) as { readonly name: string }[];
      names.push(rows.map(({ name }) => name));
    }
    return placedMeasurements(places, names, statement);
  }

  /** Of the databases that the statement names. */
  private mappings(statement: Statement): ReadonlyMap<string, MappedDatabase> {
    const required = requiredPermissions(statement, { ...this.query, policies: null });
    const names = required === "admin" ? [] : required.map(({ named }) => named);
    const found = [...new Set(names)].map((name) => [name, this.databases.mapped(name)] as const);
    return new Map(found.filter((entry): entry is [string, MappedDatabase] => entry[1] !== undefined));
  }

  private policies(database: string): Parameters<typeof policyList>[0] {
    if (database === "") throw new TsdbError("bad_query", "database name required");
    return this.databases.readable(database).map(({ mapping, bucket }) => ({
      ...{ name: mapping.retentionPolicy, isDefault: mapping.isDefault, replicas: 1 },
      retentionNs: BigInt(bucket.retentionSeconds) * NS_PER_SECOND,
      shardNs: BigInt(bucket.shardSeconds) * NS_PER_SECOND,
    }));
  }

  private async delete(statement: Deletion, signal: AbortSignal): Promise<void> {
    const databaseId = this.deletable();
    const rows = this.services.rows();
    if (statement.kind === "drop measurement") await rows.dropTable(databaseId, statement.name);
    else await rows.run([databaseId], statement, { nowNs: this.nowNs, signal, forgetsEmptied: true });
  }

  /** The database of the bucket that the request names. @throws TsdbError bad_query, unknown_database */
  private deletable(): number {
    const { database, retentionPolicy } = this.query;
    const isMeant = ({ mapping }: { readonly mapping: { readonly retentionPolicy: string; readonly isDefault: boolean } }) =>
      isNoPolicy(retentionPolicy) ? mapping.isDefault : mapping.retentionPolicy === retentionPolicy;
    const found = this.databases.readable(database).find(isMeant);
    if (found === undefined) {
      if (!isNoPolicy(retentionPolicy) && this.databases.mapped(database) !== undefined) throw noPolicy(retentionPolicy, database);
      throw noDefault(database);
    }
    if (!this.databases.canWrite(found.bucket)) throw new TsdbError("bad_query", "insufficient permissions");
    return databaseIdOf(found.bucket.id)!;
  }
}

/** Statements about names in the default bucket of a database, whichever policy the request names, as recorded. */
function isByDefault(
  statement: Statement,
): statement is Extract<Statement, { kind: "show measurements" | "show tag keys" | "show tag values" }> {
  return statement.kind === "show measurements" || statement.kind === "show tag keys" || statement.kind === "show tag values";
}

// errors have no detail of the name, which may have a slash without a policy behind it
function unknown(database: string): TsdbError {
  return new TsdbError("unknown_database", `database not found: ${database}`);
}

function noDefault(database: string): TsdbError {
  return new TsdbError("unknown_database", `default retention policy not set for: ${database}`);
}

/** As the vendor calls it in errors. */
function nameOf(statement: Statement): string {
  if (statement.kind === "refused") return statement.what;
  return statement.kind === "kill query" ? "SHOW QUERIES" : statement.kind.toUpperCase();
}

function notImplemented(what: string): TsdbError {
  return new TsdbError("bad_query", `not implemented: ${what}`);
}
