// Builds the index of one data file, in steps. Runs in the maintenance worker.
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { TsdbError } from "../../model/errors.ts";
import type { ColumnDef } from "../../model/rows/column.ts";
import { type ObjectSource, openByteSource } from "../block/byte-source.ts";
import { FileOutput } from "../block/file-output.ts";
import type { IndexedBlock } from "../file-index/format.ts";
import { FileIndexWriter } from "../file-index/writer.ts";
import { PtReader } from "../pt/reader.ts";

/** Structured-cloneable. */
export interface IndexRequest {
  readonly source: ObjectSource;
  readonly blocks: readonly (IndexedBlock & { readonly index: number; readonly columns: readonly ColumnDef[] })[];
}

export interface IndexOutput {
  /** Takes ownership of a piece; resolves when the next one may follow. */
  readonly write: (piece: Uint8Array<ArrayBuffer>) => Promise<void>;
  /** Awaited between steps, so that other work can run. */
  readonly pace: () => Promise<void>;
  /** Maximum values in the list of one column of a block. */
  readonly valuesMax?: number;
}

/** Returns the bytes written. @throws TsdbError corrupt_file naming file and offset, io, overloaded */
export async function buildFileIndex(kernel: Kernel, request: IndexRequest, { write, pace, valuesMax }: IndexOutput): Promise<number> {
  const output = new FileOutput(write);
  const file = new PtReader(kernel, openByteSource(request.source));
  try {
    const paced = async () => {
      await output.drain();
      await pace();
    };
    const writer = new FileIndexWriter(kernel, output, paced, valuesMax);
    for (const { index, columns, ...identity } of request.blocks) {
      const block = file.block(index);
      if (block.rowCount !== identity.rowCount) {
        throw new TsdbError("corrupt_file", `block ${index} has ${block.rowCount} rows, the manifest says ${identity.rowCount}`, {});
      }
      for (const column of columns) await writer.add(block, index, identity, column);
    }
    writer.end();
    await output.end();
    return output.bytes;
  } finally {
    file.close();
  }
}
