// The interface between the main thread and the thread for queue files: rows of the log after a position become gzip files.

/** The next rows of a replication. */
export interface QueueRequest {
  /** A number of its own for each replication. */
  readonly reader: number;
  readonly folder: string;
  /** Frames after this sequence, */
  readonly after: number;
  /** up to this one, all of which are durable. */
  readonly through: number;
  readonly databaseId: number;
  /** Files may take so much; rows beyond are dropped. */
  readonly roomBytes: number;
  readonly nowMs: number;
}

/** A file of the queue. */
export interface QueueEntry {
  readonly name: string;
  readonly bytes: number;
  /** Frames up to here are in this file and those before it. */
  readonly through: number;
  readonly rows: number;
  readonly madeMs: number;
}

export interface QueueAnswer {
  /** Frames up to here are read. */
  readonly through: number;
  readonly entries: readonly QueueEntry[];
  /** Without room. */
  readonly droppedRows: number;
  readonly droppedBytes: number;
  /** The first frame that still exists, if frames after `after` are missing. */
  readonly goneBefore: number | null;
}

export interface QueueFeed {
  /** The files are durable when it resolves. @throws TsdbError io, corrupt_file, overloaded */
  queue(request: QueueRequest): Promise<QueueAnswer>;
  /** Closes the readers of all others. */
  keepOnly(readers: readonly number[]): void;
  close(): void;
}

/** Names of a table's columns; null: the table is deleted. */
export interface TableNames {
  readonly name: string;
  readonly columns: readonly { readonly id: number; readonly name: string; readonly isTag: boolean }[];
}

export type NamesOf = (tableId: number) => TableNames | null;
