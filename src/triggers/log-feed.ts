// What write triggers ask of the write-ahead log: rows of frames behind a position. A thread of its own reads them.
import type { PluginValues } from "../plugins/plugin-call.ts";

/** Rows of one table that a trigger wants. */
export interface LogRequest {
  /** Frames behind this sequence, */
  readonly after: number;
  /** up to this one: all of them are durable. */
  readonly through: number;
  readonly databaseId: number;
  /** Null: all of the database. */
  readonly tableId: number | null;
  /** Frames that it has written itself are left out. */
  readonly triggerId: number;
}

export interface LogColumn {
  readonly columnId: number;
  /** 1 = the row has a value; null: all rows have one. */
  readonly present: Uint8Array | null;
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
  /** A table comes once, its rows in the order of the log. */
  readonly tables: readonly LogTable[];
  /** How many triggers stand behind these rows, one writing what called the next: 0 = clients alone wrote them. */
  readonly depth: number;
  /** Some of the frames are from the trigger itself: they are left out. */
  readonly hasOwn: boolean;
  /** Some stand behind so many triggers that they are left out. */
  readonly hasTooDeep: boolean;
  /** The first frame that there still is, when frames behind `after` are gone; null: none is. */
  readonly goneBefore: number | null;
}

export interface LogFeed {
  /** @throws TsdbError io, corrupt_file, overloaded */
  read(request: LogRequest): Promise<LogRows>;
}
