// The rows of schema `system`: what the catalog, the manifest and the log of queries know, as of a statement's snapshot. Main thread.
import type { Catalog } from "../catalog/catalog.ts";
import { type ColumnDef, ColumnType, type TableDef } from "../model/column.ts";
import { INTERNAL_DATABASE } from "../model/names.ts";
import type { SystemRow } from "../model/system-table.ts";
import type { BlockOfTable, Manifest } from "../store/manifest.ts";
import type { QueryLog, QueryLogEntry } from "./query-log.ts";

/** A server of the cluster. */
export interface NodeInfo {
  readonly nodeId: string;
  /** A new one at each start of the process. */
  readonly instanceId: string;
  readonly modes: readonly string[];
  readonly coreCount: number;
  readonly startedNs: bigint;
}

export interface SystemTablesParts {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly queries: QueryLog;
  readonly nodes: () => readonly NodeInfo[];
}

/** `database` null: the internal one, which sees all of them. */
type MakeRows = (parts: SystemTablesParts, database: { readonly id: number; readonly name: string } | null) => SystemRow[];

/** The words of line protocol. */
const KEY_TYPE: Readonly<Record<ColumnType, string>> = {
  [ColumnType.time]: "time",
  [ColumnType.tag]: "tag",
  [ColumnType.float]: "float",
  [ColumnType.integer]: "integer",
  [ColumnType.unsigned]: "uinteger",
  [ColumnType.string]: "string",
  [ColumnType.boolean]: "boolean",
};

const ROWS: Readonly<Record<string, MakeRows>> = {
  influxdb_schema: ({ catalog }, database) =>
    database === null
      ? []
      : catalog.tables(database.id).flatMap(({ name, columns }) => columns.map((column) => [name, column.name, KEY_TYPE[column.type]])),
  parquet_files: ({ catalog, manifest }, database) =>
    database === null ? [] : catalog.tables(database.id).flatMap((table) => fileRows(table, manifest.blocksOf(table.id))),
  queries: ({ queries }, database) =>
    queries
      .entries()
      .filter((entry) => database === null || entry.database === database.name)
      .map(queryRow),
  tables: ({ catalog }, database) => {
    const databases = database === null ? catalog.databases() : [database];
    return databases.flatMap(({ id, name }) => catalog.tables(id).map((table) => tableRow(name, table)));
  },
  databases: ({ catalog }) => [
    [INTERNAL_DATABASE, null, false, null],
    ...catalog.databases().map(({ id, name }): SystemRow => [name, catalog.retentionNs("database", id) || null, false, null]),
  ],
  nodes: ({ nodes }) =>
    nodes().map(({ nodeId, instanceId, modes, coreCount, startedNs }, index) => {
      return [nodeId, BigInt(index), instanceId, JSON.stringify(modes), BigInt(coreCount), "running", startedNs, null];
    }),
};

/** Rows of the named tables that there are. Which of them a database has is the reader's to know (sql/system-schema.ts). */
export function systemRows(
  parts: SystemTablesParts,
  names: readonly string[],
  database: { readonly id: number; readonly name: string } | null,
): Record<string, SystemRow[]> {
  const found = names.filter((name) => Object.hasOwn(ROWS, name));
  return Object.fromEntries(found.map((name) => [name, ROWS[name]!(parts, database)]));
}

/** A row a file, of all its blocks of the table. Of a file that several tables share the size is that of all. */
function fileRows(table: TableDef, blocks: readonly BlockOfTable[]): SystemRow[] {
  return [...Map.groupBy(blocks, ({ file }) => file)].map(([file, ofFile]) => {
    let rowCount = 0;
    let { minTimeNs, maxTimeNs } = ofFile[0]!.block;
    for (const { block } of ofFile) {
      rowCount += block.rowCount;
      if (block.minTimeNs < minTimeNs) minTimeNs = block.minTimeNs;
      if (block.maxTimeNs > maxTimeNs) maxTimeNs = block.maxTimeNs;
    }
    return [table.name, file.key, BigInt(file.bytes), BigInt(rowCount), minTimeNs, maxTimeNs];
  });
}

function tableRow(database: string, { name, columns }: TableDef): SystemRow {
  const tags = columns.filter(({ type }: ColumnDef) => type === ColumnType.tag).map((column) => column.name);
  return [database, name, BigInt(columns.length), tags.join(", "), 0n, 0n, false, null];
}

function queryRow(entry: QueryLogEntry): SystemRow {
  const { phase, permitNs, planNs, executeNs, end2endNs, computeNs } = entry;
  const durations = [planNs, permitNs, executeNs, end2endNs, computeNs];
  const outcome = [phase === "success", end2endNs === null, phase === "cancel"];
  const { id, issueTimeNs, queryType, queryText, fileCount } = entry;
  return [id, phase, issueTimeNs, queryType, queryText, null, fileCount, ...durations, null, ...outcome, null];
}
