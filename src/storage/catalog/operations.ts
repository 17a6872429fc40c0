// The operations of the catalog's log. Kinds and field types are spelled out, and every operation carries the ids it creates, so that
// replaying the log does not depend on the rules of the server that wrote it.

import type { CacheDef } from "../../model/caches.ts";
import type { TagPredicate } from "../../model/query/scan.ts";
import type { ColumnType } from "../../model/rows/column.ts";
import type { Tombstone } from "../../model/rows/tombstone.ts";
import { badValue, readArray, readCount, readNs, readObject, readText } from "../../object-store/operation-values.ts";
import { type AccountOperation, readAccountOperation } from "./accounts.ts";
import { readCache } from "./caches.ts";
import { type RowDeleteOperation, readRowDeleteOperation } from "./deletions/row-deletes.ts";
import { readSetFileIndex, type SetFileIndex } from "./file-indexes.ts";
import { readStoppedNode, type StartNode, type StopNode } from "./nodes.ts";
import { readSetPolicies, type SetPolicies } from "./policies.ts";
import { type DeleteRecord, type PutRecord, readId, readRecord } from "./records.ts";
import { type CreateToken, type DeleteToken, type ReplaceToken, readHash, readToken } from "./tokens.ts";
import { readTrigger, readTriggerOperation, type TriggerOperation } from "./triggers.ts";

/** Column types as spelled in the log; `time` is column 0 of every table and never written. */
export const COLUMN_TYPE_NAME = { tag: 1, float: 2, integer: 3, unsigned: 4, string: 5, boolean: 6 } as const satisfies Record<
  string,
  ColumnType
>;
export type ColumnTypeName = keyof typeof COLUMN_TYPE_NAME;

const NAME_OF_TYPE = new Map<ColumnType, ColumnTypeName>(
  Object.entries(COLUMN_TYPE_NAME).map(([name, type]) => [type, name as ColumnTypeName]),
);

/** The log's spelling of a column type. @throws on `time` */
export function columnTypeName(type: ColumnType): ColumnTypeName {
  const name = NAME_OF_TYPE.get(type);
  if (name === undefined) throw new Error(`BUG: column type ${type} has no name in the log`);
  return name;
}

export interface ColumnOperation {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnTypeName;
}

/** Namespace of the server's own databases: no organization has it. */
export const SERVER_NAMESPACE = 0xffff_ffff;

const SYSTEM_NAMESPACES = 0x8000_0000;

/** The namespace of an organization's system buckets. Port 8181 sees that of no organization. */
export function systemNamespace(organization: number): number {
  return organization + SYSTEM_NAMESPACES;
}

/** The namespace of the organization that a database belongs to. */
export function organizationNamespace(namespace: number): number {
  return namespace >= SYSTEM_NAMESPACES ? namespace - SYSTEM_NAMESPACES : namespace;
}

/** The first operation of a log: the identity of this cluster. */
export interface CreateCluster {
  readonly kind: "create_cluster";
  readonly uuid: string;
}

export interface CreateDatabase {
  readonly kind: "create_database";
  readonly id: number;
  /** 0 = the default organization, visible on port 8181. Names are unique within their namespace. */
  readonly namespace: number;
  readonly name: string;
  /** A database of a backup, under the id that it had there: no database has it now. Other ids were never used before. */
  readonly isReused?: true;
}

/** Creates a table with its time column only. */
export interface CreateTable {
  readonly kind: "create_table";
  readonly id: number;
  readonly databaseId: number;
  readonly name: string;
  /** A table of a backup, under an id that was set aside for it: no table has had it. Other ids were never used before. */
  readonly isReused?: true;
}

export interface AddColumns {
  readonly kind: "add_columns";
  readonly tableId: number;
  readonly columns: readonly ColumnOperation[];
}

/** A tombstone; removes those of the same table that it covers (model/rows/tombstone.ts). */
export interface DeleteRows {
  readonly kind: "delete_rows";
  /** Unique over the whole log, ascending within a table. */
  readonly id: number;
  readonly tableId: number;
  /** Sequence in the write-ahead log: the deletion applies to rows up to it. */
  readonly sequence: number;
  /** Inclusive bounds, decimal nanoseconds. */
  readonly minTimeNs: string;
  readonly maxTimeNs: string;
  readonly tags: readonly TagPredicate[];
  /** It may be taken back, until the request that it belongs to is released. */
  readonly isHeld?: true;
}

/** These tombstones have been applied to all files. */
export interface RetireTombstones {
  readonly kind: "retire_tombstones";
  readonly ids: readonly number[];
}

/** Decimal nanoseconds: older rows are treated as non-existent. "0" = forever. null = not set: a database keeps rows forever, a table
 *  inherits from its database. */
export interface SetRetention {
  readonly kind: "set_retention";
  readonly of: "database" | "table";
  readonly id: number;
  readonly retentionNs: string | null;
}

/** Moves the object out of the way under another name; it can be restored until it is dropped. */
export interface SoftDelete {
  readonly kind: "soft_delete";
  readonly of: "database" | "table";
  readonly id: number;
  /** Its new name. */
  readonly name: string;
  readonly deletedMs: number;
  /** When it is dropped; null = never. */
  readonly hardDeleteMs: number | null;
}

/** Changes when a soft-deleted object is dropped. */
export interface ScheduleDrop {
  readonly kind: "schedule_drop";
  readonly of: "database" | "table";
  readonly id: number;
  readonly hardDeleteMs: number | null;
}

/** Restores a soft-deleted object under `name`. */
export interface Restore {
  readonly kind: "restore";
  readonly of: "database" | "table";
  readonly id: number;
  readonly name: string;
}

/** Its rows and tables stay as they are. */
export interface RenameDatabase {
  readonly kind: "rename_database";
  readonly id: number;
  readonly name: string;
}

/** Removes a soft-deleted object permanently, with everything in it. */
export interface Drop {
  readonly kind: "drop";
  readonly of: "database" | "table";
  readonly id: number;
}

/** The named columns are the table's. */
export interface CreateCache {
  readonly kind: "create_cache";
  readonly cache: CacheDef;
}

export interface DeleteCache {
  readonly kind: "delete_cache";
  readonly id: number;
}

/** Of everything but what a set of its own has: users, tokens, triggers, records. */
export type TableOperation =
  | CreateCluster
  | CreateDatabase
  | CreateTable
  | AddColumns
  | DeleteRows
  | RetireTombstones
  | SetRetention
  | SoftDelete
  | ScheduleDrop
  | Restore
  | Drop
  | StopNode
  | StartNode
  | SetFileIndex
  | SetPolicies
  | CreateCache
  | DeleteCache
  | RenameDatabase;

export type CatalogOperation =
  | TableOperation
  | CreateToken
  | ReplaceToken
  | DeleteToken
  | PutRecord
  | DeleteRecord
  | AccountOperation
  | RowDeleteOperation
  | TriggerOperation;

/** The log operation of a tombstone. */
export function deleteRowsOperation({ id, tableId, sequence, range, tags, isHeld }: Tombstone): DeleteRows {
  const bounds = { minTimeNs: String(range.minNs), maxTimeNs: String(range.maxNs) };
  return { kind: "delete_rows", id, tableId, sequence, ...bounds, tags, ...(isHeld === true ? { isHeld } : {}) };
}

/** The tombstone described by an operation or a snapshot item. @throws TsdbError corrupt_file */
export function readTombstone(value: unknown): Tombstone {
  const item = readObject("tombstone", value);
  return {
    id: readCount("id", item["id"]),
    tableId: readCount("tableId", item["tableId"]),
    sequence: readCount("sequence", item["sequence"]),
    range: { minNs: readNs("minTimeNs", item["minTimeNs"]), maxNs: readNs("maxTimeNs", item["maxTimeNs"]) },
    tags: readArray("tags", item["tags"]).map((predicate, i) => readPredicate(`tags[${i}]`, predicate)),
    ...(item["isHeld"] === true ? { isHeld: true as const } : {}),
  };
}

function readPredicate(what: string, value: unknown): TagPredicate {
  const predicate = readObject(what, value);
  const values = readArray(`${what}.values`, predicate["values"]);
  return {
    columnId: readCount(`${what}.columnId`, predicate["columnId"]),
    values: values.map((text, i) => (text === null ? null : readText(`${what}.values[${i}]`, text))),
  };
}

/** @throws TsdbError corrupt_file */
export function readRetention(what: string, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const ns = readNs(what, value);
  if (ns < 0n) badValue(what, value, "0 or more");
  return String(ns);
}

function readOwner({ of, id }: Readonly<Record<string, unknown>>): { of: "database" | "table"; id: number } {
  if (of !== "database" && of !== "table") badValue("of", of, "database or table");
  return { of, id: readCount("id", id) };
}

/** @throws TsdbError corrupt_file */
export function readHardDelete(value: unknown): number | null {
  return value === null || value === undefined ? null : readCount("hardDeleteMs", value);
}

/** Reads a column definition. @throws TsdbError corrupt_file naming `what` */
export function readColumn(what: string, value: unknown): ColumnOperation {
  const column = readObject(what, value);
  const type = readText(`${what}.type`, column["type"]);
  if (!Object.hasOwn(COLUMN_TYPE_NAME, type)) badValue(`${what}.type`, type, Object.keys(COLUMN_TYPE_NAME).join(", "));
  return { id: readCount(`${what}.id`, column["id"]), name: readText(`${what}.name`, column["name"]), type: type as ColumnTypeName };
}

type Kind = CatalogOperation["kind"];
type Members = Readonly<Record<string, unknown>>;

/** A reader for each kind; several kinds share one. */
const READERS: { readonly [K in Kind]: (operation: Members, kind: K) => CatalogOperation } = {
  create_cluster: ({ uuid }, kind) => ({ kind, uuid: readText("uuid", uuid) }),
  create_database: (operation, kind) => ({
    kind,
    id: readCount("id", operation["id"]),
    namespace: readCount("namespace", operation["namespace"]),
    name: readText("name", operation["name"]),
    ...readReuse(operation),
  }),
  create_table: (operation, kind) => ({
    kind,
    id: readCount("id", operation["id"]),
    databaseId: readCount("databaseId", operation["databaseId"]),
    name: readText("name", operation["name"]),
    ...readReuse(operation),
  }),
  add_columns: (operation, kind) => {
    const columns = readArray("columns", operation["columns"]).map((column, i) => readColumn(`columns[${i}]`, column));
    return { kind, tableId: readCount("tableId", operation["tableId"]), columns };
  },
  delete_rows: (operation) => deleteRowsOperation(readTombstone(operation)),
  retire_tombstones: ({ ids }, kind) => ({ kind, ids: readArray("ids", ids).map((id) => readCount("ids", id)) }),
  set_retention: (operation, kind) => ({
    ...{ kind, ...readOwner(operation), retentionNs: readRetention("retentionNs", operation["retentionNs"]) },
  }),
  soft_delete: (operation, kind) => ({
    ...{ kind, ...readOwner(operation), name: readText("name", operation["name"]) },
    deletedMs: readCount("deletedMs", operation["deletedMs"]),
    hardDeleteMs: readHardDelete(operation["hardDeleteMs"]),
  }),
  schedule_drop: (operation, kind) => ({ kind, ...readOwner(operation), hardDeleteMs: readHardDelete(operation["hardDeleteMs"]) }),
  restore: (operation, kind) => ({ kind, ...readOwner(operation), name: readText("name", operation["name"]) }),
  drop: (operation, kind) => ({ kind, ...readOwner(operation) }),
  create_token: (operation, kind) => {
    const { updatedMs: _, ...token } = readToken(operation);
    return { kind, ...token };
  },
  replace_token: (operation, kind) => ({
    kind,
    id: readCount("id", operation["id"]),
    hash: readHash(operation["hash"]),
    updatedMs: readCount("updatedMs", operation["updatedMs"]),
  }),
  stop_node: (operation, kind) => ({ kind, ...readStoppedNode(operation) }),
  start_node: (operation, kind) => ({ kind, nodeId: readText("nodeId", operation["nodeId"]) }),
  set_file_index: (operation) => readSetFileIndex(operation),
  set_policies: (operation) => readSetPolicies(operation),
  delete_token: (operation, kind) => ({ kind, id: readCount("id", operation["id"]) }),
  delete_cache: (operation, kind) => ({ kind, id: readCount("id", operation["id"]) }),
  create_cache: ({ cache }, kind) => ({ kind, cache: readCache(cache) }),
  create_trigger: (operation, kind) => readTriggerOperation(kind, operation),
  delete_trigger: (operation, kind) => readTriggerOperation(kind, operation),
  enable_trigger: (operation, kind) => readTriggerOperation(kind, operation),
  disable_trigger: (operation, kind) => readTriggerOperation(kind, operation),
  put_user: (operation, kind) => readAccountOperation(kind, operation),
  forget_user: (operation, kind) => readAccountOperation(kind, operation),
  put_role: (operation, kind) => readAccountOperation(kind, operation),
  put_session: (operation, kind) => readAccountOperation(kind, operation),
  end_session: (operation, kind) => readAccountOperation(kind, operation),
  request_row_delete: (operation, kind) => readRowDeleteOperation(kind, operation),
  release_row_delete: (operation, kind) => readRowDeleteOperation(kind, operation),
  complete_row_delete: (operation, kind) => readRowDeleteOperation(kind, operation),
  abort_row_delete: (operation, kind) => readRowDeleteOperation(kind, operation),
  forget_row_delete: (operation, kind) => readRowDeleteOperation(kind, operation),
  rename_database: (operation, kind) => ({ kind, id: readCount("id", operation["id"]), name: readText("name", operation["name"]) }),
  put_record: (operation, kind) => ({ kind, ...readRecord(operation) }),
  delete_record: (operation, kind) => ({ kind, of: readText("of", operation["of"]), id: readId("id", operation["id"]) }),
};

function readReuse(operation: Members): { readonly isReused?: true } {
  return operation["isReused"] === true ? { isReused: true } : {};
}

/** Reads an operation of the log. Unknown members are ignored; an unknown kind is an error, because the state after it would be wrong.
 *  @throws TsdbError corrupt_file */
export function readOperation(value: unknown): CatalogOperation {
  const operation = readObject("operation", value);
  const kind = operation["kind"];
  if (typeof kind !== "string" || !Object.hasOwn(READERS, kind)) {
    badValue("operation kind", kind, "a kind that this server knows: the log was written by a newer server, or is damaged");
  }
  const read: (operation: Members, kind: never) => CatalogOperation = READERS[kind as Kind];
  return read(operation, kind as never);
}

/** What a snapshot has beside databases, tables, tokens and users, as the operations that make it. Snapshots of servers that had no
 *  deletions, caches or triggers do not have these. @throws TsdbError corrupt_file */
export function* snapshotOperations(snapshot: Readonly<Record<string, unknown>>): Generator<CatalogOperation> {
  const items = (name: string) => readArray(name, snapshot[name] ?? []);
  for (const item of items("tombstones")) yield deleteRowsOperation(readTombstone(item));
  for (const item of items("stoppedNodes")) yield { kind: "stop_node", ...readStoppedNode(item) };
  for (const item of items("fileIndexes")) yield readSetFileIndex(item);
  for (const item of items("caches")) yield { kind: "create_cache", cache: readCache(item) };
  for (const item of items("triggers")) yield { kind: "create_trigger", trigger: readTrigger(item) };
}
