// Rows in one of the states of row-states.ts, on a real server.
import type { DeleteRequest } from "../../../src/model/rows/deletion.ts";
import { dataOf, startDataServer } from "../servers/data-server.ts";
import type { TestServer } from "../servers/server.ts";
import { bringInto, type RowHolder, type RowState, type RowStep } from "./row-states.ts";

/** Flushes and merges happen only on demand. */
const FLAGS = ["--gen0-duration", "1d", "--compaction-check-interval", "24h"];

export interface ServedOptions {
  readonly withFlight?: boolean;
  readonly withBuckets?: boolean;
  readonly flags?: readonly string[];
  /** Runs before the first write. */
  readonly prepare?: (server: TestServer) => Promise<void>;
}

/** Rows in a server process. */
export class ServedRows implements RowHolder {
  private constructor(readonly server: TestServer) {}

  /** Starts a server and brings its rows into the state; end it with `server.dispose`. */
  static async start(state: RowState, steps: readonly RowStep[], options: ServedOptions = {}): Promise<TestServer> {
    const { withFlight = false, withBuckets = false, flags = [], prepare } = options;
    const server = await startDataServer([...FLAGS, ...flags], { withFlight, withBuckets });
    try {
      await prepare?.(server);
      await bringInto(new ServedRows(server), state, steps);
      return server;
    } catch (error) {
      await server.dispose();
      throw error;
    }
  }

  async write(database: string, retentionPolicy: string | null, lines: string): Promise<void> {
    const path = retentionPolicy === null ? "/api/v3/write_lp" : "/write";
    const query = { db: database, ...(retentionPolicy === null ? {} : { rp: retentionPolicy }), precision: "ns" };
    const response = await fetch(`${this.server.url}${path}?${new URLSearchParams(query)}`, { method: "POST", body: lines });
    if (response.status !== 204) throw new Error(`write: ${response.status} ${(await response.text()).slice(0, 500)}`);
  }

  deleteRows(request: DeleteRequest): Promise<void> {
    return dataOf(this.server).deleteRows(request);
  }

  flush(): Promise<void> {
    return dataOf(this.server).flush();
  }

  compact(): Promise<void> {
    return dataOf(this.server).compact();
  }

  async restartFromLog(): Promise<void> {
    await this.server.kill();
    await this.server.restart();
  }
}

/** For `npm test`: rows never written to a file, and rows from files and from the log; `npm run test:long` uses all states. */
export const FEW_STATES: readonly RowState[] = ["in memory", "restarted from files"];

/** Runs `ask` on a server in each of the states in turn, and verifies that the answers are equal. */
export async function inEachState<T>(
  states: readonly RowState[],
  steps: readonly RowStep[],
  ask: (server: TestServer, state: RowState) => Promise<T>,
  options: ServedOptions = {},
): Promise<ReadonlyMap<RowState, T>> {
  const answers = new Map<RowState, T>();
  for (const state of states) {
    const server = await ServedRows.start(state, steps, options);
    try {
      answers.set(state, await ask(server, state));
    } finally {
      await server.dispose();
    }
  }
  return answers;
}
