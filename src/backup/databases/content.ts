// What a backup of databases holds, at one moment: their definitions, and the files with their rows. It is taken in one step, when all
// rows acknowledged before are in files.
import type { CacheDef } from "../../model/caches.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import type { TriggerDef } from "../../model/triggers.ts";
import { isSafeKeyPart } from "../../object-store/object-store.ts";
import { badValue, readArray, readCount, readObject, readText } from "../../object-store/operation-values.ts";
import { readCache } from "../../storage/catalog/caches.ts";
import type { Catalog } from "../../storage/catalog/catalog.ts";
import { readSetFileIndex } from "../../storage/catalog/file-indexes.ts";
import { deleteRowsOperation, readRetention, readTombstone } from "../../storage/catalog/operations.ts";
import { type PolicySettings, readPolicies } from "../../storage/catalog/policies.ts";
import { readTrigger } from "../../storage/catalog/triggers.ts";
import type { FileMeta, Manifest } from "../../storage/manifest/manifest.ts";
import { fileToJson, readFile } from "../../storage/manifest/manifest-entry.ts";
import { columnsOf, readDatabaseName, readTable, type TableBackup } from "../metadata-file.ts";

export interface TableContent extends TableBackup {
  readonly id: number;
  readonly fileIndex: readonly string[] | null;
  readonly caches: readonly CacheDef[];
  /** Ascending ids. */
  readonly tombstones: readonly Tombstone[];
}

export interface DatabaseContent {
  readonly id: number;
  readonly name: string;
  /** Decimal nanoseconds; null = not set. */
  readonly retentionNs: string | null;
  readonly policies: PolicySettings;
  readonly fileIndex: readonly string[] | null;
  readonly triggers: readonly TriggerDef[];
  readonly tables: readonly TableContent[];
}

/** A file with the place of its copy. */
export interface StoredFile {
  /** Blocks of the backup's tables alone. */
  readonly file: FileMeta;
  /** Below the folder of backups; of an incremental backup perhaps of an earlier one. */
  readonly place: string;
  readonly sha256: string;
}

export interface BackupContent {
  /** Of the server: its file ids mean the same files. */
  readonly source: string;
  /** Ascending ids. */
  readonly databases: readonly DatabaseContent[];
  readonly files: readonly StoredFile[];
}

/** What is on the server now: the files have no copies yet. */
export interface ServerContent {
  readonly databases: readonly DatabaseContent[];
  readonly files: readonly FileMeta[];
}

interface ContentSource {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  readonly tombstonesOf: (tableId: number) => readonly Tombstone[];
}

/** One synchronous step: rows up to the manifest's flushed sequence, and definitions of this moment. */
export function contentOf({ catalog, manifest, tombstonesOf }: ContentSource): ServerContent {
  const retention = (of: "database" | "table", id: number) => catalog.retentionNs(of, id)?.toString() ?? null;
  const databases = catalog.databases().map(({ id, name }): DatabaseContent => {
    const tables = catalog.tables(id).map(
      (table): TableContent => ({
        ...{ id: table.id, name: table.name, retentionNs: retention("table", table.id), columns: columnsOf(table) },
        ...{ fileIndex: catalog.fileIndexes.own("table", table.id), caches: catalog.caches(table.id) },
        // later ones are of a time whose rows are not all in files
        tombstones: tombstonesOf(table.id).filter(({ sequence }) => sequence <= manifest.flushedSequence),
      }),
    );
    const triggers = catalog.triggers.ofDatabase(id);
    const settings = { retentionNs: retention("database", id), policies: catalog.policies(id) };
    return { id, name, ...settings, fileIndex: catalog.fileIndexes.own("database", id), triggers, tables };
  });
  const tableIds = new Set(databases.flatMap(({ tables }) => tables.map(({ id }) => id)));
  const files = manifest.files().flatMap((file) => {
    const blocks = file.blocks.filter(({ tableId }) => tableIds.has(tableId));
    return blocks.length === 0 ? [] : [{ ...file, blocks }];
  });
  return { databases: databases.sort((a, b) => a.id - b.id), files };
}

/** The JSON form. */
export function contentToJson({ source, databases, files }: BackupContent): unknown {
  const tableToJson = ({ tombstones, ...table }: TableContent) => ({ ...table, tombstones: tombstones.map(deleteRowsOperation) });
  return {
    source,
    databases: databases.map(({ tables, ...database }) => ({ ...database, tables: tables.map(tableToJson) })),
    files: files.map(({ file, place, sha256 }) => ({ file: fileToJson(file), place, sha256 })),
  };
}

/** @throws TsdbError corrupt_file */
export function contentFromJson(value: unknown): BackupContent {
  const content = readObject("backup", value);
  return {
    source: readText("backup.source", content["source"]),
    databases: readArray("backup.databases", content["databases"]).map(readDatabase),
    files: readArray("backup.files", content["files"]).map(readStored),
  };
}

function readDatabase(value: unknown): DatabaseContent {
  const database = readObject("database", value);
  const id = readCount("database.id", database["id"]);
  return {
    id,
    name: readDatabaseName(database["name"]),
    retentionNs: readRetention("database.retentionNs", database["retentionNs"]),
    policies: readPolicies(database["policies"]),
    fileIndex: readSetFileIndex({ of: "database", id, columns: database["fileIndex"] }).columns,
    triggers: readArray("database.triggers", database["triggers"]).map(readTrigger),
    tables: readArray("database.tables", database["tables"]).map(readTableContent),
  };
}

function readTableContent(value: unknown): TableContent {
  const table = readObject("table", value);
  const id = readCount("table.id", table["id"]);
  return {
    ...{ id, ...readTable(table) },
    fileIndex: readSetFileIndex({ of: "table", id, columns: table["fileIndex"] }).columns,
    caches: readArray("table.caches", table["caches"]).map(readCache),
    tombstones: readArray("table.tombstones", table["tombstones"]).map(readTombstone),
  };
}

function readStored(value: unknown): StoredFile {
  const stored = readObject("file", value);
  return {
    file: readFile(stored["file"]),
    place: readPlace(stored["place"]),
    sha256: readText("file.sha256", stored["sha256"]),
  };
}

function readPlace(value: unknown): string {
  const place = readText("file.place", value);
  const parts = place.split("/");
  return parts.length === 3 && parts.every(isSafeKeyPart) ? place : badValue("file.place", value, "a file below the folder of backups");
}
