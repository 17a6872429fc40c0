// Texts of the chunks that threads of DuckDB process at a time. A scan frees the text of a chunk when it goes on to the next one, but with
// several threads another one may still be reading it: each thread gets a copy, which stays until it asks for its next chunk.

import type { ScanChunk, ScanColumn } from "../../model/query/scan-table.ts";
import { ColumnType, VALUE_BYTES } from "../../model/rows/column.ts";
import { Blocks } from "../memory/blocks.ts";
import type { Kernel } from "../memory/kernel.ts";

/** The texts of one scan, by thread. Owned: call `release`. */
export class ThreadTexts {
  private readonly kept = new Map<object, Blocks>();

  constructor(private readonly kernel: Kernel) {}

  /** The chunk with texts of its own, in place of those of the thread's previous chunk. @param types of the chunk's columns
   *  @throws TsdbError overloaded */
  keep(thread: object, chunk: ScanChunk | null, types: readonly ColumnType[]): ScanChunk | null {
    let blocks = this.kept.get(thread);
    blocks?.release();
    if (chunk === null) return null;
    const columns = chunk.columns.map((column, i): ScanColumn => {
      if (types[i] !== ColumnType.tag && types[i] !== ColumnType.string) return column;
      if (blocks === undefined) {
        blocks = new Blocks(this.kernel);
        this.kept.set(thread, blocks);
      }
      return this.copy(column, chunk.rowCount, blocks);
    });
    return { ...chunk, columns };
  }

  release(): void {
    for (const blocks of this.kept.values()) blocks.release();
    this.kept.clear();
  }

  /** Short texts are in their views, which DuckDB copies. */
  private copy({ dataPtr, validityPtr }: ScanColumn, rowCount: number, blocks: Blocks): ScanColumn {
    const { call } = this.kernel;
    const bytes = dataPtr === 0 ? 0 : call.textBytes(dataPtr, validityPtr, 0, rowCount) >>> 0;
    if (bytes === 0) return { dataPtr, validityPtr };
    const views = blocks.alloc(rowCount * VALUE_BYTES[ColumnType.string]);
    call.copyViews(dataPtr, validityPtr, 0, rowCount, views, blocks.alloc(bytes));
    return { dataPtr: views, validityPtr };
  }
}
