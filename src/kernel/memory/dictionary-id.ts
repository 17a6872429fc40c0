// Ids of dictionaries: unique across all threads on one shared memory, because runs with equal dictionary ids are assumed to share series
// ids.
import type { Kernel } from "./kernel.ts";

// A word below the compiler's static data, which begins at 1024 (build-wasm.ts, --memoryBase); word 0 is not used.
const COUNTER_WORD = 16;

/** A number that no other dictionary in this process has. Every DictionaryView not made by a SeriesDictionary takes one. */
export function nextDictionaryId(kernel: Kernel): number {
  return Atomics.add(kernel.u32, COUNTER_WORD, 1) + 1;
}
