// Tells the groups of an aggregation apart by values of fields too (assembly/scan/value-groups.ts): of each group of tags, a group for each
// combination of values that occurs in it.
import { VALUES_FLOAT, VALUES_TEXT } from "../../../assembly/abi.ts";
import { assert } from "../../model/assert.ts";
import { LIMITS } from "../../model/limits.ts";
import type { ScanColumn } from "../../model/query/scan-table.ts";
import { type ColumnDef, ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import type { PartialRun } from "../../model/rows/run.ts";
import type { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";
import { assertDense } from "../scan/dense-run.ts";
import { bitmapBytes } from "../scan/rows.ts";
import type { ListedRows } from "./cells.ts";

const CHUNK_ROWS = LIMITS.vectorRows;

/** A field, and in the kernel the groups that its values make of those before. */
interface Level {
  readonly column: ColumnDef;
  readonly ptr: number;
}

/** Owned: call `release`. */
export class ValueGroups {
  private readonly levels: Level[] = [];

  /** @param columns at least one, stored or computed; NULL is a value of its own
   *  @param bytesMax what the groups may take: once they take more, they are of no use */
  constructor(
    private readonly kernel: Kernel,
    columns: readonly ColumnDef[],
    bytesMax: number,
  ) {
    assert(columns.length > 0, "groups by no values");
    try {
      for (const column of columns) this.levels.push({ column, ptr: kernel.call.valueGroupsCreate(bytesMax) >>> 0 });
    } catch (error) {
      this.release();
      throw error;
    }
  }

  get count(): number {
    return this.kernel.call.valueGroupsCount(this.levels.at(-1)!.ptr) >>> 0;
  }

  get memoryBytes(): number {
    return this.levels.reduce((sum, { ptr }) => sum + (this.kernel.call.valueGroupsBytes(ptr) >>> 0), 0);
  }

  /** Replaces the group of tags of each row (u32 at `numbersPtr`) by its group. @throws TsdbError overloaded */
  number(run: PartialRun, rows: ListedRows, numbersPtr: number): void {
    for (const level of this.levels) this.numberBy(level, run, rows, numbersPtr);
  }

  /** Counts rows [first, first + count) by their groups, if small values of a single column tell these apart and rows of one group of
   *  tags are side by side: writes at most `max` spans | group u32 | 0 u32 | how many u32 |. Returns how many; 0: nothing was counted.
   *  @param numbersPtr the group of tags of each row, u32; 0: all are of group 0
   *  @param countsPtr VALUES_COUNTS_BYTES @throws TsdbError overloaded */
  countRows(
    run: PartialRun,
    { first, count }: ListedRows,
    { numbersPtr, countsPtr, targetPtr, max }: { numbersPtr: number; countsPtr: number; targetPtr: number; max: number },
  ): number {
    const [level, ...others] = this.levels;
    const found = run.columns.find(({ columnId }) => columnId === level!.column.id);
    if (others.length > 0 || found === undefined) return 0;
    const { narrow, validityPtr } = found;
    const width = narrow?.width ?? layoutOf(found.type);
    if (width !== 1 && width !== 2) return 0;
    assertDense(found);
    const dataPtr = narrow?.ptr ?? found.dataPtr;
    const base = narrow?.base ?? 0n;
    const { call } = this.kernel;
    return call.valueGroupsCountRows(level!.ptr, width, dataPtr, base, validityPtr, first, count, numbersPtr, countsPtr, targetPtr, max);
  }

  private numberBy({ column, ptr }: Level, run: PartialRun, { rowsPtr, first, count }: ListedRows, numbersPtr: number): void {
    const { call } = this.kernel;
    const found = run.columns.find(({ columnId }) => columnId === column.id);
    if (found === undefined) {
      call.valueGroupsOfNothing(ptr, count, numbersPtr);
      return;
    }
    const { type, narrow, validityPtr } = found;
    assert(type === column.type, `column ${column.name} of type ${type}`);
    assertDense(found);
    const layout = narrow?.width ?? layoutOf(type);
    const dataPtr = narrow?.ptr ?? found.dataPtr;
    call.valueGroupsOfRows(ptr, layout, dataPtr, narrow?.base ?? 0n, validityPtr, rowsPtr, first, count, numbersPtr);
  }

  /** Returns what replaces at most CHUNK_ROWS groups by their groups of tags, and returns their values, which are overwritten the
   *  next time. @throws TsdbError overloaded */
  describer(blocks: Blocks): (groupsPtr: number, count: number) => readonly ScanColumn[] {
    const { call } = this.kernel;
    const levels = this.levels.map(({ column, ptr }) => {
      const width = VALUE_BYTES[column.type];
      return { ptr, width, dataPtr: blocks.alloc(CHUNK_ROWS * width), validityPtr: blocks.alloc(bitmapBytes(CHUNK_ROWS)) };
    });
    return (groupsPtr, count) => {
      const columns = levels.toReversed().map(({ ptr, width, dataPtr, validityPtr }): ScanColumn => {
        const present = call.valueGroupsDescribe(ptr, groupsPtr, count, width, dataPtr, validityPtr) >>> 0;
        if (present === 0) return { dataPtr: 0, validityPtr: 0 };
        return { dataPtr, validityPtr: present === count ? 0 : validityPtr };
      });
      return columns.reverse();
    };
  }

  release(): void {
    for (const { ptr } of this.levels.splice(0)) this.kernel.call.valueGroupsFree(ptr);
  }
}

function layoutOf(type: ColumnType): number {
  if (type === ColumnType.float) return VALUES_FLOAT;
  return type === ColumnType.string ? VALUES_TEXT : VALUE_BYTES[type];
}
