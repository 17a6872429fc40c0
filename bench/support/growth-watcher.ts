// A thread that continuously sends small requests: a tiny query, a small write and /ping, each again as soon as it is answered, and records
// their maximum latencies and the server's peak memory. A thread, so that work of the benchmark's main thread does not matter.
import { residentBytesOf } from "./process-stats.ts";

declare const self: Worker;

const PAUSE_MS = 2;
const MEMORY_EVERY_MS = 10;

export interface WatchedServer {
  readonly url: string;
  readonly pid: number;
  readonly database: string;
}

export type ToWatcher = { readonly type: "begin"; readonly server: WatchedServer } | { readonly type: "end" };

/** Maximum latencies, and the maximum increase of the server's memory since the beginning. */
export interface Watched {
  readonly queryMs: number;
  readonly writeMs: number;
  readonly pingMs: number;
  readonly grownBytes: number;
}

let running: { stop(): Promise<Watched> } | undefined;

self.onmessage = async ({ data }: MessageEvent<ToWatcher>) => {
  if (data.type === "begin") {
    running = watch(data.server);
    self.postMessage(null);
  } else {
    const watched = await running!.stop();
    self.postMessage(watched);
  }
};

function watch({ url, pid, database }: WatchedServer): { stop(): Promise<Watched> } {
  let isStopped = false;
  const residentBytes = () => residentBytesOf(pid)?.now ?? 0;
  const beginBytes = residentBytes();
  let mostBytes = beginBytes;
  const memory = setInterval(() => {
    mostBytes = Math.max(mostBytes, residentBytes());
  }, MEMORY_EVERY_MS);
  /** Until stopped, at least once. */
  const longest = async (ask: (round: number) => Promise<Response>) => {
    let longestMs = 0;
    for (let round = 0; round === 0 || !isStopped; round++) {
      const startedMs = performance.now();
      const response = await ask(round);
      await response.arrayBuffer();
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      if (!response.ok) throw new Error(`${response.url}: ${response.status}`);
      await Bun.sleep(PAUSE_MS);
    }
    return longestMs;
  };
  const query = `${url}/query?${new URLSearchParams({ db: database, q: "SELECT v FROM tiny LIMIT 1" })}`;
  const asked = [
    longest(() => fetch(query)),
    longest((round) => fetch(`${url}/write?db=${database}`, { method: "POST", body: `tiny v=${round} 1` })),
    longest(() => fetch(`${url}/ping`)),
  ] as const;
  return {
    async stop() {
      isStopped = true;
      const [queryMs, writeMs, pingMs] = await Promise.all(asked);
      clearInterval(memory);
      return { queryMs, writeMs, pingMs, grownBytes: Math.max(0, mostBytes - beginBytes) };
    },
  };
}
