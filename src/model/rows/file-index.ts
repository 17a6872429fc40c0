// Managing file indexes: which values of chosen columns occur in which files, so that queries can skip the others.

/** Maximum columns of one index. */
export const FILE_INDEX_COLUMNS_MAX = 32;

/** One table, or (`table` null) all tables of a database without an index of their own. */
export interface FileIndexOwner {
  readonly database: string;
  readonly table: string | null;
}

/** Each call takes effect synchronously and resolves once durable; indexes are built or removed in the background. @throws TsdbError
 *  bad_request, unknown_database, unknown_table, not_found, unavailable: nothing has changed then */
export interface FileIndexService {
  /** Replaces the existing index. Columns are tags or strings of the table, or of a table of the database. */
  create(owner: FileIndexOwner, columns: readonly string[]): Promise<void>;
  delete(owner: FileIndexOwner): Promise<void>;
}
