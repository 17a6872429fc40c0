// File indexes as users ask for them: which values of chosen columns lie in which files, so that queries need not open the others.

/** Columns of one index at most. */
export const FILE_INDEX_COLUMNS_MAX = 32;

/** Of one table, or (`table` null) of the tables of a database that have none of their own. */
export interface FileIndexOwner {
  readonly database: string;
  readonly table: string | null;
}

/** Each takes effect in the step of its call and resolves when it is durable; what is built or removed in files follows by and by.
 *  @throws TsdbError bad_request, unknown_database, unknown_table, not_found, unavailable: nothing has changed then */
export interface FileIndexService {
  /** In place of the one that there is. Columns are tags or strings of the table, or of some table of the database. */
  create(owner: FileIndexOwner, columns: readonly string[]): Promise<void>;
  delete(owner: FileIndexOwner): Promise<void>;
}
