// Columns and tables as defined in the catalog.

/** These numbers are on disk (catalog, WAL, .pt): never reorder them. */
export const ColumnType = { time: 0, tag: 1, float: 2, integer: 3, unsigned: 4, string: 5, boolean: 6 } as const;
export type ColumnType = (typeof ColumnType)[keyof typeof ColumnType];

/** A column. `id` is unique within its table and never reused; `name` keeps its case. */
export interface ColumnDef {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
}

/** A table. `columns` is in order of first appearance and includes `time` (always id 0). */
export interface TableDef {
  readonly id: number;
  readonly databaseId: number;
  readonly name: string;
  readonly columns: readonly ColumnDef[];
}

export const TIME_COLUMN: ColumnDef = { id: 0, name: "time", type: ColumnType.time };

/** Bytes of one value in memory: batches, buffer segments, decoded pages and DuckDB vectors share these layouts.
 *  time/integer i64, unsigned u64, float f64, boolean u8 (0|1), string and tag 16-byte string view (assembly/abi.ts). */
export const VALUE_BYTES: Readonly<Record<ColumnType, number>> = { 0: 8, 1: 16, 2: 8, 3: 8, 4: 8, 5: 16, 6: 1 };

/** The vendor's names, which clients match on in error texts. */
export const COLUMN_TYPE_LABEL: Readonly<Record<ColumnType, string>> = {
  0: "iox::column_type::timestamp",
  1: "iox::column_type::tag",
  2: "iox::column_type::field::float",
  3: "iox::column_type::field::integer",
  4: "iox::column_type::field::uinteger",
  5: "iox::column_type::field::string",
  6: "iox::column_type::field::boolean",
};
