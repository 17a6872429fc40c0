// The plugin directory: finds plugins for triggers, and stores the files that administrators send.
import { accessSync, constants, existsSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { TsdbError } from "../../model/errors.ts";
import { ENTRY_POINTS, type PluginPayload } from "../plugin-call.ts";
import type { SourceCheck } from "../process/source-check.ts";
import { isBelow, partsOf, pathBelow } from "./plugin-path.ts";
import type { PluginRepository } from "./plugin-repository.ts";

/** The file with the entry point of a plugin that is a folder. */
const FOLDER_ENTRY = "__init__.py";
const REMOTE = "gh:";
/** Maximum files listed of one plugin in the system table. */
const LISTED_MAX = 1000;

export interface PluginFileInfo {
  /** Below the plugin's folder; of a plugin that is a file, as its trigger names it. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export interface PluginFilesParts {
  readonly repository: PluginRepository;
  readonly check: SourceCheck;
}

/** The files of one plugin directory. */
export class PluginFiles {
  /** Absolute path without links. */
  readonly folder: string;
  /** Absolute path as it was given: clients may name plugins by it. */
  private readonly givenFolder: string;

  /** @throws TsdbError config if `folder` is not a folder */
  constructor(
    folder: string,
    private readonly parts: PluginFilesParts,
  ) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
      throw new TsdbError("config", `--plugin-dir: ${folder} is no folder`, { path: folder });
    }
    this.folder = realpathSync(folder);
    this.givenFolder = resolve(folder);
    finishReplacements(this.folder);
  }

  /** As PluginRuntime.locate. */
  async locate(filename: string, kind: PluginPayload["kind"]): Promise<string> {
    const path = filename.startsWith(REMOTE) ? await this.download(filename.slice(REMOTE.length)) : await this.find(filename);
    const isFolder = (await stat(path)).isDirectory();
    const problem = await this.parts.check.problemOf(isFolder ? join(path, FOLDER_ENTRY) : path, ENTRY_POINTS[kind]);
    if (problem !== null) throw new TsdbError("plugin", `Plugin error: ${filename} cannot be used: ${problem}`, { isUnfit: true });
    return path;
  }

  /** The path of a trigger's plugin, without access to the disk. */
  pathOf(filename: string): string {
    return filename.startsWith(REMOTE)
      ? this.parts.repository.cachedPath(this.folder, filename.slice(REMOTE.length))
      : join(this.folder, ...partsOf(this.relativeName(filename)));
  }

  /** Creates a file, or replaces it. A file with the same content stays, so that what runs is not loaded again.
   *  @throws TsdbError plugin if it is a folder or cannot be written, bad_request */
  async create(name: string, content: string): Promise<void> {
    const path = await pathBelow(this.folder, withEnding(name));
    const existing = await readFile(path, "utf8").catch(() => null);
    if (existing === content) return;
    if ((await stat(path).catch(() => null))?.isDirectory() === true) throw new TsdbError("plugin", `Plugin error: ${name} is a folder`);
    await replaceFile(path, content);
  }

  /** @throws TsdbError plugin if the plugin is a folder, bad_request, io */
  async update(filename: string, content: string): Promise<void> {
    const path = await this.changeable(filename);
    if ((await stat(path).catch(() => null))?.isDirectory() === true) {
      throw new TsdbError("plugin", `Plugin error: ${filename} is a folder; replace it by PUT /api/v3/plugins/directory`);
    }
    await replaceFile(path, content);
  }

  /** Replaces all files of a plugin that is a folder. @throws TsdbError plugin if it is a file, bad_request, io */
  async updateFolder(filename: string, files: readonly { readonly path: string; readonly content: string }[]): Promise<void> {
    const path = await this.changeable(filename);
    const names = files.map((file) => partsOf(file.path).join("/"));
    if (!names.includes(FOLDER_ENTRY)) throw new TsdbError("bad_request", `a plugin's folder needs the file ${FOLDER_ENTRY}`);
    const twice = names.find((name, i) => names.indexOf(name) !== i || names.some((other) => other.startsWith(`${name}/`)));
    if (twice !== undefined) throw new TsdbError("bad_request", `the file ${twice} is there twice, or is a folder as well`);
    if ((await stat(path).catch(() => null))?.isFile() === true) {
      throw new TsdbError("plugin", `Plugin error: ${filename} is a file; replace it by PUT /api/v3/plugins/files`);
    }
    const [fresh, old] = [besides(path, "new"), besides(path, "old")];
    try {
      for (const { path: name, content } of files) {
        const target = join(fresh, name);
        await makeFolder(dirname(target));
        await writeWhole(target, content);
        await syncFolder(dirname(target));
      }
      exchange(path, fresh, old);
      // before the old ones go
      await syncFolder(dirname(path));
    } catch (error) {
      throw notWritten(error, filename);
    } finally {
      await rm(fresh, { recursive: true, force: true });
      await rm(old, { recursive: true, force: true });
    }
  }

  /** The files of a trigger's plugin; empty if it no longer exists. */
  list(filename: string): PluginFileInfo[] {
    const path = this.pathOf(filename);
    const own = statSync(path, { throwIfNoEntry: false });
    if (own === undefined) return [];
    if (!own.isDirectory()) return [{ name: filename, path, bytes: own.size, modifiedMs: own.mtimeMs }];
    const entries = readdirSync(path, { recursive: true, withFileTypes: true });
    const listed = entries.filter((one) => one.isFile() && !one.name.endsWith(".pyc")).slice(0, LISTED_MAX);
    return listed.flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      const found = statSync(file, { throwIfNoEntry: false });
      return found === undefined ? [] : [{ name: relative(path, file), path: file, bytes: found.size, modifiedMs: found.mtimeMs }];
    });
  }

  /** @throws TsdbError plugin, bad_request */
  private async find(filename: string): Promise<string> {
    const path = await pathBelow(this.folder, this.relativeName(filename));
    const found = await stat(path).catch(() => null);
    if (found?.isFile() === true && path.endsWith(".py")) return path;
    if (found?.isDirectory() === true) {
      if (await exists(join(path, FOLDER_ENTRY))) return path;
      throw new TsdbError("plugin", `Plugin error: the folder ${filename} has no ${FOLDER_ENTRY}`, { isUnfit: true });
    }
    const what = found === null ? "is not in the plugin directory" : "is no file that ends with .py";
    throw new TsdbError("plugin", `Plugin error: the plugin ${filename} ${what}`, { isMissing: found === null });
  }

  /** Absolute paths below the plugin directory become relative; others stay, and are refused later. A folder may end with a slash. */
  private relativeName(filename: string): string {
    if (!isAbsolute(filename)) return filename.replace(/(?<=[^/])\/$/, "");
    const folder = [this.folder, this.givenFolder].find((each) => isBelow(filename, each));
    return folder === undefined ? filename : relative(folder, filename);
  }

  private download(path: string): Promise<string> {
    return this.parts.repository.download(this.folder, path);
  }

  private changeable(filename: string): Promise<string> {
    if (!filename.startsWith(REMOTE)) return pathBelow(this.folder, this.relativeName(filename));
    throw new TsdbError("plugin", `Plugin error: ${filename} comes from a repository (--plugin-repo) and is not changed here`);
  }
}

function withEnding(name: string): string {
  return basename(name).includes(".") ? name : `${name}.py`;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

/** Hidden, so that no client's path can name it. */
function besides(path: string, what: string): string {
  return join(dirname(path), `.${basename(path)}.${crypto.randomUUID()}.${what}`);
}

/** Completes or rolls back the replacements of folders that a crash interrupted, in all folders that clients can name. */
function finishReplacements(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const [, name, what] = /^\.(.+)\.[0-9a-f-]{36}\.(new|old)$/.exec(entry.name) ?? [];
    if (name === undefined) {
      if (entry.isDirectory() && !entry.name.startsWith(".") && isReadable(path)) finishReplacements(path);
    } else if (what === "old" && !existsSync(join(folder, name))) renameSync(path, join(folder, name));
    else rmSync(path, { recursive: true, force: true });
  }
}

function isReadable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** With its missing parents. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let made = path; ; made = dirname(made)) {
    await syncFolder(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

/** Makes the names in it durable, where the file system can: the folder is the administrator's choice. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

/** Durable, but for its name. */
async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Readers see the old content or the new; durable when it resolves. @throws TsdbError plugin */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const fresh = besides(path, "new");
  try {
    await makeFolder(dirname(path));
    await writeWhole(fresh, content);
    await rename(fresh, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(fresh, { force: true });
    throw notWritten(error, basename(path));
  }
}

/** Moves `path`, which may not exist, to `old`, and `fresh` to `path`. In one step: a process that loads the plugin between the two finds
 *  nothing, and so would another replacement. */
function exchange(path: string, fresh: string, old: string): void {
  const isThere = existsSync(path);
  if (isThere) renameSync(path, old);
  try {
    renameSync(fresh, path);
  } catch (error) {
    if (isThere) renameSync(old, path);
    throw error;
  }
}

function notWritten(error: unknown, name: string): unknown {
  if (error instanceof TsdbError) return error;
  return new TsdbError("plugin", `Plugin error: cannot write ${name}: ${(error as Error).message}`, {}, { cause: error });
}
