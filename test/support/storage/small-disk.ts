// A disk of a few megabytes for tests: a tmpfs, if this user may mount one. It is removed with the test.
import { mkdtempSync, rmdirSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of limited size. */
export class SmallDisk {
  private constructor(readonly path: string) {}

  /** Null if mounting is not permitted. */
  static mount(bytes: number): SmallDisk | null {
    const path = mkdtempSync(join(tmpdir(), "tsdb-small-disk-"));
    if (succeeds(["mount", "-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path])) return new SmallDisk(path);
    rmdirSync(path);
    return null;
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
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
