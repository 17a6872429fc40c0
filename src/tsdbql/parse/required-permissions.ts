// Determines the databases that an InfluxQL statement accesses, and the permissions that its sender needs for each.
import type { DatabaseAction } from "../../model/access.ts";
import { databaseOfPolicy } from "../../model/names.ts";
import { isNoPolicy, type PolicyLookup, policyDatabase } from "../../model/retention-policies.ts";
import type { Measurement, Select, Source, Statement } from "./ast.ts";

export interface RequiredPermission {
  readonly database: string;
  /** The database named by the statement or request: `database` is this one or one of its retention policies. */
  readonly named: string;
  readonly action: DatabaseAction;
}

const DEFAULT_ACTIONS: readonly DatabaseAction[] = ["create", "read", "write", "delete"];

/** Names supplied by the request. */
export interface RequestNames {
  readonly database: string;
  readonly retentionPolicy: string | null;
  /** Default policies; null: there are none. */
  readonly policies: Pick<PolicyLookup, "defaultPolicy"> | null;
}

/** Returns "admin" for statements about the server as a whole. A statement that lacks a required database is rejected later. */
export function requiredPermissions(statement: Statement, names: RequestNames): readonly RequiredPermission[] | "admin" {
  const of = (database: string | null, action: DatabaseAction): RequiredPermission[] => {
    const named = database ?? names.database;
    return [{ database: named, named, action }];
  };
  const ofPolicy = (
    { database: named, name }: { readonly database: string; readonly name: string },
    action: DatabaseAction,
  ): RequiredPermission => {
    return { database: databaseOfPolicy(named, name), named, action };
  };
  switch (statement.kind) {
    case "select":
      return selected(statement, names);
    case "explain":
      return selected(statement.select, names);
    case "create database":
      return of(statement.name, "create");
    case "drop database":
      return of(statement.name, "delete");
    case "create retention policy":
    case "alter retention policy":
      if (!statement.retention.isDefault) return [ofPolicy(statement, "create")];
      // a permission for the database also covers its default policy from then on
      return [...of(statement.database, "create"), ...DEFAULT_ACTIONS.map((action) => ofPolicy(statement, action))];
    case "drop retention policy":
      return [ofPolicy(statement, "delete")];
    case "drop measurement":
    case "drop series":
    case "delete":
      return of(null, "delete");
    case "kill query":
    case "drop shard":
    case "show queries":
    case "show stats":
    case "show diagnostics":
    case "show shards":
    case "show shard groups":
    case "show users":
    case "show grants":
    case "refused":
      return "admin";
    case "show databases":
    case "show continuous queries":
    case "show subscriptions":
      return [];
    case "show retention policies":
      return of(statement.database, "read");
    default: {
      const more = statement.kind === "show measurements" && statement.measurement !== null ? [statement.measurement.source] : [];
      const on = { ...names, database: statement.database ?? names.database };
      return [...of(statement.database, "read"), ...[...statement.sources, ...more].map((source) => measured(source, on))];
    }
  }
}

function selected({ sources, into }: Select, names: RequestNames): RequiredPermission[] {
  const read = sources.flatMap((source) => sourced(source, names));
  return into === null ? read : [...read, { ...measured(into, names), action: "write" }];
}

function sourced(source: Source, names: RequestNames): RequiredPermission[] {
  return source.kind === "subquery" ? selected(source.select, names) : [measured(source, names)];
}

function measured({ database, retentionPolicy }: Measurement, names: RequestNames): RequiredPermission {
  const named = database ?? names.database;
  const policy = isNoPolicy(retentionPolicy) ? names.retentionPolicy : retentionPolicy;
  return { database: policyDatabase(named, policy, names.policies?.defaultPolicy(named) ?? null), named, action: "read" };
}
