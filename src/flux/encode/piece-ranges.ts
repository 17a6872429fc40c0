// Rows that leave together: a reader that has stopped keeps the last pieces waiting, so none of them is long.
import type { FluxTable } from "../tables/table.ts";

const PIECE_ROWS = 8192;
/** UTF-16 units of a piece of more than one row. */
export const PIECE_UNITS = 512 << 10;
/** Of a cell without its text, with what is around it. */
export const CELL_UNITS = 24;

export interface RowRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** Rows of a piece, at most. */
export function pieceRowsOf({ columns }: FluxTable): number {
  return rowsWithin(columns.length * CELL_UNITS);
}

function rowsWithin(unitsOfRow: number): number {
  return Math.max(1, Math.min(PIECE_ROWS, Math.floor(PIECE_UNITS / unitsOfRow)));
}

/** All rows of a table in ranges; an empty table has none. */
export function* pieceRanges({ columns, rowCount }: FluxTable): Generator<RowRange, void> {
  let fixed = columns.length * CELL_UNITS;
  const texts: (readonly string[])[] = [];
  for (const { cells, mask } of columns) {
    if (!Array.isArray(cells)) continue;
    if (mask === 0) fixed += cells[0]?.length ?? 0;
    else texts.push(cells);
  }
  const rowsMax = rowsWithin(fixed);
  for (let from = 0; from < rowCount; ) {
    const end = Math.min(rowCount, from + rowsMax);
    const to = texts.length === 0 ? end : endOf(texts, fixed, from, end);
    yield { from, to };
    from = to;
  }
}

function endOf(texts: readonly (readonly string[])[], fixed: number, from: number, end: number): number {
  let units = 0;
  for (let row = from; row < end; row++) {
    units += fixed;
    // the cell of a null is not defined
    for (const cells of texts) units += cells[row]?.length ?? 0;
    if (units > PIECE_UNITS) return Math.max(from + 1, row);
  }
  return end;
}
