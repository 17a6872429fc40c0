// Measures the cost of a last-value and a distinct-value cache per write: rows per second and processor time per row with them ÷ without,
// in alternating rounds, each with a new server; afterwards the caches are compared with the table.
import { TestServer } from "../test/support/servers/server.ts";
import { createCaches } from "./caches.ts";
import { type Answer, alternate, type Bench, median, short } from "./support/bench.ts";
import { DATABASE } from "./support/contestant.ts";
import { Loader } from "./support/loader.ts";
import { askOurs, checkOurRows, writeUrlOf } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";

const HOSTS = [100, 10_000] as const;
/** Caches may cost at most a twentieth of ingest. */
const GOAL = 0.95;
const ROUNDS = 5;
const POLL_MS = 2;

export const ingestCaches: Bench = {
  name: "ingest-caches",
  async run(size, say, { rows = size === "real" ? 1_000_000 : 10_000, only = "" } = {}) {
    const answers: Answer[] = [];
    for (const hosts of HOSTS.filter((count) => String(count).includes(only))) {
      const loader = await Loader.create({ hosts, rows, seed: 1 });
      const microseconds = { with: [] as number[], without: [] as number[] };
      const round = async (side: "with" | "without") => {
        const measured = await load(loader, { rows, hasCaches: side === "with", passes: size === "real" ? 4 : 2 });
        microseconds[side].push(measured.cpuUsOfRow);
        return measured.rowsPerSecond;
      };
      try {
        const [withCaches, without] = await alternate(size === "real" ? ROUNDS : 1, [() => round("with"), () => round("without")], 60_000);
        const ratio = withCaches! / without!;
        const cpu = { with: median(microseconds.with), without: median(microseconds.without) };
        say(
          `${short(hosts)} hosts: ${short(withCaches!)} ÷ ${short(without!)} rows/s; ${short(cpu.with)} ÷ ${short(cpu.without)} µs a row`,
        );
        const goal = size === "real" ? { goal: { atLeast: GOAL } } : {};
        const what = `with a last-value and a distinct-value cache ÷ without, ${short(hosts)} hosts`;
        answers.push(
          { what: `durable ingest ${what}`, value: ratio, unit: "×", ...goal, detail: `${short(withCaches!)} ÷ ${short(without!)} rows/s` },
          {
            what: `rows per processor time ${what}`,
            value: cpu.without / cpu.with,
            unit: "×",
            ...goal,
            detail: `${short(cpu.with)} ÷ ${short(cpu.without)} µs a row`,
          },
        );
      } finally {
        loader.close();
      }
    }
    return answers;
  },
};

/** The first pass is not measured: compilation at run time would be overrepresented. */
async function load(
  loader: Loader,
  { rows, hasCaches, passes }: { readonly rows: number; readonly hasCaches: boolean; readonly passes: number },
): Promise<{ rowsPerSecond: number; cpuUsOfRow: number }> {
  const server = await TestServer.start();
  try {
    // creates the table
    const line = "cpu,hostname=host_0,region=r,datacenter=d,rack=1 usage_user=1i 1451606300000000000";
    await fetch(writeUrlOf(server), { method: "POST", body: line });
    if (hasCaches) await createCaches(server);
    const running = loader.begin(writeUrlOf(server), { passes, goOnInTime: true });
    const now = () => ({ rows: running.rowsDone, ms: performance.now(), cpuMs: cpuMsOf(server.pid) ?? Number.NaN });
    let before = now();
    while (running.rowsDone < rows) await Promise.race([running.ended, Bun.sleep(POLL_MS)]);
    // unless a small data set is already finished
    if (running.rowsDone < rows * passes) before = now();
    const { rowCount } = await running.ended;
    const after = now();
    await checkOurRows(server, rowCount + 1);
    if (hasCaches) await check(server);
    const measured = rowCount - before.rows;
    return { rowsPerSecond: (measured * 1000) / (after.ms - before.ms), cpuUsOfRow: ((after.cpuMs - before.cpuMs) * 1000) / measured };
  } finally {
    await server.dispose();
  }
}

/** @throws Error unless the caches know what the table has */
async function check(server: TestServer): Promise<void> {
  const newest = "hostname, usage_user, time";
  for (const [fromCache, fromTable] of [
    [
      `SELECT ${newest} FROM last_cache('cpu', 'newest') ORDER BY hostname`,
      `SELECT DISTINCT ON (hostname) ${newest} FROM cpu ORDER BY hostname, time DESC`,
    ],
    [
      "SELECT DISTINCT hostname, region FROM distinct_cache('cpu', 'values') ORDER BY hostname, region",
      "SELECT DISTINCT hostname, region FROM cpu ORDER BY hostname, region",
    ],
  ] as const) {
    const [cache, table] = [await askOurs(server, fromCache), await askOurs(server, fromTable)];
    if (cache !== table) throw new Error(`${DATABASE}: the cache says ${cache.slice(0, 300)}, the table ${table.slice(0, 300)}`);
  }
}
