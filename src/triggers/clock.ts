// The clock of triggers; tests supply their own.

export interface Clock {
  nowMs(): number;
  /** Calls `run` once; the returned function cancels it. */
  after(milliseconds: number, run: () => void): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  nowMs: () => Date.now(),
  after: (milliseconds, run) => {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after the time, or as soon as `signal` aborts. */
export function pause(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(milliseconds, end);
    signal.addEventListener("abort", end);
  });
}
