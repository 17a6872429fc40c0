// Measures reads of last-value and distinct-value caches, with rows in memory and in files, compared with the same queries on the table.
// Every answer is first compared with the table's.
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { compactAll, NO_COMPACTION } from "./support/compaction.ts";
import { DATABASE } from "./support/contestant.ts";
import { Loader } from "./support/loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";

/** Rows per series. */
const DEPTH = 20;
const WARM_MS = 1000;
const KEYS = "hostname, region, datacenter, rack";

interface Read {
  readonly name: string;
  readonly cache: string;
  /** The same query on the table. */
  readonly table: string;
  /** The goal for a read of the cache. */
  readonly atMostMs?: number;
}

const READS: readonly Read[] = [
  {
    name: "last values, all columns",
    cache: "SELECT * FROM last_cache('cpu', 'newest')",
    table: "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC",
    atMostMs: 10,
  },
  {
    name: "last values, one column",
    cache: "SELECT hostname, usage_user FROM last_cache('cpu', 'newest')",
    table: "SELECT DISTINCT ON (hostname) hostname, usage_user FROM cpu ORDER BY hostname, time DESC",
    atMostMs: 10,
  },
  {
    name: "last values, one column, sorted",
    cache: "SELECT hostname, usage_user FROM last_cache('cpu', 'newest') ORDER BY usage_user, hostname",
    table: `SELECT hostname, usage_user FROM (SELECT DISTINCT ON (hostname) hostname, usage_user FROM cpu ORDER BY hostname, time DESC)
      ORDER BY usage_user, hostname`,
  },
  {
    name: "last values of one host",
    cache: "SELECT * FROM last_cache('cpu', 'newest') WHERE hostname = 'host_7'",
    table: "SELECT * FROM cpu WHERE hostname = 'host_7' ORDER BY time DESC LIMIT 1",
    atMostMs: 10,
  },
  {
    name: "mean of last values by region",
    cache: "SELECT region, avg(usage_user) AS u FROM last_cache('cpu', 'newest') GROUP BY region ORDER BY region",
    table: `SELECT region, avg(u) AS u FROM (SELECT DISTINCT ON (hostname) hostname, region, usage_user AS u FROM cpu
      ORDER BY hostname, time DESC) GROUP BY region ORDER BY region`,
  },
  {
    name: "distinct values",
    cache: "SELECT * FROM distinct_cache('cpu', 'values')",
    table: `SELECT DISTINCT ${KEYS} FROM cpu`,
    atMostMs: 30,
  },
  {
    name: "distinct values of one column",
    cache: "SELECT DISTINCT region FROM distinct_cache('cpu', 'values') ORDER BY region",
    table: "SELECT DISTINCT region FROM cpu ORDER BY region",
    atMostMs: 30,
  },
];

const FORMATS = ["json", "arrow"] as const;

export const caches: Bench = {
  name: "caches",
  async run(size, say, { rows = size === "real" ? 200_000 : 2000, only = "", state } = {}) {
    const hosts = rows / DEPTH;
    const server = await TestServer.start({ flags: NO_COMPACTION });
    try {
      const loader = await Loader.create({ hosts, rows, seed: 1 });
      await loader.run(writeUrlOf(server)).finally(() => loader.close());
      await checkOurRows(server, rows);
      await createCaches(server);
      const answers: Answer[] = [];
      for (const where of ["in memory", "compacted"].filter((name) => state === undefined || name === state)) {
        if (where === "compacted") await compactAll(server);
        for (const read of READS.filter(({ name }) => name.includes(only))) {
          for (const format of FORMATS) answers.push(...(await measure(server, read, { format, hosts, where, size }, say)));
        }
      }
      return answers;
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      await server.dispose();
    }
  },
};

/** Creates the caches of table `cpu`. @throws Error if the server rejects one */
export async function createCaches(server: TestServer): Promise<void> {
  const common = { db: DATABASE, table: "cpu" };
  await create(server, "last_cache", { ...common, name: "newest", key_columns: ["hostname"] });
  await create(server, "distinct_cache", { ...common, name: "values", columns: KEYS.split(", ") });
}

async function create(server: TestServer, kind: string, body: object): Promise<void> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`${server.url}/api/v3/configure/${kind}`, init);
  if (response.status !== 201) throw new Error(`${kind}: ${response.status} ${await response.text()}`);
}

interface How {
  readonly format: (typeof FORMATS)[number];
  readonly hosts: number;
  readonly where: string;
  readonly size: Size;
}

async function measure(
  server: TestServer,
  read: Read,
  { format, hosts, where, size }: How,
  say: (line: string) => void,
): Promise<Answer[]> {
  const ask = async (statement: string, as: string = format): Promise<Uint8Array> => {
    const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: DATABASE, q: statement, format: as })}`);
    const bytes = await response.bytes();
    if (!response.ok) throw new Error(`${statement}: ${response.status} ${new TextDecoder().decode(bytes.subarray(0, 500))}`);
    return bytes;
  };
  const text = async (statement: string) => rowsOf(new TextDecoder().decode(await ask(statement, "jsonl")));
  const [fromCache, fromTable] = [await text(read.cache), await text(read.table)];
  if (fromCache !== fromTable)
    throw new Error(`${read.name}: the cache says ${fromCache.slice(0, 300)}, the table ${fromTable.slice(0, 300)}`);
  const endMs = performance.now() + (size === "real" ? WARM_MS : 0);
  while (performance.now() < endMs) for (const statement of [read.cache, read.table]) await ask(statement);
  const times = { cache: [] as number[], table: [] as number[] };
  const processor = { cache: [] as number[], table: [] as number[] };
  for (let round = 0; round < (size === "real" ? 25 : 2); round++) {
    for (const side of round % 2 === 0 ? (["cache", "table"] as const) : (["table", "cache"] as const)) {
      const beforeMs = cpuMsOf(server.pid) ?? Number.NaN;
      const startMs = performance.now();
      await ask(read[side]);
      times[side].push(performance.now() - startMs);
      processor[side].push((cpuMsOf(server.pid) ?? Number.NaN) - beforeMs);
    }
  }
  const [cacheMs, tableMs] = [median(times.cache), median(times.table)];
  const cpu = `processor ${short(median(processor.cache))}, ${short(median(processor.table))} ms`;
  const what = `${read.name}, ${format}, ${short(hosts)} series, ${where}`;
  const detail = `the table's own ${short(tableMs)} ms; ${cpu}`;
  say(`${what}: ${short(cacheMs)} ms; ${detail}`);
  const { atMostMs } = read;
  return [
    { what, value: cacheMs, unit: "ms", ...(size === "real" && atMostMs !== undefined ? { goal: { atMost: atMostMs } } : {}), detail },
  ];
}

/** Rows sorted, with members sorted by name. */
function rowsOf(jsonl: string): string {
  const rows = jsonl.split("\n").filter((line) => line !== "");
  return rows
    .map((line) => JSON.stringify(Object.entries(JSON.parse(line) as object).sort(([a], [b]) => (a < b ? -1 : 1))))
    .sort()
    .join("\n");
}
