// The `.pt` file as the rest of the server sees it.
import type { Kernel } from "../kernel/kernel.ts";
import type { OwnedRun } from "../kernel/run-merge.ts";
import type { ColumnDef } from "../model/column.ts";
import { TsdbError } from "../model/errors.ts";
import type { Run } from "../model/run.ts";
import type { TagPredicate, TimeRange } from "../model/scan.ts";
import type { BlockMeta } from "./manifest-entry.ts";

export interface PtDirectory {
  readonly blocks: readonly BlockMeta[];
}

export interface PtTableInput {
  readonly databaseId: number;
  readonly tableId: number;
  readonly columns: readonly ColumnDef[];
  readonly runs: readonly Run[];
}

export interface ByteSource {
  readonly name: string;
  readonly size: number;
  read(offset: number, byteCount: number): Uint8Array;
}

export function writePt(_kernel: Kernel, tables: readonly PtTableInput[]): { bytes: Uint8Array<ArrayBuffer>; directory: PtDirectory } {
  throw new TsdbError("unavailable", `files are not written yet: ${tables.length} tables stay in the log`);
}

export class PtReader {
  constructor(
    private readonly kernel: Kernel,
    private readonly source: ByteSource,
  ) {}

  decodeBlock(block: number, _request: { columnIds: readonly number[]; range: TimeRange; tags: readonly TagPredicate[] }): OwnedRun | null {
    throw new TsdbError("corrupt_file", `${this.source.name}: block ${block} cannot be read into ${this.kernel.extents.usedBytes} bytes`);
  }
}
