// The interface between write triggers and the log reader thread: rows of frames after a position.
import type { PluginValues } from "../plugins/plugin-call.ts";

/** A request for the next rows of a trigger. */
export interface LogRequest {
  /** Frames after this sequence, */
  readonly after: number;
  /** up to this one, all of which are durable. */
  readonly through: number;
  readonly databaseId: number;
  /** Null: all tables of the database. */
  readonly tableId: number | null;
  /** Frames written by the trigger itself are omitted. */
  readonly triggerId: number;
  /** Not for a trigger: frames of all triggers are delivered, whatever their depth. */
  readonly takesAll?: boolean;
}

export interface LogColumn {
  readonly columnId: number;
  /** The rows that have a value, ascending; null: all have one. */
  readonly present: Uint32Array | null;
  readonly values: PluginValues;
}

export interface LogTable {
  readonly tableId: number;
  readonly rowCount: number;
  readonly columns: readonly LogColumn[];
}

export interface LogRows {
  /** Frames up to here are read: `through`, or fewer frames where these have many rows. */
  readonly through: number;
  /** One entry per table, rows in log order. */
  readonly tables: readonly LogTable[];
  /** Length of the chain of triggers that led to these rows; 0 = written by clients. */
  readonly depth: number;
  /** Frames written by the trigger itself were omitted. */
  readonly hasOwn: boolean;
  /** Frames of too great a depth were omitted. */
  readonly hasTooDeep: boolean;
  /** The first frame that still exists, if frames after `after` are missing; null: none is missing. */
  readonly goneBefore: number | null;
}

export interface LogFeed {
  /** @throws TsdbError io, corrupt_file, overloaded */
  read(request: LogRequest): Promise<LogRows>;
}
