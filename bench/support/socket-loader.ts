// The benchmark's side of socket-load-worker.ts.
import type { FromSocketLoad, SocketLoad } from "./socket-load-worker.ts";

export interface SocketRate {
  /** Bodies acknowledged per second. */
  readonly rate: number;
  readonly medianMs: number;
  /** The time that 99 % of the bodies were acknowledged within. */
  readonly p99Ms: number;
}

/** Sends all bodies in a thread of its own. @throws Error unless each was stored */
export async function loadBySockets(load: SocketLoad): Promise<SocketRate> {
  const worker = new Worker(new URL("./socket-load-worker.ts", import.meta.url).href);
  try {
    const message = await new Promise<FromSocketLoad>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<FromSocketLoad>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(`the loading thread failed: ${message}`));
      worker.postMessage(load);
    });
    if (message.type === "failed") throw new Error(message.message);
    const { milliseconds, latenciesMs } = message;
    const at = (share: number) => latenciesMs[Math.floor((latenciesMs.length - 1) * share)]!;
    return { rate: (latenciesMs.length / milliseconds) * 1000, medianMs: at(0.5), p99Ms: at(0.99) };
  } finally {
    worker.terminate();
  }
}
