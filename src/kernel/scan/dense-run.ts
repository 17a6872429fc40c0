// Expands packed columns for loops that address a value by row number.
import { assert } from "../../model/assert.ts";
import { VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, Run } from "../../model/rows/run.ts";
import type { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";

/** The column with one value per row: itself unless packed, otherwise a copy in `blocks` (text stays in place). @throws TsdbError
 *  overloaded */
export function denseColumn(kernel: Kernel, column: ColumnRun, rowCount: number, blocks: Blocks): ColumnRun {
  const { columnId, type, dataPtr, validityPtr } = column;
  if (!column.isPacked) return column;
  assert(validityPtr !== 0, `packed column ${columnId} has a bitmap`);
  const target = blocks.alloc(Math.max(1, rowCount * VALUE_BYTES[type]));
  kernel.call.unpackValues(VALUE_BYTES[type], dataPtr, validityPtr, rowCount, target);
  return { columnId, type, dataPtr: target, validityPtr };
}

/** The run with its wanted columns only, each with one value per row; the run itself if none is packed. @throws TsdbError overloaded */
export function denseRun(kernel: Kernel, run: Run, isWanted: (columnId: number) => boolean, blocks: Blocks): Run {
  if (!run.columns.some(({ isPacked }) => isPacked)) return run;
  const columns = run.columns.filter(({ columnId }) => isWanted(columnId));
  return { ...run, columns: columns.map((column) => denseColumn(kernel, column, run.rowCount, blocks)) };
}

/** For loops that would read a packed column's values as those of the first rows. */
export function assertDense({ columnId, isPacked }: ColumnRun): void {
  if (isPacked) assert(false, `column ${columnId} is packed: denseRun comes before this`);
}
