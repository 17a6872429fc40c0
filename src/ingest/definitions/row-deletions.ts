// Deletes rows of databases by a range of times and a condition on tags, as statements and requests of clients state it.
import type { DatabaseService } from "../../model/databases.ts";
import { TsdbError } from "../../model/errors.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { ColumnType, type TableDef } from "../../model/rows/column.ts";
import type { DataService, TagCondition } from "../../model/rows/deletion.ts";
import { Turns } from "../../model/turns.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import type { Definition, Expression, Measurement } from "../../tsdbql/parse/ast.ts";
import { splitCondition, TIME_MAX_NS, TIME_MIN_NS } from "../../tsdbql/plan/time-range.ts";
import { compileRegex } from "../../tsdbql/regex/matcher.ts";
import { matchingConditions, plainConditions, type TagValues, tagNamesOf } from "./tag-condition.ts";

export interface RowDeletionParts {
  readonly catalog: Catalog;
  readonly data: Pick<DataService, "deleteData" | "deleteRows">;
  readonly databases: Pick<DatabaseService, "deleteTable">;
  /** Whether the table has no rows left. */
  readonly isEmptied: (tableId: number) => boolean;
  /** The distinct combinations of tag values in a table's rows. */
  readonly tagValues: (databaseId: number, table: string, tags: readonly string[], signal: AbortSignal) => Promise<readonly TagValues[]>;
}

export interface RowChoice {
  readonly range: TimeRange;
  /** Compares tags with texts; null: every row. A tag that a row does not have is "". */
  readonly condition: Expression | null;
}

type DeleteStatement = Definition & { readonly kind: "delete" | "drop series" };

export interface DeletionOptions {
  /** Tables without rows are forgotten: their fields may have other types from then on, as in version 2.x. */
  readonly forgetsEmptied?: boolean;
}

/** Plans and executes deletions of rows. */
export class RowDeletions {
  constructor(private readonly parts: RowDeletionParts) {}

  /** DELETE and DROP SERIES, in all of the databases. Resolves once durable. @throws TsdbError bad_query, limit_exceeded, unavailable */
  async run(
    databaseIds: readonly number[],
    { kind, sources, where }: DeleteStatement,
    { nowNs, signal, ...options }: { readonly nowNs: bigint; readonly signal: AbortSignal } & DeletionOptions,
  ): Promise<void> {
    const { bounds, rest } = splitCondition(where, { nowNs, zone: null });
    if (kind === "drop series" && (bounds.minNs !== null || bounds.maxNs !== null)) {
      throw new TsdbError("bad_query", "DROP SERIES doesn't support time in WHERE clause");
    }
    const range = { minNs: clamp(bounds.minNs ?? TIME_MIN_NS), maxNs: clamp(bounds.maxNs ?? TIME_MAX_NS) };
    if (range.minNs > range.maxNs) return;
    const names = rest === null ? [] : tagNamesOf(rest);
    const isMeant = nameTest(sources);
    const tables = databaseIds.flatMap((id) => this.parts.catalog.tables(id).filter(({ name }) => isMeant(name)));
    for (const table of tables) checkTags(table, names);
    await this.deleteRows(tables, { range, condition: rest }, signal, options);
  }

  /** One deletion after another takes effect; all of them together become durable. @throws TsdbError limit_exceeded, unavailable, and what
   *  reading tags throws */
  async deleteRows(
    tables: readonly TableDef[],
    { range, condition }: RowChoice,
    signal: AbortSignal,
    { forgetsEmptied = false }: DeletionOptions = {},
  ): Promise<void> {
    const removed: Promise<void>[] = [];
    try {
      for (const table of tables) {
        for (const tags of await this.conditions(table, condition, signal)) {
          const promise = this.remove(table, range, tags);
          // reported below
          promise.catch(() => {});
          removed.push(promise);
        }
      }
    } finally {
      await Promise.all(removed);
    }
    // a condition on tags may leave rows of every time
    if (forgetsEmptied && condition === null) await Promise.all(tables.map((table) => this.forgetEmptied(table)));
  }

  /** In one synchronous step, so that no row is lost which comes meanwhile. A table with settings of its own stays. */
  private async forgetEmptied({ id, databaseId, name }: TableDef): Promise<void> {
    const { catalog, isEmptied } = this.parts;
    if (catalog.findTable(databaseId, name)?.id !== id || !isEmptied(id)) return;
    const hasSettings = catalog.caches(id).length > 0 || catalog.fileIndexes.own("table", id) !== null;
    if (!hasSettings && catalog.retentionNs("table", id) === null) await this.dropTable(databaseId, name);
  }

  /** With all rows; without effect if there is none of the name. */
  async dropTable(databaseId: number, table: string): Promise<void> {
    if (this.parts.catalog.findTable(databaseId, table) === undefined) return;
    await this.parts.databases.deleteTable({ database: databaseId, table, dataOnly: false, hardDeleteAt: "now" });
  }

  tables(databaseId: number): readonly TableDef[] {
    return this.parts.catalog.tables(databaseId);
  }

  private remove({ databaseId: database, name: table }: TableDef, range: TimeRange, tags: readonly TagCondition[]): Promise<void> {
    const isWhole = tags.length === 0 && range.minNs <= TIME_MIN_NS && range.maxNs >= TIME_MAX_NS;
    return isWhole ? this.parts.data.deleteData({ database, table }) : this.parts.data.deleteRows({ database, table, range, tags });
  }

  /** Converts the condition to deletions that each list required tag values. What is no tag of the table, no row has. */
  private async conditions(
    table: TableDef,
    condition: Expression | null,
    signal: AbortSignal,
  ): Promise<readonly (readonly TagCondition[])[]> {
    if (condition === null) return [[]];
    const isTag = (name: string) => table.columns.some((column) => column.name === name && column.type === ColumnType.tag);
    const onTags = (conditions: readonly TagCondition[]) => conditions.filter(({ tag }) => isTag(tag));
    const plain = plainConditions(condition);
    if (plain !== null) return plain.some(({ tag, values }) => !isTag(tag) && !values.includes(null)) ? [] : [onTags(plain)];
    const names = tagNamesOf(condition);
    const present = names.filter(isTag);
    const all = present.length === 0 ? [{}] : await this.parts.tagValues(table.databaseId, table.name, present, signal);
    return (await new Turns(signal).run(matchingConditions(condition, names, all))).map(onTags);
  }
}

function nameTest(sources: readonly Measurement[]): (table: string) => boolean {
  if (sources.length === 0) return () => true;
  const tests = sources.map(({ name }) => {
    if (typeof name === "string") return (table: string) => table === name;
    const regex = compileRegex(name.source);
    return (table: string) => regex.test(table);
  });
  return (table) => tests.some((test) => test(table));
}

/** @throws TsdbError bad_query if a name is a field's */
function checkTags({ columns }: TableDef, names: readonly string[]): void {
  const isField = (name: string) => columns.some((column) => column.name === name && column.type !== ColumnType.tag);
  if (names.some(isField)) throw new TsdbError("bad_query", "fields not supported in WHERE clause during deletion");
}

function clamp(timeNs: bigint): bigint {
  return timeNs < TIME_MIN_NS ? TIME_MIN_NS : timeNs > TIME_MAX_NS ? TIME_MAX_NS : timeNs;
}
