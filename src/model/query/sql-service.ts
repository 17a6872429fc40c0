// Other databases, as scripts ask them.

export interface SqlColumn {
  readonly label: string;
  readonly type: "bool" | "int" | "uint" | "float" | "string" | "time";
}
/** A time is text as the product writes it, or nanoseconds. */
export type SqlValue = string | number | bigint | boolean | null | { readonly time: string | bigint };

export interface SqlRows {
  readonly columns: readonly SqlColumn[];
  readonly rows: readonly (readonly SqlValue[])[];
}

export interface SqlInsert extends SqlRows {
  /** `table`, or `schema.table`. */
  readonly table: string;
  readonly batchRows: number;
}

export interface SqlSource {
  readonly driver: "postgres" | "sqlite3";
  readonly dataSource: string;
}

export interface SqlService {
  /** @throws Error */
  readonly query: (source: SqlSource, text: string) => Promise<SqlRows>;
  /** Makes the table unless it is there. All rows or none. @throws Error */
  readonly insert: (source: SqlSource, insert: SqlInsert) => Promise<void>;
}
