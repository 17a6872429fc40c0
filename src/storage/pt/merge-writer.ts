// Merged rows as a block of a .pt file, written as they come: pages in groups of one page or more.
import type { ColumnCodec } from "../../kernel/codec/codec.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { LIMITS } from "../../model/limits.ts";
import { VALUE_BYTES } from "../../model/rows/column.ts";
import type { ColumnRun } from "../../model/rows/run.ts";
import type { MergedColumn, MergedGroup, MergedSeries, MergeSink } from "../block/merge-sink.ts";
import { type ByteSink, ColumnEmitter } from "./column-emitter.ts";
import type { PtGroupedBlock } from "./format.ts";
import { type BlockIdentity, MergedBlock } from "./merged-block.ts";

/** Writes one block. Used once. */
export class PtMergeSink implements MergeSink {
  readonly groupRows = LIMITS.pageRowsMax;
  /** After `end`. */
  block: PtGroupedBlock | null = null;
  private readonly emitter: ColumnEmitter;
  private merged: MergedBlock | null = null;
  private pageRows: readonly number[] = [];

  constructor(
    private readonly kernel: Kernel,
    codec: ColumnCodec,
    output: ByteSink,
    private readonly identity: BlockIdentity,
  ) {
    this.emitter = new ColumnEmitter(kernel, codec, output);
  }

  begin(columns: readonly MergedColumn[], series: MergedSeries): void {
    this.merged = new MergedBlock(this.kernel, this.identity, columns, series);
  }

  beginGroup(group: MergedGroup): void {
    this.pageRows = group.pageRows;
    this.merged!.addPages(group, [group.pageRows.length]);
  }

  writeColumn({ columnId, type, dataPtr, validityPtr }: ColumnRun): void {
    let row = 0;
    const chunks = this.pageRows.map((rowCount) => {
      const data = { dataPtr: dataPtr + row * VALUE_BYTES[type], validityPtr: validityPtr === 0 ? 0 : validityPtr + row / 8 };
      row += rowCount;
      return this.emitter.column({ type, ...data, rowCount });
    });
    this.merged!.column(columnId).addGroup(null, chunks);
  }

  endGroup(): void {
    this.pageRows = [];
  }

  end(rowCountsPtr: number): void {
    this.block = this.merged!.end(this.emitter, rowCountsPtr);
  }

  release(): void {
    this.emitter.release();
  }
}
