// A disk that discards everything: under `--object-store memory` the log is written here, because nothing must survive the process.
import type { AppendFile, Disk, ReservedFile } from "./disk.ts";
import { ioError } from "./io-error.ts";

const nothing = () => Promise.resolve();

/** Accepts all writes and contains no files. */
export class NullDisk implements Disk {
  openAppend(path: string): Promise<AppendFile> {
    return Promise.resolve({ path, append: nothing, sync: nothing, close: nothing });
  }

  /** Always has space, because it stores nothing. */
  openReserved(path: string): Promise<ReservedFile> {
    const sizeBytes = Number.POSITIVE_INFINITY;
    return Promise.resolve({ path, sizeBytes, extend: nothing, write: nothing, truncate: nothing, rename: nothing, close: nothing });
  }

  freeBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  openRead(path: string): Promise<never> {
    return this.readFile(path);
  }

  readFile(path: string): Promise<never> {
    return Promise.reject(ioError("open", path, Object.assign(new Error("nothing is kept in memory"), { code: "ENOENT" })));
  }

  list(): Promise<[]> {
    return Promise.resolve([]);
  }

  stat(): Promise<null> {
    return Promise.resolve(null);
  }

  truncate = nothing;
  syncFile = nothing;
  link = nothing;
  rename = nothing;
  unlink = nothing;
  makeFolder = nothing;
  syncFolder = nothing;
}
