// Loads DuckDB's native parts out of the single executable. The system's loader wants real files, so they are unpacked once into a cache
// folder named after their hash; later starts find them there. Bundled by build.ts in place of @duckdb/node-bindings, used nowhere else.
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
  /** Name beside which the loader looks for it: `libduckdb.so`, `duckdb.node`. */
  readonly name: string;
  /** Path inside the executable. */
  readonly path: string;
  readonly bytes: number;
}

export interface EmbeddedFiles {
  /** Hex digits over the contents of all files. */
  readonly hash: string;
  /** Libraries first; the last one is the module to load. */
  readonly files: readonly EmbeddedFile[];
}

/** Unpacks what is not there yet and returns the exports of the last file.
 *  @throws TsdbError io when the cache folder cannot be written or the system refuses to load from it */
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

/** `TSDB_CACHE_DIR`, else the user's cache folder, else one of this user's own under the temporary folder. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string {
  if (env["TSDB_CACHE_DIR"]) return env["TSDB_CACHE_DIR"];
  if (env["XDG_CACHE_HOME"]) return join(env["XDG_CACHE_HOME"], "tsdb");
  const home = env["HOME"] ?? homedir();
  // a service account often has no home, or one that is not its own
  return isOwnFolder(home) ? join(home, ".cache", "tsdb") : join(tmpdir(), `tsdb-cache-${process.getuid?.() ?? "user"}`);
}

/** Makes `folder` hold the files with their exact sizes. Several threads and processes may do so at once: each file appears by a rename,
 *  complete or not at all, and the name of the folder says what is in it. @throws TsdbError io */
export function unpack(embedded: EmbeddedFiles, folder: string): void {
  try {
    // what lies here is executed, so nobody else may be able to put it here
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
      // a power failure must not leave a file of the right size with holes in it
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

/** True when it is there, a folder and no link, and this user's. */
function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
