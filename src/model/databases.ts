// The interface for creating, listing, deleting and restoring databases and tables by name.

export interface DatabaseInfo {
  readonly name: string;
  /** Null or 0 = forever. */
  readonly retentionNs: bigint | null;
  /** Set for soft-deleted ones. */
  readonly deletion: DeletionInfo | null;
}

export interface DeletionInfo {
  /** Name before the deletion. */
  readonly formerName: string;
  readonly deletedMs: number;
  /** When it is dropped permanently; null = never. */
  readonly hardDeleteMs: number | null;
}

/** When a soft-deleted object is dropped permanently: `default` is --hard-delete-default-duration from now. */
export type HardDeleteAt = "never" | "now" | "default" | { readonly ms: number };

export type FieldTypeName = "utf8" | "int64" | "uint64" | "float64" | "bool";

export interface NewTable {
  readonly database: string;
  readonly table: string;
  /** In the order in which the series key lists them. */
  readonly tags: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: FieldTypeName }[];
  readonly retentionNs: bigint | null;
}

export interface DeleteDatabase {
  readonly database: string;
  /** Deletes the rows only. */
  readonly dataOnly: boolean;
  /** With `dataOnly`: deletes the caches of the tables too. */
  readonly removeTables: boolean;
  readonly hardDeleteAt: HardDeleteAt;
}

export interface DeleteTable {
  /** A name that port 8181 shows, or an id. */
  readonly database: string | number;
  readonly table: string;
  /** Deletes the rows only; the schema stays. */
  readonly dataOnly: boolean;
  readonly hardDeleteAt: HardDeleteAt;
}

/** `name`: the object's current name, or its former one if no other deleted object had it. */
export interface RestoreDatabase {
  readonly database: string;
  /** Name after restoring; null: the former name. */
  readonly newName: string | null;
}

export interface RestoreTable {
  readonly database: string;
  readonly table: string;
  readonly newName: string | null;
}

/** Each call takes effect synchronously and resolves once durable. @throws TsdbError bad_request, unknown_database, unknown_table,
 *  already_exists, limit_exceeded, unavailable: nothing has changed then */
export interface DatabaseService {
  /** Live databases by name, including the server's own; then deleted ones by name. */
  list(options: { readonly showDeleted: boolean }): DatabaseInfo[];
  createDatabase(database: { readonly name: string; readonly retentionNs: bigint | null }): Promise<void>;
  /** For an already deleted database, changes the time of its permanent deletion; the same time is `already_exists`. */
  deleteDatabase(request: DeleteDatabase): Promise<void>;
  restoreDatabase(request: RestoreDatabase): Promise<void>;
  createTable(table: NewTable): Promise<void>;
  /** @see deleteDatabase */
  deleteTable(request: DeleteTable): Promise<void>;
  restoreTable(request: RestoreTable): Promise<void>;
}
