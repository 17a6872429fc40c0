// Writes one file from many blocks: opens their files, merges the blocks of each task, and passes the bytes on in pieces. Runs in the
// maintenance worker, between flushes.
import { ColumnCodec } from "../../kernel/codec/codec.ts";
import type { Kernel } from "../../kernel/memory/kernel.ts";
import { ALL_TIME } from "../../model/query/scan.ts";
import { joinOverlaps } from "../../model/rows/overlap-ranges.ts";
import { appliedMarks, type Tombstone } from "../../model/rows/tombstone.ts";
import { DAY_NS } from "../../model/time/time-units.ts";
import { type ObjectSource, openByteSource } from "../block/byte-source.ts";
import type { DataFile } from "../block/data-block.ts";
import { FileOutput } from "../block/file-output.ts";
import type { BlockMeta } from "../manifest/manifest.ts";
import { blockMeta } from "../pt/file.ts";
import { encodeDirectory, encodeHeader, PT_VERSION_GROUPED, type PtGroupedBlock } from "../pt/format.ts";
import { type BlockIdentity, MergedBlockWriter } from "../pt/merge-writer.ts";
import { PtReader } from "../pt/reader.ts";
import { type MergeLimits, mergeBlocks } from "./block-merge.ts";
import { RenumberedBlock } from "./renumbered-block.ts";

/** An input block and its file. */
export interface BlockInput {
  readonly fileId: number;
  readonly source: ObjectSource;
  readonly block: BlockMeta;
  /** The output's ids of its columns, where they are others: of tags in the same order. */
  readonly columnIds?: ReadonlyMap<number, number>;
}

/** Blocks of one table and day to be merged into one. */
export interface MergeTask {
  readonly databaseId: number;
  readonly tableId: number;
  readonly tableName: string;
  /** Deletions not yet applied to all files, ascending ids: the output has no rows that they hide. */
  readonly tombstones: readonly Tombstone[];
  /** Ids of deletions that may be taken back: the output has their rows. No input is of both sides of one. */
  readonly heldIds?: readonly number[];
  /** True if no rows of lower sequences exist besides the inputs. */
  readonly isFirst: boolean;
  /** True if the output is the run of a closed day. */
  readonly isClosed: boolean;
  /** In order of sequence. */
  readonly inputs: readonly BlockInput[];
}

/** A file to write. Structured-cloneable. */
export interface FileRequest {
  readonly tasks: readonly MergeTask[];
}

export interface MergeOutput {
  /** Takes ownership of a piece; resolves when the next one may follow. */
  readonly write: (piece: Uint8Array<ArrayBuffer>) => Promise<void>;
  /** Awaited between steps, so that other work can run. */
  readonly pace: () => Promise<void>;
  readonly limits?: Partial<MergeLimits>;
}

export interface MergedFile {
  readonly bytes: number;
  readonly blocks: readonly BlockMeta[];
}

/** Returns the manifest's description of the file; without blocks if no row is left, whatever was written. @throws TsdbError
 *  corrupt_file naming file and offset, io, overloaded */
export async function writeMergedFile(kernel: Kernel, request: FileRequest, { write, pace, limits }: MergeOutput): Promise<MergedFile> {
  const output = new FileOutput(write);
  const writing = {
    kernel,
    codec: new ColumnCodec(kernel),
    files: new OpenFiles(kernel),
    output,
    limits: limits ?? {},
    pace: async () => {
      await output.drain();
      await pace();
    },
  };
  try {
    const blocks = await writeBlocks(writing, request.tasks);
    await output.end();
    return { bytes: output.bytes, blocks };
  } finally {
    writing.codec.release();
    writing.files.close();
  }
}

interface Writing {
  readonly kernel: Kernel;
  readonly codec: ColumnCodec;
  readonly files: OpenFiles;
  readonly output: FileOutput;
  readonly limits: Partial<MergeLimits>;
  readonly pace: () => Promise<void>;
}

async function writeBlocks(writing: Writing, tasks: readonly MergeTask[]): Promise<BlockMeta[]> {
  const { kernel, codec, output, files, limits, pace } = writing;
  const written: { block: PtGroupedBlock; task: MergeTask }[] = [];
  output.append(encodeHeader(PT_VERSION_GROUPED));
  for (const task of tasks) {
    const writer = new MergedBlockWriter(kernel, codec, output, identityOf(task));
    try {
      const sources = task.inputs.map((input) => sourceOf(files, input));
      await mergeBlocks(kernel, { sources, tombstones: task.tombstones, writer, pace, limits });
      if (writer.block !== null) written.push({ block: writer.block, task });
    } finally {
      writer.release();
    }
  }
  output.append(encodeDirectory({ blocks: written.map(({ block }) => block) }, output.bytes, PT_VERSION_GROUPED));
  return written.map(({ block, task }, index) => ({ ...blockMeta(block, index), ...historyOf(task) }));
}

function identityOf({ databaseId, tableId, tableName, inputs, isFirst }: MergeTask): BlockIdentity {
  const blocks = inputs.map(({ block }) => block);
  const { dayStartNs } = blocks[0]!;
  // round down, also before 1970
  const day = Number((dayStartNs - (((dayStartNs % DAY_NS) + DAY_NS) % DAY_NS)) / DAY_NS);
  return {
    databaseId,
    tableId,
    tableName,
    day,
    seqMin: Math.min(...blocks.map(({ seqMin }) => seqMin)),
    seqMax: Math.max(...blocks.map(({ seqMax }) => seqMax)),
    ...(isFirst ? { unique: true } : joinOverlaps(blocks, ALL_TIME)),
  };
}

function historyOf({ inputs, tombstones, heldIds = [], isClosed }: MergeTask) {
  return {
    flushedMinMs: Math.min(...inputs.map(({ block }) => block.flushedMinMs)),
    flushedMaxMs: Math.max(...inputs.map(({ block }) => block.flushedMaxMs)),
    ...appliedMarks({ applied: tombstones, heldIds }),
    ...(isClosed ? { closed: true as const } : {}),
  };
}

function sourceOf(files: OpenFiles, input: BlockInput) {
  const { seqMax, minTimeNs, maxTimeNs } = input.block;
  const stored = files.open(input).block(input.block.index);
  const block = input.columnIds === undefined ? stored : new RenumberedBlock(stored, input.columnIds);
  return { block, seqMax, minTimeNs, maxTimeNs };
}

/** The open input files, each opened once. */
class OpenFiles {
  private readonly files = new Map<number, DataFile>();

  constructor(private readonly kernel: Kernel) {}

  open({ fileId, source }: BlockInput): DataFile {
    let file = this.files.get(fileId);
    if (file === undefined) {
      file = new PtReader(this.kernel, openByteSource(source));
      this.files.set(fileId, file);
    }
    return file;
  }

  close(): void {
    for (const file of this.files.values()) file.close();
    this.files.clear();
  }
}
