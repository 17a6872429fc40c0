// Loads parquet-wasm, once and on first use.
import initialize, { wasmMemory } from "parquet-wasm/esm";
import wasmPath from "parquet-wasm/esm/parquet_wasm_bg.wasm" with { type: "file" };
import { assert } from "../../model/assert.ts";

let loading: Promise<unknown> | null = null;

/** Initializes `parquet-wasm/esm`. The library's default entry loads its .wasm from node_modules, which a compiled binary does not have:
 *  the file is embedded and passed in instead. */
export async function loadParquetLibrary(): Promise<void> {
  loading ??= Bun.file(wasmPath)
    .arrayBuffer()
    .then((bytes) => initialize({ module_or_path: bytes }));
  await loading;
}

const WASM_PAGE_BYTES = 65_536;
const HEAD_BYTES = 8;
const MEMORY_SECTION = 5;

/** The same for a thread that reads files of others, whatever they say of their sizes: the library gets no more memory than this, and
 *  fails. Returns its memory. */
export async function loadLimitedLibrary(memoryBytesMax: number): Promise<WebAssembly.Memory> {
  assert(loading === null, "the library is loaded once in a thread");
  loading = Bun.file(wasmPath)
    .bytes()
    .then((bytes) => initialize({ module_or_path: withMemoryMax(bytes, memoryBytesMax / WASM_PAGE_BYTES) }));
  await loading;
  return wasmMemory() as WebAssembly.Memory;
}

/** A module with a maximum for its memory, in pages. | magic, version | section: id u8, bytes varint, content | ... |
 *  Content of the memory's section: | memories | has a maximum u8 | pages varint | maximum varint | */
function withMemoryMax(module: Uint8Array, pagesMax: number): Uint8Array<ArrayBuffer> {
  for (let at = HEAD_BYTES; at < module.length; ) {
    const id = module[at]!;
    const size = readVarint(module, at + 1);
    const end = size.end + size.value;
    if (id === MEMORY_SECTION) {
      const pages = readVarint(module, size.end + 2);
      assert(module[size.end] === 1 && module[size.end + 1] === 0 && pages.end === end, "the library has one memory without a maximum");
      const content = [1, 1, ...varint(pages.value), ...varint(pagesMax)];
      const section = [MEMORY_SECTION, ...varint(content.length), ...content];
      return new Uint8Array(Buffer.concat([module.subarray(0, at), new Uint8Array(section), module.subarray(end)]));
    }
    at = end;
  }
  return assert(false, "the library has no memory of its own") as never;
}

function readVarint(bytes: Uint8Array, from: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let at = from;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]!;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return { value, end: at };
  }
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
}
