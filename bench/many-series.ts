// Measures the statements that depend on the number of series, on two rows of each of a million, flushed and compacted. Every answer is
// first compared with that of another statement, or with the data; the number of its rows with the installed peers'.
import { TestServer } from "../test/support/servers/server.ts";
import { judge, measurePeers, type PeerStatements, type QueryPeer, type Rounds } from "./peers/query-peer.ts";
import { withPeers } from "./peers/with-peers.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { NO_COMPACTION } from "./support/compaction.ts";
import { DATABASE } from "./support/contestant.ts";
import { askOurs, withOutput } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";
import { inStates } from "./support/states.ts";

const SERIES: Record<Size, number> = { smoke: 1000, real: 1_000_000 };
const ROWS_PER_SERIES = 2;

interface Question {
  readonly name: string;
  /** @param series a number below that of series, another one for each execution */
  readonly sql: (series: number) => string;
  /** Rows of an answer, of so many series. */
  readonly rows: (seriesCount: number) => number;
  readonly peers: (series: number) => PeerStatements;
  /** Where no peer is installed: the best peer's time, 1.5 times that below 2 ms, on two cores of an AMD EPYC. */
  readonly atMostMs: number;
  readonly rounds: Record<Size, Rounds>;
}

const LARGE = { smoke: [0, 1], real: [2, 7] } as const;
/** Each costs little, and its code is compiled in some hundred executions. */
const SMALL = { smoke: [0, 3], real: [300, 101] } as const;

/** The newest row of each host. */
const LAST_POINTS = (columns: string): PeerStatements => ({
  QuestDB: `SELECT ${columns.replace("time", "timestamp")} FROM cpu LATEST ON timestamp PARTITION BY hostname`,
  DuckDB: `SELECT DISTINCT ON (hostname) ${columns} FROM cpu ORDER BY hostname, time DESC`,
  ClickHouse: `SELECT ${columns} FROM cpu ORDER BY hostname, time DESC LIMIT 1 BY hostname`,
});

const QUESTIONS: readonly Question[] = [
  {
    name: "last points of all series",
    sql: () => "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC",
    peers: () => LAST_POINTS("*"),
    ...{ rows: (count) => count, atMostMs: 611, rounds: LARGE },
  },
  {
    name: "last points of all series, three columns",
    sql: () => "SELECT DISTINCT ON (hostname) hostname, time, usage_user FROM cpu ORDER BY hostname, time DESC",
    peers: () => LAST_POINTS("hostname, time, usage_user"),
    ...{ rows: (count) => count, atMostMs: 184, rounds: LARGE },
  },
  {
    name: "number of last points",
    sql: () => "SELECT count(*) AS n FROM (SELECT DISTINCT ON (hostname) hostname, time FROM cpu ORDER BY hostname, time DESC)",
    peers: () => {
      const { QuestDB, DuckDB } = LAST_POINTS("hostname, time");
      const count = (rows: string) => `SELECT count(*) AS n FROM (${rows})`;
      return { QuestDB: count(QuestDB), DuckDB: count(DuckDB), ClickHouse: count("SELECT hostname, max(time) FROM cpu GROUP BY hostname") };
    },
    ...{ rows: () => 1, atMostMs: 12, rounds: SMALL },
  },
  {
    name: "rows of one series",
    sql: (series) => `SELECT * FROM cpu WHERE hostname = 'host_${series}' ORDER BY time`,
    peers: (series) => {
      const by = (time: string) => `SELECT * FROM cpu WHERE hostname = 'host_${series}' ORDER BY ${time}`;
      return { QuestDB: by("timestamp"), DuckDB: by("time"), ClickHouse: by("time") };
    },
    ...{ rows: () => ROWS_PER_SERIES, atMostMs: 0.72, rounds: SMALL },
  },
];

export const manySeries: Bench = {
  name: "many-series",
  async run(size, say, { only = "", state, peers = true } = {}) {
    const hosts = SERIES[size];
    const server = await TestServer.start({ flags: NO_COMPACTION });
    try {
      return await withPeers(server, { hosts, rows: hosts * ROWS_PER_SERIES, peers }, say, async (started) => {
        const answers: Answer[] = [];
        for await (const each of inStates(server, state)) {
          await check(server, hosts);
          for (const question of QUESTIONS.filter(({ name }) => name.includes(only))) {
            const answer = await measure(server, started, question, size, `${short(hosts)} series ${each}`);
            answers.push(answer);
            say(`${answer.what}: ${short(answer.value)} ${answer.unit} (${answer.detail})`);
          }
        }
        return answers;
      });
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      await server.dispose();
    }
  },
};

/** Last points beside those that a join finds. @throws Error if they differ */
async function check(server: TestServer, seriesCount: number): Promise<void> {
  const sums = "count(*) AS n, sum(usage_user) AS users, max(hostname) AS host, sum(CAST(time AS BIGINT) % 1000003) AS times";
  const last = "SELECT DISTINCT ON (hostname) hostname, time, usage_user FROM cpu ORDER BY hostname, time DESC";
  const newest = "SELECT hostname AS host, max(time) AS newest FROM cpu GROUP BY hostname";
  const [found, expected] = [
    await askOurs(server, `SELECT ${sums} FROM (${last})`),
    await askOurs(server, `SELECT ${sums} FROM cpu JOIN (${newest}) ON hostname = host AND time = newest`),
  ];
  if (found !== expected || !found.includes(`"n":${seriesCount},`)) throw new Error(`last points: ${found} instead of ${expected}`);
}

async function measure(
  server: TestServer,
  started: readonly QueryPeer[],
  { name, sql, peers, rows, atMostMs, rounds }: Question,
  size: Size,
  where: string,
): Promise<Answer> {
  const seriesCount = SERIES[size];
  const [warm, counted] = rounds[size];
  // each series is asked once: spread over all of them
  const seriesOf = (round: number) => (round * 7919) % seriesCount;
  const tookMs: number[] = [];
  let cpuMs = 0;
  for (let round = 0; round < warm + counted; round++) {
    const statement = sql(seriesOf(round));
    const cpuBeforeMs = cpuMsOf(server.pid) ?? Number.NaN;
    const startMs = performance.now();
    const lines = await linesOf(server, statement);
    const endMs = performance.now();
    if (lines !== rows(seriesCount)) throw new Error(`${name}: ${lines} rows instead of ${rows(seriesCount)}`);
    if (round < warm) continue;
    tookMs.push(endMs - startMs);
    cpuMs += (cpuMsOf(server.pid) ?? Number.NaN) - cpuBeforeMs;
  }
  const detail = `${short(cpuMs / counted)} ms of processor time, ${short(rows(seriesCount))} rows`;
  const { times } = await measurePeers(started, (peer, round) => peers(seriesOf(round))[peer], rounds[size], rows(seriesCount));
  return judge({ what: `${name}, ${where}`, ms: median(tookMs), detail, times, atMostMs }, size);
}

/** Reads an answer of a line a row, which may be larger than a string, and counts its lines. @throws Error for another status than 200 */
async function linesOf(server: TestServer, statement: string): Promise<number> {
  const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: DATABASE, q: statement, format: "jsonl" })}`);
  if (!response.ok) throw new Error(`${statement}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  let lines = 0;
  for await (const part of response.body!) for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) lines++;
  return lines;
}
