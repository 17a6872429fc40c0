// What a full restore does to the catalog: every database goes, those of the backup come under the ids that they had, and their records
// in place of the present ones.
import { TsdbError } from "../model/errors.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { CatalogOperation } from "../storage/catalog/operations.ts";
import { checkDatabaseLimit, checkSchemaMemory, checkTableLimit } from "../storage/catalog/schema-limits.ts";
import type { MetadataBackup, TableBackup } from "./metadata-file.ts";

/** One entry of the catalog's log. Tables get new ids, so that no row of the present ones is taken for theirs; columns keep theirs. */
export function restoreOperations(catalog: Catalog, backup: MetadataBackup, nowMs: number): CatalogOperation[] {
  const operations: CatalogOperation[] = [...removeAll(catalog, nowMs)];
  let { tableId } = catalog.nextIds;
  for (const { id, namespace, name, retentionNs, policies, tables } of backup.databases) {
    operations.push(
      { kind: "create_database", id, namespace, name, isReused: true },
      { kind: "set_retention", of: "database", id, retentionNs },
      { kind: "set_policies", databaseId: id, ...policies },
    );
    for (const table of tables) operations.push(...createTable({ ...table, id: tableId++, databaseId: id }));
  }
  return [...operations, ...reserveIds(backup, nowMs), ...replaceRecords(catalog, backup)];
}

/** The operations that make a table of a backup. */
export function createTable({
  id,
  databaseId,
  name,
  retentionNs,
  columns,
}: TableBackup & { id: number; databaseId: number }): CatalogOperation[] {
  return [
    { kind: "create_table", id, databaseId, name },
    ...(columns.length === 0 ? [] : [{ kind: "add_columns", tableId: id, columns } as const]),
    ...(retentionNs === null ? [] : [{ kind: "set_retention", of: "table", id, retentionNs } as const]),
  ];
}

/** Tries them on a copy of the catalog. @throws TsdbError bad_request if the backup contradicts itself; limit_exceeded, overloaded */
export function checkRestore(catalog: Catalog, operations: readonly CatalogOperation[]): void {
  const { limits } = catalog;
  let size: ReturnType<Catalog["rehearse"]>;
  try {
    size = catalog.rehearse(operations);
  } catch (cause) {
    throw new TsdbError("bad_request", `the backup of the metadata contradicts itself: ${(cause as Error).message}`, {}, { cause });
  }
  const { databaseCount, tableCount, definitionBytes } = size;
  checkDatabaseLimit({ databaseCount: databaseCount - 1 }, limits);
  checkTableLimit({ tableCount: 0 }, tableCount, limits);
  if (definitionBytes > limits.schemaBytesMax) checkSchemaMemory({ definitionBytes }, { tables: 1, columns: 0 }, limits);
}

function* removeAll(catalog: Catalog, nowMs: number): Generator<CatalogOperation> {
  for (const { of, def } of catalog.deleted()) if (of === "database") yield { kind: "drop", of, id: def.id };
  for (const { id } of catalog.allDatabases()) {
    yield { kind: "soft_delete", of: "database", id, name: crypto.randomUUID(), deletedMs: nowMs, hardDeleteMs: nowMs };
    yield { kind: "drop", of: "database", id };
  }
}

/** Ids of buckets that were deleted before the backup are not given again: permissions may name them. */
function* reserveIds({ nextDatabaseId, databases }: MetadataBackup, nowMs: number): Generator<CatalogOperation> {
  const id = nextDatabaseId - 1;
  if (id <= (databases.at(-1)?.id ?? 0)) return;
  yield { kind: "create_database", id, namespace: 0, name: crypto.randomUUID(), isReused: true };
  yield { kind: "soft_delete", of: "database", id, name: crypto.randomUUID(), deletedMs: nowMs, hardDeleteMs: nowMs };
  yield { kind: "drop", of: "database", id };
}

function* replaceRecords({ records }: Catalog, backup: MetadataBackup): Generator<CatalogOperation> {
  for (const of of records.kinds()) for (const id of records.ofKind(of).keys()) yield { kind: "delete_record", of, id };
  for (const record of backup.records) yield { kind: "put_record", ...record };
}
