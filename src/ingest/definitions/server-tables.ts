// Tables of the server's own, in a namespace that no organization has: no request names them, and they count towards no limit. Their rows
// are written, flushed, compacted and dropped as those of any other table.
import type { TableDef } from "../../model/rows/column.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { type CatalogOperation, SERVER_NAMESPACE } from "../../storage/catalog/operations.ts";

const DATABASE = "_internal";
/** Of schema `system`, and of the table that has its rows. */
export const LOG_SYSTEM_TABLE = "processing_engine_logs";
const DAY_NS = 86_400_000_000_000n;
const LOG_RETENTION_NS = 7n * DAY_NS;

/** Columns of the table of triggers' log lines; `time` is 0. */
export const LOG_COLUMN = { time: 0, database: 1, trigger: 2, level: 3, text: 4 } as const;

const LOG_COLUMNS = [
  { id: LOG_COLUMN.database, name: "database_id", type: "tag" },
  { id: LOG_COLUMN.trigger, name: "trigger_name", type: "string" },
  { id: LOG_COLUMN.level, name: "log_level", type: "string" },
  { id: LOG_COLUMN.text, name: "log_text", type: "string" },
] as const;

type Names = Pick<Catalog, "findDatabase" | "findTable">;

/** Of what triggers have logged in all databases; undefined before the first line. */
export function findLogTable(catalog: Names): TableDef | undefined {
  const database = catalog.findDatabase(DATABASE, SERVER_NAMESPACE);
  return database === undefined ? undefined : catalog.findTable(database.id, LOG_SYSTEM_TABLE);
}

/** Creates it if it does not exist. @throws TsdbError as Catalog.apply */
export function makeLogTable(catalog: Names & Pick<Catalog, "nextIds" | "apply">): TableDef {
  const found = findLogTable(catalog);
  if (found !== undefined) return found;
  const { databaseId, tableId } = catalog.nextIds;
  const operations: CatalogOperation[] = [
    { kind: "create_database", id: databaseId, namespace: SERVER_NAMESPACE, name: DATABASE },
    { kind: "set_retention", of: "database", id: databaseId, retentionNs: String(LOG_RETENTION_NS) },
    { kind: "create_table", id: tableId, databaseId, name: LOG_SYSTEM_TABLE },
    { kind: "add_columns", tableId, columns: LOG_COLUMNS.map((column) => ({ ...column })) },
  ];
  // rows wait for the catalog, and its failure stops the server
  catalog.apply(operations).durable.catch(() => {});
  return findLogTable(catalog)!;
}
