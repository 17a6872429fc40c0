// Tables of the server's own, in a namespace that no organization has: no request names them, and they count towards no limit. Their rows
// are written, flushed, compacted and dropped as those of any other table.
import type { TableDef } from "../../model/rows/column.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { type CatalogOperation, type ColumnOperation, SERVER_NAMESPACE } from "../../storage/catalog/operations.ts";

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

/** Of schema `system` of `_internal`, and of the table that has its rows. */
export const AUDIT_SYSTEM_TABLE = "audit_log";

/** Columns of the audit log; `time` is 0. */
export const AUDIT_COLUMN = { time: 0, actor: 1, action: 2, target: 3, outcome: 4, address: 5, details: 6 } as const;

const AUDIT_COLUMNS = (["actor", "action", "target", "outcome", "address", "details"] as const).map((name) => {
  return { id: AUDIT_COLUMN[name], name, type: "string" } as const;
});

type Names = Pick<Catalog, "findDatabase" | "findTable">;
type Changes = Names & Pick<Catalog, "nextIds" | "apply">;

/** Of what triggers have logged in all databases; undefined before the first line. */
export function findLogTable(catalog: Names): TableDef | undefined {
  return find(catalog, LOG_SYSTEM_TABLE);
}

/** Creates it if it does not exist. @throws TsdbError as Catalog.apply */
export function makeLogTable(catalog: Changes): TableDef {
  return findLogTable(catalog) ?? make(catalog, LOG_SYSTEM_TABLE, LOG_COLUMNS, null);
}

/** Of who signed in and who changed users and tokens; undefined before the first event. */
export function findAuditTable(catalog: Names): TableDef | undefined {
  return find(catalog, AUDIT_SYSTEM_TABLE);
}

/** Creates it if it does not exist; its rows are kept so long from now on. @throws TsdbError as Catalog.apply */
export function makeAuditTable(catalog: Changes & Pick<Catalog, "retentionNs">, retentionNs: bigint): TableDef {
  const found = findAuditTable(catalog);
  if (found === undefined) return make(catalog, AUDIT_SYSTEM_TABLE, AUDIT_COLUMNS, retentionNs);
  if (catalog.retentionNs("table", found.id) !== retentionNs) applied(catalog, [retentionOf(found.id, retentionNs)]);
  return found;
}

function find(catalog: Names, name: string): TableDef | undefined {
  const database = catalog.findDatabase(DATABASE, SERVER_NAMESPACE);
  return database === undefined ? undefined : catalog.findTable(database.id, name);
}

/** @param retentionNs null = that of the log of triggers */
function make(catalog: Changes, name: string, columns: readonly ColumnOperation[], retentionNs: bigint | null): TableDef {
  const { databaseId: nextId, tableId } = catalog.nextIds;
  const database = catalog.findDatabase(DATABASE, SERVER_NAMESPACE);
  const databaseId = database?.id ?? nextId;
  const ofDatabase: CatalogOperation[] = [
    { kind: "create_database", id: databaseId, namespace: SERVER_NAMESPACE, name: DATABASE },
    { kind: "set_retention", of: "database", id: databaseId, retentionNs: String(LOG_RETENTION_NS) },
  ];
  applied(catalog, [
    ...(database === undefined ? ofDatabase : []),
    { kind: "create_table", id: tableId, databaseId, name },
    { kind: "add_columns", tableId, columns: columns.map((column) => ({ ...column })) },
    ...(retentionNs === null ? [] : [retentionOf(tableId, retentionNs)]),
  ]);
  return find(catalog, name)!;
}

function retentionOf(id: number, retentionNs: bigint): CatalogOperation {
  return { kind: "set_retention", of: "table", id, retentionNs: String(retentionNs) };
}

/** Rows wait for the catalog, and its failure stops the server. */
function applied(catalog: Changes, operations: readonly CatalogOperation[]): void {
  catalog.apply(operations).durable.catch(() => {});
}
