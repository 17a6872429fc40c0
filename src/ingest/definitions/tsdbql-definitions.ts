// InfluxQL statements that create, change and drop databases and retention policies, and that delete. Policies are implemented in
// retention-policies.ts.

import type { DatabaseService } from "../../model/databases.ts";
import { TsdbError } from "../../model/errors.ts";
import { INTERNAL_DATABASE } from "../../model/names.ts";
import type { QueryControl } from "../../model/query/query.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import { noPolicy, type PolicyLookup, policyDatabase, shownPolicy } from "../../model/retention-policies.ts";
import { ColumnType, type TableDef } from "../../model/rows/column.ts";
import type { DataService, TagCondition } from "../../model/rows/deletion.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { DatabaseDef } from "../../storage/catalog/state.ts";
import type { Definition, Expression, Measurement, Show } from "../../tsdbql/parse/ast.ts";
import type { DefinitionScope, DefinitionService } from "../../tsdbql/plan/definition-service.ts";
import { splitCondition, TIME_MAX_NS, TIME_MIN_NS } from "../../tsdbql/plan/time-range.ts";
import { compileRegex } from "../../tsdbql/regex/matcher.ts";
import type { PolicyInfo, RetentionPolicies } from "./retention-policies.ts";
import { matchingConditions, plainConditions, type TagValues, tagNamesOf } from "./tag-condition.ts";
import { databaseList, policyList, queryList, userLists } from "./tsdbql-lists.ts";

export interface DefinitionParts {
  readonly catalog: Catalog;
  readonly databases: DatabaseService;
  readonly data: DataService;
  readonly queries: QueryControl;
  /** The distinct combinations of tag values in a table's rows. */
  readonly tagValues: (database: string, table: string, tags: readonly string[], signal: AbortSignal) => Promise<readonly TagValues[]>;
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
        await this.dropMeasurement(deletable(this.scoped(scope), scope), definition.name);
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

  private async dropMeasurement(databases: readonly DatabaseDef[], table: string): Promise<void> {
    for (const { id, name: database } of databases) {
      if (this.parts.catalog.findTable(id, table) === undefined) continue;
      await this.parts.databases.deleteTable({ database, table, dataOnly: false, hardDeleteAt: "now" });
    }
  }

  // Rows -----------------------------------------------------------------------------------------------------------------------------

  private async deleteRows(
    { kind, sources, where }: Definition & { kind: "delete" | "drop series" },
    scope: DefinitionScope,
  ): Promise<void> {
    const databases = deletable(this.scoped(scope), scope);
    const { bounds, rest } = splitCondition(where, { nowNs: scope.nowNs, zone: null });
    if (kind === "drop series" && (bounds.minNs !== null || bounds.maxNs !== null)) {
      throw new TsdbError("bad_query", "DROP SERIES doesn't support time in WHERE clause");
    }
    const range = { minNs: clamp(bounds.minNs ?? TIME_MIN_NS), maxNs: clamp(bounds.maxNs ?? TIME_MAX_NS) };
    if (range.minNs > range.maxNs) return;
    const names = rest === null ? [] : tagNamesOf(rest);
    const tables = databases.flatMap((database) => this.tables(database, sources).map((table) => ({ database: database.name, table })));
    for (const { table } of tables) checkTags(table, names);
    for (const { database, table } of tables) {
      for (const tags of await this.conditions(database, table, rest, names, scope.signal)) await this.remove(database, table, range, tags);
    }
  }

  private remove(database: string, { name: table }: TableDef, range: TimeRange, tags: readonly TagCondition[]): Promise<void> {
    const isWhole = tags.length === 0 && range.minNs <= TIME_MIN_NS && range.maxNs >= TIME_MAX_NS;
    return isWhole ? this.parts.data.deleteData({ database, table }) : this.parts.data.deleteRows({ database, table, range, tags });
  }

  /** Converts the statement's condition to deletions that each list required tag values. */
  private async conditions(
    database: string,
    table: TableDef,
    rest: Expression | null,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly (readonly TagCondition[])[]> {
    if (rest === null) return [[]];
    const plain = plainConditions(rest);
    if (plain !== null) return [plain];
    const present = names.filter((name) => table.columns.some((column) => column.name === name));
    const all = present.length === 0 ? [{}] : await this.parts.tagValues(database, table.name, present, signal);
    return matchingConditions(rest, names, all);
  }

  private tables({ id }: DatabaseDef, sources: readonly Measurement[]): TableDef[] {
    const tables = this.parts.catalog.tables(id);
    if (sources.length === 0) return tables;
    const tests = sources.map(({ name }) => {
      if (typeof name === "string") return (table: string) => table === name;
      const regex = compileRegex(name.source);
      return (table: string) => regex.test(table);
    });
    return tables.filter(({ name }) => tests.some((test) => test(name)));
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

/** @throws TsdbError bad_query if a name is a field's */
function checkTags({ columns }: TableDef, names: readonly string[]): void {
  const isField = (name: string) => columns.some((column) => column.name === name && column.type !== ColumnType.tag);
  if (names.some(isField)) throw new TsdbError("bad_query", "fields not supported in WHERE clause during deletion");
}

function clamp(timeNs: bigint): bigint {
  return timeNs < TIME_MIN_NS ? TIME_MIN_NS : timeNs > TIME_MAX_NS ? TIME_MAX_NS : timeNs;
}
