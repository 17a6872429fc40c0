// Deleting rows and setting retention periods.
import type { TimeRange } from "../query/scan.ts";

/** Matches a tag by name. */
export interface TagCondition {
  readonly tag: string;
  /** Allowed values; null = absent. */
  readonly values: readonly (string | null)[];
}

export interface DeleteRequest {
  /** A name that port 8181 shows, or an id. */
  readonly database: string | number;
  readonly table: string;
  readonly range: TimeRange;
  /** All must match, exactly; empty = every series. */
  readonly tags: readonly TagCondition[];
}

/** A table, or a whole database. */
export interface DataOwner {
  /** A name that port 8181 shows, or an id. */
  readonly database: string | number;
  readonly table?: string;
}

/** Each call takes effect synchronously, for later statements, and resolves once durable. @throws TsdbError unknown_database,
 *  unknown_table, bad_request, limit_exceeded, unavailable */
export interface DataService {
  /** Deletes matching rows written before the call; rows written later stay. */
  deleteRows(request: DeleteRequest): Promise<void>;
  /** Deletes all rows; the schema stays. */
  deleteData(owner: DataOwner): Promise<void>;
  /** Rows older than this are treated as non-existent, also if they are written later. 0 = unlimited; null = not set: a table inherits
   *  from its database, a database keeps rows forever. */
  setRetention(owner: DataOwner, retentionNs: bigint | null): Promise<void>;
}
