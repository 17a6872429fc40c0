// The border between src/kernel and assembly: plain integer constants that both compilers read. Little-endian throughout.
// Nothing here may be reordered once it has reached disk (types) or a test fixture.

// Column types, the same numbers as src/model/column.ts.
export const TYPE_TIME = 0;
export const TYPE_TAG = 1;
export const TYPE_FLOAT = 2;
export const TYPE_INTEGER = 3;
export const TYPE_UNSIGNED = 4;
export const TYPE_STRING = 5;
export const TYPE_BOOLEAN = 6;

// Precision of timestamps in line protocol.
export const PRECISION_AUTO = 0;
export const PRECISION_NANO = 1;
export const PRECISION_MICRO = 2;
export const PRECISION_MILLI = 3;
export const PRECISION_SECOND = 4;
export const PRECISION_MINUTE = 5;
export const PRECISION_HOUR = 6;

// A string view is DuckDB's string_t, 16 bytes:
//   | byteLength u32 | 12 bytes of text, zero padded            |  byteLength <= 12
//   | byteLength u32 | first 4 bytes | native address u64        |  longer
// The native address is the kernel memory's base address (set once by setMemoryBase) plus the wasm pointer,
// so a view can be handed to DuckDB as it is and still be followed inside the kernel by subtracting the base.
export const VIEW_BYTES = 16;
export const VIEW_INLINE_MAX = 12;

// The first 1 MiB of memory belongs to the compiler's static data; no allocation lies below it.
export const HEAP_START = 1 << 20;
