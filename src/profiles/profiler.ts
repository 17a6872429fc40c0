// What a running server tells about its time and memory: the main thread's calls, its objects, the threads of the process.

import { heapStats } from "bun:jsc";
import { readdirSync, readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { TsdbError } from "../model/errors.ts";
import type { Frame, Profile, Sample } from "./profile-proto.ts";

export const PROFILES = ["allocs", "block", "goroutine", "heap", "mutex", "threadcreate"] as const;
export type ProfileName = (typeof PROFILES)[number];

/** Objects are counted one by one: not more often than this. */
const HEAP_AGE_MS = 1000;
const NOT_RECORDED = "this server's runtime does not record these";

interface Node {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface CpuProfile {
  readonly nodes: readonly Node[];
  readonly samples?: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas?: readonly number[];
}

/** Takes profiles of this process. One instance for all requests. */
export class Profiler {
  private isBusy = false;
  private heap: { readonly profile: Profile; readonly atMs: number } | undefined;

  /** @param clockMs milliseconds since 1970 */
  constructor(private readonly clockMs: () => number) {}

  /** The main thread's calls for so long, or until the client leaves. @throws TsdbError overloaded while another profile is taken */
  async cpu(seconds: number, signal: AbortSignal): Promise<Profile> {
    if (this.isBusy) throw new TsdbError("overloaded", "another profile is being taken; try again");
    this.isBusy = true;
    const startMs = this.clockMs();
    const session = new Session();
    session.connect();
    try {
      await post(session, "Profiler.enable");
      await post(session, "Profiler.start");
      await passed(seconds * 1000, signal);
      const { profile } = (await post(session, "Profiler.stop")) as { readonly profile: CpuProfile };
      const durationNs = BigInt(Math.round((this.clockMs() - startMs) * 1e6));
      return { kinds: CPU_KINDS, samples: cpuSamples(profile), startNs: BigInt(Math.round(startMs)) * 1_000_000n, durationNs };
    } finally {
      session.disconnect();
      this.isBusy = false;
    }
  }

  named(name: ProfileName): Profile {
    const startNs = BigInt(Math.round(this.clockMs())) * 1_000_000n;
    if (name === "heap" || name === "allocs") return this.memory();
    if (name === "threadcreate") return { kinds: [["threads", "count"]], samples: threadSamples(), startNs };
    const kinds = name === "goroutine" ? [["goroutine", "count"] as const] : WAIT_KINDS;
    return { kinds, samples: [], startNs, comment: NOT_RECORDED };
  }

  private memory(): Profile {
    const nowMs = this.clockMs();
    if (this.heap === undefined || Math.abs(nowMs - this.heap.atMs) >= HEAP_AGE_MS) {
      const profile = { kinds: MEMORY_KINDS, samples: memorySamples(), startNs: BigInt(Math.round(nowMs)) * 1_000_000n };
      this.heap = { profile, atMs: nowMs };
    }
    return this.heap.profile;
  }
}

const CPU_KINDS = [
  ["samples", "count"],
  ["cpu", "nanoseconds"],
] as const;
const MEMORY_KINDS = [
  ["inuse_objects", "count"],
  ["inuse_space", "bytes"],
] as const;
const WAIT_KINDS = [
  ["contentions", "count"],
  ["delay", "nanoseconds"],
] as const;

/** As `?debug=1` shows it: a line for each sample, the largest first. */
export function profileText(name: string, { kinds, samples, comment }: Profile): string {
  const head = `${name}: ${kinds.map(([type, unit]) => `${type} (${unit})`).join(", ")}\n`;
  const last = kinds.length - 1;
  const lines = [...samples]
    .sort((a, b) => b.values[last]! - a.values[last]! || b.values[0]! - a.values[0]!)
    .map(({ stack, values }) => `${values.join(" ")} @ ${stack.map((frame) => frame.name).join(" < ")}\n`);
  return head + (comment === undefined ? "" : `# ${comment}\n`) + lines.join("");
}

function cpuSamples({ nodes, samples = [], timeDeltas = [] }: CpuProfile): Sample[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const totals = new Map<number, { count: number; microseconds: number }>();
  for (const [i, id] of samples.entries()) {
    const total = totals.get(id) ?? { count: 0, microseconds: 0 };
    total.count += 1;
    total.microseconds += Math.max(0, timeDeltas[i] ?? 0);
    totals.set(id, total);
  }
  return [...totals].map(([id, { count, microseconds }]) => {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { functionName, url, lineNumber } = byId.get(at)!.callFrame;
      const line = Math.max(0, lineNumber + 1);
      const name = functionName === "" ? `(anonymous, ${url.slice(url.lastIndexOf("/") + 1)}:${line})` : functionName;
      stack.push({ name, file: url, line });
    }
    return { stack, values: [count, Math.round(microseconds * 1000)] };
  });
}

/** Objects by their type have no size in this runtime; bytes are those of the process, by what holds them. */
function memorySamples(): Sample[] {
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
  const place = (name: string): Frame => ({ name, file: "", line: 0 });
  const bytes = (name: string, count: number): Sample => ({ stack: [place(name)], values: [0, Math.max(0, count)] });
  const objects = place("objects of the main thread");
  return [
    ...Object.entries(heapStats().objectTypeCounts).map(([type, count]) => ({ stack: [place(type), objects], values: [count, 0] })),
    { stack: [objects], values: [0, heapUsed] },
    bytes("array buffers", arrayBuffers),
    bytes("outside of the heap", external - arrayBuffers),
    bytes("kernel, query engine, workers", rss - heapUsed - external),
  ];
}

/** Threads of the process by their names; none where the system does not tell. */
function threadSamples(): Sample[] {
  const counts = new Map<string, number>();
  const folder = "/proc/self/task";
  for (const id of listed(folder)) {
    try {
      const name = readFileSync(`${folder}/${id}/comm`, "utf8").trim();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    } catch {
      // it has ended
    }
  }
  return [...counts].map(([name, count]) => ({ stack: [{ name, file: "", line: 0 }], values: [count] }));
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function post(session: Session, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    session.post(method, (error: Error | null, result: unknown) => {
      if (error === null || error === undefined) resolve(result);
      else reject(error);
    });
  });
}

function passed(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, milliseconds);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
    if (signal.aborted) end();
    else signal.addEventListener("abort", end);
  });
}
