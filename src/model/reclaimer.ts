// Deferred freeing of memory or files that readers may still use; the owner of the pins implements it.

export interface Reclaimer {
  /** Runs `free` once no current reader remains, immediately if there is none. `free` must not throw. */
  defer(free: () => void): void;
}

/** For structures without readers on other threads. */
export const RECLAIM_AT_ONCE: Reclaimer = { defer: (free) => free() };
