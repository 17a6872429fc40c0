// Makes the index of one data file, in steps. Runs in the maintenance worker.
import type { Kernel } from "../kernel/kernel.ts";
import type { ColumnDef } from "../model/column.ts";
import { TsdbError } from "../model/errors.ts";
import { type ObjectSource, openByteSource } from "../store/byte-source.ts";
import { type DataFormat, openDataFile } from "../store/data-file.ts";
import type { IndexedBlock } from "../store/file-index-format.ts";
import { FileIndexWriter } from "../store/file-index-writer.ts";
import { FileOutput } from "../store/file-output.ts";

/** Structured-cloneable. */
export interface IndexRequest {
  readonly format: DataFormat;
  readonly source: ObjectSource;
  readonly blocks: readonly (IndexedBlock & { readonly index: number; readonly columns: readonly ColumnDef[] })[];
}

export interface IndexOutput {
  /** Takes a piece, which is its own from then on; resolves when the next one may come. */
  readonly write: (piece: Uint8Array<ArrayBuffer>) => Promise<void>;
  /** Lets other work be done. */
  readonly pace: () => Promise<void>;
  /** A column of a block has a list of so many values at most. */
  readonly valuesMax?: number;
}

/** Returns the bytes written. @throws TsdbError corrupt_file naming file and offset, io, overloaded */
export async function buildFileIndex(kernel: Kernel, request: IndexRequest, { write, pace, valuesMax }: IndexOutput): Promise<number> {
  const output = new FileOutput(write);
  const file = openDataFile(kernel, openByteSource(request.source), request.format);
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
