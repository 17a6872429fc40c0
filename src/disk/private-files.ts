// Files and folders for the server's own user alone: no other user of the machine may read rows, keys or tokens.
import { chmodSync, lstatSync, readdirSync, statSync, writeFileSync } from "node:fs";

/** What group and others may do. */
const OTHERS = 0o077;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Windows has no such modes, and shows some all the same. */
const HAS_MODES = process.platform !== "win32";
/** What a file system puts into its topmost folder. */
const NEUTRAL: ReadonlySet<string> = new Set(["lost+found"]);

/** From now on all that the process makes, in any thread and by any library, is for its user alone, whatever umask it was started with. */
export function keepPrivate(): void {
  if (HAS_MODES) process.umask(OTHERS);
}

/** A file that other programs are to read, in spite of `keepPrivate`. */
export function writePublicFile(path: string, text: string): void {
  writeFileSync(path, text);
  // it may be a pipe or a device
  if (HAS_MODES && statSync(path).isFile()) chmodSync(path, 0o644);
}

/** The mode of a file that others than its owner may use, as `644`; null: nobody else may, or it is no file that stays. */
export function modeForOthers(path: string): string | null {
  if (!HAS_MODES) return null;
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && (found.mode & OTHERS) !== 0 ? modeText(found.mode) : null;
}

export interface Tightened {
  /** Files and folders that others could use until now. */
  readonly count: number;
  /** Sentences for the server's log. */
  readonly warnings: readonly string[];
}

/** Takes from others what they may do with `folder` and all that the server has made in it (`isOwn`: by the names of its entries), links
 *  left out. A folder that holds anything else is somebody else's as well: it stays as it is, with a warning. */
export function tightenFolder(folder: string, isOwn: (name: string) => boolean): Tightened {
  if (!HAS_MODES) return { count: 0, warnings: [] };
  const { mode } = statSync(folder);
  // nobody else gets at what is in it
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
      // one is enough: the others will not do either
      if (this.warnings.length > 0) return;
      this.warnings.push(`other users can use ${path} (mode ${modeText(mode)}), and that cannot be changed: ${(error as Error).message}`);
    }
  }
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, "0");
}
