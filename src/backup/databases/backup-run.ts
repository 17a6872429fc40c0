// Makes a backup: rows in memory go to files, then definitions and files of one moment are noted, and the files copied. Those that an
// earlier backup has are not copied again.
import { TsdbError } from "../../model/errors.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import type { FileMeta } from "../../storage/manifest/manifest.ts";
import { contentOf, type StoredFile } from "./content.ts";
import { copyObject } from "./copy.ts";
import type { DatabaseBackupParts } from "./parts.ts";
import type { JobProgress } from "./progress.ts";
import type { Attempt, BackupRecord, Shelf } from "./shelf.ts";

/** The last bytes of a data file: the checksum of its directory, which has those of all chunks. */
const TRAILER_BYTES = 32;

export interface BackupRun {
  readonly attempt: Attempt;
  /** Whose files need no copy; null for a full backup. */
  readonly parent: BackupRecord | null;
  readonly progress: JobProgress;
  readonly signal: AbortSignal;
}

/** The backup, which is on the shelf when it resolves. @throws TsdbError cancelled, no_space, read_only, io: there is none then */
export async function runBackup(parts: DatabaseBackupParts, shelf: Shelf, run: BackupRun): Promise<BackupRecord> {
  const { attempt, parent, progress, signal } = run;
  const known = parent === null ? new Map<number, StoredFile>() : await filesOf(parts, shelf, parent);
  await fileRows(parts);
  // of the moment of the flush, because nothing is awaited
  const release = parts.keepFiles();
  try {
    const { databases, files } = contentOf(parts);
    await parts.catalog.durable(parts.catalog.version);
    const stored = new Map<number, StoredFile>();
    for (const file of files) {
      const earlier = known.get(file.id);
      if (earlier !== undefined && (await isSame(parts.store, shelf, file, earlier))) stored.set(file.id, { ...earlier, file });
    }
    const copied = files.filter(({ id }) => !stored.has(id));
    const totalBytes = copied.reduce((sum, { bytes }) => sum + bytes, 0);
    progress.expect(copied.length, totalBytes);
    await requireSpace(await parts.backupRoom(), totalBytes);
    for (const file of copied) {
      const place = shelf.placeOf(attempt, nameOf(file));
      const onBytes = (bytes: number) => progress.addBytes(bytes);
      const source = { store: parts.store, ...file };
      stored.set(file.id, { file, place, sha256: await copyObject(source, () => shelf.file(place), { signal, onBytes }) });
      progress.addFile();
    }
    const { error: _, ...origin } = attempt;
    const record = { ...origin, completedMs: parts.nowMs(), totalFiles: copied.length, totalBytes };
    await shelf.complete(record, { source: attempt.source, databases, files: files.map(({ id }) => stored.get(id)!) });
    return record;
  } finally {
    release();
  }
}

/** @throws TsdbError no_space @param freeBytes null if the system does not tell */
export function requireSpace(freeBytes: number | null, wantedBytes: number): void {
  if (freeBytes === null || freeBytes >= wantedBytes) return;
  const message = `there is no space: ${wantedBytes} bytes are needed, ${freeBytes} are free`;
  throw new TsdbError("no_space", message, { wantedBytes, freeBytes });
}

/** @throws TsdbError bad_request for the backup of another server */
async function filesOf({ source }: DatabaseBackupParts, shelf: Shelf, parent: BackupRecord): Promise<Map<number, StoredFile>> {
  if (parent.source !== source) {
    throw new TsdbError("bad_request", `"${parent.name}" is a backup of another server: an incremental one needs one of this server`);
  }
  const { files } = await shelf.content(parent);
  return new Map(files.map((stored) => [stored.file.id, stored]));
}

/** Ids of files come again only when a data folder was put back by hand; then their ends differ. */
async function isSame(store: ObjectStore, shelf: Shelf, { key, bytes }: FileMeta, earlier: StoredFile): Promise<boolean> {
  if (bytes !== earlier.file.bytes) return false;
  const at = Math.max(0, bytes - TRAILER_BYTES);
  const [own, copy] = await Promise.all([
    store.getRange(key, at, TRAILER_BYTES),
    shelf.store.getRange(shelf.keyOf(earlier.place), at, TRAILER_BYTES),
  ]);
  return Buffer.compare(own, copy) === 0;
}

/** Rows of memory go to files, and what was deleted until now comes before the manifest's flushed sequence: the log may be ahead of it by
 *  frames whose rows no backup has. */
async function fileRows({ catalog, manifest, tables, tombstonesOf, barrier }: DatabaseBackupParts): Promise<void> {
  const isWaiting = ({ id }: { readonly id: number }) =>
    tables.runs(id).length > 0 || tombstonesOf(id).some(({ sequence }) => sequence > manifest.flushedSequence);
  if (catalog.databases().some(({ id }) => catalog.tables(id).some(isWaiting))) await barrier();
}

function nameOf({ id }: FileMeta): string {
  return `${String(id).padStart(20, "0")}.pt`;
}
