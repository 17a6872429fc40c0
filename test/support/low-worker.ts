// A thread that lowers its priority and tells what it was before and is then: a worker for thread-priority.test.ts.
import { readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { lowerPriority } from "../../src/workers/maintenance/thread-priority.ts";

declare const self: Worker;

/** As the system sees it: the 17th field behind the name in brackets; elsewhere than on Linux all threads have the process's. */
function niceOf(place: "thread-self" | "self"): number {
  if (process.platform !== "linux") return getPriority();
  return Number(readFileSync(`/proc/${place}/stat`, "utf8").split(") ").at(-1)!.split(" ")[16]);
}

const before = niceOf("thread-self");
lowerPriority();
self.postMessage({ before, after: niceOf("thread-self"), ofProcess: niceOf("self") });
