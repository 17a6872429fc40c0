// Puts the rows of a shard's backup in place of what the bucket has there. They are merged into files of the data, which become part of it,
// together with the removal of the rows before, by one entry of the manifest: all or nothing, whenever the process ends.
import type { Kernel } from "../kernel/memory/kernel.ts";
import { TsdbError } from "../model/errors.ts";
import { ColumnType, TIME_COLUMN } from "../model/rows/column.ts";
import { applicable, appliedMarks, type Tombstone } from "../model/rows/tombstone.ts";
import { DAY_NS } from "../model/time/time-units.ts";
import type { ObjectStore } from "../object-store/object-store.ts";
import { openByteSource } from "../storage/block/byte-source.ts";
import type { LiveTables } from "../storage/buffer/live-tables.ts";
import { COLUMN_TYPE_NAME } from "../storage/catalog/operations.ts";
import { byFile } from "../storage/compaction/compactor.ts";
import type { BlockInput, MergeTask } from "../storage/compaction/merge-file.ts";
import type { BlockOfTable, FileMeta } from "../storage/manifest/manifest.ts";
import { dayStartNs, type StoredBlock } from "../storage/pt/format.ts";
import { PtReader } from "../storage/pt/reader.ts";
import type { ReceivedArchive, ShardDescription, ShardTable } from "./shard-archive.ts";
import { blocksIn, type ShardBackupParts } from "./shard-backup.ts";
import { rangeOf, type ShardWindow } from "./shard-id.ts";
import { planTables, type TablePlan } from "./table-columns.ts";

export interface ShardRestoreParts extends ShardBackupParts {
  readonly kernel: Kernel;
  readonly store: ObjectStore;
  readonly tables: LiveTables;
  readonly ptKey: (fileId: number) => string;
  /** Files all rows so far; resolves to a sequence between them and later ones. */
  readonly barrier: () => Promise<number>;
  readonly deletionsDurable: () => Promise<void>;
  /** Files that are no longer part of the data, if so. */
  readonly discard: (files: readonly FileMeta[]) => void;
}

/** A compaction may replace the blocks that are to go while their successors are written. */
const ATTEMPTS_MAX = 10;

/** @throws TsdbError bad_request for an archive that contradicts itself: nothing is changed; unprocessable, limit_exceeded, no_space, io,
 *  unavailable */
export async function restoreShard(parts: ShardRestoreParts, databaseId: number, { description, files }: ReceivedArchive): Promise<void> {
  const { catalog, tables } = parts;
  const blocks = files.map(({ path }) => checkedBlocks(parts.kernel, path, description));
  const days = blocks.flat().map(({ tableId, day }) => `${tableId} ${day}`);
  if (new Set(days).size < days.length) throw contradiction("two blocks of a table and day");
  const plan = planTables(catalog, databaseId, description.tables);
  if (plan.operations.length > 0) await catalog.apply(plan.operations).durable;
  const upload = files.flatMap(({ path }, i) =>
    blocks[i]!.map((block): Uploaded => ({ path, block, plan: plan.byId.get(block.tableId)! })),
  );
  const touched = new Set([...upload.map(({ plan: { tableId } }) => tableId), ...catalog.tables(databaseId).map(({ id }) => id)]);
  const release = tables.expectRows([...touched], rangeOf(description));
  try {
    const sequence = await parts.barrier();
    for (let attempt = 1; ; attempt++) {
      if (await replaceRows(parts, { databaseId, description, upload, sequence })) return;
      if (attempt === ATTEMPTS_MAX)
        throw new TsdbError("overloaded", "the files of the bucket change too fast; nothing was restored, try again");
    }
  } finally {
    release();
  }
}

interface Uploaded {
  readonly path: string;
  readonly block: StoredBlock & { readonly index: number };
  readonly plan: TablePlan;
}

interface Replacement {
  readonly databaseId: number;
  readonly description: ShardDescription;
  readonly upload: readonly Uploaded[];
  /** Of the restored rows. */
  readonly sequence: number;
}

/** False, without effect, if blocks that were to go have been replaced meanwhile. */
async function replaceRows(parts: ShardRestoreParts, replacement: Replacement): Promise<boolean> {
  const { catalog, manifest, store } = parts;
  const { databaseId, description, sequence } = replacement;
  const isAddition = description.sinceMs !== null;
  const before = isAddition ? [] : catalog.allTables(databaseId).flatMap(({ id }) => blocksIn(manifest, id, description));
  const replaced = before.filter(({ block }) => block.seqMax < sequence);
  const added: FileMeta[] = [];
  let isDone = false;
  const release = parts.keepFiles();
  try {
    for (const [path, ofFile] of Map.groupBy(replacement.upload, (each) => each.path)) {
      const tasks = ofFile.map((each) => uploadTask(parts, each, replacement));
      added.push(...(await writeFile(parts, tasks, null).catch((error) => fault(error, path))));
    }
    const cut = replaced.filter(({ block }) => !isWithin(block, description));
    const tasks = cut.map((each) => remainderTask(parts, each, description, sequence));
    if (tasks.length > 0) added.push(...(await writeFile(parts, tasks, marksOf(parts, cut))));
    for (const { blocks } of added) for (const block of blocks) checkTimes(block, cut, description);
    await parts.deletionsDurable();
    await catalog.durable(catalog.version);
    isDone = await manifest.commitIfCurrent({ added, removedBlocks: byFile(replaced) });
  } finally {
    release();
    if (!isDone) for (const { key } of added) await store.delete(key).catch(() => {}); // else removed at the next start
  }
  if (isDone) parts.discard(replaced.map(({ file }) => file));
  return isDone;
}

/** The blocks of an uploaded file. @throws TsdbError bad_request */
function checkedBlocks(kernel: Kernel, path: string, description: ShardDescription): (StoredBlock & { readonly index: number })[] {
  const byId = new Map(description.tables.map((table) => [table.id, table]));
  let reader: PtReader | undefined;
  try {
    reader = new PtReader(kernel, openByteSource({ kind: "path", path }));
    const opened = reader;
    return Array.from({ length: opened.blockCount }, (_, index) => {
      const block = opened.stored(index);
      const table = byId.get(block.tableId);
      if (table === undefined) throw contradiction("rows of a table that it does not describe");
      checkColumns(block, table);
      const start = dayStartNs(block);
      const isOfDay = block.minTimeNs >= start && block.maxTimeNs < BigInt(block.day + 1) * DAY_NS && block.rowCount > 0;
      if (!isOfDay || !isWithin(block, description)) throw contradiction(`rows of ${table.name} outside of its time`);
      return { ...block, index };
    });
  } catch (error) {
    return fault(error, path);
  } finally {
    reader?.close();
  }
}

/** What is wrong with an uploaded file is the client's fault. */
function fault(error: unknown, path: string): never {
  if (!(error instanceof TsdbError) || error.kind !== "corrupt_file") throw error;
  throw contradiction(error.message.replaceAll(path, "its rows"));
}

function checkColumns({ tags, columns }: StoredBlock, { name, columns: described }: ShardTable): void {
  const types = new Map<number, ColumnType>(described.map(({ id, type }) => [id, COLUMN_TYPE_NAME[type]]));
  types.set(TIME_COLUMN.id, TIME_COLUMN.type);
  const all = [...tags.map(({ columnId }) => ({ columnId, type: ColumnType.tag })), ...columns];
  if (all.some(({ columnId, type }) => types.get(columnId) !== type)) throw contradiction(`columns of ${name} that it does not describe`);
}

function contradiction(what: string): TsdbError {
  return new TsdbError("bad_request", `the backup of the shard contradicts itself: ${what}; nothing was restored`);
}

function isWithin({ minTimeNs, maxTimeNs }: { readonly minTimeNs: bigint; readonly maxTimeNs: bigint }, window: ShardWindow): boolean {
  const { minNs, maxNs } = rangeOf(window);
  return minTimeNs >= minNs && maxTimeNs <= maxNs;
}

/** A task for each uploaded block: it becomes one of ours, later than all rows before. */
function uploadTask(
  { nowMs }: ShardRestoreParts,
  { path, block, plan }: Uploaded,
  { databaseId, description, sequence }: Replacement,
): MergeTask {
  const { tableId, columnIds } = plan;
  const { startNs, endNs, sinceMs, tables } = description;
  const start = dayStartNs(block);
  const isAddition = sinceMs !== null;
  const { index, rowCount, minTimeNs, maxTimeNs, seriesCount } = block;
  const times = { dayStartNs: start, minTimeNs, maxTimeNs, flushedMinMs: nowMs(), flushedMaxMs: nowMs() };
  const meta: BlockInput["block"] = {
    ...{ index, databaseId, tableId, rowCount, seriesCount, seqMin: sequence, seqMax: sequence, columnIds: [], ...times },
    ...(isAddition ? { unique: false, overlaps: [rangeOf(description)] } : { unique: true }),
  };
  return {
    ...{ databaseId, tableId, tableName: tables.find(({ id }) => id === block.tableId)!.name, tombstones: [] },
    isFirst: !isAddition,
    isClosed: !isAddition && startNs <= start && endNs >= start + DAY_NS,
    inputs: [{ fileId: 0, source: { kind: "path", path }, block: meta, columnIds }],
  };
}

/** What a block has outside of the window stays, as it was. */
function remainderTask(
  { catalog, tombstonesOf, objectSource }: ShardRestoreParts,
  { file, block }: BlockOfTable,
  window: ShardWindow,
  sequence: number,
): MergeTask {
  const { databaseId, tableId } = block;
  const hidden: Tombstone = { id: 0, tableId, sequence, range: rangeOf(window), tags: [] };
  const { applied, heldIds } = applicable(tombstonesOf(tableId));
  return {
    ...{ databaseId, tableId, tableName: catalog.tableById(tableId)?.name ?? "" },
    ...{ tombstones: [hidden, ...applied], heldIds },
    ...{ isFirst: false, isClosed: block.closed === true },
    inputs: [{ fileId: file.id, source: objectSource(file.key), block }],
  };
}

/** By table: what a remainder knows of its deletions. */
function marksOf({ tombstonesOf }: ShardRestoreParts, blocks: readonly BlockOfTable[]): ReadonlyMap<number, Marks> {
  return new Map(blocks.map(({ block: { tableId } }) => [tableId, appliedMarks(applicable(tombstonesOf(tableId)))]));
}

type Marks = ReturnType<typeof appliedMarks>;

/** The file, or nothing if no row is left. @param marks of remainders: the deletions that they know; null: uploaded rows know none */
async function writeFile(
  { manifest, store, ptKey, merge }: ShardRestoreParts,
  tasks: readonly MergeTask[],
  marks: ReadonlyMap<number, Marks> | null,
): Promise<FileMeta[]> {
  const id = manifest.allocateFileId();
  const key = ptKey(id);
  const writer = await store.begin(key);
  try {
    const { bytes, blocks } = await merge({ tasks }, (piece) => writer.append(piece));
    if (blocks.length === 0) {
      await writer.abort();
      return [];
    }
    await writer.finish();
    const known = blocks.map(({ appliedTombstone: _, unappliedTombstones: __, ...block }) => ({ ...block, ...marks?.get(block.tableId) }));
    return [{ id, key, bytes, generation: 1, blocks: known }];
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** Rows as they were read, not as the archive's directory has them. @throws TsdbError bad_request */
function checkTimes(block: FileMeta["blocks"][number], cut: readonly BlockOfTable[], window: ShardWindow): void {
  const isOfDay = block.minTimeNs >= block.dayStartNs && block.maxTimeNs - block.dayStartNs < DAY_NS;
  const isRemainder = cut.some((each) => each.block.seqMin === block.seqMin && each.block.tableId === block.tableId);
  if (!isOfDay || (!isRemainder && !isWithin(block, window))) throw contradiction("rows outside of its time");
}
