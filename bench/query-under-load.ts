// Measures a scan while two connections write at the maximum rate, compared with an idle server. The query reads a database without writes,
// so its answer must not change; the writes go to new databases, pass after pass.
import { TestServer } from "../test/support/servers/server.ts";
import { type Bench, median, short } from "./support/bench.ts";
import { DATABASE } from "./support/contestant.ts";
import { dataSets } from "./support/data-sets.ts";
import { PASS } from "./support/load-worker.ts";
import { Loader } from "./support/loader.ts";
import { checkOurRows, writeUrlOf } from "./support/ours.ts";

const GOAL = 3;
const STATEMENT = `SELECT date_bin(INTERVAL '1 hour', time) AS hour, hostname, avg(usage_user) AS mean FROM cpu
  GROUP BY hour, hostname ORDER BY hour, hostname`;

export const queryUnderLoad: Bench = {
  name: "query-under-load",
  async run(size, say) {
    const { name, options } = dataSets(size)[0]!;
    const repeats = size === "real" ? 15 : 3;
    const loader = await Loader.create(options);
    const server = await TestServer.start();
    try {
      await loader.run(writeUrlOf(server));
      await checkOurRows(server, options.rows);
      const expected = await answer(server);
      const idleMs = await medianMs(server, expected, repeats);
      const load = loader.begin(writeUrlOf(server, `load${PASS}`), { endless: true });
      // a failed load would otherwise be awaited indefinitely
      await Promise.race([firstRows(server), load.ended]);
      const loadedMs = await medianMs(server, expected, repeats);
      const { rowsPerSecond } = await load.stop();
      say(`${name}: ${short(idleMs)} ms idle, ${short(loadedMs)} ms while ${short(rowsPerSecond)} rows/s came in`);
      return [
        {
          ...{
            what: `scan of ${short(options.rows)} rows under full ingest ÷ idle, ${name}`,
            value: loadedMs / idleMs,
            unit: "×" as const,
          },
          ...(size === "real" ? { goal: { atMost: GOAL } } : {}),
          detail: `${short(loadedMs)} ÷ ${short(idleMs)} ms, beside ${short(rowsPerSecond)} rows/s`,
        },
      ];
    } finally {
      loader.close();
      await server.dispose();
    }
  },
};

async function answer(server: TestServer): Promise<string> {
  const parameters = new URLSearchParams({ db: DATABASE, q: STATEMENT, format: "csv" });
  const response = await fetch(`${server.url}/api/v3/query_sql?${parameters}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`the query failed: ${response.status} ${text}\n${server.output}`);
  return text;
}

async function medianMs(server: TestServer, expected: string, repeats: number): Promise<number> {
  const milliseconds: number[] = [];
  for (let i = 0; i < repeats; i++) {
    const startedMs = performance.now();
    const found = await answer(server);
    milliseconds.push(performance.now() - startedMs);
    if (found !== expected) throw new Error("the answer changed although nobody wrote to its table");
  }
  return median(milliseconds);
}

/** Waits until the load has arrived, that is, until its first database answers. */
async function firstRows(server: TestServer): Promise<void> {
  for (;;) {
    const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: "load0", q: "SELECT 1" })}`);
    await response.arrayBuffer();
    if (response.ok) return;
    await Bun.sleep(5);
  }
}
