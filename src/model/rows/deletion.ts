// What is asked of the data as a whole: deletion of rows, and how long rows are kept.
import type { TimeRange } from "../query/scan.ts";

/** A tag by its name. */
export interface TagCondition {
  readonly tag: string;
  /** One of these is wanted; null = absent. */
  readonly values: readonly (string | null)[];
}

export interface DeleteRequest {
  readonly database: string;
  readonly table: string;
  readonly range: TimeRange;
  /** All of them, exactly; none = every series. */
  readonly tags: readonly TagCondition[];
}

/** A table, or all of a database. */
export interface DataOwner {
  readonly database: string;
  readonly table?: string;
}

/** Each takes effect in the step of its call, for the statements that follow, and resolves when it is durable.
 *  @throws TsdbError unknown_database, unknown_table, bad_request, limit_exceeded, unavailable */
export interface DataService {
  /** Deletes the rows that were written before the call; what is written after it stays. */
  deleteRows(request: DeleteRequest): Promise<void>;
  /** Deletes all rows; schema and everything else stays. */
  deleteData(owner: DataOwner): Promise<void>;
  /** Rows older than this do not exist any more, also if they are written later. 0 = kept for ever; null = not set: a table's rows are kept
   *  as long as those of its database, a database's for ever. */
  setRetention(owner: DataOwner, retentionNs: bigint | null): Promise<void>;
}
