// Lowers the priority of a thread: on Linux each thread has its own, which it may lower but not raise.
import { readlinkSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** A third of the processor when competing with one other thread: enough for flushes to keep up with writes while queries use all
 *  processors. */
const NICE_ADDED = 5;
const NICE_MAX = 19;

/** Gives the calling thread less processor time than the process's other threads when processors are scarce. No effect where that is
 *  impossible. */
export function lowerPriority(): void {
  if (process.platform !== "linux") return;
  try {
    // <process>/task/<thread>
    const threadId = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (threadId > 0) setPriority(threadId, Math.min(NICE_MAX, getPriority(threadId) + NICE_ADDED));
  } catch {
    // no /proc, or no permission
  }
}
