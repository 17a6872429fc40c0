// Starts a query worker. Apart from query-client.ts and light, so that the first one loads its modules, DuckDB above all, while the main
// thread still loads its own.

export interface SpawnedWorker {
  readonly worker: Worker;
  /** Why it failed before anybody listened; undefined while it has not. */
  readonly failure: () => string | undefined;
}

/** A worker that loads and then waits for its `init` message. */
export function spawnQueryWorker(): SpawnedWorker {
  const worker = new Worker(new URL("./query.ts", import.meta.url).href);
  let failure: string | undefined;
  worker.onerror = (event) => {
    failure = event.message;
  };
  return { worker, failure: () => failure };
}
