// Rows in one of the states of row-states.ts, behind a real server.
import type { DeleteRequest } from "../../src/model/rows/deletion.ts";
import { dataOf, startDataServer } from "./data-server.ts";
import { bringInto, type RowHolder, type RowState, type RowStep } from "./row-states.ts";
import type { TestServer } from "./server.ts";

/** Nothing is flushed or merged but when the state says so. */
const FLAGS = ["--gen0-duration", "1d", "--compaction-check-interval", "24h"];

export interface ServedOptions {
  readonly withFlight?: boolean;
  /** What happens before the first row. */
  readonly prepare?: (server: TestServer) => Promise<void>;
}

export class ServedRows implements RowHolder {
  private constructor(readonly server: TestServer) {}

  /** Starts a server and brings its rows into the state; `server.dispose` ends it. */
  static async start(state: RowState, steps: readonly RowStep[], options: ServedOptions = {}): Promise<TestServer> {
    const { withFlight = false, prepare } = options;
    const server = await startDataServer(FLAGS, { withFlight });
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

/** For `npm test`: rows that were never written to a file, and rows of files and of the log; `npm run test:long` asks in all states. */
export const FEW_STATES: readonly RowState[] = ["in memory", "restarted from files"];

/** What a server answers in each of the states, one server after the other: what does not depend on the state is the same in all. */
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
