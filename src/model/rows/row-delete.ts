// Requests to delete rows that are kept, and can be taken back until files are written without the rows.

/** `held`: it can be taken back. `applying`: it cannot, and files are being written without the rows. */
export type RowDeleteState = "held" | "applying" | "completed" | "aborted";

/** Plain values, as the catalog's log has them. */
export interface RowDeleteDef {
  /** Ascending in order of the requests, unique on the server. */
  readonly sequence: number;
  readonly databaseId: number;
  readonly tableId: number;
  /** Names at the time of the request. */
  readonly database: string;
  readonly table: string;
  /** Decimal nanoseconds, the first instant; null: no bound. */
  readonly minTimeNs: string | null;
  /** The instant after the last; null: no bound. */
  readonly endTimeNs: string | null;
  /** As the client wrote it; empty: every row. */
  readonly predicate: string;
  readonly createdMs: number;
  readonly state: RowDeleteState;
  /** Deletions that it consists of. */
  readonly tombstoneIds: readonly number[];
  /** When it was completed or aborted; null: neither. */
  readonly endedMs: number | null;
  /** Null unless it was aborted. */
  readonly abortReason: string | null;
}

export type Disposition = "pending" | "completed" | "aborted";

/** What clients call the state of a request. */
export function dispositionOf({ state }: Pick<RowDeleteDef, "state">): Disposition {
  return state === "completed" || state === "aborted" ? state : "pending";
}

/** A level of files: how many blocks may have rows of the request, and how many of them are written without the rows. */
export interface LevelProgress {
  readonly total: number;
  readonly processed: number;
}

export interface RowDeleteInfo extends RowDeleteDef {
  /** The database or table has another name now, or is gone. */
  readonly isDatabaseStale: boolean;
  readonly isTableStale: boolean;
}

/** By generation of the files: as flushed, merged once, twice, more often. */
export interface RowDeleteProgress {
  readonly inRange: readonly LevelProgress[];
  readonly outOfRange: LevelProgress;
}

export interface NewRowDelete {
  readonly database: string;
  readonly table: string;
  /** The first instant, nanoseconds since 1970; null: no bound. */
  readonly minNs: bigint | null;
  /** The instant after the last; null: no bound. */
  readonly endNs: bigint | null;
  /** Of SQL's WHERE, over tags and time; empty: every row. */
  readonly predicate: string;
}

export interface RowDeleteFilter {
  readonly database?: string | undefined;
  readonly table?: string | undefined;
  readonly disposition?: Disposition | undefined;
  readonly minSequence?: number | undefined;
  readonly maxSequence?: number | undefined;
}

/** Requests to delete rows. Rows vanish when the request is answered. */
export interface RowDeleteService {
  /** Resolves once durable. @throws TsdbError unknown_database, unknown_table, bad_request, limit_exceeded, unavailable */
  create(request: NewRowDelete, signal: AbortSignal): Promise<RowDeleteInfo>;
  /** Ascending sequences. */
  list(filter: RowDeleteFilter): RowDeleteInfo[];
  /** @throws TsdbError not_found */
  find(sequence: number): RowDeleteInfo;
  /** Null: it was aborted. */
  progress(info: RowDeleteInfo): RowDeleteProgress | null;
  /** The rows are there again. Resolves once durable. @throws TsdbError not_found, bad_request when it is too late, unavailable */
  abort(sequence: number, reason: string): Promise<RowDeleteInfo>;
}
