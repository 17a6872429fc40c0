// Writes columns in the layout of a log frame: blocks | bytes u32 | encoded column |.
import type { ColumnCodec } from "../kernel/codec/codec.ts";
import type { Kernel } from "../kernel/memory/kernel.ts";
import type { KernelWriter } from "../kernel/memory/kernel-writer.ts";
import { countPresent } from "../kernel/scan/rows.ts";
import { ColumnType } from "../model/rows/column.ts";
import type { ColumnRun } from "../model/rows/run.ts";

type FrameColumn = Pick<ColumnRun, "type" | "dataPtr" | "validityPtr" | "isPacked">;

/** Appends blocks to a writer. All methods may throw TsdbError overloaded. */
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
