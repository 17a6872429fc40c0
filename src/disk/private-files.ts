// Restricts files and folders to the server's own user: no other user of the machine may read rows, keys or tokens.
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { parentOf } from "./disk.ts";

/** Mode bits of group and others. */
const OTHERS = 0o077;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Windows reports modes, but does not enforce them. */
const HAS_MODES = process.platform !== "win32";
/** Entries that file systems create in their root. */
const NEUTRAL: ReadonlySet<string> = new Set(["lost+found"]);

/** Sets the umask so that everything the process creates later, in any thread and by any library, is private to its user. */
export function keepPrivate(): void {
  if (HAS_MODES) process.umask(OTHERS);
}

/** Writes a file that only this user may read. It is whole and durable when it has its name, which another file may have had: a key that
 *  is lost, or that a full disk has cut off, keeps the next start from what was encrypted with it. */
export function writePrivateFile(path: string, text: string): void {
  const unfinished = `${path}.new`;
  try {
    written(unfinished, "w", (file) => writeFileSync(file, text));
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
  // other systems open no folders
  if (HAS_MODES) written(parentOf(path) || ".", "r", () => {});
}

/** True if something has the name, also a link to what is not there now. */
export function hasEntry(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function written(path: string, flags: string, write: (file: number) => void): void {
  const file = openSync(path, flags, FILE_MODE);
  try {
    write(file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Writes a file that other programs may read, despite `keepPrivate`, as soon as its text is there. */
export function writePublicFile(path: string, text: string): void {
  const file = openSync(path, "w");
  try {
    // it may be a pipe or a device
    if (HAS_MODES && fstatSync(file).isFile()) fchmodSync(file, 0o644);
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** The mode of a file that users other than its owner may access, such as `644`; null if none may, or if it is not a regular file. */
export function modeForOthers(path: string): string | null {
  if (!HAS_MODES) return null;
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && (found.mode & OTHERS) !== 0 ? modeText(found.mode) : null;
}

export interface Tightened {
  /** Number of files and folders that others could access before. */
  readonly count: number;
  /** Sentences for the server's log. */
  readonly warnings: readonly string[];
}

/** Removes the access of others to `folder` and everything that the server created in it (`isOwn` decides by entry names), except links.
 *  A folder with foreign entries is shared with another program: it is left alone, with a warning. */
export function tightenFolder(folder: string, isOwn: (name: string) => boolean): Tightened {
  if (!HAS_MODES) return { count: 0, warnings: [] };
  const { mode } = statSync(folder);
  // nobody else can access its contents
  if ((mode & OTHERS) === 0) return { count: 0, warnings: [] };
  const tightener = new Tightener();
  const names = readdirSync(folder);
  const foreign = names.find((name) => !isOwn(name) && !NEUTRAL.has(name));
  for (const name of names) if (isOwn(name)) tightener.tree(`${folder}/${name}`);
  if (foreign === undefined) tightener.one(folder, mode, FOLDER_MODE);
  else {
    const why = `it holds other things than data ("${foreign}")`;
    tightener.warnings.push(`other users can look into the data folder ${folder} (mode ${modeText(mode)}), which stays so because ${why}`);
  }
  return tightener;
}

class Tightener implements Tightened {
  count = 0;
  readonly warnings: string[] = [];

  tree(path: string): void {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink()) return;
    const isFolder = found.isDirectory();
    for (const name of isFolder ? readdirSync(path) : []) this.tree(`${path}/${name}`);
    this.one(path, found.mode, isFolder ? FOLDER_MODE : FILE_MODE);
  }

  one(path: string, mode: number, wanted: number): void {
    if ((mode & OTHERS) === 0) return;
    try {
      chmodSync(path, wanted);
      this.count++;
    } catch (error) {
      // one warning is enough: the other entries would fail in the same way
      if (this.warnings.length > 0) return;
      this.warnings.push(`other users can use ${path} (mode ${modeText(mode)}), and that cannot be changed: ${(error as Error).message}`);
    }
  }
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, "0");
}
