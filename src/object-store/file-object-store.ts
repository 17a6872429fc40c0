// The default store: objects as files under a folder. A put writes a temporary file, syncs it, links (or renames) it to its name, and syncs
// the folder; a reader or a crash sees the whole object or none.
import type { AppendFile, Disk } from "../disk/disk.ts";
import { parentOf } from "../disk/disk.ts";
import { codeOf } from "../disk/io-error.ts";
import { DiskSpace, isFull } from "../disk/space.ts";
import { TsdbError } from "../model/errors.ts";
import { assertKey, type ObjectInfo, type ObjectStore, type ObjectWriter } from "./object-store.ts";

/** Folder of unfinished puts; no key part may start with a dot, so it is never listed. */
const TEMPORARY = ".tmp";

/** A root that other servers may have open at the same time, and that people tidy up or exchange. */
export interface SharedRoot {
  /** A part of a name: of this server alone. Only its own unfinished puts are removed by `recover`. */
  readonly owner: string;
}

/** A large object is synced in pieces: one sync of hundreds of megabytes would delay those of the log by seconds. */
const SYNC_BYTES = 16 << 20;

/** An object store on a local disk. */
export class FileObjectStore implements ObjectStore {
  private readonly knownFolders = new Set<string>();

  private readonly space: DiskSpace;
  private readonly temporary: string;

  /** @param root folder of the objects, created by the first put. Several threads may open one root. @param space coordinates disk space
   *  with other writers and provides the reserve for puts @param shared null: no other server uses the root */
  constructor(
    private readonly disk: Disk,
    private readonly root: string,
    space?: DiskSpace,
    private readonly shared: SharedRoot | null = null,
  ) {
    this.space = space ?? new DiskSpace(disk, { path: "", reserveBytes: 0, folder: root });
    this.temporary = `${root}/${TEMPORARY}${shared === null ? "" : `-${shared.owner}`}`;
  }

  /** Call it once at start, while no other server uses the folder (of a shared root: this owner's puts) and before anything is read:
   *  removes leftovers of interrupted puts, and makes names durable that a killed server had not synced. Objects read afterwards cannot
   *  disappear. */
  async recover(): Promise<void> {
    const folder = this.temporary;
    for (const entry of await this.disk.list(folder)) await this.disk.unlink(`${folder}/${entry.name}`);
    await this.syncTree(this.root);
  }

  private async syncTree(folder: string): Promise<void> {
    const entries = await this.disk.list(folder);
    for (const { name, isFolder } of entries) if (isFolder) await this.syncTree(`${folder}/${name}`);
    if (entries.length > 0) await this.disk.syncFolder(folder);
  }

  async put(key: string, bytes: Uint8Array, options: { ifAbsent?: boolean } = {}): Promise<void> {
    assertKey(key);
    const target = this.localPath(key);
    const folder = parentOf(target);
    // until the object has its name nothing has happened, and the attempt can be repeated
    const temporary = await this.space.urgent(bytes.byteLength, async () => {
      const made = await this.temporaryFor(target);
      await this.writeTemporary(made, bytes);
      return made;
    });
    await this.give(temporary, target, options.ifAbsent ? key : null);
    await this.disk.syncFolder(folder);
    if (options.ifAbsent) await this.disk.unlink(temporary).catch(() => {}); // else removed at the next start
  }

  /** @param key null if an existing object may be replaced */
  private async give(temporary: string, target: string, key: string | null): Promise<void> {
    const name = () => (key === null ? this.disk.rename(temporary, target) : this.linkIfAbsent(temporary, target, key));
    try {
      try {
        await name();
      } catch (error) {
        if (!isFull(error)) throw error;
        await this.space.urgent(0, name);
      }
    } catch (error) {
      await this.disk.unlink(temporary).catch(() => {});
      throw error;
    }
  }

  async begin(key: string): Promise<ObjectWriter> {
    assertKey(key);
    const target = this.localPath(key);
    try {
      const temporary = await this.temporaryFor(target);
      return new FileObjectWriter(this.disk, await this.disk.openAppend(temporary, { exclusive: true }), target, this.space);
    } catch (error) {
      throw await this.space.note(error, 0);
    }
  }

  /** A new temporary name, after creating the folders for it and for the target. */
  private async temporaryFor(target: string): Promise<string> {
    await this.ensureFolder(parentOf(target));
    await this.ensureFolder(this.temporary);
    return `${this.temporary}/${crypto.randomUUID()}`;
  }

  private async writeTemporary(temporary: string, bytes: Uint8Array): Promise<void> {
    const file = await this.disk.openAppend(temporary, { exclusive: true });
    try {
      await file.append(bytes);
      await file.sync();
    } catch (error) {
      await file.close().catch(() => {}); // the first failure is the one to report
      await this.disk.unlink(temporary).catch(() => {}); // else removed at the next start
      throw error;
    }
    await file.close();
  }

  private async linkIfAbsent(temporary: string, target: string, key: string): Promise<void> {
    try {
      await this.disk.link(temporary, target);
    } catch (error) {
      if (codeOf(error) === "EEXIST") throw new TsdbError("already_exists", `object ${key} already exists`, { key }, { cause: error });
      throw error;
    }
  }

  async get(key: string): Promise<Uint8Array> {
    return this.orNotFound(key, () => this.disk.readFile(this.localPath(key)));
  }

  async getRange(key: string, offset: number, byteCount: number): Promise<Uint8Array> {
    return this.orNotFound(key, async () => {
      const file = await this.disk.openRead(this.localPath(key));
      try {
        const target = new Uint8Array(Math.max(0, Math.min(byteCount, file.sizeBytes - offset)));
        return target.subarray(0, await file.read(offset, target));
      } finally {
        await file.close();
      }
    });
  }

  async list(prefix: string): Promise<ObjectInfo[]> {
    const found: ObjectInfo[] = [];
    await this.walk(parentOf(prefix), prefix, found);
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** Adds the objects of a folder (as a key prefix, "" = the root) and its subfolders. */
  private async walk(folder: string, prefix: string, found: ObjectInfo[]): Promise<void> {
    for (const entry of await this.disk.list(folder === "" ? this.root : `${this.root}/${folder}`)) {
      if (entry.name.startsWith(".")) continue;
      const key = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFolder) {
        if (prefix.startsWith(`${key}/`) || key.startsWith(prefix)) await this.walk(key, prefix, found);
      } else if (key.startsWith(prefix)) {
        const stat = await this.disk.stat(this.localPath(key));
        if (stat !== null) found.push({ key, sizeBytes: stat.sizeBytes }); // null: deleted since the listing
      }
    }
  }

  async delete(key: string): Promise<void> {
    assertKey(key);
    const path = this.localPath(key);
    try {
      await this.disk.unlink(path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      throw error;
    }
    await this.disk.syncFolder(parentOf(path));
  }

  localPath(key: string): string {
    return `${this.root}/${key}`;
  }

  private async ensureFolder(folder: string): Promise<void> {
    if (this.knownFolders.has(folder)) return;
    await this.disk.makeFolder(folder);
    // of a shared root it may be gone by the next put
    if (this.shared === null) this.knownFolders.add(folder);
  }

  private async orNotFound<T>(key: string, read: () => Promise<T>): Promise<T> {
    assertKey(key);
    try {
      return await read();
    } catch (error) {
      if (codeOf(error) === "ENOENT") throw new TsdbError("not_found", `object ${key} does not exist`, { key }, { cause: error });
      throw error;
    }
  }
}

class FileObjectWriter implements ObjectWriter {
  private unsyncedBytes = 0;
  private isOpen = true;
  /** True after `finish` or `abort`. */
  private isDone = false;

  constructor(
    private readonly disk: Disk,
    private readonly file: AppendFile,
    private readonly target: string,
    private readonly space: DiskSpace,
  ) {}

  async append(bytes: Uint8Array): Promise<void> {
    await this.orNote(bytes.byteLength, async () => {
      await this.file.append(bytes);
      this.unsyncedBytes += bytes.byteLength;
      if (this.unsyncedBytes < SYNC_BYTES) return;
      this.unsyncedBytes = 0;
      await this.file.sync();
    });
  }

  async finish(): Promise<void> {
    await this.orNote(this.unsyncedBytes, async () => {
      await this.file.sync();
      await this.close();
      await this.disk.rename(this.file.path, this.target);
      this.isDone = true;
    });
    await this.disk.syncFolder(parentOf(this.target));
  }

  private async close(): Promise<void> {
    if (!this.isOpen) return;
    this.isOpen = false;
    await this.file.close();
  }

  private async orNote(bytes: number, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      throw await this.space.note(error, bytes);
    }
  }

  async abort(): Promise<void> {
    if (this.isDone) return;
    this.isDone = true;
    await this.close().catch(() => {});
    await this.disk.unlink(this.file.path).catch(() => {}); // else removed at the next start
  }
}
