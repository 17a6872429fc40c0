// Preloaded into the server's process: records every period in which the event loop did not run its timers. Writes a line to the file named
// by the environment: its end (ms since 1970), its length, and the time that the thread waited for a processor (both ms).
import { appendFileSync, openSync, readSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const FILE = process.env["BENCH_LOOP_PROBE"];
const TICK_MS = 2;
const NOTED_MS = 10;
const NS_PER_MS = 1e6;

if (isMainThread && FILE !== undefined) {
  // the first thread has the process's id: time on a processor, time waiting for one, number of time slices
  const schedule = openSync(`/proc/${process.pid}/task/${process.pid}/schedstat`, "r");
  const text = Buffer.alloc(100);
  const waitedMs = () => {
    const length = readSync(schedule, text, 0, text.length, 0);
    return Number(text.toString("latin1", 0, length).split(" ")[1]) / NS_PER_MS;
  };
  let lastMs = performance.now();
  let lastWaitedMs = waitedMs();
  setInterval(() => {
    const nowMs = performance.now();
    const nowWaitedMs = waitedMs();
    const stallMs = nowMs - lastMs - TICK_MS;
    if (stallMs >= NOTED_MS) appendFileSync(FILE, `${Date.now()} ${stallMs.toFixed(2)} ${(nowWaitedMs - lastWaitedMs).toFixed(2)}\n`);
    lastMs = nowMs;
    lastWaitedMs = nowWaitedMs;
  }, TICK_MS).unref();
}
