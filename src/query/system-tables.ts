// The rows of schema `system`, from catalog, manifest and query log, at the time of a statement's snapshot. Main thread.

import { type CacheDef, shownValueIds } from "../model/caches.ts";
import { INTERNAL_DATABASE } from "../model/names.ts";
import { type ColumnDef, ColumnType, type TableDef, TIME_COLUMN } from "../model/rows/column.ts";
import { dispositionOf, type RowDeleteDef } from "../model/rows/row-delete.ts";
import { compareTexts } from "../model/rows/text-order.ts";
import type { SystemRow } from "../model/system-table.ts";
import { DAY_NS } from "../model/time/time-units.ts";
import type { TriggerDef } from "../model/triggers.ts";
import { type Catalog, DEFAULT_NAMESPACE } from "../storage/catalog/catalog.ts";
import type { DatabaseDef, SoftDeletion } from "../storage/catalog/state.ts";
import type { FileIndexList } from "../storage/file-index/list.ts";
import type { BlockOfTable, Manifest } from "../storage/manifest/manifest.ts";
import { fileIndexRows } from "./file-index-rows.ts";
import type { QueryLog, QueryLogEntry } from "./query-log.ts";

/** A server of the cluster. */
export interface NodeInfo {
  readonly nodeId: string;
  /** Generated at each start of the process. */
  readonly instanceId: string;
  readonly modes: readonly string[];
  readonly coreCount: number;
  readonly startedNs: bigint;
  /** When it was marked as stopped; null if it is not. */
  readonly stoppedNs: bigint | null;
}

export interface SystemTablesParts {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly indexes: FileIndexList;
  readonly queries: QueryLog;
  readonly nodes: () => readonly NodeInfo[];
  readonly tokens: () => SystemRow[];
  /** Files of the plugins of all triggers. */
  readonly pluginFiles: () => SystemRow[];
}

/** `database` null: the internal one, which shows all databases. */
type MakeRows = (parts: SystemTablesParts, database: DatabaseDef | null) => SystemRow[];

/** The terms of line protocol. */
const KEY_TYPE: Readonly<Record<ColumnType, string>> = {
  [ColumnType.time]: "time",
  [ColumnType.tag]: "tag",
  [ColumnType.float]: "float",
  [ColumnType.integer]: "integer",
  [ColumnType.unsigned]: "uinteger",
  [ColumnType.string]: "string",
  [ColumnType.boolean]: "boolean",
};

/** The vendor's value; nothing depends on it here. */
const INTERNAL_RETENTION_NS = 7n * DAY_NS;
const GENERATION_1_SECONDS = 600n;

const ROWS: Readonly<Record<string, MakeRows>> = {
  influxdb_schema: ({ catalog }, database) =>
    database === null
      ? []
      : byName(catalog.tables(database.id)).flatMap(({ name, columns }) =>
          byName(columns).map((column) => [name, column.name, KEY_TYPE[column.type]]),
        ),
  parquet_files: ({ catalog, manifest }, database) =>
    database === null ? [] : catalog.tables(database.id).flatMap((table) => fileRows(table, manifest.blocksOf(table.id))),
  queries: ({ queries }, database) =>
    queries
      .entries()
      .filter((entry) => database === null || (database.namespace === DEFAULT_NAMESPACE && entry.database === database.name))
      .map(queryRow),
  tables: ({ catalog }, database) => {
    const databases = database === null ? catalog.databases() : [database];
    const ids = new Map(databases.map(({ id, name }) => [id, name]));
    const live = databases.flatMap(({ id, name }) => catalog.tables(id).map((table) => tableRow(catalog, name, table, null)));
    const deleted = catalog.deleted().flatMap((object) => {
      const name = object.of === "table" ? ids.get(object.def.databaseId) : undefined;
      return name === undefined ? [] : [tableRow(catalog, name, object.def as TableDef, object)];
    });
    return [...live, ...deleted];
  },
  databases: ({ catalog }) => {
    const row = (def: { id: number; name: string }, deletion: SoftDeletion | null): SystemRow => {
      return [def.name, catalog.retentionNs("database", def.id) || null, deletion !== null, dropTime(deletion)];
    };
    const deleted = catalog.deleted().filter(({ of, def }) => of === "database" && (def as DatabaseDef).namespace === DEFAULT_NAMESPACE);
    return [
      [INTERNAL_DATABASE, INTERNAL_RETENTION_NS, false, null],
      ...catalog.databases().map((def) => row(def, null)),
      ...deleted.map((object) => row(object.def, object)),
    ];
  },
  generation_durations: () => [[1n, GENERATION_1_SECONDS]],
  tokens: ({ tokens }) => tokens(),
  file_index: (parts, database) =>
    (database === null ? parts.catalog.databases() : [database]).flatMap((each) => fileIndexRows(parts, each)),
  row_deletes: ({ catalog }, database) =>
    [...catalog.rowDeletes.all()].filter(({ databaseId }) => database === null || databaseId === database.id).map(rowDeleteRow),
  last_caches: ({ catalog }, database) =>
    (database === null ? [] : catalog.tables(database.id)).flatMap((table) => catalog.caches(table.id).flatMap(lastCacheRows(table))),
  distinct_caches: ({ catalog }, database) =>
    (database === null ? [] : catalog.tables(database.id)).flatMap((table) => catalog.caches(table.id).flatMap(distinctCacheRows(table))),
  processing_engine_triggers: ({ catalog }, database) =>
    triggersOf(catalog, database).map(({ name, plugin, specification, state, errorBehavior }) => {
      return [name, plugin, specification, state !== "enabled", errorBehavior];
    }),
  processing_engine_trigger_arguments: ({ catalog }, database) =>
    triggersOf(catalog, database).flatMap(({ name, arguments: args }) => Object.entries(args ?? {}).map((entry) => [name, ...entry])),
  plugin_files: ({ pluginFiles }) => pluginFiles(),
  // those of a database are stored (stored-system-table.ts)
  processing_engine_logs: () => [],
  // stored likewise
  audit_log: () => [],
  nodes: ({ nodes }) =>
    nodes().map(({ nodeId, instanceId, modes, coreCount, startedNs, stoppedNs }, index) => {
      const state = stoppedNs === null ? "running" : "stopped";
      return [nodeId, BigInt(index), instanceId, JSON.stringify(modes), BigInt(coreCount), state, stoppedNs ?? startedNs, null];
    }),
};

function triggersOf(catalog: Catalog, database: { readonly id: number } | null): TriggerDef[] {
  return database === null ? [] : catalog.triggers.ofDatabase(database.id);
}

/** The rows of the requested tables that exist. sql/tables/system-schema.ts decides which of them a database has. */
export function systemRows(parts: SystemTablesParts, names: readonly string[], database: DatabaseDef | null): Record<string, SystemRow[]> {
  const found = names.filter((name) => Object.hasOwn(ROWS, name));
  return Object.fromEntries(found.map((name) => [name, ROWS[name]!(parts, database)]));
}

/** One row per file, over all its blocks of the table. For files shared by several tables the size is the whole file's. */
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

function lastCacheRows(table: TableDef): (cache: CacheDef) => SystemRow[] {
  return (cache) => {
    if (cache.kind !== "last") return [];
    const values = cache.valueColumnIds === null ? [null, null] : columnLists(table, shownValueIds(cache.valueColumnIds, cache));
    const bounds = [BigInt(cache.count), BigInt(cache.ttlSeconds)];
    return [[table.name, cache.name, ...columnLists(table, cache.keyColumnIds), ...values, ...bounds]];
  };
}

function distinctCacheRows(table: TableDef): (cache: CacheDef) => SystemRow[] {
  return (cache) => {
    if (cache.kind !== "distinct") return [];
    const bounds = [BigInt(cache.maxCardinality), BigInt(cache.maxAgeSeconds)];
    return [[table.name, cache.name, ...columnLists(table, cache.columnIds), ...bounds]];
  };
}

/** Ids and names, as lists. The vendor's ids of tags and fields start from 0, and time follows those that were there at first. */
function columnLists({ columns }: TableDef, ids: readonly number[]): [ids: string, names: string] {
  const names = ids.map((id) => columns.find((column) => column.id === id)?.name ?? "");
  const shown = ids.map((id) => (id === TIME_COLUMN.id ? columns.length - 1 : id - 1));
  return [JSON.stringify(shown), JSON.stringify(names)];
}

function rowDeleteRow(request: RowDeleteDef): SystemRow {
  const { sequence, database, table, predicate, minTimeNs, endTimeNs, createdMs, endedMs, abortReason } = request;
  const time = (ns: string | null) => (ns === null ? null : BigInt(ns));
  const disposition = dispositionOf(request);
  const ended = (wanted: string) => (disposition === wanted && endedMs !== null ? BigInt(endedMs) * 1_000_000n : null);
  const bounds = [time(minTimeNs), time(endTimeNs)];
  const ends = [ended("completed"), ended("aborted"), abortReason];
  return [BigInt(sequence), database, table, predicate, ...bounds, disposition, BigInt(createdMs) * 1_000_000n, ...ends];
}

/** Null: never, or not deleted. */
function dropTime(deletion: SoftDeletion | null): bigint | null {
  const ms = deletion?.hardDeleteMs ?? null;
  return ms === null ? null : BigInt(ms) * 1_000_000n;
}

function tableRow(catalog: Catalog, database: string, { id, name, columns }: TableDef, deletion: SoftDeletion | null): SystemRow {
  const tags = columns.filter(({ type }: ColumnDef) => type === ColumnType.tag).map((column) => column.name);
  const caches = catalog.caches(id);
  const [lastCount, distinctCount] = (["last", "distinct"] as const).map((kind) => caches.filter((cache) => cache.kind === kind).length);
  const counts = [BigInt(lastCount!), BigInt(distinctCount!)];
  return [database, name, BigInt(columns.length), tags.join(", "), ...counts, deletion !== null, dropTime(deletion)];
}

function queryRow(entry: QueryLogEntry): SystemRow {
  const { phase, permitNs, planNs, executeNs, end2endNs, computeNs } = entry;
  const durations = [planNs, permitNs, executeNs, end2endNs, computeNs];
  const outcome = [phase === "success", end2endNs === null, phase === "cancel"];
  const { id, issueTimeNs, queryType, queryText, fileCount } = entry;
  return [id, phase, issueTimeNs, queryType, queryText, null, fileCount, ...durations, null, ...outcome, null];
}

function byName<T extends { readonly name: string }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => compareTexts(a.name, b.name));
}
