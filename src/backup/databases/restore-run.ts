// Restores a backup: files are copied and verified under new keys, become part of the data by one entry of the manifest as rows of tables
// that do not exist, and in the step in which it takes effect one entry of the catalog makes the tables. After a crash before that entry
// is durable compaction drops the rows, as those of any table that is gone.
import { EMPTY_FRAME } from "../../ingest/frame.ts";
import { TsdbError } from "../../model/errors.ts";
import type { BlockMeta, FileMeta } from "../../storage/manifest/manifest.ts";
import { requireSpace } from "./backup-run.ts";
import type { BackupContent, StoredFile, TableContent } from "./content.ts";
import { copyObject, throwIfCancelled } from "./copy.ts";
import type { DatabaseBackupParts } from "./parts.ts";
import type { JobProgress } from "./progress.ts";
import { checkContent, planRestore, type RestoredIds, reserveIds } from "./restore-plan.ts";
import type { Shelf } from "./shelf.ts";
import { TableOrder } from "./table-order.ts";

export interface RestoreRun {
  readonly content: BackupContent;
  readonly progress: JobProgress;
  readonly signal: AbortSignal;
  /** Records the tables, or the databases without any, by which a later start knows whether it came about. */
  readonly onReserved: (ids: { readonly tables: readonly number[]; readonly databases: readonly number[] }) => Promise<void>;
}

/** Resolves when the databases are as the backup has them. @throws TsdbError corrupt_file naming the file, cancelled, already_exists,
 *  limit_exceeded, overloaded, no_space, read_only, io: nothing is restored then */
export async function runRestore(parts: DatabaseBackupParts, shelf: Shelf, run: RestoreRun): Promise<void> {
  const { catalog, manifest, nowMs } = parts;
  const { content, progress, signal } = run;
  const totalBytes = content.files.reduce((sum, { file }) => sum + file.bytes, 0);
  progress.expect(content.files.length, totalBytes);
  await requireRoom(parts, totalBytes);
  const orders = ordersOf(parts, content);
  await checkContent(content.databases, orders);
  const ids = await reserveIds(catalog, content.databases, nowMs());
  await run.onReserved({ tables: [...ids.tables.values()], databases: [...ids.databases.values()] });
  // before anything is copied: what does not fit is known now
  planRestore(catalog, content.databases, ids, orders, momentOf(parts));
  const tables = new Map(content.databases.flatMap((database) => database.tables.map((table) => [table.id, table] as const)));
  const added: FileMeta[] = [];
  let isDone = false;
  try {
    for (const stored of content.files) {
      added.push(await restoreFile(parts, shelf, stored, { ids, orders, tables, progress, signal }));
      progress.addFile();
    }
    await lengthenLog(parts, Math.max(0, ...[...orders.values()].map(({ length }) => length)));
    await catalog.durable(catalog.version);
    throwIfCancelled(signal);
    const before = catalog.version;
    let plan = planRestore(catalog, content.databases, ids, orders, momentOf(parts));
    const made = Promise.withResolvers<void>();
    made.promise.catch(() => {}); // awaited after the commit
    const change = () => {
      try {
        if (catalog.version !== before) plan = planRestore(catalog, content.databases, ids, orders, momentOf(parts));
        const { durable } = catalog.apply(plan.operations);
        for (const tableId of plan.replaced) parts.tables.renamed(tableId);
        made.resolve(durable);
      } catch (error) {
        made.reject(error);
      }
    };
    await manifest.commit({ added }, () => {
      isDone = true;
      change();
    });
    await made.promise;
    parts.onRestored();
  } catch (error) {
    // rows of tables that there are not
    if (isDone) parts.onRestored();
    throw error;
  } finally {
    if (!isDone) for (const { key } of added) await parts.store.delete(key).catch(() => {}); // else removed at the next start
  }
}

function momentOf({ nowMs, durableSequence, hardDeleteDefaultMs }: DatabaseBackupParts) {
  return { nowMs: nowMs(), hardDeleteDefaultMs, durableSequence: durableSequence() };
}

async function requireRoom({ dataRoom }: DatabaseBackupParts, bytes: number): Promise<void> {
  requireSpace(await dataRoom(), bytes);
}

/** By the ids that tables have in the backup. */
function ordersOf({ reserveTombstones }: DatabaseBackupParts, { databases, files }: BackupContent): Map<number, TableOrder> {
  const blocks = Map.groupBy(
    files.flatMap(({ file }) => file.blocks),
    ({ tableId }) => tableId,
  );
  const tables = databases.flatMap((database) => database.tables);
  return new Map(
    tables.map((table) => [table.id, new TableOrder(table, blocks.get(table.id) ?? [], reserveTombstones(table.tombstones.length))]),
  );
}

interface FileOptions extends Pick<RestoreRun, "progress" | "signal"> {
  readonly ids: RestoredIds;
  readonly orders: ReadonlyMap<number, TableOrder>;
  /** By the ids that they have in the backup. */
  readonly tables: ReadonlyMap<number, TableContent>;
}

/** The file as part of the data. @throws TsdbError corrupt_file naming the copy */
async function restoreFile(
  { manifest, store, ptKey, checkFile }: DatabaseBackupParts,
  shelf: Shelf,
  { file, place, sha256 }: StoredFile,
  { ids, orders, tables, progress, signal }: FileOptions,
): Promise<FileMeta> {
  const source = { store: shelf.store, key: shelf.keyOf(place), bytes: file.bytes };
  const blocks = file.blocks.map((block) => restoredBlock(block, ids, orders, source.key));
  const id = manifest.allocateFileId();
  const key = ptKey(id);
  const check = (got: string) => {
    if (got === sha256) return;
    throw new TsdbError("corrupt_file", `${source.key} is damaged: its SHA-256 is ${got}, want ${sha256}`, { file: source.key });
  };
  try {
    await copyObject(source, () => store.begin(key), { signal, onBytes: (bytes) => progress.addBytes(bytes), check });
  } catch (error) {
    if (!(error instanceof TsdbError && error.kind === "not_found")) throw error;
    throw new TsdbError("corrupt_file", `${source.key} is missing`, { file: source.key }, { cause: error });
  }
  try {
    checkFile(key, file.blocks, tables);
  } catch (error) {
    await store.delete(key).catch(() => {}); // else removed at the next start
    if (!(error instanceof TsdbError && error.kind === "corrupt_file")) throw error;
    throw new TsdbError(
      "corrupt_file",
      `${source.key} is damaged: ${error.message.replaceAll(key, "it")}`,
      { file: source.key },
      { cause: error },
    );
  }
  return { ...file, id, key, blocks };
}

function restoredBlock(block: BlockMeta, ids: RestoredIds, orders: ReadonlyMap<number, TableOrder>, key: string): BlockMeta {
  const { appliedTombstone, unappliedTombstones = [], ...rest } = block;
  const databaseId = ids.databases.get(block.databaseId);
  const tableId = ids.tables.get(block.tableId);
  const order = orders.get(block.tableId);
  if (databaseId === undefined || tableId === undefined || order === undefined) {
    throw new TsdbError("corrupt_file", `the backup contradicts itself: ${key} has rows of a table that it does not describe`, {
      file: key,
    });
  }
  const applied = appliedTombstone === undefined ? undefined : order.applied(appliedTombstone);
  const own = { databaseId, tableId, seqMin: order.sequence(block.seqMin), seqMax: order.sequence(block.seqMax) };
  if (applied === undefined) return { ...rest, ...own };
  const unapplied = unappliedTombstones.flatMap((id) => order.known(id) ?? []);
  return { ...rest, ...own, appliedTombstone: applied, ...(unapplied.length === 0 ? {} : { unappliedTombstones: unapplied }) };
}

/** Rows that come later have greater sequences than those that are restored. */
async function lengthenLog({ wal, barrier }: DatabaseBackupParts, sequences: number): Promise<void> {
  while (wal.lastSequence < sequences) {
    await wal.makeRoom(EMPTY_FRAME.byteLength);
    if (wal.lastSequence < sequences) wal.append(EMPTY_FRAME);
  }
  // a start goes on behind what is in files
  await barrier();
}
