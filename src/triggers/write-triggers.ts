// The running write triggers by what they are called for: a database, or a table by its name, which need not exist yet.
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { NotedTable } from "./row-notes.ts";
import type { WriteTrigger } from "./write-trigger.ts";

interface OfDatabase {
  readonly all: Set<WriteTrigger>;
  readonly byTable: Map<string, Set<WriteTrigger>>;
}

/** Finds the write triggers of a table. */
export class WriteTriggers {
  private readonly byDatabase = new Map<number, OfDatabase>();

  /** `table`: null = all tables of the database. */
  add(databaseId: number, table: string | null, trigger: WriteTrigger): void {
    const of = this.byDatabase.get(databaseId) ?? { all: new Set(), byTable: new Map() };
    this.byDatabase.set(databaseId, of);
    if (table === null) of.all.add(trigger);
    else of.byTable.set(table, (of.byTable.get(table) ?? new Set()).add(trigger));
  }

  remove(databaseId: number, table: string | null, trigger: WriteTrigger): void {
    const of = this.byDatabase.get(databaseId);
    if (of === undefined) return;
    if (table === null) of.all.delete(trigger);
    else if (of.byTable.get(table)?.delete(trigger) && of.byTable.get(table)!.size === 0) of.byTable.delete(table);
    if (of.all.size === 0 && of.byTable.size === 0) this.byDatabase.delete(databaseId);
  }

  /** Those that are called for rows of the tables, once each. */
  of(tables: readonly NotedTable[], catalog: Pick<Catalog, "tableById">): Set<WriteTrigger> {
    const found = new Set<WriteTrigger>();
    if (this.byDatabase.size === 0) return found;
    for (const { databaseId, tableId } of tables) {
      const of = this.byDatabase.get(databaseId);
      if (of === undefined) continue;
      for (const each of of.all) found.add(each);
      const name = of.byTable.size === 0 ? undefined : catalog.tableById(tableId)?.name;
      for (const each of (name === undefined ? undefined : of.byTable.get(name)) ?? []) found.add(each);
    }
    return found;
  }
}
