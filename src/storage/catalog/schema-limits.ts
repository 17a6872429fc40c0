// How many databases, tables and columns there may be. What exists is never refused, however low a limit is set: only what would be made.
// Deleted databases and tables do not count, those of a deleted database neither; restoring counts as making.
import { TsdbError } from "../../model/errors.ts";
import { LIMITS } from "../../model/limits.ts";

/** Infinity = as many as there is memory for. */
export interface SchemaLimits {
  /** Tags and fields; time is not counted. */
  readonly columnsPerTableMax: number;
  /** Of all databases together. */
  readonly tablesMax: number;
  /** A retention policy `db/rp` is one of its own; `_internal` is none. */
  readonly databasesMax: number;
  /** That one body may make. */
  readonly newTablesPerBodyMax: number;
  /** Memory for the definitions of all tables and columns, those of deleted tables too. */
  readonly schemaBytesMax: number;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = {
  columnsPerTableMax: LIMITS.columnsPerTableMax,
  tablesMax: Number.POSITIVE_INFINITY,
  databasesMax: Number.POSITIVE_INFINITY,
  newTablesPerBodyMax: LIMITS.bodyTablesMax,
  schemaBytesMax: LIMITS.schemaBytesDefault,
};

/** What a catalog holds, deleted databases and tables left out. */
interface SchemaCounts {
  readonly databaseCount: number;
  readonly tableCount: number;
}

/** @throws TsdbError limit_exceeded */
export function checkDatabaseLimit({ databaseCount }: Pick<SchemaCounts, "databaseCount">, { databasesMax: limit }: SchemaLimits): void {
  if (databaseCount < limit) return;
  throw new TsdbError("limit_exceeded", `Adding a new database would exceed limit of ${limit} databases`, { limit });
}

/** Room for `count` more tables. @throws TsdbError limit_exceeded */
export function checkTableLimit({ tableCount }: Pick<SchemaCounts, "tableCount">, count: number, { tablesMax: limit }: SchemaLimits): void {
  if (count === 0 || tableCount + count <= limit) return;
  throw new TsdbError("limit_exceeded", tooManyTables(tableCount, limit), { limit });
}

/** Memory for the definitions of more tables and columns. @throws TsdbError overloaded */
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

/** What is said of a line or a request; `tableCount`: those that there are. */
export function tooManyTables(tableCount: number, limit: number): string {
  return `Update to schema would exceed number of tables limit: attempted to create table but already have ${tableCount} table(s) (limit: ${limit})`;
}

/** What is said of a line. */
export function tooManyNewTables(limit: number): string {
  return `Update to schema would exceed number of new tables limit: one write can create at most ${limit} tables; send the others with another write`;
}

export function tooManyColumns(limit: number): string {
  return `Update to schema would exceed number of columns per table limit of ${limit} columns`;
}

/** True for reasons that the vendor answers with 422 instead of 400. */
export function isSchemaLimit(reason: string): boolean {
  return reason.startsWith("Update to schema would exceed number of") || reason.startsWith("Adding a new database would exceed limit of");
}
