// A disk for --read-only: an unexpected write fails before it reaches the real disk.
import type { Disk, DiskEntry, FileStat, ReadFile } from "./disk.ts";
import { ioError } from "./io-error.ts";

/** Passes reads on and rejects all writes. */
export class ReadOnlyDisk implements Disk {
  constructor(private readonly disk: Disk) {}

  openRead(path: string): Promise<ReadFile> {
    return this.disk.openRead(path);
  }

  readFile(path: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.disk.readFile(path);
  }

  list(path: string): Promise<DiskEntry[]> {
    return this.disk.list(path);
  }

  stat(path: string): Promise<FileStat | null> {
    return this.disk.stat(path);
  }

  freeBytes(path: string): Promise<number | null> {
    return this.disk.freeBytes(path);
  }

  openAppend = (path: string) => refused("open", path);
  openReserved = (path: string) => refused("open", path);
  truncate = (path: string) => refused("truncate", path);
  syncFile = (path: string) => refused("sync", path);
  link = (_from: string, path: string) => refused("link", path);
  rename = (_from: string, path: string) => refused("rename", path);
  unlink = (path: string) => refused("unlink", path);
  makeFolder = (path: string) => refused("make folder", path);
  syncFolder = (path: string) => refused("sync folder", path);
}

function refused(operation: string, path: string): Promise<never> {
  return Promise.reject(ioError(operation, path, Object.assign(new Error("the server is read-only"), { code: "EROFS" })));
}
