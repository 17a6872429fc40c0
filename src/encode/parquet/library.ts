// Loads parquet-wasm, once and on first use.
import initialize from "parquet-wasm/esm";
import wasmPath from "parquet-wasm/esm/parquet_wasm_bg.wasm" with { type: "file" };

let loading: Promise<unknown> | null = null;

/** Initializes `parquet-wasm/esm`. The library's default entry loads its .wasm from node_modules, which a compiled binary does not have:
 *  the file is embedded and passed in instead. */
export async function loadParquetLibrary(): Promise<void> {
  loading ??= Bun.file(wasmPath)
    .arrayBuffer()
    .then((bytes) => initialize({ module_or_path: bytes }));
  await loading;
}
