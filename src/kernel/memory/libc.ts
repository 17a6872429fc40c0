// Functions of the C library that Bun has no call for.
import { dlopen, type FFIFunction, type Library } from "bun:ffi";

/** Of glibc, of musl, and of macOS. */
const LIBRARIES = ["libc.so.6", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1", "libSystem.B.dylib"] as const;

/** The functions, by name; null if no C library here has all of them. */
export function libcFunctions<Functions extends Record<string, FFIFunction>>(functions: Functions): Library<Functions>["symbols"] | null {
  for (const library of LIBRARIES) {
    try {
      return dlopen(library, functions).symbols;
    } catch {
      // the next one, or none
    }
  }
  return null;
}
