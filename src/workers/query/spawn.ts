// Starts a query worker. Separate from query-client.ts and light, so that the first worker loads its modules, DuckDB above all, while the
// main thread is still loading its own.

export interface SpawnedWorker {
  readonly worker: Worker;
  /** The failure, if it happened before a listener was attached. */
  readonly failure: () => string | undefined;
}

/** Spawns a worker, which loads and then waits for its `init` message. */
export function spawnQueryWorker(): SpawnedWorker {
  const worker = new Worker(new URL("./query.ts", import.meta.url).href);
  let failure: string | undefined;
  worker.onerror = (event) => {
    failure = event.message;
  };
  return { worker, failure: () => failure };
}
