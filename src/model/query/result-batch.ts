// One batch of a query's answer in Arrow's buffer layouts: produced by duckdb/, encoded by encode/. All buffers are borrowed: valid until
// the next batch is requested.
import { LIMITS } from "../limits.ts";
import type { ScanColumn } from "./scan-table.ts";

export type TimeUnit = "s" | "ms" | "us" | "ns";

export type ResultType =
  | { readonly kind: "null" }
  | { readonly kind: "bool" } // values: Uint8Array, a byte per row
  | { readonly kind: "int"; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean }
  | { readonly kind: "hugeint"; readonly signed: boolean } // 16-byte little-endian two's complement per row
  | { readonly kind: "float"; readonly bits: 32 | 64 }
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number } // 16-byte little-endian integer per row
  | { readonly kind: "utf8" } // offsets + data
  | { readonly kind: "binary" } // offsets + data
  | { readonly kind: "dictionary" } // values: Uint32Array of codes in `dictionary`
  | { readonly kind: "timestamp"; readonly unit: TimeUnit; readonly zone: string | null } // BigInt64Array
  | { readonly kind: "date" } // Int32Array, days since 1970
  | { readonly kind: "time"; readonly unit: TimeUnit } // BigInt64Array since midnight
  | { readonly kind: "duration"; readonly unit: TimeUnit } // BigInt64Array
  | { readonly kind: "interval" } // 16 bytes per row: i32 months, i32 days, i64 microseconds
  | { readonly kind: "list"; readonly child: ResultField } // offsets + children[0]
  | { readonly kind: "struct"; readonly children: readonly ResultField[] } // children
  | { readonly kind: "map"; readonly key: ResultField; readonly value: ResultField }; // offsets + children [keys, values]

export interface ResultField {
  readonly name: string;
  readonly type: ResultType;
  /** The vendor's column kind (`iox::column_type::tag` …) if the column is a table's, or derived from a single one. */
  readonly columnKind?: string;
  /** True: encoded as an Arrow dictionary although the column is no tag (an expression on tags). False: not a dictionary, despite its
   *  kind. */
  readonly isDictionary?: boolean;
  /** Overrides `columnKind` in files; a null `kind` omits it. */
  readonly inFile?: { readonly kind: string | null; readonly isDictionary?: boolean; readonly isNull?: boolean };
  /** SELECT INTO writes it as a tag. */
  readonly isTargetTag?: boolean;
  /** Every row has a value, and the schema declares it. */
  readonly hasNoNulls?: boolean;
}

/** The columns of an answer, known before the first batch. `tableName`: the only source table, else "". */
export interface ResultSchema {
  readonly fields: readonly ResultField[];
  readonly tableName: string;
  /** Arrow schema metadata besides the columns. */
  readonly metadata?: ReadonlyMap<string, string>;
}

export type ResultValues =
  | Uint8Array
  | Int8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

/** A column of a batch: `rowCount` values. Values of NULL rows are undefined and may be another database's memory: code that sends raw
 *  buffers must take them from encode/arrow/shown-rows.ts. */
export interface ResultColumn {
  /** LSB-first bitmap, 1 = present; null if every row is present. */
  readonly validity: Uint8Array | null;
  /** Fixed-width values; 16-byte types as raw bytes; empty for utf8, binary, list, struct, map. */
  readonly values: ResultValues;
  /** rowCount + 1 offsets for utf8, binary, list and map. */
  readonly offsets?: Int32Array;
  /** Bytes of utf8 and binary. */
  readonly data?: Uint8Array;
  /** Strings by code, for kind "dictionary"; the same array object while the dictionary is unchanged. */
  readonly dictionary?: readonly string[];
  readonly children?: readonly ResultColumn[];
  /** The values in kernel memory, as the scan returned them; the members above are then created from it on demand. */
  readonly inKernel?: ScanColumn;
}

export interface ResultBatch {
  readonly rowCount: number;
  readonly columns: readonly ResultColumn[];
}

/** In an Arrow answer, each column of a batch has an overhead of a few dozen values. */
const BATCH_ROWS_MIN = 32;

/** Maximum rows of a batch with this many columns and at most `cells` cells: a multiple of 8, so that bitmaps are cut at whole bytes. */
export function rowsOfBatch(columnCount: number, cells: number = LIMITS.batchCellsMax): number {
  return Math.max(BATCH_ROWS_MIN, Math.floor(cells / Math.max(1, columnCount)) & ~7);
}
