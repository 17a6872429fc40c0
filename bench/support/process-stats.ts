// Statistics of a process from the system: processor time and resident memory. On Linux only; elsewhere undefined.
import { readdirSync, readFileSync } from "node:fs";

const NS_PER_MS = 1e6;

/** Processor time of all live threads, in ms: unlike elapsed time, other load does not increase it. */
export function cpuMsOf(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadCpuMs(pid, thread), 0);
  } catch {
    return undefined;
  }
}

function threadCpuMs(pid: number, thread: string): number {
  // time on a processor, time waiting for one, number of time slices
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / NS_PER_MS;
}

/** Resident bytes now, and their peak. */
export function residentBytesOf(pid: number): { readonly now: number; readonly peak: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
    return { now: kib("VmRSS") * 1024, peak: kib("VmHWM") * 1024 };
  } catch {
    return undefined;
  }
}
