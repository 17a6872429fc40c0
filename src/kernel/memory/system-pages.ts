// Gives pages of the shared memory back to the system: a WebAssembly memory never shrinks, but on Linux its pages may be dropped, and come
// back as zeros when they are touched.
import { FFIType } from "bun:ffi";
import type { Kernel } from "./kernel.ts";
import { libcFunctions } from "./libc.ts";

const MADV_DONTNEED = 4;

type Advise = (address: bigint, bytes: bigint, advice: number) => number;

let advise: Advise | null | undefined;

/** The system's call; null if there is none. */
function systemCall(): Advise | null {
  // elsewhere the same number means less: pages keep their contents
  if (process.platform !== "linux") return null;
  return libcFunctions({ madvise: { args: [FFIType.u64, FFIType.u64, FFIType.i32], returns: FFIType.i32 } })?.madvise ?? null;
}

/** False where the system offers no such call. */
export function canReturnPages(): boolean {
  if (advise === undefined) advise = systemCall();
  return advise !== null;
}

/** Frees the pages of `bytes` bytes at `ptr`, both multiples of the page size, which nobody uses: their contents are undefined then. */
export function returnPages({ base }: Pick<Kernel, "base">, ptr: number, bytes: number): void {
  if (canReturnPages()) advise!(base + BigInt(ptr), BigInt(bytes), MADV_DONTNEED);
}
