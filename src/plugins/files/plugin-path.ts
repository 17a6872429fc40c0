// Validates paths sent by clients: they must stay below one folder, also through symbolic links.
import { lstat, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { TsdbError } from "../../model/errors.ts";

const PATH_BYTES_MAX = 1024;
const PART_BYTES_MAX = 255;

/** The parts of a relative path. @throws TsdbError bad_request for a path that leaves its folder, is absolute or hidden, or is not a
 *  valid file name */
export function partsOf(path: string): string[] {
  const parts = path.split("/");
  const isBad =
    path === "" ||
    isAbsolute(path) ||
    Buffer.byteLength(path) > PATH_BYTES_MAX ||
    parts.some((part) => part === "" || part.startsWith(".") || Buffer.byteLength(part) > PART_BYTES_MAX || /[\p{Cc}\\:]/u.test(part));
  if (isBad) throw new TsdbError("bad_request", `not a path below the plugin directory: ${JSON.stringify(path.slice(0, 100))}`);
  return parts;
}

/** Absolute path below `folder`, whose own path has no links. The path may not exist yet.
 *  @throws TsdbError bad_request when a link on the way leads out of it */
export async function pathBelow(folder: string, path: string): Promise<string> {
  let at = folder;
  for (const part of partsOf(path)) {
    at = join(at, part);
    const found = await lstat(at).catch(() => null);
    if (found === null) continue;
    const real = await realpath(at).catch(() => null);
    if (real === null || !isBelow(real, folder)) {
      throw new TsdbError("bad_request", `a link leads out of the plugin directory: ${JSON.stringify(path.slice(0, 100))}`);
    }
  }
  return at;
}

/** True if a path lies in a folder, at any depth. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
