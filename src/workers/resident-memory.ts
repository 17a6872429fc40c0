// How much memory the process takes from others.
import { readFileSync } from "node:fs";

const STATUS = "/proc/self/status";

/** Resident memory in bytes. On Linux without pages of files, the program's own among them: they are dropped when others need room, and a
 *  container counts them as cache. */
export function residentBytes(): number {
  try {
    return takenBytesOf(readFileSync(STATUS, "latin1"));
  } catch {
    return process.memoryUsage.rss();
  }
}

/** @param status in the format of proc_pid_status(5) @throws Error: no such lines */
export function takenBytesOf(status: string): number {
  const [, anonymous] = /^RssAnon:\s*(\d+) kB$/m.exec(status) ?? [];
  const [, shared] = /^RssShmem:\s*(\d+) kB$/m.exec(status) ?? [];
  if (anonymous === undefined || shared === undefined) throw new Error("the system does not tell kinds of memory apart");
  return (Number(anonymous) + Number(shared)) * 1024;
}
