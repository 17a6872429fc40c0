// Loads DuckDB's native parts from the single executable. The system's loader needs real files, so they are unpacked once into a cache
// folder named by their hash; later starts find them there. Bundled by build.ts in place of @duckdb/node-bindings, used nowhere else.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { TsdbError } from "../model/errors.ts";

export interface EmbeddedFile {
  /** File name expected by the loader: `libduckdb.so`, `duckdb.node`. */
  readonly name: string;
  /** Path inside the executable. */
  readonly path: string;
  readonly bytes: number;
}

export interface EmbeddedFiles {
  /** Hex digits of a hash over the contents of all files. */
  readonly hash: string;
  /** Libraries first, the module to load last. */
  readonly files: readonly EmbeddedFile[];
}

/** Unpacks missing files and returns the exports of the last one. @throws TsdbError io if the cache folder cannot be written or the
 *  system refuses to load from it */
export function loadEmbedded(embedded: EmbeddedFiles): unknown {
  const folder = join(cacheFolder(process.env), `duckdb-${embedded.hash}`);
  unpack(embedded, folder);
  const nativeModule = { exports: {} };
  const file = join(folder, embedded.files.at(-1)!.name);
  try {
    process.dlopen(nativeModule, file);
  } catch (error) {
    throw new TsdbError(
      "io",
      `cannot load the SQL engine from ${file}: ${text(error)}; ${HINT} that allows execution`,
      { file },
      { cause: error },
    );
  }
  return nativeModule.exports;
}

const HINT = "set TSDB_CACHE_DIR to a writable folder";

/** `TSDB_CACHE_DIR`, otherwise the user's cache folder, otherwise a folder of this user in the temporary folder. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env["TSDB_CACHE_DIR"]) return env["TSDB_CACHE_DIR"];
  if (env["XDG_CACHE_HOME"]) return join(env["XDG_CACHE_HOME"], "tsdb");
  const home = env["HOME"] ?? homedir();
  // a service account often has no home folder, or one owned by another user
  return isOwnFolder(home) ? join(home, ".cache", "tsdb") : join(tmpdir(), `tsdb-cache-${process.getuid?.() ?? "user"}`);
}

/** Makes `folder` contain the files with their exact sizes. Threads and processes may do so concurrently: each file appears by a rename,
 *  complete or not at all, and the folder's name identifies its contents. @throws TsdbError io */
export function unpack(embedded: EmbeddedFiles, folder: string): void {
  try {
    // these files are executed, so no other user may be able to write them
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOwnFolder(folder)) throw new Error("it belongs to another user");
    for (const file of embedded.files) if (bytesOf(join(folder, file.name)) !== file.bytes) unpackFile(file, folder);
  } catch (error) {
    throw new TsdbError("io", `cannot unpack the SQL engine into ${folder}: ${text(error)}; ${HINT}`, { folder }, { cause: error });
  }
}

function unpackFile(file: EmbeddedFile, folder: string): void {
  const temporary = join(folder, `.${file.name}.${process.pid}.${crypto.randomUUID()}`);
  try {
    const handle = openSync(temporary, "wx", 0o600);
    try {
      const bytes = readFileSync(file.path);
      for (let at = 0; at < bytes.byteLength; ) at += writeSync(handle, bytes, at);
      // a power failure must not leave a file of the right size with missing content
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    chmodSync(temporary, 0o700);
    if (bytesOf(temporary) !== file.bytes) throw new Error(`${file.name} came out with ${bytesOf(temporary)} of ${file.bytes} bytes`);
    renameSync(temporary, join(folder, file.name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function bytesOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

/** True if it exists, is a folder and not a link, and belongs to this user. */
function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
