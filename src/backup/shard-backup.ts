// Makes the backup of a shard: its rows are merged by the maintenance worker from all files that have some, deletions applied, and kept in
// files until the client has them. Files of the data that are read stay there meanwhile.
import { I64_MAX, I64_MIN } from "../model/rows/int64.ts";
import type { Tombstone } from "../model/rows/tombstone.ts";
import type { ObjectSource } from "../storage/block/byte-source.ts";
import type { Catalog } from "../storage/catalog/catalog.ts";
import type { FileRequest, MergedFile, MergeTask } from "../storage/compaction/merge-file.ts";
import type { BlockOfTable, Manifest } from "../storage/manifest/manifest.ts";
import { columnsOf } from "./metadata-file.ts";
import { type ArchiveBytes, type ShardTable, writeArchive } from "./shard-archive.ts";
import { rangeOf, type ShardWindow } from "./shard-id.ts";
import { Spool, type SpooledFile } from "./spool.ts";

export interface ShardBackupParts {
  readonly catalog: Catalog;
  readonly manifest: Manifest;
  /** Files that are replaced stay readable until the result is called. */
  readonly keepFiles: () => () => void;
  readonly tombstonesOf: (tableId: number) => readonly Tombstone[];
  readonly objectSource: (key: string) => ObjectSource;
  /** In the maintenance worker. */
  readonly merge: (request: FileRequest, write: (piece: Uint8Array) => Promise<void>) => Promise<MergedFile>;
  /** Of the files that a backup passes through. */
  readonly folder: string;
  readonly nowMs: () => number;
}

/** An archive that waits for its client. Owned: call `remove`. */
export interface MadeShard extends ArchiveBytes {
  remove(): Promise<void>;
}

/** Blocks described to the maintenance worker at once: some milliseconds of the main thread. */
const BLOCKS_PER_FILE = 2000;

/** Null: no file has rows of the shard. @param sinceMs only rows that were flushed then or later @throws TsdbError no_space, corrupt_file,
 *  io, cancelled when the server stops */
export async function backUpShard(
  parts: ShardBackupParts,
  databaseId: number,
  window: ShardWindow,
  sinceMs: number | null,
): Promise<MadeShard | null> {
  const release = parts.keepFiles();
  const spool = new Spool(parts.folder);
  try {
    const tables: ShardTable[] = [];
    const tasks: MergeTask[] = [];
    for (const table of parts.catalog.tables(databaseId)) {
      const blocks = blocksIn(parts.manifest, table.id, window).filter(({ block }) => sinceMs === null || block.flushedMaxMs >= sinceMs);
      if (blocks.length === 0) continue;
      const retentionNs = parts.catalog.retentionNs("table", table.id)?.toString() ?? null;
      tables.push({ id: table.id, name: table.name, retentionNs, columns: columnsOf(table) });
      for (const inputs of byDay(blocks))
        tasks.push(taskOf(parts, { databaseId, tableId: table.id, tableName: table.name, window, inputs }));
    }
    if (tasks.length === 0) return null;
    const files: SpooledFile[] = [];
    for (const some of inGroups(tasks)) files.push(await spool.file(async (append) => void (await parts.merge({ tasks: some }, append))));
    const archive = writeArchive({ ...window, sinceMs, tables }, files, parts.nowMs());
    return { ...archive, remove: () => spool.remove() };
  } catch (error) {
    await spool.remove();
    throw error;
  } finally {
    release();
  }
}

/** Blocks with rows within the window, or around it. */
export function blocksIn(manifest: Manifest, tableId: number, window: ShardWindow): BlockOfTable[] {
  const { minNs, maxNs } = rangeOf(window);
  return manifest.blocksOf(tableId).filter(({ block }) => block.minTimeNs <= maxNs && block.maxTimeNs >= minNs);
}

/** Each day's in order of sequence. */
function byDay(blocks: readonly BlockOfTable[]): BlockOfTable[][] {
  const days = Map.groupBy(blocks, ({ block }) => block.dayStartNs);
  const inOrder = (a: BlockOfTable, b: BlockOfTable) => a.block.seqMin - b.block.seqMin || a.block.index - b.block.index;
  return [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, ofDay]) => ofDay.sort(inOrder));
}

function taskOf(
  { tombstonesOf, objectSource }: ShardBackupParts,
  task: Pick<MergeTask, "databaseId" | "tableId" | "tableName"> & { window: ShardWindow; inputs: readonly BlockOfTable[] },
): MergeTask {
  const { databaseId, tableId, tableName, window } = task;
  return {
    ...{ databaseId, tableId, tableName, isFirst: true, isClosed: false },
    tombstones: [...outside(tableId, window), ...tombstonesOf(tableId)],
    inputs: task.inputs.map(({ file, block }) => ({ fileId: file.id, source: objectSource(file.key), block })),
  };
}

/** Hides what lies before and after the window. */
function outside(tableId: number, window: ShardWindow): Tombstone[] {
  const { minNs, maxNs } = rangeOf(window);
  const hidden = { id: 0, tableId, sequence: Number.MAX_SAFE_INTEGER, tags: [] };
  return [
    ...(minNs > I64_MIN ? [{ ...hidden, range: { minNs: I64_MIN, maxNs: minNs - 1n } }] : []),
    ...(maxNs < I64_MAX ? [{ ...hidden, range: { minNs: maxNs + 1n, maxNs: I64_MAX } }] : []),
  ];
}

function* inGroups(tasks: readonly MergeTask[]): Generator<MergeTask[]> {
  let group: MergeTask[] = [];
  let count = 0;
  for (const task of tasks) {
    if (group.length > 0 && count + task.inputs.length > BLOCKS_PER_FILE) {
      yield group;
      [group, count] = [[], 0];
    }
    group.push(task);
    count += task.inputs.length;
  }
  if (group.length > 0) yield group;
}
