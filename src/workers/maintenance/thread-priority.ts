// Threads that should give way: on Linux each has a priority of its own, which it may lower, but not raise again.
import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** A third of the processor where it competes with one other thread: enough for flushes to keep up with writes while queries keep all
 *  processors busy. */
const NICE_ADDED = 5;
const NICE_MAX = 19;

/** The calling thread gets less of the processors than others of the process when there are not enough. Does nothing where that is not
 *  possible. */
export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    // <process>/task/<thread>
    const threadId = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (threadId > 0) setPriority(threadId, Math.min(NICE_MAX, getPriority(threadId) + NICE_ADDED));
  } catch {
    // no /proc, or not allowed to
  }
}
