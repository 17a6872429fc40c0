// Rows as text by the kernel: what the encoders of JSON and CSV may use instead of writing cell by cell.
import { TsdbError } from "../errors.ts";
import type { ResultBatch, ResultField } from "./result-batch.ts";

/** How rows are laid out. All texts are UTF-8. */
export interface RowLayout {
  /** Strings as CSV cells, an empty row as `""`; else everything as JSON. */
  readonly isCsv: boolean;
  /** NULLs are left out with their labels; the first label of a row then loses its first byte, a comma. */
  readonly skipsNulls: boolean;
  readonly rowStart: Uint8Array;
  readonly rowEnd: Uint8Array;
  /** What stands in for NULL when it is not left out. */
  readonly nullText: Uint8Array;
  /** Before each column's value. */
  readonly labels: readonly Uint8Array[];
  /** Values as the v1 API writes them; absent: as the other APIs do. */
  readonly v1?: V1Values;
}

/** Floats without a fraction that is zero, JSON's `<`, `>` and `&` escaped, CSV's floats without exponents, NaN as NULL; an infinite float
 *  is an error in JSON. */
export interface V1Values {
  /** Nanoseconds of the unit in which times are whole numbers, rounded towards 1970; null: RFC 3339, in CSV nanoseconds. */
  readonly epochNs: number | null;
}

export interface RowText {
  /** Rows of the batch one after the other, all of them or `from` to before `to`, owned by the caller; null when this batch is not for the
   *  kernel. @throws TsdbError bad_format for an infinite float in JSON of the v1 API */
  rows(batch: ResultBatch, from?: number, to?: number): Uint8Array<ArrayBuffer> | null;
}

export interface RowTextMaker {
  /** Null when it cannot write all of these fields. */
  make(fields: readonly ResultField[], layout: RowLayout): RowText | null;
}

/** What JSON has no number for: `+Inf`, `-Inf`. */
export function unsupportedValue(value: string): TsdbError {
  return new TsdbError("bad_format", `json: unsupported value: ${value}`, { value });
}
