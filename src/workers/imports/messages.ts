// Messages between the main thread and the two threads of an import.
import type { ColumnPlan } from "../../imports/column-plan.ts";
import type { FileFacts } from "../../imports/file-facts.ts";
import type { RowPiece, RowPlace } from "../../imports/piece.ts";
import type { EncodedSlice, ImportTarget } from "../../imports/rows/imported-rows.ts";
import type { ErrorDescription } from "../../model/errors.ts";

export type ToReadThread =
  | { readonly type: "open"; readonly path: string; readonly pieceRowsMax: number }
  | { readonly type: "read"; readonly plan: ColumnPlan; readonly from: RowPlace }
  /** Reads the columns of a row group one after another, to find the first that cannot be read. */
  | { readonly type: "check"; readonly plan: ColumnPlan; readonly group: number }
  /** A piece is no longer waiting: another one may be sent. */
  | { readonly type: "taken" };

export type FromReadThread =
  | { readonly type: "opened"; readonly facts: FileFacts }
  | { readonly type: "piece"; readonly piece: RowPiece }
  | { readonly type: "all read" }
  /** What is read now; column null: all. */
  | { readonly type: "reading"; readonly group: number; readonly column: string | null }
  /** The library has failed in a way that leaves it unusable. */
  | { readonly type: "trapped" }
  | { readonly type: "error"; readonly error: ErrorDescription };

export type ToWriteThread =
  | { readonly type: "begin"; readonly target: ImportTarget }
  | { readonly type: "piece"; readonly piece: RowPiece }
  | { readonly type: "end" };

export type FromWriteThread =
  | { readonly type: "taken" }
  | { readonly type: "slice"; readonly slice: EncodedSlice }
  | { readonly type: "all written" }
  | { readonly type: "error"; readonly error: ErrorDescription };

/** Slices that wait to be stored while more are made. */
export const SLICES_MAX = 2;

/** Pieces that are sent and not yet taken. */
export const PIECES_MAX = 8;
