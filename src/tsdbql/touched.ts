// Which databases a statement of the v1-style language touches, and how: what its sender has to be allowed.
import type { DatabaseAction } from "../model/access.ts";
import { databaseOfPolicy } from "../model/names.ts";
import type { Measurement, Select, Source, Statement } from "./ast.ts";

export interface Touched {
  readonly database: string;
  readonly action: DatabaseAction;
}

/** What a statement does not say itself. */
export interface RequestNames {
  readonly database: string;
  readonly retentionPolicy: string | null;
}

/** "admin": it is about the server as a whole. A statement that names no database where it should is refused later. */
export function touchedBy(statement: Statement, names: RequestNames): readonly Touched[] | "admin" {
  const of = (database: string | null, action: DatabaseAction): Touched[] => [{ database: database ?? names.database, action }];
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
      return of(databaseOfPolicy(statement.database, statement.name), "create");
    case "drop retention policy":
      return of(databaseOfPolicy(statement.database, statement.name), "delete");
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
      const on = { database: statement.database ?? names.database, retentionPolicy: null };
      return [...of(statement.database, "read"), ...[...statement.sources, ...more].map((source) => measured(source, on))];
    }
  }
}

function selected({ sources, into }: Select, names: RequestNames): Touched[] {
  const read = sources.flatMap((source) => sourced(source, names));
  return into === null ? read : [...read, { ...measured(into, names), action: "write" }];
}

function sourced(source: Source, names: RequestNames): Touched[] {
  return source.kind === "subquery" ? selected(source.select, names) : [measured(source, names)];
}

function measured({ database, retentionPolicy }: Measurement, names: RequestNames): Touched {
  const policy = retentionPolicy ?? (database === null ? names.retentionPolicy : null);
  return { database: databaseOfPolicy(database ?? names.database, policy), action: "read" };
}
