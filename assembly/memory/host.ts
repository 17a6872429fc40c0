// Memory from the host's heap. Both calls leave WebAssembly, so callers ask for whole arrays, never for single values.

// @ts-ignore: decorator
@external("env", "hostAlloc")
export declare function hostAlloc(bytes: u32): u32;

// @ts-ignore: decorator
@external("env", "hostFree")
export declare function hostFree(ptr: u32, bytes: u32): void;

/** Native address of byte 0 of this memory: what a string view adds to a pointer. */
export let memoryBase: u64 = 0;

/** Sets the address at which the host's memory begins. */
export function setMemoryBase(base: u64): void {
  memoryBase = base;
}
