// A decoded column of integers as it waits in memory for the next scan: differences to its smallest value in one, two or four bytes each,
// instead of eight. Wraps assembly/codec/narrow.ts.
import { assert } from "../../model/assert.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, NarrowValues } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { PageParts } from "../scan/page-parts.ts";
import { bitmapBytes } from "../scan/rows.ts";

/** Where a column is written to. */
interface TargetMemory {
  alloc(bytes: number): number;
}

/** How narrow a column can be. */
export type Narrowness = Pick<NarrowValues, "width" | "base">;

/** What the integers of a column fit; null: it holds none, or they fit nothing narrower. */
export function narrownessOf({ call }: Kernel, { type, dataPtr }: ColumnRun, rowCount: number): Narrowness | null {
  if (type !== ColumnType.integer && type !== ColumnType.unsigned) return null;
  const width = call.narrowWidth(dataPtr, rowCount);
  return width === 0 ? null : { width, base: call.narrowBase() };
}

/** The values of a column of one page. Borrows the memory that it was made in. */
export class NarrowColumn {
  private readonly column: Pick<ColumnRun, "columnId" | "type">;
  private readonly values: NarrowValues;
  private readonly validityPtr: number;

  /** Copies `column` to `memory`. @throws TsdbError overloaded */
  constructor(
    private readonly kernel: Kernel,
    { columnId, type, dataPtr, validityPtr }: ColumnRun,
    private readonly rowCount: number,
    { width, base }: Narrowness,
    memory: TargetMemory,
  ) {
    this.column = { columnId, type };
    this.values = { ptr: memory.alloc(rowCount * width), width, base };
    kernel.call.narrowValues(dataPtr, rowCount, base, width, this.values.ptr);
    this.validityPtr = this.bitmap(validityPtr, memory);
  }

  /** All values as they are, and by `widened` when they are read as wide ones. */
  run(widened: () => ColumnRun): ColumnRun {
    const { column, validityPtr, values } = this;
    let dataPtr = 0;
    return {
      ...{ ...column, validityPtr, narrow: values },
      get dataPtr() {
        if (dataPtr === 0) ({ dataPtr } = widened());
        return dataPtr;
      },
    };
  }

  /** All values, wide. @throws TsdbError overloaded */
  widen(memory: TargetMemory): ColumnRun {
    const { kernel, rowCount, column } = this;
    const { ptr, width, base } = this.values;
    const dataPtr = memory.alloc(rowCount * VALUE_BYTES[column.type]);
    kernel.call.widenValues(ptr, rowCount, base, width, dataPtr);
    return { ...column, dataPtr, validityPtr: this.bitmap(this.validityPtr, memory) };
  }

  /** The values of the rows of `parts`. @throws TsdbError overloaded */
  rows(parts: PageParts, memory: TargetMemory): ColumnRun {
    const { kernel, column } = this;
    const { ptr, width, base } = this.values;
    const { rows, rowCount } = parts;
    const dataPtr = memory.alloc(rowCount * VALUE_BYTES[column.type]);
    kernel.call.widenParts(ptr, rows.ptr, rows.count, base, width, dataPtr);
    return { ...column, dataPtr, validityPtr: parts.bits(this.validityPtr, memory) };
  }

  private bitmap(validityPtr: number, memory: TargetMemory): number {
    if (validityPtr === 0) return 0;
    const bytes = bitmapBytes(this.rowCount);
    const ptr = memory.alloc(bytes);
    this.kernel.call.copyBytes(ptr, validityPtr, bytes);
    return ptr;
  }
}

assert(VALUE_BYTES[ColumnType.integer] === 8 && VALUE_BYTES[ColumnType.unsigned] === 8, "integers are widened to eight bytes");
