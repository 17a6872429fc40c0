// The real disk, using node:fs. Every call is asynchronous: reads, writes and syncs run on the runtime's file threads, never on the thread
// that serves requests.
import fs from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { assert } from "../model/assert.ts";
import type { AppendFile, AppendOptions, Disk, DiskEntry, FileStat, ReadFile, ReservedFile } from "./disk.ts";
import { parentOf } from "./disk.ts";
import { attempt, codeOf, ioError } from "./io-error.ts";
import { NodeReservedFile } from "./node-reserved-file.ts";

class NodeAppendFile implements AppendFile {
  constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    private readonly syncsAppends: boolean,
  ) {}

  append(bytes: Uint8Array): Promise<void> {
    return attempt("append to", this.path, async () => {
      // write() may write a part only, for instance at a file size limit; the next call then reports the reason.
      for (let done = 0; done < bytes.byteLength; ) {
        const { bytesWritten } = await this.handle.write(bytes, done, bytes.byteLength - done, null);
        assert(bytesWritten > 0, `write() of ${bytes.byteLength - done} bytes took ${bytesWritten}`);
        done += bytesWritten;
      }
      if (this.syncsAppends) await this.handle.datasync();
    });
  }

  sync(): Promise<void> {
    return attempt("sync", this.path, () => this.handle.datasync());
  }

  close(): Promise<void> {
    return attempt("close", this.path, () => this.handle.close());
  }
}

class NodeReadFile implements ReadFile {
  constructor(
    readonly path: string,
    readonly sizeBytes: number,
    private readonly handle: FileHandle,
  ) {}

  read(offset: number, target: Uint8Array): Promise<number> {
    return attempt("read", this.path, async () => {
      let done = 0;
      while (done < target.byteLength) {
        const { bytesRead } = await this.handle.read(target, done, target.byteLength - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return done;
    });
  }

  close(): Promise<void> {
    return attempt("close", this.path, () => this.handle.close());
  }
}

/** The disk of this machine. */
export class NodeDisk implements Disk {
  openAppend(path: string, { exclusive = false, durable = false }: AppendOptions = {}): Promise<AppendFile> {
    const { O_WRONLY, O_CREAT, O_APPEND, O_EXCL, O_DSYNC } = fs.constants;
    // On systems other than Linux the flag guarantees less than fdatasync: on macOS the drive may keep the bytes in its cache.
    const syncsItself = durable && process.platform === "linux";
    const flags = O_WRONLY | O_CREAT | O_APPEND | (exclusive ? O_EXCL : 0) | (syncsItself ? O_DSYNC : 0);
    return attempt("open", path, async () => new NodeAppendFile(path, await open(path, flags), durable && !syncsItself));
  }

  openRead(path: string): Promise<ReadFile> {
    return attempt("open", path, async () => {
      const handle = await open(path, "r");
      const { size } = await handle.stat();
      return new NodeReadFile(path, size, handle);
    });
  }

  openReserved(path: string, options: { isNew?: boolean } = {}): Promise<ReservedFile> {
    return NodeReservedFile.open(path, options);
  }

  async freeBytes(path: string): Promise<number | null> {
    try {
      const { bavail, bsize } = await fs.promises.statfs(path === "" ? "." : path);
      return bavail * bsize;
    } catch {
      return null;
    }
  }

  readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
    return attempt("read", path, async () => {
      const bytes = await fs.promises.readFile(path);
      return new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
    });
  }

  truncate(path: string, sizeBytes: number): Promise<void> {
    return this.withHandle("truncate", path, "r+", async (handle) => {
      await handle.truncate(sizeBytes);
      await handle.sync(); // not datasync: the new size is what matters
    });
  }

  syncFile(path: string): Promise<void> {
    return this.withHandle("sync", path, "r+", (handle) => handle.sync());
  }

  async list(path: string): Promise<DiskEntry[]> {
    try {
      const found = await fs.promises.readdir(path, { withFileTypes: true });
      const entries = found.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return [];
      throw ioError("list", path, cause);
    }
  }

  async stat(path: string): Promise<FileStat | null> {
    try {
      const found = await fs.promises.stat(path);
      return { isFolder: found.isDirectory(), sizeBytes: found.size };
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return null;
      throw ioError("stat", path, cause);
    }
  }

  link(existingPath: string, newPath: string): Promise<void> {
    return attempt("link", newPath, () => fs.promises.link(existingPath, newPath));
  }

  rename(fromPath: string, toPath: string): Promise<void> {
    return attempt("rename", toPath, () => fs.promises.rename(fromPath, toPath));
  }

  unlink(path: string): Promise<void> {
    return attempt("unlink", path, () => fs.promises.unlink(path));
  }

  async makeFolder(path: string): Promise<void> {
    if (path === "" || path === "/" || path === ".") return;
    const parent = parentOf(path);
    if ((await this.stat(path))?.isFolder) return this.syncExisting(parent);
    await this.makeFolder(parent);
    await attempt("make folder", path, async () => {
      await fs.promises.mkdir(path).catch((cause: unknown) => {
        if (codeOf(cause) !== "EEXIST") throw cause;
      });
    });
    await this.syncFolder(parent);
  }

  /** An existing folder may have been created by a process that was killed before its sync. A parent that we may not read was not
   *  created by us. */
  private async syncExisting(parent: string): Promise<void> {
    try {
      await this.syncFolder(parent);
    } catch (error) {
      if (codeOf(error) !== "EACCES" && codeOf(error) !== "EPERM") throw error;
    }
  }

  syncFolder(path: string): Promise<void> {
    return this.withHandle("sync folder", path === "" ? "." : path, "r", (handle) => handle.sync());
  }

  private withHandle(operation: string, path: string, flags: string, use: (handle: FileHandle) => Promise<void>): Promise<void> {
    return attempt(operation, path, async () => {
      const handle = await open(path, flags);
      try {
        await use(handle);
      } finally {
        await handle.close();
      }
    });
  }
}
