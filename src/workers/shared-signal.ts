// An abort signal that is visible in the midst of a thread's work. The event of an AbortSignal reaches a thread only at its event loop;
// loops that check `aborted` see immediately what main has written to shared memory (worker-signals.ts).

/** The signal, aborted also when `isStopped` returns true. The event fires only when the signal's controller aborts. */
export function sharedSignal(signal: AbortSignal, isStopped: () => boolean): AbortSignal {
  const { get } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")!;
  return Object.defineProperty(signal, "aborted", { get: () => isStopped() || get!.call(signal) === true });
}
