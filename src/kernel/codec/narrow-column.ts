// A decoded column of integers or times as it waits in memory for the next scan: differences to its smallest value in one, two or four
// bytes each, instead of eight, those of times divided by what they have in common. Wraps assembly/codec/narrow.ts and divided.ts.
import { assert } from "../../model/assert.ts";
import type { TimeRange } from "../../model/query/scan.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun, NarrowValues } from "../../model/rows/run.ts";
import type { Kernel } from "../memory/kernel.ts";
import type { PageParts } from "../scan/page-parts.ts";
import { bitmapBytes } from "../scan/rows.ts";

const U32_MAX = 2n ** 32n - 1n;

/** Where a column is written to. */
interface TargetMemory {
  alloc(bytes: number): number;
}

/** How narrow a column can be. */
export interface Narrowness extends Pick<NarrowValues, "width" | "base"> {
  /** Of times: what divides their differences. */
  readonly divisor?: Divisor;
}

/** odd << zeros. */
interface Divisor {
  readonly odd: number;
  readonly zeros: number;
}

/** What the integers or times of a column fit; null: it holds none, or they fit nothing narrower. */
export function narrownessOf({ call }: Kernel, { type, dataPtr }: ColumnRun, rowCount: number): Narrowness | null {
  if (type === ColumnType.time) {
    const width = call.dividedWidth(dataPtr, rowCount);
    // u32 comes as a signed number
    return width === 0 ? null : { width, base: call.dividedBase(), divisor: { odd: call.dividedOdd() >>> 0, zeros: call.dividedZeros() } };
  }
  if (type !== ColumnType.integer && type !== ColumnType.unsigned) return null;
  const width = call.narrowWidth(dataPtr, rowCount);
  return width === 0 ? null : { width, base: call.narrowBase() };
}

/** The values of a column of one page. Borrows the memory that it was made in. */
export class NarrowColumn {
  private readonly column: Pick<ColumnRun, "columnId" | "type">;
  private readonly valuesPtr: number;
  private readonly validityPtr: number;

  /** Copies `column` to `memory`. @throws TsdbError overloaded */
  constructor(
    private readonly kernel: Kernel,
    { columnId, type, dataPtr, validityPtr }: ColumnRun,
    private readonly rowCount: number,
    private readonly narrowness: Narrowness,
    memory: TargetMemory,
  ) {
    const { width, base, divisor } = narrowness;
    this.column = { columnId, type };
    const ptr = memory.alloc(rowCount * width);
    if (divisor === undefined) kernel.call.narrowValues(dataPtr, rowCount, base, width, ptr);
    else kernel.call.divideValues(dataPtr, rowCount, base, divisor.odd, divisor.zeros, width, ptr);
    this.valuesPtr = ptr;
    this.validityPtr = this.bitmap(validityPtr, memory);
  }

  /** All values as they are, and by `widened` when they are read as wide ones. */
  run(widened: () => ColumnRun): ColumnRun {
    const { column, validityPtr, valuesPtr: ptr } = this;
    const { width, base, divisor } = this.narrowness;
    let dataPtr = 0;
    return {
      ...{ ...column, validityPtr, ...(divisor === undefined ? { narrow: { ptr, width, base } } : {}) },
      gather: (rowsPtr, count, targetPtr) => this.gather(rowsPtr, count, targetPtr),
      get dataPtr() {
        if (dataPtr === 0) ({ dataPtr } = widened());
        return dataPtr;
      },
    };
  }

  private gather(rowsPtr: number, count: number, targetPtr: number): void {
    const { call } = this.kernel;
    const { width, base, divisor } = this.narrowness;
    if (divisor === undefined) call.gatherNarrow(this.valuesPtr, rowsPtr, count, base, width, targetPtr);
    else call.gatherDivided(this.valuesPtr, rowsPtr, count, base, divisor.odd, divisor.zeros, width, targetPtr);
  }

  /** All values, wide. @throws TsdbError overloaded */
  widen(memory: TargetMemory): ColumnRun {
    const { rowCount, column, valuesPtr: ptr } = this;
    const { call } = this.kernel;
    const { width, base, divisor } = this.narrowness;
    const dataPtr = memory.alloc(rowCount * VALUE_BYTES[column.type]);
    if (divisor === undefined) call.widenValues(ptr, rowCount, base, width, dataPtr);
    else call.multiplyValues(ptr, rowCount, base, divisor.odd, divisor.zeros, width, dataPtr);
    return { ...column, dataPtr, validityPtr: this.bitmap(this.validityPtr, memory) };
  }

  /** The values of the rows of `parts`. @throws TsdbError overloaded */
  rows(parts: PageParts, memory: TargetMemory): ColumnRun {
    const { column, valuesPtr: ptr } = this;
    const { call } = this.kernel;
    const { width, base, divisor } = this.narrowness;
    const { rows, rowCount } = parts;
    const dataPtr = memory.alloc(rowCount * VALUE_BYTES[column.type]);
    if (divisor === undefined) call.widenParts(ptr, rows.ptr, rows.count, base, width, dataPtr);
    else call.multiplyParts(ptr, rows.ptr, rows.count, base, divisor.odd, divisor.zeros, width, dataPtr);
    return { ...column, dataPtr, validityPtr: parts.bits(this.validityPtr, memory) };
  }

  /** True if `cut` can be called. */
  get hasTimes(): boolean {
    return this.narrowness.divisor !== undefined;
  }

  /** Leaves the rows of `parts` within the range: of times, which ascend within a part. */
  cut(parts: PageParts, { minNs, maxNs }: TimeRange): void {
    const { width, base, divisor } = this.narrowness;
    assert(divisor !== undefined, "only times are cut");
    const step = BigInt(divisor.odd) << BigInt(divisor.zeros);
    const least = minNs <= base ? 0n : (minNs - base + step - 1n) / step;
    const most = maxNs < base ? -1n : (maxNs - base) / step;
    // none is within [1, 0]
    if (least > most || least > U32_MAX) parts.cutDivided(this.valuesPtr, width, 1, 0);
    else parts.cutDivided(this.valuesPtr, width, Number(least), Number(most > U32_MAX ? U32_MAX : most));
  }

  private bitmap(validityPtr: number, memory: TargetMemory): number {
    if (validityPtr === 0) return 0;
    const bytes = bitmapBytes(this.rowCount);
    const ptr = memory.alloc(bytes);
    this.kernel.call.copyBytes(ptr, validityPtr, bytes);
    return ptr;
  }
}

for (const type of [ColumnType.integer, ColumnType.unsigned, ColumnType.time])
  assert(VALUE_BYTES[type] === 8, "wide values take eight bytes");
