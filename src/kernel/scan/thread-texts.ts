// Texts of the chunks that threads of DuckDB process at a time. A scan frees the text of a chunk when it goes on to the next one, but with
// several threads, or several chunks at a time, it may still be read: each thread gets a copy, which stays until it asks for its next
// chunks.

import type { KeptChunk, ScanChunk, ScanColumn } from "../../model/query/scan-table.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";

/** The texts of one scan, by thread. Owned: call `release`. */
export class ThreadTexts {
  private readonly kept = new Map<object, Blocks>();

  constructor(private readonly kernel: Kernel) {}

  /** The chunk with texts of its own. They are in addition to those of the thread's previous chunks if `adds`, otherwise in place of them.
   *  @param types of the chunk's columns @throws TsdbError overloaded */
  keep(thread: object, chunk: ScanChunk | null, types: readonly ColumnType[], adds: boolean): KeptChunk | null {
    let blocks = this.kept.get(thread);
    if (!adds) blocks?.release();
    if (chunk === null) return null;
    let textBytes = 0;
    const columns = chunk.columns.map((column, i): ScanColumn => {
      if (types[i] !== ColumnType.tag && types[i] !== ColumnType.string) return column;
      const bytes = this.bytesOf(column, chunk.rowCount);
      if (bytes === 0) return column;
      if (blocks === undefined) {
        blocks = new Blocks(this.kernel);
        this.kept.set(thread, blocks);
      }
      textBytes += bytes;
      return this.copy(column, chunk.rowCount, bytes, blocks);
    });
    return { ...chunk, columns, textBytes };
  }

  release(): void {
    for (const blocks of this.kept.values()) blocks.release();
    this.kept.clear();
  }

  /** Short texts are in their views, which DuckDB copies. */
  private bytesOf({ dataPtr, validityPtr }: ScanColumn, rowCount: number): number {
    return dataPtr === 0 ? 0 : this.kernel.call.textBytes(dataPtr, validityPtr, 0, rowCount);
  }

  private copy({ dataPtr, validityPtr }: ScanColumn, rowCount: number, bytes: number, blocks: Blocks): ScanColumn {
    const views = blocks.alloc(rowCount * VALUE_BYTES[ColumnType.string]);
    this.kernel.call.copyViews(dataPtr, validityPtr, 0, rowCount, views, blocks.alloc(bytes));
    return { dataPtr: views, validityPtr };
  }
}
