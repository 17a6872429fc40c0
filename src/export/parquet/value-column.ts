// Columns of times, numbers and booleans.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { type Bounds, ChunkPages, CODEC, ENCODING, type FinishedChunk } from "./chunk.ts";
import { type PageColumn, type PageMemory, type PagePlace, PageValidity } from "./page-column.ts";

/** Values of a run: VALUE_BYTES × rows at dataPtr; validityPtr 0: all rows have one. */
export interface RunValues {
  readonly dataPtr: number;
  readonly validityPtr: number;
}

type Fixed = Exclude<ColumnType, typeof ColumnType.tag | typeof ColumnType.string>;
/** How present values are compared and stored. */
type Range = { readonly min: bigint | number; readonly max: bigint | number };

/** A column of values of fixed width. */
export class ValueColumn implements PageColumn<RunValues> {
  private chunk: ChunkPages;
  private range: Range | null = null;
  private readonly kernel: Kernel;
  private readonly valuesPtr: number;
  private readonly validity: PageValidity | null;

  /** @param isRequired every row has a value, and the schema says so */
  constructor(
    private readonly memory: PageMemory,
    private readonly type: Fixed,
    isRequired: boolean,
  ) {
    this.kernel = memory.kernel;
    this.chunk = this.newChunk();
    this.valuesPtr = memory.blocks.alloc(memory.pageRows * VALUE_BYTES[type]);
    this.validity = isRequired ? null : new PageValidity(memory);
  }

  get bytes(): number {
    return this.chunk.bytes;
  }

  add(values: RunValues | null, place: PagePlace): void {
    const { from, count, at } = place;
    const width = VALUE_BYTES[this.type];
    this.validity?.add(values?.validityPtr ?? null, place);
    if (values === null) return;
    this.kernel.call.copyBytes(this.valuesPtr + at * width, values.dataPtr + from * width, count * width);
  }

  endPage(rowCount: number): void {
    const presentCount = this.validity?.count(rowCount) ?? rowCount;
    const ptr = this.present(rowCount, presentCount);
    this.widen(ptr, presentCount);
    this.chunk.add({
      ...{ rowCount, nullCount: rowCount - presentCount, levels: this.validity?.levels(rowCount, presentCount) ?? null },
      ...this.encoded(ptr, presentCount),
    });
    this.validity?.clear();
  }

  endGroup(): FinishedChunk {
    const finished = this.chunk.finish(this.range === null ? null : this.bounds(this.range), null);
    this.chunk = this.newChunk();
    this.range = null;
    return finished;
  }

  private newChunk(): ChunkPages {
    return new ChunkPages(this.type === ColumnType.float ? CODEC.zstd : CODEC.none, this.memory.chunks);
  }

  /** The values of the rows that have one, one after the other. */
  private present(rowCount: number, presentCount: number): number {
    if (presentCount === rowCount || presentCount === 0) return this.valuesPtr;
    const { scratchPtr } = this.memory;
    this.kernel.call.packValues(VALUE_BYTES[this.type], this.valuesPtr, this.validity!.ptr, 0, rowCount, scratchPtr);
    // back, because the encoding needs the room
    this.kernel.call.copyBytes(this.valuesPtr, scratchPtr, presentCount * VALUE_BYTES[this.type]);
    return this.valuesPtr;
  }

  /** Borrowed. */
  private encoded(ptr: number, count: number): { values: Uint8Array; encoding: number } {
    const { kernel, type } = this;
    if (type === ColumnType.float) return { values: kernel.u8.subarray(ptr, ptr + count * 8), encoding: ENCODING.plain };
    if (type === ColumnType.boolean) return { values: packBits(kernel.u8.subarray(ptr, ptr + count)), encoding: ENCODING.plain };
    const { workPtr, scratchPtr } = this.memory;
    const end = kernel.call.parquetDelta(ptr, count, workPtr, scratchPtr) >>> 0;
    return { values: kernel.u8.subarray(scratchPtr, end), encoding: ENCODING.delta };
  }

  private widen(ptr: number, count: number): void {
    if (count === 0) return;
    const found = this.rangeOf(ptr, count);
    const { range } = this;
    if (found === null) return;
    if (range === null) this.range = found;
    else this.range = { min: found.min < range.min ? found.min : range.min, max: found.max > range.max ? found.max : range.max };
  }

  /** Null: there is nothing but NaN. */
  private rangeOf(ptr: number, count: number): Range | null {
    const { kernel, type } = this;
    if (type === ColumnType.float) return floatRange(kernel.f64.subarray(ptr / 8, ptr / 8 + count));
    if (type === ColumnType.unsigned) return unsignedRange(new BigUint64Array(kernel.memory.buffer, ptr, count));
    if (type === ColumnType.boolean) return byteRange(kernel.u8.subarray(ptr, ptr + count));
    kernel.call.findTimeRange(ptr, count);
    return { min: kernel.call.foundTimeMin(), max: kernel.call.foundTimeMax() };
  }

  private bounds({ min, max }: Range): Bounds {
    return { min: this.stored(min), max: this.stored(max), isExact: true };
  }

  private stored(value: bigint | number): Uint8Array {
    if (this.type === ColumnType.boolean) return Uint8Array.of(Number(value));
    const bytes = new Uint8Array(8);
    const view = new DataView(bytes.buffer);
    if (typeof value === "number") view.setFloat64(0, value, true);
    else view.setBigUint64(0, BigInt.asUintN(64, value), true);
    return bytes;
  }
}

/** NaN has no place in an order; zeros have a sign, which readers may compare or not. */
function floatRange(values: Float64Array): Range | null {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (min > max) return null;
  return { min: min === 0 ? -0 : min, max: max === 0 ? 0 : max };
}

function unsignedRange(values: BigUint64Array): Range {
  let [min, max] = [values[0]!, values[0]!];
  for (const value of values) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { min, max };
}

function byteRange(values: Uint8Array): Range {
  return { min: values.includes(0) ? 0 : 1, max: values.includes(1) ? 1 : 0 };
}

function packBits(values: Uint8Array): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  for (let i = 0; i < values.length; i++) bits[i >> 3]! |= values[i]! << (i & 7);
  return bits;
}
