// Memory or files that someone may still be reading: freeing is left to the owner of the pins.

export interface Reclaimer {
  /** Runs `free` once nobody who may read the thing is left; at once when there is nobody. `free` must not throw. */
  defer(free: () => void): void;
}

/** For structures that no other thread reads. */
export const RECLAIM_AT_ONCE: Reclaimer = { defer: (free) => free() };
