// parquet-wasm, loaded once and on first use.
import initialize from "parquet-wasm/esm";
import wasmPath from "parquet-wasm/esm/parquet_wasm_bg.wasm" with { type: "file" };

let loading: Promise<unknown> | null = null;

/** Makes the functions of `parquet-wasm/esm` usable. The library's default entry finds its .wasm in node_modules, which a
 *  compiled binary has not: the file is embedded and handed over instead. */
export async function loadParquetLibrary(): Promise<void> {
  loading ??= Bun.file(wasmPath)
    .arrayBuffer()
    .then((bytes) => initialize({ module_or_path: bytes }));
  await loading;
}
