// Resolves ids in rows of the log to names.
import type { PluginTable } from "../plugins/plugin-call.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { LogRows } from "./log-feed.ts";

/** Columns in table order; deleted tables and unknown columns are omitted. */
export function namedTables(catalog: Pick<Catalog, "findTable" | "tableById">, { tables }: LogRows): PluginTable[] {
  return tables.flatMap(({ tableId, rowCount, columns }) => {
    const def = catalog.tableById(tableId);
    if (def === undefined || catalog.findTable(def.databaseId, def.name)?.id !== tableId) return [];
    const found = new Map(columns.map((column) => [column.columnId, column]));
    const named = def.columns.flatMap(({ id, name }) => {
      const column = found.get(id);
      return column === undefined ? [] : [{ name, present: column.present, values: column.values }];
    });
    const absent = def.columns.flatMap(({ id, name }) => (found.has(id) ? [] : [name]));
    return [{ table: def.name, rowCount, columns: named, absent }];
  });
}
