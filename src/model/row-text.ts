// Rows as text by the kernel: what the encoders of JSON and CSV may use instead of writing cell by cell.
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
}

export interface RowText {
  /** All rows of the batch one after the other, owned by the caller; null when this batch is not for the kernel. */
  rows(batch: ResultBatch): Uint8Array<ArrayBuffer> | null;
}

export interface RowTextMaker {
  /** Null when it cannot write all of these fields. */
  make(fields: readonly ResultField[], layout: RowLayout): RowText | null;
}
