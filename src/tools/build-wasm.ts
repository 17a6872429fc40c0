// Compiles assembly/ to wasm/tsdb.wasm, and writes beside it what it was compiled from. `--check` compiles again and fails when the
// committed module is another one.
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "assemblyscript/package.json";

const ROOT = join(import.meta.dir, "../..");
const MODULE = join(ROOT, "wasm/tsdb.wasm");
const HASHES = join(ROOT, "wasm/tsdb.sha256");

const FLAGS: readonly string[] = [
  ...["-O3", "--noAssert", "--converge", "--runtime", "stub", "--bindings", "none"],
  ...["--enable", "simd,threads,bulk-memory,relaxed-simd,sign-extension,nontrapping-f2i,mutable-globals"],
  ...["--importMemory", "--sharedMemory", "--initialMemory", "256", "--maximumMemory", "65536", "--memoryBase", "1024"],
  ...["--use", "abort="],
];

/** Compiles the kernel to `outFile`; `textFile` receives the text format. @throws Error with the compiler's messages */
async function buildWasm(outFile: string, textFile?: string): Promise<void> {
  const text = textFile === undefined ? [] : ["--textFile", textFile];
  const args = [join(ROOT, "assembly/index.ts"), "--outFile", outFile, ...text, ...FLAGS];
  // half a second to load
  const { default: asc } = await import("assemblyscript/asc");
  const { error, stderr } = await asc.main(args);
  if (error) throw new Error(`cannot compile assembly/: ${error.message}\n${stderr.toString()}`);
}

/** True when wasm/tsdb.wasm is what assembly/ compiles to. */
export async function isWasmCurrent(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-wasm-"));
  try {
    const fresh = join(folder, "tsdb.wasm");
    await buildWasm(fresh);
    return readFileSync(fresh).equals(readFileSync(MODULE));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Hashes of what decides the module (sources, compiler, flags) and of the module itself. Reading takes milliseconds, compiling
 *  10 s. */
function wasmHashes(): string {
  const sources = createHash("sha256")
    .update(version)
    .update(readFileSync(import.meta.path));
  const names = readdirSync(join(ROOT, "assembly"), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  for (const name of names.sort()) sources.update(`\0${name}\0`).update(readFileSync(join(ROOT, "assembly", name)));
  const module = createHash("sha256").update(readFileSync(MODULE));
  return `${sources.digest("hex")} sources\n${module.digest("hex")} tsdb.wasm\n`;
}

/** True when wasm/tsdb.wasm is what was compiled last, from assembly/ as it is. */
export function isWasmRecorded(): boolean {
  return readFileSync(HASHES, "utf8") === wasmHashes();
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    if (!(await isWasmCurrent())) {
      console.error("wasm/tsdb.wasm is stale: run `npm run build:wasm`");
      process.exit(1);
    }
  } else {
    await buildWasm(MODULE);
    writeFileSync(HASHES, wasmHashes());
  }
}
