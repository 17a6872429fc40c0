// Measures an answer's time, from the request to its last byte.

export interface Timed {
  readonly text: string;
  readonly tookMs: number;
}

/** Runs a request and measures it. */
export async function timed(ask: () => Promise<string>): Promise<Timed> {
  const startedMs = performance.now();
  const text = await ask();
  return { text, tookMs: performance.now() - startedMs };
}
