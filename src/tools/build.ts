// `npm run build`: one executable with Bun, the server, its workers, WebAssembly and DuckDB, for the platform it is built on. Two things
// need rewriting before bundling: the import of DuckDB's native module, and the URLs of worker threads.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import type { BunPlugin } from "bun";

const ROOT = join(import.meta.dir, "../..");
const EMBEDDED_LOADER = join(import.meta.dir, "embedded-duckdb.ts");

export interface BuildOptions {
  readonly entryPoint: string;
  readonly outFile: string;
  /** Where worker files are searched. Default: the folder of the entry point, which must be in `root`. */
  readonly sourceFolder?: string;
  /** Names of embedded workers are relative to it. Default: `sourceFolder` */
  readonly root?: string;
}

/** Builds the executable. @throws Error with the bundler's messages */
export async function buildBinary({
  entryPoint,
  outFile,
  sourceFolder = dirname(entryPoint),
  root = sourceFolder,
}: BuildOptions): Promise<void> {
  const workers = findWorkers(sourceFolder);
  const result = await Bun.build({
    entrypoints: [entryPoint, ...workers],
    root,
    // compiled code lies beside the text: a start costs half as much
    bytecode: true,
    format: "esm",
    // a start instantiates every function of the files that it loads: modules that are imported on demand, and those of workers, stay apart
    splitting: true,
    // files in the user's current folder must not affect the server
    compile: { outfile: outFile, autoloadDotenv: false, autoloadBunfig: false },
    // keep names and lines for stack traces in users' logs
    minify: { whitespace: false, syntax: true, identifiers: false },
    plugins: [embedDuckdb(), workerAddresses(sourceFolder, root)],
    throw: false,
  });
  if (!result.success) throw new Error(`cannot build ${outFile}:\n${result.logs.join("\n")}`);
}

/** The only form in which src/ refers to a worker: relative to the file that starts it. */
const WORKER_ADDRESS = /new URL\("(\.{1,2}\/[^"]+\.ts)", import\.meta\.url\)/g;

/** Every file started as a worker by some file under `folder`. */
function findWorkers(folder: string): string[] {
  const workers = new Set<string>();
  for (const file of new Bun.Glob("**/*.ts").scanSync(folder)) {
    if (file.endsWith(".test.ts")) continue;
    for (const [, target] of readFileSync(join(folder, file), "utf8").matchAll(WORKER_ADDRESS)) {
      workers.add(join(folder, dirname(file), target!));
    }
  }
  return [...workers].sort();
}

/** All modules of the main thread become one file at the root of the embedded tree, so that `./query.ts` next to the module that starts
 *  it must become `./workers/query.ts`. */
function workerAddresses(sourceFolder: string, root: string): BunPlugin {
  return {
    name: "worker addresses",
    setup(build) {
      build.onLoad({ filter: /\.ts$/, namespace: "file" }, ({ path }) => {
        if (relative(sourceFolder, path).startsWith("..")) return undefined;
        const source = readFileSync(path, "utf8");
        const contents = source.replace(
          WORKER_ADDRESS,
          (_, target: string) => `new URL("./${relative(root, join(dirname(path), target))}", import.meta.url)`,
        );
        return { contents, loader: "ts" };
      });
    },
  };
}

/** Replaces `@duckdb/node-bindings`, which selects a package at run time, by this platform's files and a loader that unpacks them. */
function embedDuckdb(): BunPlugin {
  return {
    name: "embedded duckdb",
    setup(build) {
      const paths = nativeFiles(`${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`);
      const hash = createHash("sha256");
      for (const path of paths) hash.update(readFileSync(path));
      const entries = paths.map((path, i) => `{ name: "${basename(path)}", path: file${i}, bytes: ${statSync(path).size} }`);
      build.onResolve({ filter: /^@duckdb\/node-bindings$/ }, () => ({ path: "bindings", namespace: "duckdb" }));
      build.onResolve({ filter: /^duckdb-files$/ }, () => ({ path: "files", namespace: "duckdb" }));
      build.onLoad({ filter: /^files$/, namespace: "duckdb" }, () => ({
        loader: "js",
        contents: [
          ...paths.map((path, i) => `import file${i} from ${JSON.stringify(path)} with { type: "file" };`),
          `export const embedded = { hash: "${hash.digest("hex").slice(0, 16)}", files: [${entries.join(", ")}] };`,
        ].join("\n"),
      }));
      // CommonJS like the original module, so that all forms of import behave the same
      build.onLoad({ filter: /^bindings$/, namespace: "duckdb" }, () => ({
        loader: "js",
        contents: `module.exports = require(${JSON.stringify(EMBEDDED_LOADER)}).loadEmbedded(require("duckdb-files").embedded);`,
      }));
    },
  };
}

/** Native files of DuckDB's package for `platform`, the module to load last. @throws Error if the package is not installed */
function nativeFiles(platform: string): string[] {
  // resolved from the bindings, because package managers may nest it there
  const fromBindings = createRequire(createRequire(import.meta.url).resolve("@duckdb/node-bindings"));
  const name = `@duckdb/node-bindings-${platform}`;
  let folder: string;
  try {
    folder = dirname(fromBindings.resolve(`${name}/package.json`));
  } catch {
    throw new Error(`cannot build for ${platform}: ${name} is not installed`);
  }
  const names = readdirSync(folder).filter((file) => /\.(node|so|dylib|dll)$/.test(file));
  names.sort((a, b) => Number(a.endsWith(".node")) - Number(b.endsWith(".node")));
  if (!names.at(-1)?.endsWith(".node")) throw new Error(`cannot build for ${platform}: ${name} holds no native module`);
  return names.map((file) => join(folder, file));
}

/** DuckDB has separate packages for Linux systems with musl; a process there has musl's loader mapped. */
function isMusl(): boolean {
  return process.platform === "linux" && /ld-musl/.test(readFileSync("/proc/self/maps", "utf8"));
}

/** An executable in dist/, which is built again when its sources have changed. */
export interface KeptBinary extends Omit<BuildOptions, "outFile"> {
  readonly name: string;
  /** Files in it besides src/ and wasm/. */
  readonly others?: readonly string[];
}

const TSDB: KeptBinary = { name: "tsdb", entryPoint: join(ROOT, "src/main.ts") };

function outFileOf({ name }: KeptBinary): string {
  return join(ROOT, "dist", process.platform === "win32" ? `${name}.exe` : name);
}

/** Holds the hash of what the executable was built from. */
function stampOf({ name }: KeptBinary): string {
  return join(ROOT, "dist", `${name}.sha256`);
}

/** Hash of everything that decides an executable: sources, WebAssembly, packages, the platform and Bun. 40 ms. */
function sourcesHash({ others = [] }: KeptBinary): string {
  const hash = createHash("sha256").update(`${Bun.version} ${process.platform} ${process.arch}`);
  for (const name of [...new Bun.Glob("{src,wasm}/**/*").scanSync(ROOT), "package-lock.json", ...others].sort()) {
    if (!name.endsWith(".test.ts")) hash.update(`\0${name}\0`).update(readFileSync(join(ROOT, name)));
  }
  return hash.digest("hex");
}

/** The executable if it was built from the sources as they are. */
export function currentBinary(binary: KeptBinary = TSDB): string | undefined {
  const [outFile, stamp] = [outFileOf(binary), stampOf(binary)];
  return existsSync(outFile) && existsSync(stamp) && readFileSync(stamp, "utf8") === sourcesHash(binary) ? outFile : undefined;
}

/** Builds the executable. @throws Error with the bundler's messages */
export async function buildKept(binary: KeptBinary): Promise<void> {
  const [outFile, stamp] = [outFileOf(binary), stampOf(binary)];
  rmSync(stamp, { force: true });
  const hash = sourcesHash(binary);
  const startedMs = performance.now();
  await buildBinary({ ...binary, outFile });
  writeFileSync(stamp, hash);
  const megabytes = (statSync(outFile).size / 1e6).toFixed(0);
  console.log(`built ${relative(process.cwd(), outFile)}, ${megabytes} MB, in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
}

if (import.meta.main && !(process.argv.includes("--if-stale") && currentBinary() !== undefined)) await buildKept(TSDB);
