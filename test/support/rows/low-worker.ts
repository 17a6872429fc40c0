// A worker for thread-priority.test.ts that lowers its thread's priority and reports the values before and after.
import { readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { lowerPriority } from "../../../src/workers/maintenance/thread-priority.ts";

declare const self: Worker;

/** As reported by the system: the 17th field after the name in brackets; on systems other than Linux, all threads have the process's
 *  value. */
function niceOf(place: "thread-self" | "self"): number {
  if (process.platform !== "linux") return getPriority();
  return Number(readFileSync(`/proc/${place}/stat`, "utf8").split(") ").at(-1)!.split(" ")[16]);
}

const before = niceOf("thread-self");
lowerPriority();
self.postMessage({ before, after: niceOf("thread-self"), ofProcess: niceOf("self") });
