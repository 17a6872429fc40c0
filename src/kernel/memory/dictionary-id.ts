// Ids of dictionaries: unique among all threads on one shared memory, because runs that carry equal ids are taken to share their series.
import type { Kernel } from "./kernel.ts";

// A word below the compiler's static data, which begins at 1024 (build-wasm.ts, --memoryBase); word 0 stays untouched.
const COUNTER_WORD = 16;

/** A number that no other dictionary in this process has. Every DictionaryView that is not a SeriesDictionary's takes one. */
export function nextDictionaryId(kernel: Kernel): number {
  return Atomics.add(kernel.u32, COUNTER_WORD, 1) + 1;
}
