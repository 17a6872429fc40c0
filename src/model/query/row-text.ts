// Row formatting in the kernel: JSON and CSV encoders use it instead of formatting cell by cell.
import { TsdbError } from "../errors.ts";
import type { ResultBatch, ResultField } from "./result-batch.ts";

/** Layout of rows. All texts are UTF-8. */
export interface RowLayout {
  /** Strings as CSV cells, an empty row as `""`; otherwise all values as JSON. */
  readonly isCsv: boolean;
  /** NULLs are omitted with their labels; the first label of a row then loses its first byte, a comma. */
  readonly skipsNulls: boolean;
  readonly rowStart: Uint8Array;
  readonly rowEnd: Uint8Array;
  /** Represents NULL if it is not omitted. */
  readonly nullText: Uint8Array;
  /** Written before each column's value. */
  readonly labels: readonly Uint8Array[];
  /** True: values as in annotated CSV, with strings as they are: their source has quoted them. Floats have no exponents. */
  readonly isAnnotated?: boolean;
  /** Value formats of the v1 API; absent: those of the other APIs. */
  readonly v1?: V1Values;
}

/** Floats without a zero fraction, `<`, `>` and `&` escaped in JSON, floats without exponents in CSV, NaN as NULL; an infinite float is
 *  an error in JSON. */
export interface V1Values {
  /** Nanoseconds per unit of integer times, rounded towards 1970; null: RFC 3339, in CSV nanoseconds. */
  readonly epochNs: number | null;
}

export interface RowText {
  /** The formatted rows of the batch, all or `from` .. `to` - 1, owned by the caller; null if the kernel cannot format this batch.
   *  @throws TsdbError bad_format for an infinite float in JSON of the v1 API */
  rows(batch: ResultBatch, from?: number, to?: number): Uint8Array<ArrayBuffer> | null;
}

export interface RowTextMaker {
  /** Returns null if it does not support one of the fields. */
  make(fields: readonly ResultField[], layout: RowLayout): RowText | null;
}

/** The error for values without a JSON number: `+Inf`, `-Inf`. */
export function unsupportedValue(value: string): TsdbError {
  return new TsdbError("bad_format", `json: unsupported value: ${value}`, { value });
}
