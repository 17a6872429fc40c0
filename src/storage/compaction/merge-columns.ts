// Merges one column of a slice: decodes its pages and scatters the values to their positions among the merged rows.
import type { Blocks } from "../../kernel/memory/blocks.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { bitmapBytes } from "../../kernel/scan/rows.ts";
import { assert } from "../../model/assert.ts";
import { TsdbError } from "../../model/errors.ts";
import { VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { DecodeMemory } from "../block/data-block.ts";
import type { MergedColumn } from "../pt/merge-writer.ts";
import type { PagePiece } from "./merge-input.ts";
import type { MergeSlice } from "./merge-slice.ts";

interface DecodedPiece extends PagePiece {
  readonly column: ColumnRun | null;
  /** Target positions of the piece's rows. */
  readonly placesPtr: number;
}

/** The column for the slice's first `rowCount` merged rows, in `blocks`; its text stays in `memory`, where pages are decoded. @throws
 *  TsdbError corrupt_file, io, overloaded, or what `memory` throws */
export function mergeSliceColumn(
  kernel: Kernel,
  slice: MergeSlice,
  { columnId, type }: MergedColumn,
  { rowCount, memory, blocks }: { rowCount: number; memory: DecodeMemory; blocks: Blocks },
): ColumnRun {
  const pieces = slice.parts.flatMap(({ input, firstRow, count, placesPtr }) =>
    input.pieces(firstRow, count).map((piece): DecodedPiece => {
      const column = input.source.block.readColumn(piece.page, columnId, memory);
      if (column !== null && column.type !== type) throw wrongType(columnId, column.type, type);
      return { ...piece, column, placesPtr: placesPtr + (piece.row - firstRow) * 4 };
    }),
  );
  const isWhole = pieces.every(({ column }) => column?.validityPtr === 0);
  const validityPtr = isWhole ? 0 : blocks.allocZeroed(bitmapBytes(rowCount));
  const width = VALUE_BYTES[type];
  // absent values are 0, so that equal rows produce identical files
  const dataPtr = isWhole ? blocks.alloc(rowCount * width) : blocks.allocZeroed(rowCount * width);
  const { placeValues1, placeValues8, placeValues16 } = kernel.call;
  const place = { 1: placeValues1, 8: placeValues8, 16: placeValues16 }[width];
  assert(place !== undefined, `no values of ${width} bytes`);
  for (const { column, first, count, placesPtr } of pieces) {
    if (column !== null) place(column.dataPtr, column.validityPtr, first, count, placesPtr, rowCount, dataPtr, validityPtr);
  }
  return { columnId, type, dataPtr, validityPtr };
}

function wrongType(columnId: number, got: number, want: number): TsdbError {
  return new TsdbError("corrupt_file", `column ${columnId} has type ${got} in a block, ${want} in another`, { columnId, got, want });
}
