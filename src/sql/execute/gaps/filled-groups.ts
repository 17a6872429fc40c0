// Rows of a gap-filling query: one for each bin of each combination of keys, made chunk by chunk from its groups.
import type { ChunkCursor } from "../../../duckdb/table-function.ts";
import { Blocks } from "../../../kernel/memory/blocks.ts";
import type { Kernel } from "../../../kernel/memory/kernel.ts";
import { TsdbError } from "../../../model/errors.ts";
import { LIMITS } from "../../../model/limits.ts";
import type { ScanChunk, ScanColumn } from "../../../model/query/scan-table.ts";
import { ColumnType, VALUE_BYTES } from "../../../model/rows/column.ts";
import { I64_MAX, I64_MIN, U64_MAX } from "../../../model/rows/int64.ts";
import type { GapColumn, GapFill } from "../../bind/kind.ts";
import { type SortedGroups, textAt } from "./sorted-groups.ts";

const ROWS_MAX = LIMITS.vectorRows;

/** Groups with the missing bins of `gaps`. `types`: of the groups' columns. */
export interface FilledGroups {
  readonly groups: SortedGroups;
  readonly gaps: GapFill;
  readonly types: readonly ColumnType[];
}

/** What the rows of a chunk are made of. */
class ChunkRows {
  count = 0;
  /** Number of the bin. */
  readonly bins = new Uint32Array(ROWS_MAX);
  /** Place of the last group up to the bin; -1: none. */
  readonly places = new Int32Array(ROWS_MAX);
  /** 1 if that group is the bin's own. */
  readonly areOwn = new Uint8Array(ROWS_MAX);
  /** Index of the combination of keys. */
  readonly runs = new Uint32Array(ROWS_MAX);
}

/** Fills one column of a chunk. */
interface ColumnWriter {
  write(rows: ChunkRows): ScanColumn;
}

/** The rows in order of keys and time. Chunks are valid until the next one. */
export class FilledCursor implements ChunkCursor {
  private readonly blocks: Blocks;
  private readonly rows = new ChunkRows();
  private readonly writers: readonly ColumnWriter[];
  private run = 0;
  private bin = 0;
  /** Place of the first group behind `bin`. */
  private next_ = 0;

  constructor(
    kernel: Kernel,
    private readonly filled: FilledGroups,
    columnIndexes: readonly number[],
  ) {
    this.blocks = new Blocks(kernel);
    const { gaps } = filled;
    this.writers = columnIndexes.map((index) => writerOf(kernel, this.blocks, filled, gaps.columns[index]!));
  }

  next(): ScanChunk | null {
    this.nextRows();
    const { count } = this.rows;
    return count === 0 ? null : { rowCount: count, columns: this.writers.map((writer) => writer.write(this.rows)) };
  }

  close(): void {
    this.blocks.release();
  }

  private nextRows(): void {
    const { rows } = this;
    const { groups, gaps } = this.filled;
    rows.count = 0;
    while (rows.count < ROWS_MAX && this.run < groups.runs.length) {
      const { from, to } = groups.runs[this.run]!;
      if (this.bin === 0) this.next_ = from;
      for (; rows.count < ROWS_MAX && this.bin < gaps.count; this.bin++) {
        const isOwn = this.next_ < to && groups.bins[this.next_] === this.bin;
        if (isOwn) this.next_++;
        const at = rows.count++;
        rows.bins[at] = this.bin;
        rows.places[at] = this.next_ > from ? this.next_ - 1 : -1;
        rows.areOwn[at] = isOwn ? 1 : 0;
        rows.runs[at] = this.run;
      }
      if (this.bin < gaps.count) continue;
      this.bin = 0;
      this.run++;
    }
  }
}

function writerOf(kernel: Kernel, blocks: Blocks, filled: FilledGroups, column: GapColumn): ColumnWriter {
  const { groups, gaps, types } = filled;
  if (column.content === "bin") return new BinWriter(kernel, blocks, gaps);
  if (column.content === "key") return new KeyWriter(kernel, blocks, groups, column.index);
  const type = types[column.index]!;
  if (column.content === "interpolate") return new LineWriter(kernel, blocks, filled, column.index, type);
  return new ValueWriter(kernel, blocks, groups, column, type);
}

/** Memory of one column of a chunk. */
class ColumnMemory {
  readonly dataPtr: number;
  private readonly validityPtr: number;
  private readonly bits = new Uint8Array(ROWS_MAX / 8);
  private hasNull = false;

  constructor(
    private readonly kernel: Kernel,
    blocks: Blocks,
    widthBytes: number,
  ) {
    this.dataPtr = blocks.allocZeroed(ROWS_MAX * widthBytes);
    this.validityPtr = blocks.allocZeroed(ROWS_MAX / 8);
  }

  start(): void {
    this.hasNull = false;
    this.bits.fill(0xff);
  }

  setNull(row: number): void {
    this.hasNull = true;
    this.bits[row >>> 3]! &= ~(1 << (row & 7));
  }

  get column(): ScanColumn {
    if (this.hasNull) this.kernel.u8.set(this.bits, this.validityPtr);
    return { dataPtr: this.dataPtr, validityPtr: this.hasNull ? this.validityPtr : 0 };
  }
}

class BinWriter implements ColumnWriter {
  private readonly memory: ColumnMemory;

  constructor(
    private readonly kernel: Kernel,
    blocks: Blocks,
    private readonly gaps: GapFill,
  ) {
    this.memory = new ColumnMemory(kernel, blocks, VALUE_BYTES[ColumnType.time]);
  }

  write({ count, bins }: ChunkRows): ScanColumn {
    const { memory } = this;
    const { firstNs, widthNs } = this.gaps;
    memory.start();
    const values = this.kernel.i64;
    for (let row = 0; row < count; row++) values[memory.dataPtr / 8 + row] = firstNs + BigInt(bins[row]!) * widthNs;
    return memory.column;
  }
}

class KeyWriter implements ColumnWriter {
  private readonly memory: ColumnMemory;
  /** By combination of keys. */
  private readonly views: number;
  private readonly areNull: readonly boolean[];

  constructor(
    private readonly kernel: Kernel,
    blocks: Blocks,
    { runs, columns, rows }: SortedGroups,
    column: number,
  ) {
    this.memory = new ColumnMemory(kernel, blocks, VALUE_BYTES[ColumnType.tag]);
    const texts = runs.map(({ from }) => textAt(columns[column]!, rows[from]!)?.toString() ?? null);
    this.areNull = texts.map((text) => text === null);
    this.views = blocks.allocViews(texts.map((text) => text ?? ""));
  }

  write({ count, runs }: ChunkRows): ScanColumn {
    const { memory, areNull } = this;
    memory.start();
    const words = this.kernel.i64;
    for (let row = 0; row < count; row++) {
      const run = runs[row]!;
      if (areNull[run]) memory.setNull(row);
      words[memory.dataPtr / 8 + 2 * row] = words[this.views / 8 + 2 * run]!;
      words[memory.dataPtr / 8 + 2 * row + 1] = words[this.views / 8 + 2 * run + 1]!;
    }
    return memory.column;
  }
}

/** Values of groups: in their own bins only, or carried over. */
class ValueWriter implements ColumnWriter {
  private readonly memory: ColumnMemory;
  private readonly values: BigInt64Array | Uint8Array;
  private readonly isByte: boolean;
  /** The place to read for the last group up to a bin; null: its own, and in no other bin. */
  private readonly carried: Int32Array | null;
  private readonly isZero: boolean;

  constructor(
    private readonly kernel: Kernel,
    blocks: Blocks,
    private readonly groups: SortedGroups,
    private readonly of: GapColumn,
    type: ColumnType,
  ) {
    const { index, content } = of;
    this.memory = new ColumnMemory(kernel, blocks, VALUE_BYTES[type]);
    this.isByte = VALUE_BYTES[type] === 1;
    const { values } = groups.columns[index] ?? { values: new Float64Array(0) };
    this.values = this.isByte ? (values as Uint8Array) : new BigInt64Array(values.buffer, values.byteOffset, values.length);
    this.carried = content === "locf" ? groups.neighbours(index).before : null;
    this.isZero = content === "zero";
  }

  write({ count, places, areOwn }: ChunkRows): ScanColumn {
    const { memory, groups, carried, values, isByte } = this;
    memory.start();
    const words = isByte ? this.kernel.u8 : this.kernel.i64;
    const first = isByte ? memory.dataPtr : memory.dataPtr / 8;
    const none = isByte ? 0 : 0n;
    for (let row = 0; row < count; row++) {
      const place = this.placeOf(places[row]!, areOwn[row] === 1);
      const isValue = place >= 0 && (carried !== null || groups.has(this.of.index, place));
      words[first + row] = isValue ? values[groups.rows[place]!]! : none;
      if (!isValue && !(this.isZero && place < 0)) memory.setNull(row);
    }
    return memory.column;
  }

  private placeOf(place: number, isOwn: boolean): number {
    if (this.carried !== null) return place < 0 ? -1 : this.carried[place]!;
    return isOwn ? place : -1;
  }
}

/** Values of groups, and between them the line from the previous to the next one. */
class LineWriter implements ColumnWriter {
  private readonly memory: ColumnMemory;
  private readonly before: Int32Array;
  private readonly behind: Int32Array;

  constructor(
    private readonly kernel: Kernel,
    blocks: Blocks,
    private readonly filled: FilledGroups,
    private readonly index: number,
    private readonly type: ColumnType,
  ) {
    const { groups } = filled;
    this.memory = new ColumnMemory(kernel, blocks, VALUE_BYTES[type]);
    const { before, behind } = groups.neighbours(index);
    this.before = before;
    this.behind = behind;
  }

  write({ count, places, areOwn, bins }: ChunkRows): ScanColumn {
    const { memory, type } = this;
    const { groups } = this.filled;
    memory.start();
    const { f64, i64 } = this.kernel;
    const at = memory.dataPtr / 8;
    for (let row = 0; row < count; row++) {
      const place = places[row]!;
      const own = areOwn[row] === 1 && groups.has(this.index, place) ? place : -1;
      const value = own >= 0 ? this.valueAt(own) : this.between(place, bins[row]!);
      if (value === null) memory.setNull(row);
      if (type === ColumnType.float) f64[at + row] = Number(value ?? 0);
      else i64[at + row] = BigInt.asIntN(64, BigInt(value ?? 0));
    }
    return memory.column;
  }

  private valueAt(place: number): number | bigint {
    const { columns, rows } = this.filled.groups;
    return (columns[this.index]!.values as Float64Array | BigInt64Array | BigUint64Array)[rows[place]!]!;
  }

  /** Null if there is no value before or behind. Integers are cut towards zero. @throws TsdbError bad_query beyond 64 bits */
  private between(place: number, bin: number): number | bigint | null {
    const [last, next] = place < 0 ? [-1, -1] : [this.before[place]!, this.behind[place]!];
    if (last < 0 || next < 0) return null;
    const { bins } = this.filled.groups;
    const [v0, v1] = [Number(this.valueAt(last)), Number(this.valueAt(next))];
    const line = ((v1 - v0) / this.nsBetween(bins[last]!, bins[next]!)) * this.nsBetween(bins[last]!, bin) + v0;
    return this.type === ColumnType.float ? line : wholeOf(line, this.type);
  }

  private nsBetween(from: number, to: number): number {
    return Number(BigInt(to - from) * this.filled.gaps.widthNs);
  }
}

function wholeOf(line: number, type: ColumnType): bigint {
  const value = BigInt(Math.trunc(line));
  const [min, max] = type === ColumnType.unsigned ? [0n, U64_MAX] : [I64_MIN, I64_MAX];
  if (value >= min && value <= max) return value;
  const name = type === ColumnType.unsigned ? "UInt64" : "Int64";
  throw new TsdbError("bad_query", `Arrow error: Cast error: Can't cast value ${line} to type ${name}`);
}
