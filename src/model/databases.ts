// What is asked of databases and tables as a whole: they are made, listed, deleted and restored by name.

export interface DatabaseInfo {
  readonly name: string;
  /** Null or 0 = kept for ever. */
  readonly retentionNs: bigint | null;
  /** Of a deleted one. */
  readonly deletion: DeletionInfo | null;
}

export interface DeletionInfo {
  /** What it was called before. */
  readonly formerName: string;
  readonly deletedMs: number;
  /** When it is dropped for good; null = never. */
  readonly hardDeleteMs: number | null;
}

/** When a deleted object is dropped for good: `default` is HARD_DELETE_DEFAULT_MS from now on. */
export type HardDeleteAt = "never" | "now" | "default" | { readonly ms: number };

export const HARD_DELETE_DEFAULT_MS = 72 * 3_600_000;

export type FieldTypeName = "utf8" | "int64" | "uint64" | "float64" | "bool";

export interface NewTable {
  readonly database: string;
  readonly table: string;
  /** In the order of the series key. */
  readonly tags: readonly string[];
  readonly fields: readonly { readonly name: string; readonly type: FieldTypeName }[];
  readonly retentionNs: bigint | null;
}

export interface DeleteDatabase {
  readonly database: string;
  /** Only the rows go. */
  readonly dataOnly: boolean;
  /** With `dataOnly`: the tables go too, the database stays. */
  readonly removeTables: boolean;
  readonly hardDeleteAt: HardDeleteAt;
}

export interface DeleteTable {
  readonly database: string;
  readonly table: string;
  /** Only the rows go; the schema stays. */
  readonly dataOnly: boolean;
  readonly hardDeleteAt: HardDeleteAt;
}

/** `name` is the one the object has now, or had before if no other deleted one had it too. */
export interface RestoreDatabase {
  readonly database: string;
  /** What it is called from now on; null: as before. */
  readonly newName: string | null;
}

export interface RestoreTable {
  readonly database: string;
  readonly table: string;
  readonly newName: string | null;
}

/** Each takes effect in the step of its call and resolves when it is durable.
 *  @throws TsdbError bad_request, unknown_database, unknown_table, already_exists, limit_exceeded, unavailable: nothing has changed then */
export interface DatabaseService {
  /** Live ones by name, the server's own among them; then deleted ones by name. */
  list(options: { readonly showDeleted: boolean }): DatabaseInfo[];
  createDatabase(database: { readonly name: string; readonly retentionNs: bigint | null }): Promise<void>;
  /** A deleted one is given another time to be dropped at; the same time is `already_exists`. */
  deleteDatabase(request: DeleteDatabase): Promise<void>;
  restoreDatabase(request: RestoreDatabase): Promise<void>;
  createTable(table: NewTable): Promise<void>;
  /** @see deleteDatabase */
  deleteTable(request: DeleteTable): Promise<void>;
  restoreTable(request: RestoreTable): Promise<void>;
}
