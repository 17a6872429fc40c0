// Lists the data files of a folder, as flushed or compacted. Reads only the files, so the server may be running.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PT_VERSION_GROUPED } from "../../../src/storage/pt/format.ts";
import { parseDirectory } from "./pt-directory.ts";

/** A data file: its name, the tables and days of its blocks, and whether it was flushed or merged. */
export interface DataFileInfo {
  readonly name: string;
  readonly kind: "flushed" | "merged";
  /** Per block, its table and day as text. */
  readonly blocks: readonly string[];
}

/** Complete data files; a file deleted during the call may be missing. */
export function dataFiles(dataDir: string): DataFileInfo[] {
  return readdirSync(dataDir, { recursive: true })
    .map(String)
    .filter((name) => /\/data\/\d+\.pt$/.test(name))
    .sort()
    .flatMap((name) => read(dataDir, name) ?? []);
}

/** True if every block of the folder is compacted: merged, and the only one of its table and day. */
export function isCompacted(dataDir: string): boolean {
  const files = dataFiles(dataDir);
  const blocks = files.flatMap((file) => file.blocks);
  return files.length > 0 && files.every(({ kind }) => kind === "merged") && new Set(blocks).size === blocks.length;
}

function read(dataDir: string, name: string): DataFileInfo | null {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(join(dataDir, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  const blocks = parseDirectory(bytes, name).blocks.map(({ tableId, day }) => `${tableId} ${day}`);
  return { name, kind: version === PT_VERSION_GROUPED ? "merged" : "flushed", blocks };
}
