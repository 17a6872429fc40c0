// Limits on databases, tables and columns. They apply to creation only: existing objects are never rejected, however low a limit is set.
// Deleted databases and tables, and tables of deleted databases, do not count; restoring counts as creating.
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";

/** Infinity = limited by memory only. */
export interface SchemaLimits {
  /** Tags and fields, without time. */
  readonly columnsPerTableMax: number;
  /** The same for rows of buckets, which come from clients and databases that know no such limit. */
  readonly columnsPerBucketTableMax: number;
  /** Of all databases together. */
  readonly tablesMax: number;
  /** Includes retention policies `db/rp`, excludes `_internal`. */
  readonly databasesMax: number;
  /** Tables that one body may create. */
  readonly newTablesPerBodyMax: number;
  /** Memory of all table and column definitions, including deleted tables. */
  readonly schemaBytesMax: number;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = {
  columnsPerTableMax: LIMITS.columnsPerTableDefault,
  columnsPerBucketTableMax: LIMITS.columnsPerTableMax,
  tablesMax: Number.POSITIVE_INFINITY,
  databasesMax: Number.POSITIVE_INFINITY,
  newTablesPerBodyMax: LIMITS.bodyTablesMax,
  schemaBytesMax: LIMITS.schemaBytesDefault,
};

/** The limits of writes to buckets, of imports and of backups. */
export function limitsOfBuckets(limits: SchemaLimits): SchemaLimits {
  return { ...limits, columnsPerTableMax: limits.columnsPerBucketTableMax };
}

/** Size of a catalog, without deleted databases and tables. */
interface SchemaCounts {
  readonly databaseCount: number;
  readonly tableCount: number;
}

/** @throws TsdbError limit_exceeded */
export function checkDatabaseLimit({ databaseCount }: Pick<SchemaCounts, "databaseCount">, { databasesMax: limit }: SchemaLimits): void {
  if (databaseCount < limit) return;
  throw new TsdbError("limit_exceeded", `Adding a new database would exceed limit of ${limit} databases`, { limit });
}

/** Checks the limit for `count` more tables. @throws TsdbError limit_exceeded */
export function checkTableLimit({ tableCount }: Pick<SchemaCounts, "tableCount">, count: number, { tablesMax: limit }: SchemaLimits): void {
  if (count === 0 || tableCount + count <= limit) return;
  throw new TsdbError("limit_exceeded", tooManyTables(tableCount, limit), { limit });
}

/** Checks the memory for more table and column definitions. @throws TsdbError overloaded */
export function checkSchemaMemory(
  { definitionBytes }: { readonly definitionBytes: number },
  added: { readonly tables: number; readonly columns: number },
  { schemaBytesMax }: SchemaLimits,
): void {
  const bytes = added.tables * LIMITS.tableDefinitionBytes + added.columns * LIMITS.columnDefinitionBytes;
  if (bytes === 0 || definitionBytes + bytes <= schemaBytesMax) return;
  const message =
    `the definitions of ${added.tables} more tables and ${added.columns} more columns take ${bytes} bytes of memory; ` +
    `${definitionBytes} of ${schemaBytesMax} are in use: delete tables that nobody uses, or raise --schema-mem-limit`;
  throw new TsdbError("overloaded", message, { bytes, definitionBytes, schemaBytesMax });
}

/** The error for a line or a request; `tableCount`: existing tables. */
export function tooManyTables(tableCount: number, limit: number): string {
  return `Update to schema would exceed number of tables limit: attempted to create table but already have ${tableCount} table(s) (limit: ${limit})`;
}

/** The error for a line. */
export function tooManyNewTables(limit: number): string {
  return `Update to schema would exceed number of new tables limit: one write can create at most ${limit} tables; send the others with another write`;
}

/** The error for a line or a request. */
export function tooManyColumns(limit: number): string {
  return `Update to schema would exceed number of columns per table limit of ${limit} columns`;
}

/** True for reasons that the vendor answers with 422 instead of 400. */
export function isSchemaLimit(reason: string): boolean {
  return reason.startsWith("Update to schema would exceed number of") || reason.startsWith("Adding a new database would exceed limit of");
}
