// An abort that is seen in the midst of a thread's work. The event of an AbortSignal reaches a thread when it is back at its event loop;
// loops that look at `aborted` see what main has written into shared memory (worker-signals.ts) at once.

/** The signal itself, aborted also when `isStopped` says so. The event comes when the signal's controller is told. */
export function sharedSignal(signal: AbortSignal, isStopped: () => boolean): AbortSignal {
  const { get } = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")!;
  return Object.defineProperty(signal, "aborted", { get: () => isStopped() || get!.call(signal) === true });
}
