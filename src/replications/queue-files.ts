// The queue of a replication on disk: a folder with gzip files of line protocol, and the position of the reader.
import { gzipSync } from "node:zlib";
import type { Disk } from "../disk/disk.ts";
import type { LinePart } from "./line-protocol.ts";
import type { QueueEntry } from "./queue-feed.ts";

const NAME = /^(\d{20})-(\d{5})-([01])-(\d+)-(\d+)\.gz$/;
const POSITION = "position";
const FRESH = ".new";
/** Line protocol becomes a tenth; higher levels take several times as long for little less. */
const LEVEL = 1;

export interface QueueOnDisk {
  readonly position: number;
  readonly entries: readonly QueueEntry[];
}

/** What a folder holds; null: there is none. What a crash left unfinished is removed. @throws TsdbError io */
export async function openQueue(disk: Disk, folder: string): Promise<QueueOnDisk | null> {
  if ((await disk.stat(folder)) === null) return null;
  const entries: QueueEntry[] = [];
  /** Of frames whose last file is missing: they are read again. */
  let unfinished: string[] = [];
  for (const { name } of await disk.list(folder)) {
    if (name.endsWith(FRESH)) await disk.unlink(`${folder}/${name}`);
    const [, through, , isLast, rows, madeMs] = NAME.exec(name) ?? [];
    if (through === undefined) continue;
    const bytes = (await disk.stat(`${folder}/${name}`))?.sizeBytes ?? 0;
    unfinished.push(name);
    entries.push({ name, bytes, through: Number(through), rows: Number(rows), madeMs: Number(madeMs) });
    if (isLast === "1") unfinished = [];
  }
  for (const name of unfinished) await disk.unlink(`${folder}/${name}`);
  const whole = entries.slice(0, entries.length - unfinished.length);
  return { position: Math.max(await savedPosition(disk, folder), ...whole.map(({ through }) => through)), entries: whole };
}

/** Writes the parts of frames up to `through`; all of them are durable when it resolves. Parts without room are counted.
 *  @throws TsdbError io */
export async function writeParts(
  disk: Disk,
  { folder, through, roomBytes, nowMs }: { folder: string; through: number; roomBytes: number; nowMs: number },
  parts: Iterable<LinePart>,
): Promise<{ entries: QueueEntry[]; droppedRows: number; droppedBytes: number }> {
  const made: { path: string; bytes: number; rows: number }[] = [];
  let [room, droppedRows, droppedBytes] = [roomBytes, 0, 0];
  for (const { text, rows } of parts) {
    const bytes = gzipSync(text, { level: LEVEL });
    // what follows is later: a gap would let an older row win over a newer one
    if (droppedRows > 0 || bytes.byteLength > room) {
      droppedRows += rows;
      droppedBytes += bytes.byteLength;
      continue;
    }
    room -= bytes.byteLength;
    const path = `${folder}/${made.length}${FRESH}`;
    await writeFile(disk, path, bytes);
    made.push({ path, bytes: bytes.byteLength, rows });
  }
  const entries: QueueEntry[] = [];
  for (const [i, { path, bytes, rows }] of made.entries()) {
    const isLast = i === made.length - 1 ? 1 : 0;
    const name = `${String(through).padStart(20, "0")}-${String(i).padStart(5, "0")}-${isLast}-${rows}-${nowMs}.gz`;
    await disk.rename(path, `${folder}/${name}`);
    entries.push({ name, bytes, through, rows, madeMs: nowMs });
  }
  if (made.length > 0) await disk.syncFolder(folder);
  return { entries, droppedRows, droppedBytes };
}

/** Durable when it resolves. @throws TsdbError io */
export async function savePosition(disk: Disk, folder: string, position: number): Promise<void> {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(position));
  await writeFile(disk, `${folder}/${POSITION}${FRESH}`, bytes);
  await disk.rename(`${folder}/${POSITION}${FRESH}`, `${folder}/${POSITION}`);
  await disk.syncFolder(folder);
}

async function savedPosition(disk: Disk, folder: string): Promise<number> {
  const path = `${folder}/${POSITION}`;
  if ((await disk.stat(path)) === null) return 0;
  const bytes = Buffer.from(await disk.readFile(path));
  return bytes.byteLength === 8 ? Number(bytes.readBigUInt64LE()) : 0;
}

async function writeFile(disk: Disk, path: string, bytes: Uint8Array): Promise<void> {
  if ((await disk.stat(path)) !== null) await disk.unlink(path);
  const file = await disk.openAppend(path);
  try {
    await file.append(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}
