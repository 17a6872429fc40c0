// Exporting rows as Parquet files, one for each UTC day that is over.

/** @throws from all methods TsdbError unknown_database, unknown_table */
export interface ExportService {
  /** Names of databases with rows of days that are over, by name. */
  databases(): readonly string[];
  /** Names of the database's tables with such rows, by name. */
  tables(database: string): readonly string[];
  /** Days with visible rows, `YYYY-MM-DD`, ascending. @throws what a query throws */
  windows(database: string, table: string, signal: AbortSignal): Promise<readonly string[]>;
  /** A tar archive of `YYYY-MM-DD.parquet` for each of `windows` in their order, null: of all days. It counts as running until the
   *  chunks are read or returned, so ask for the first at once. @throws TsdbError not_found for a day without rows; bad_request for another
   *  text; overloaded; from the first chunk on what a query throws */
  archive(
    database: string,
    table: string,
    windows: readonly string[] | null,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Uint8Array<ArrayBuffer>>>;
}
