// Rows of the log with names in place of ids, as plugins get them.
import type { PluginTable } from "../plugins/plugin-call.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { LogRows } from "./log-feed.ts";

/** Columns in the order of the table; tables that are deleted, and columns that the catalog does not have, are left out. */
export function namedTables(catalog: Pick<Catalog, "findTable" | "tableById">, { tables }: LogRows): PluginTable[] {
  return tables.flatMap(({ tableId, rowCount, columns }) => {
    const def = catalog.tableById(tableId);
    if (def === undefined || catalog.findTable(def.databaseId, def.name)?.id !== tableId) return [];
    const found = new Map(columns.map((column) => [column.columnId, column]));
    const named = def.columns.flatMap(({ id, name }) => {
      const column = found.get(id);
      return column === undefined ? [] : [{ name, present: column.present, values: column.values }];
    });
    return [{ table: def.name, rowCount, columns: named }];
  });
}
