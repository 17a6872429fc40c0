// Preloaded by `npm test`: temporary folders are in memory where that has room, so that thousands of small syncs wait for no disk.
// `npm run test:long` uses the disk.
import { readFileSync, statfsSync } from "node:fs";

const FOLDER = "/dev/shm";
const FREE_BYTES_MIN = 8 * 1024 ** 3;

/** Tests run programs in their folders. */
function hasRoom(): boolean {
  try {
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === FOLDER);
    const { bavail, bsize } = statfsSync(FOLDER);
    return mount !== undefined && !/\bnoexec\b/.test(mount) && bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    return false;
  }
}

if (process.env["TMPDIR"] === undefined && hasRoom()) process.env["TMPDIR"] = FOLDER;
