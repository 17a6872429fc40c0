// Measures the statements that depend on the number of series, on two rows of each of a million, flushed and compacted. Every answer is
// first compared with that of another statement, or with the data.
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { NO_COMPACTION } from "./support/compaction.ts";
import { DATABASE } from "./support/contestant.ts";
import { loadBoth } from "./support/load-both.ts";
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
  /** The best peer's time, 1.5 times that below 2 ms, on two cores of an AMD EPYC. */
  readonly atMostMs: number;
  readonly rounds: Record<Size, readonly [warm: number, counted: number]>;
}

const LARGE = { smoke: [0, 1], real: [2, 7] } as const;
/** Each costs little, and its code is compiled in some hundred executions. */
const SMALL = { smoke: [0, 3], real: [300, 101] } as const;

const QUESTIONS: readonly Question[] = [
  {
    name: "last points of all series",
    sql: () => "SELECT DISTINCT ON (hostname) * FROM cpu ORDER BY hostname, time DESC",
    ...{ rows: (count) => count, atMostMs: 611, rounds: LARGE },
  },
  {
    name: "last points of all series, three columns",
    sql: () => "SELECT DISTINCT ON (hostname) hostname, time, usage_user FROM cpu ORDER BY hostname, time DESC",
    ...{ rows: (count) => count, atMostMs: 184, rounds: LARGE },
  },
  {
    name: "number of last points",
    sql: () => "SELECT count(*) AS n FROM (SELECT DISTINCT ON (hostname) hostname, time FROM cpu ORDER BY hostname, time DESC)",
    ...{ rows: () => 1, atMostMs: 12, rounds: SMALL },
  },
  {
    name: "rows of one series",
    sql: (series) => `SELECT * FROM cpu WHERE hostname = 'host_${series}' ORDER BY time`,
    ...{ rows: () => ROWS_PER_SERIES, atMostMs: 0.72, rounds: SMALL },
  },
];

export const manySeries: Bench = {
  name: "many-series",
  async run(size, say, { only = "", state } = {}) {
    const seriesCount = SERIES[size];
    const server = await TestServer.start({ flags: NO_COMPACTION });
    try {
      await loadBoth(seriesCount, seriesCount * ROWS_PER_SERIES, server, undefined);
      const answers: Answer[] = [];
      for await (const each of inStates(server, state)) {
        await check(server, seriesCount);
        for (const question of QUESTIONS.filter(({ name }) => name.includes(only))) {
          const answer = await measure(server, question, size, `${short(seriesCount)} series ${each}`);
          answers.push(answer);
          say(`${answer.what}: ${short(answer.value)} ms (${answer.detail})`);
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

async function measure(server: TestServer, { name, sql, rows, atMostMs, rounds }: Question, size: Size, where: string): Promise<Answer> {
  const seriesCount = SERIES[size];
  const [warm, counted] = rounds[size];
  const tookMs: number[] = [];
  let cpuMs = 0;
  for (let round = 0; round < warm + counted; round++) {
    // each series is asked once: spread over all of them
    const statement = sql((round * 7919) % seriesCount);
    const cpuBeforeMs = cpuMsOf(server.pid) ?? Number.NaN;
    const startMs = performance.now();
    const lines = await linesOf(server, statement);
    const endMs = performance.now();
    if (lines !== rows(seriesCount)) throw new Error(`${name}: ${lines} rows instead of ${rows(seriesCount)}`);
    if (round < warm) continue;
    tookMs.push(endMs - startMs);
    cpuMs += (cpuMsOf(server.pid) ?? Number.NaN) - cpuBeforeMs;
  }
  const goal = size === "real" ? { goal: { atMost: atMostMs } } : {};
  return {
    ...{ what: `${name}, ${where}`, value: median(tookMs), unit: "ms", ...goal },
    detail: `${short(cpuMs / counted)} ms of processor time, ${short(rows(seriesCount))} rows`,
  };
}

/** Reads an answer of a line a row, which may be larger than a string, and counts its lines. @throws Error for another status than 200 */
async function linesOf(server: TestServer, statement: string): Promise<number> {
  const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: DATABASE, q: statement, format: "jsonl" })}`);
  if (!response.ok) throw new Error(`${statement}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  let lines = 0;
  for await (const part of response.body!) for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) lines++;
  return lines;
}
