// InfluxQL statements that create, change and drop databases and retention policies, and that delete. Policies are implemented in
// retention-policies.ts, deletions in row-deletions.ts.

import type { DatabaseService } from "../../model/databases.ts";
import { TsdbError } from "../../model/errors.ts";
import { INTERNAL_DATABASE } from "../../model/names.ts";
import type { QueryControl } from "../../model/query/query.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import { noPolicy, type PolicyLookup, policyDatabase, shownPolicy } from "../../model/retention-policies.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { DatabaseDef } from "../../storage/catalog/state.ts";
import type { Definition, Show } from "../../tsdbql/parse/ast.ts";
import type { DefinitionScope, DefinitionService } from "../../tsdbql/plan/definition-service.ts";
import type { PolicyInfo, RetentionPolicies } from "./retention-policies.ts";
import type { RowDeletions } from "./row-deletions.ts";
import { databaseList, policyList, queryList, userLists } from "./tsdbql-lists.ts";

export interface DefinitionParts {
  readonly catalog: Catalog;
  readonly databases: DatabaseService;
  readonly rows: Pick<RowDeletions, "run" | "dropTable">;
  readonly queries: QueryControl;
}

/** Runs CREATE, ALTER, DROP and DELETE, and answers the SHOW statements that need only the catalog. @throws TsdbError forbidden,
 *  bad_query, unknown_database, and what the called services throw */
export class TsdbqlDefinitions implements DefinitionService {
  constructor(
    private readonly parts: DefinitionParts,
    private readonly retentionPolicies: RetentionPolicies,
  ) {}

  async run(definition: Definition, scope: DefinitionScope): Promise<readonly string[]> {
    switch (definition.kind) {
      case "create database":
        await this.retentionPolicies.createDatabase(definition.name, definition.retention);
        return [];
      case "drop database":
        await this.dropDatabases(deletable(this.policies(definition.name), scope));
        return [];
      case "create retention policy":
        await this.retentionPolicies.create(definition.database, definition.name, definition.retention);
        return [];
      case "alter retention policy":
        await this.retentionPolicies.alter(definition.database, definition.name, definition.retention);
        return [];
      case "drop retention policy":
        await this.retentionPolicies.drop(definition.database, definition.name);
        return [];
      case "drop measurement":
        for (const { id } of deletable(this.scoped(scope), scope)) await this.parts.rows.dropTable(id, definition.name);
        return [];
      case "delete":
      case "drop series":
        await this.deleteRows(definition, scope);
        return [];
      case "drop shard":
        return ["there are no shards: nothing was dropped"];
      case "kill query":
        this.parts.queries.kill(definition.id);
        return [];
    }
  }

  checkTarget(database: string, retentionPolicy: string | null, policies: PolicyLookup | null): string {
    this.required(database);
    const rules = policies?.rules(database) ?? null;
    const name = policyDatabase(database, retentionPolicy, rules?.defaultPolicy ?? null);
    const isThere = this.parts.catalog.findDatabase(name) !== undefined && (name !== database || rules?.hasOwn !== false);
    if (!isThere) throw noPolicy(shownPolicy(retentionPolicy, rules), database);
    return name;
  }

  show(statement: Show, scope: DefinitionScope): readonly SeriesPiece[] | null {
    switch (statement.kind) {
      case "show databases":
        return databaseList([INTERNAL_DATABASE, ...this.databaseNames()].filter(scope.isVisible));
      case "show retention policies":
        return policyList(this.policyInfos(statement.database ?? scope.database, scope));
      case "show queries":
        return queryList(this.parts.queries.running());
      default:
        return userLists(statement, this.databaseNames().filter(scope.isVisible));
    }
  }

  // Databases ------------------------------------------------------------------------------------------------------------------------

  private async dropDatabases(databases: readonly DatabaseDef[]): Promise<void> {
    for (const { name } of databases) {
      await this.parts.databases.deleteDatabase({ database: name, dataOnly: false, removeTables: false, hardDeleteAt: "now" });
    }
  }

  private deleteRows(definition: Definition & { readonly kind: "delete" | "drop series" }, scope: DefinitionScope): Promise<void> {
    const ids = deletable(this.scoped(scope), scope).map(({ id }) => id);
    return this.parts.rows.run(ids, definition, scope);
  }

  // Names ----------------------------------------------------------------------------------------------------------------------------

  /** In order of creation, without policies. */
  private databaseNames(): string[] {
    const inOrder = this.parts.catalog.databases().toSorted((a, b) => a.id - b.id);
    return [...new Set(inOrder.map(({ name }) => name.split("/")[0]!))];
  }

  /** The database and those that are its other retention policies. */
  private policies(database: string): DatabaseDef[] {
    const own = this.parts.catalog.databases().filter(({ name }) => name === database || name.startsWith(`${database}/`));
    return own.sort((a, b) => a.name.length - b.name.length || a.id - b.id);
  }

  private required(database: string): DatabaseDef[] {
    const found = this.policies(database);
    if (found.length > 0) return found;
    throw new TsdbError("unknown_database", `database not found: ${database}`, { database });
  }

  private policyInfos(database: string, { isVisible }: DefinitionScope): PolicyInfo[] {
    if (database === "") throw new TsdbError("bad_query", "database name required");
    return this.retentionPolicies.required(database).filter(({ def }) => isVisible(def.name));
  }

  /** The databases of a statement that names none. */
  private scoped({ database }: DefinitionScope): DatabaseDef[] {
    return this.required(database);
  }
}

/** All of them, or the statement is refused: it does not distinguish them. @throws TsdbError forbidden */
function deletable(databases: readonly DatabaseDef[], { mayDelete }: DefinitionScope): readonly DatabaseDef[] {
  const other = databases.find(({ name }) => !mayDelete(name));
  if (other === undefined) return databases;
  throw new TsdbError("forbidden", "unauthorized to perform requested action with the token", { database: other.name });
}
