// The kernel's functions as TypeScript sees them, one interface a folder of assembly/, and what it imports from the host.
import type { Heap } from "./heap.ts";

/** assembly/memory */
export interface MemoryExports {
  setMemoryBase(base: bigint): void;
}

export interface KernelExports extends MemoryExports {}

/** What the kernel may ask of its host: memory, nothing else. Allocation throws TsdbError("overloaded") through the kernel, which
 *  therefore allocates before it changes any state. */
export function kernelImports(memory: WebAssembly.Memory, heap: Heap): Record<string, unknown> {
  return {
    memory,
    hostAlloc: (bytes: number) => heap.alloc(bytes >>> 0),
    hostFree: (ptr: number, bytes: number) => heap.free(ptr >>> 0, bytes >>> 0),
    abort: (_message: number, _file: number, line: number, column: number) => {
      throw new Error(`BUG: kernel abort at ${line}:${column}`);
    },
  };
}
