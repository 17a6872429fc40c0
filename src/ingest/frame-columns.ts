// Columns as a log frame holds them: blocks | bytes u32 | encoded column |. What can be encoded without knowing the table's ids is encoded
// by whoever has parsed it; the frame takes those blocks as they are.
import type { ColumnCodec } from "../kernel/codec.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { KernelWriter } from "../kernel/kernel-writer.ts";
import type { ParsedBody } from "../kernel/parser-view.ts";
import { countPresent } from "../kernel/rows.ts";
import { ColumnType } from "../model/column.ts";
import type { ColumnRun } from "../model/run.ts";

type FrameColumn = Pick<ColumnRun, "type" | "dataPtr" | "validityPtr" | "isPacked">;

/** Appends blocks to a writer. All may throw TsdbError overloaded. */
export class FrameColumns {
  constructor(
    private readonly kernel: Kernel,
    private readonly codec: ColumnCodec,
    private readonly writer: KernelWriter,
  ) {}

  series(seriesPtr: number, rowCount: number): void {
    const { codec } = this;
    this.block(codec.u32BytesMax(rowCount), (target) => codec.encodeU32(seriesPtr, rowCount, target));
  }

  times(timePtr: number, rowCount: number): void {
    this.column({ type: ColumnType.time, dataPtr: timePtr, validityPtr: 0 }, rowCount);
  }

  column({ type, dataPtr, validityPtr, isPacked }: FrameColumn, rowCount: number): void {
    const { codec } = this;
    const column = { type, dataPtr, validityPtr, rowCount };
    if (isPacked) {
      const bytesMax = codec.packedBytesMax(column, countPresent(this.kernel, validityPtr, 0, rowCount));
      this.block(bytesMax, (target) => codec.encodePacked(column, target));
    } else {
      this.block(codec.bytesMax(column), (target) => codec.encode(column, target));
    }
  }

  private block(bytesMax: number, encode: (target: number) => number): void {
    const { writer } = this;
    const lengthAt = writer.skipU32();
    const bytes = encode(writer.reserve(bytesMax));
    writer.advance(bytes);
    writer.patchU32(lengthAt, bytes);
  }
}

/** Writes the times and columns of all tables of a body, in the parser's order: | offset u32 per table | blocks of the tables |. */
export function encodeBody({ tables }: ParsedBody, columns: FrameColumns, writer: KernelWriter): void {
  writer.clear();
  const offsets = tables.map(() => writer.skipU32());
  tables.forEach(({ rowCount, timePtr, columns: parsedColumns }, i) => {
    writer.patchU32(offsets[i]!, writer.length);
    columns.times(timePtr, rowCount);
    for (const { type, dataPtr, validityPtr } of parsedColumns) {
      columns.column(validityPtr === 0 ? { type, dataPtr, validityPtr } : { type, dataPtr, validityPtr, isPacked: true }, rowCount);
    }
  });
}

/** Where the blocks of a table begin in what encodeBody wrote. */
export function encodedTablePtr(kernel: Kernel, encodedPtr: number, tableAt: number): number {
  return encodedPtr + kernel.u32[encodedPtr / 4 + tableAt]!;
}
