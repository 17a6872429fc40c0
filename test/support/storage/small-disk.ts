// A disk of a few megabytes for tests: a tmpfs, if this user may mount one. It is removed with the test.
import { mkdirSync, mkdtempSync, rmdirSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of limited size. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** Null if mounting is not permitted. @param entriesMax files and folders; 0: no limit */
  static mount(bytes: number, entriesMax = 0): SmallDisk | null {
    const path = mkdtempSync(join(tmpdir(), "tsdb-small-disk-"));
    if (succeeds(["mount", "-t", "tmpfs", "-o", `size=${bytes},nr_inodes=${entriesMax}`, "tmpfs", path])) return new SmallDisk(path);
    rmdirSync(path);
    return null;
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Takes all that is left: no byte, file or folder can be added. Of a disk with a limit on these. Returns the folder of it all. */
  fill(): string {
    const folder = join(this.path, "others");
    mkdirSync(folder);
    let count = 0;
    for (; succeeds(["mkdir", join(folder, String(count))]); count++);
    // what a folder took is left for the file
    rmdirSync(join(folder, "0"));
    writeFileSync(join(folder, "rest"), new Uint8Array(this.freeBytes()));
    return folder;
  }

  /** Makes the disk read-only, or writable again. Returns false if that is impossible. */
  setReadOnly(isReadOnly: boolean): boolean {
    return succeeds(["mount", "-o", `remount,${isReadOnly ? "ro" : "rw"}`, this.path]);
  }

  [Symbol.dispose](): void {
    // processes with files open there end with the test process
    if (!succeeds(["umount", this.path])) succeeds(["umount", "--lazy", this.path]);
    rmdirSync(this.path);
  }
}

function succeeds(command: string[]): boolean {
  try {
    return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).success;
  } catch {
    return false;
  }
}
