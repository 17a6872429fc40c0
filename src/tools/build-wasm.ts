// Compiles assembly/ to wasm/tsdb.wasm. `--check` builds to a temporary file and fails if the committed file is outdated.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import asc from "assemblyscript/asc";

const ROOT = join(import.meta.dir, "../..");

/** Compiles the kernel to `outFile`; `textFile` receives the text format. @throws Error with the compiler's messages */
export async function buildWasm(outFile: string, textFile?: string): Promise<void> {
  const args = [
    join(ROOT, "assembly/index.ts"),
    ...["--outFile", outFile],
    ...(textFile === undefined ? [] : ["--textFile", textFile]),
    ...["-O3", "--noAssert", "--converge", "--runtime", "stub", "--bindings", "none"],
    ...["--enable", "simd,threads,bulk-memory,relaxed-simd,sign-extension,nontrapping-f2i,mutable-globals"],
    ...["--importMemory", "--sharedMemory", "--initialMemory", "256", "--maximumMemory", "65536", "--memoryBase", "1024"],
    "--use",
    "abort=",
  ];
  const { error, stderr } = await asc.main(args);
  if (error) throw new Error(`cannot compile assembly/: ${error.message}\n${stderr.toString()}`);
}

/** True when wasm/tsdb.wasm is what assembly/ compiles to. */
export async function isWasmCurrent(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-wasm-"));
  try {
    const fresh = join(folder, "tsdb.wasm");
    await buildWasm(fresh);
    return readFileSync(fresh).equals(readFileSync(join(ROOT, "wasm/tsdb.wasm")));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) {
  if (process.argv.includes("--check")) {
    if (!(await isWasmCurrent())) {
      console.error("wasm/tsdb.wasm is stale: run `npm run build:wasm`");
      process.exit(1);
    }
  } else {
    await buildWasm(join(ROOT, "wasm/tsdb.wasm"));
  }
}
