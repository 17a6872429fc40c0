// Runs one production of a grammar at n, 2n, 4n and 8n during small requests: its time, its memory and their latency.
import type { TestServer } from "../../test/support/servers/server.ts";
import { type Answer, type Size, short } from "./bench.ts";
import type { Grammar, Production } from "./growth-grammar.ts";
import type { ToWatcher, Watched, WatchedServer } from "./growth-watcher.ts";

/** The smoke size only verifies that every production is answered. */
const FACTORS: Readonly<Record<Size, readonly number[]>> = { real: [1, 2, 4, 8], smoke: [8] };
const WAIT_MS_MAX = 100;
/** Doubling n log n is slightly more than twice. */
const GROWTH_MAX = 8 * 1.5;
/** Growth of shorter times is noise. */
const TELLING_MS = 50;
const SHOWN_CHARACTERS = 120;
const MIB = 2 ** 20;

export interface Asked extends Watched {
  readonly n: number;
  readonly status: number;
  readonly tookMs: number;
  /** For a rejected or failed statement: the beginning of its answer. */
  readonly error: string | null;
}

/** The thread that sends small requests. Owned: call `close`. */
export class Watcher {
  private readonly worker = new Worker(new URL("./growth-watcher.ts", import.meta.url).href);
  private failure: Error | undefined;

  /** The maximum latencies during `run`. @throws what it throws, and Error if a small request fails */
  async during<T>(server: WatchedServer, run: () => Promise<T>): Promise<{ readonly value: T; readonly watched: Watched }> {
    await this.tell({ type: "begin", server });
    const value = await run();
    return { value, watched: (await this.tell({ type: "end" })) as Watched };
  }

  close(): void {
    this.worker.terminate();
  }

  private tell(message: ToWatcher): Promise<unknown> {
    if (this.failure !== undefined) throw this.failure;
    return new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => resolve(data);
      this.worker.onerror = (event) => {
        this.failure = new Error(event.message);
        reject(this.failure);
      };
      this.worker.postMessage(message);
    });
  }
}

/** @throws Error when a statement fails on the server's side, or is cut off */
export async function askGrowing(
  {
    grammar,
    production,
    server,
    watcher,
    size,
  }: { grammar: Grammar; production: Production; server: TestServer; watcher: Watcher; size: Size },
  database: string,
): Promise<Asked[]> {
  const asked: Asked[] = [];
  for (const factor of FACTORS[size]) {
    const n = production.n[size] * factor;
    const request = grammar.request(server, database, production.text(n));
    const watchedServer = { url: server.url, pid: server.pid, database };
    const { value, watched } = await watcher.during(watchedServer, () => ask(request));
    asked.push({ n, ...value, ...watched });
    const { status, error } = asked.at(-1)!;
    if (status >= 500) throw new Error(`${grammar.name}: ${production.name}, n = ${n}: ${status} ${error}`);
  }
  return asked;
}

async function ask(request: Request): Promise<Pick<Asked, "status" | "tookMs" | "error">> {
  const startedMs = performance.now();
  const response = await fetch(request);
  const decoder = new TextDecoder();
  let [first, last] = ["", ""];
  // a long answer is discarded
  for await (const chunk of response.body ?? []) {
    last = decoder.decode(chunk);
    if (first.length < SHOWN_CHARACTERS) first += last;
  }
  const tookMs = performance.now() - startedMs;
  const text = !response.ok || first.includes('"error"') ? first : last.includes('"error"') ? last : null;
  return { status: response.status, tookMs, error: text === null ? null : text.trim().slice(0, SHOWN_CHARACTERS) };
}

/** The maximum latency of the small requests, and the growth of the statement's time; goals apply to the real size. */
export function judge(grammar: Grammar, production: Production, asked: readonly Asked[], size: Size): Answer[] {
  const what = `${grammar.name}: ${production.name}`;
  const waits = { query: most(asked, "queryMs"), write: most(asked, "writeMs"), "/ping": most(asked, "pingMs") };
  const times = asked.map(({ tookMs, error }) => `${short(tookMs)}${error === null ? "" : " (refused)"}`).join(", ");
  const grown = short(most(asked, "grownBytes") / MIB);
  const refused = asked.find(({ error }) => error !== null);
  const sizes = `n = ${short(asked[0]!.n)} to ${short(asked.at(-1)!.n)}`;
  const measured = `${sizes}: ${times} ms; + ${grown} MiB${refused === undefined ? "" : `; ${refused.n}: ${refused.error}`}`;
  const waited = Object.entries(waits).map(([name, ms]) => `${name} ${short(ms)}`);
  const done = asked.filter(({ error }) => error === null);
  const [first, last] = [done[0], done.at(-1)];
  const wait: Answer = {
    ...{ what: `${what}, longest wait of others`, value: Math.max(...Object.values(waits)), unit: "ms" },
    ...(size === "real" ? { goal: { atMost: WAIT_MS_MAX } } : {}),
    detail: `${waited.join(", ")} ms; ${measured}`,
  };
  if (first === undefined || last === undefined || last.n === first.n || last.tookMs < TELLING_MS) return [wait];
  // extrapolated to a factor of eight if the largest were rejected
  const growth = (last.tookMs / first.tookMs) ** (Math.log(8) / Math.log(last.n / first.n));
  const growing: Answer = {
    ...{ what: `${what}, time at 8n ÷ n`, value: growth, unit: "×" },
    ...(size === "real" ? { goal: { atMost: GROWTH_MAX } } : {}),
    detail: `${short(last.tookMs)} ÷ ${short(first.tookMs)} ms`,
  };
  return [wait, growing];
}

function most(asked: readonly Asked[], of: keyof Watched): number {
  return Math.max(...asked.map((each) => each[of]));
}
