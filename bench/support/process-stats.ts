// What the system says about a process: processor time and resident memory. On Linux only; elsewhere undefined.
import { readdirSync, readFileSync } from "node:fs";

const NS_PER_MS = 1e6;

/** Processor time of all threads that live, in ms: what a busy machine does not lengthen as it does waiting. */
export function cpuMsOf(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadCpuMs(pid, thread), 0);
  } catch {
    return undefined;
  }
}

/** Processor time of the first thread, in ms. */
export function mainCpuMsOf(pid: number): number | undefined {
  try {
    return threadCpuMs(pid, String(pid));
  } catch {
    return undefined;
  }
}

function threadCpuMs(pid: number, thread: string): number {
  // time on a processor, time waiting for one, number of turns
  return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]) / NS_PER_MS;
}

/** Resident bytes now, and the most there ever were. */
export function residentBytesOf(pid: number): { readonly now: number; readonly peak: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
    return { now: kib("VmRSS") * 1024, peak: kib("VmHWM") * 1024 };
  } catch {
    return undefined;
  }
}
