// A thread that lowers its priority and tells what it was before and is then: a worker for thread-priority.test.ts.
import { readFileSync } from "node:fs";
import { lowerPriority } from "../../src/workers/maintenance/thread-priority.ts";

declare const self: Worker;

/** As the system sees it: the 17th field behind the name in brackets. */
function niceOf(place: string): number {
  return Number(readFileSync(`/proc/${place}/stat`, "utf8").split(") ").at(-1)!.split(" ")[16]);
}

const before = niceOf("thread-self");
lowerPriority();
self.postMessage({ before, after: niceOf("thread-self"), ofProcess: niceOf("self") });
