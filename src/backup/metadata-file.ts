// The part `kv` of a backup: a line with a checksum, and JSON of all records of the bucket-based API and of the databases with the columns
// of their tables. Rows are in shards. What port 8181 alone has (its tokens, caches, triggers, file indexes) is not part of it.
import { TsdbError } from "../model/errors.ts";
import { bucketNameError, tableNameError } from "../model/names.ts";
import type { TableDef } from "../model/rows/column.ts";
import { badValue, readArray, readCount, readObject, readText } from "../object-store/operation-values.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import {
  type ColumnOperation,
  columnTypeName,
  organizationNamespace,
  readColumn,
  readRetention,
  SERVER_NAMESPACE,
} from "../storage/catalog/operations.ts";
import { type PolicySettings, readPolicies } from "../storage/catalog/policies.ts";
import { type CatalogRecord, readRecord } from "../storage/catalog/records.ts";
import { SHA256_DIGITS, sha256 } from "./checksum.ts";

const HEAD = "tsdb metadata backup 1 ";

export interface MetadataBackup {
  /** Ids below it were used. */
  readonly nextDatabaseId: number;
  /** Ascending ids. */
  readonly databases: readonly DatabaseBackup[];
  readonly records: readonly CatalogRecord[];
}

export interface DatabaseBackup {
  readonly id: number;
  readonly namespace: number;
  readonly name: string;
  /** Decimal nanoseconds; null = not set. */
  readonly retentionNs: string | null;
  readonly policies: PolicySettings;
  readonly tables: readonly TableBackup[];
}

export interface TableBackup {
  readonly name: string;
  readonly retentionNs: string | null;
  /** Without time. */
  readonly columns: readonly ColumnOperation[];
}

/** All that is not deleted. @param portable records as another server can read them */
export function metadataOf(catalog: Catalog, portable: (record: CatalogRecord) => CatalogRecord): MetadataBackup {
  const { records } = catalog;
  const retention = (of: "database" | "table", id: number) => catalog.retentionNs(of, id)?.toString() ?? null;
  const ofOrganizations = catalog.allDatabases().filter(({ namespace }) => namespace !== SERVER_NAMESPACE);
  const databases = ofOrganizations.map(({ id, namespace, name }): DatabaseBackup => {
    const tables = catalog.tables(id).map((table): TableBackup => {
      return { name: table.name, retentionNs: retention("table", table.id), columns: columnsOf(table) };
    });
    return { id, namespace, name, retentionNs: retention("database", id), policies: catalog.policies(id), tables };
  });
  return {
    nextDatabaseId: catalog.nextIds.databaseId,
    databases: databases.sort((a, b) => a.id - b.id),
    records: records.kinds().flatMap((of) => [...records.ofKind(of)].map(([id, value]) => portable({ of, id, value }))),
  };
}

/** The columns of a table as the catalog's log has them, without time. */
export function columnsOf({ columns }: Pick<TableDef, "columns">): ColumnOperation[] {
  return columns.slice(1).map(({ id, name, type }) => ({ id, name, type: columnTypeName(type) }));
}

/** The metadata of a backup as bytes; `decodeMetadata` reads them. */
export function encodeMetadata(metadata: MetadataBackup): Uint8Array<ArrayBuffer> {
  const body = Buffer.from(JSON.stringify(metadata));
  return new Uint8Array(Buffer.concat([Buffer.from(`${HEAD}${sha256(body)}\n`), body]));
}

/** @throws TsdbError bad_request for bytes that are not, or no longer, what `encodeMetadata` made */
export function decodeMetadata(bytes: Uint8Array): MetadataBackup {
  const headBytes = HEAD.length + SHA256_DIGITS + 1;
  const head = Buffer.from(bytes.subarray(0, headBytes)).toString("latin1");
  if (!head.startsWith(HEAD)) throw new TsdbError("bad_request", "this is no backup of this server's metadata");
  const body = bytes.subarray(headBytes);
  if (head !== `${HEAD}${sha256(body)}\n`) {
    throw new TsdbError("bad_request", "the backup of the metadata is damaged: its checksum differs; nothing was restored");
  }
  try {
    return readMetadata(JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8")));
  } catch (cause) {
    throw new TsdbError("bad_request", `the backup of the metadata cannot be read: ${(cause as Error).message}`, {}, { cause });
  }
}

function readMetadata(value: unknown): MetadataBackup {
  const metadata = readObject("metadata", value);
  return {
    nextDatabaseId: readCount("nextDatabaseId", metadata["nextDatabaseId"]),
    databases: readArray("databases", metadata["databases"]).map(readDatabase),
    records: readArray("records", metadata["records"]).map(readRecord),
  };
}

function readDatabase(value: unknown): DatabaseBackup {
  const database = readObject("database", value);
  return {
    id: readCount("database.id", database["id"]),
    ...readPlacedName(database),
    retentionNs: readRetention("database.retentionNs", database["retentionNs"]),
    policies: readPolicies(database["policies"]),
    tables: readArray("database.tables", database["tables"]).map(readTable),
  };
}

function readPlacedName(database: Readonly<Record<string, unknown>>): { namespace: number; name: string } {
  const namespace = readCount("database.namespace", database["namespace"]);
  if (namespace === SERVER_NAMESPACE) badValue("database.namespace", namespace, "one of an organization");
  // system buckets have names that no other can have, in namespaces of their own
  const isOfSystem = organizationNamespace(namespace) !== namespace;
  return { namespace, name: isOfSystem ? readText("database.name", database["name"]) : readDatabaseName(database["name"]) };
}

/** A name that a database or a bucket can be given. @throws TsdbError corrupt_file */
export function readDatabaseName(value: unknown): string {
  return readName("database.name", value, bucketNameError);
}

function readName(what: string, value: unknown, errorOf: (name: string) => string | null): string {
  const name = readText(what, value);
  const error = errorOf(name);
  return error === null ? name : badValue(what, name, `a valid name: ${error}`);
}

/** @throws TsdbError corrupt_file */
export function readTable(value: unknown): TableBackup {
  const table = readObject("table", value);
  return {
    name: readName("table.name", table["name"], tableNameError),
    retentionNs: readRetention("table.retentionNs", table["retentionNs"]),
    columns: readArray("table.columns", table["columns"]).map((column) => readColumn("column", column)),
  };
}
