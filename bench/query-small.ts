// Measures small statements per second on 64 connections. The cost per statement dominates, not that of its rows: requests, planning, and
// DuckDB where involved. Statements of a kind differ in their literals, like those of a dashboard.
import { TestServer } from "../test/support/servers/server.ts";
import { TSBS_START_NS } from "./data/tsbs-cpu.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { Loader } from "./support/loader.ts";
import { askOurs, checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";

const CONNECTIONS = 64;
const HOSTS = 100;
const ROUND_MS: Record<Size, number> = { smoke: 100, real: 3000 };
const ROUNDS: Record<Size, number> = { smoke: 1, real: 5 };
const WARM_MS: Record<Size, number> = { smoke: 0, real: 4000 };

/** `statement(k)`: the k-th statement of its kind. */
export interface SmallKind {
  readonly name: string;
  statement(k: number): string;
}

const host = (k: number) => `host_${k % HOSTS}`;
/** A minute of the first quarter of an hour, which both sizes of data contain. */
const minute = (k: number) => new Date(Number(TSBS_START_NS / 1_000_000n) + (k % 15) * 60_000).toISOString();

const SMALL_KINDS: readonly SmallKind[] = [
  {
    name: "groups, without DuckDB",
    statement: (k) => `SELECT date_bin(INTERVAL '1 minute', time) AS minute, max(usage_user) AS u FROM cpu
      WHERE hostname = '${host(k)}' AND time >= '${minute(k)}' AND time < '2016-01-01T00:20:00Z' GROUP BY minute ORDER BY minute`,
  },
  {
    name: "rows, without DuckDB",
    statement: (k) => `SELECT time, usage_user, usage_system FROM cpu WHERE hostname = '${host(k)}' AND time >= '${minute(k)}'
      ORDER BY time LIMIT 10`,
  },
  {
    name: "an expression, by DuckDB",
    statement: (k) => `SELECT time, usage_user + usage_system AS busy FROM cpu WHERE hostname = '${host(k)}' AND time >= '${minute(k)}'
      ORDER BY busy DESC, time LIMIT 10`,
  },
];

export const querySmall: Bench = {
  name: "query-small",
  async run(size, say, { rows = size === "real" ? 200_000 : 20_000, only = "" } = {}) {
    const server = await TestServer.start();
    try {
      await loadSmall(server, rows);
      const answers: Answer[] = [];
      for (const kind of SMALL_KINDS.filter(({ name }) => name.includes(only))) {
        await answersPerSecond(server, kind, WARM_MS[size]);
        const rounds: SmallRate[] = [];
        for (let round = 0; round < ROUNDS[size]; round++) rounds.push(await answersPerSecond(server, kind, ROUND_MS[size]));
        const [rate, cpuUs] = [median(rounds.map(({ rate }) => rate)), median(rounds.map(({ cpuUs }) => cpuUs))];
        const detail = `${short(cpuUs)} µs of the server's processor time each`;
        say(`${kind.name}: ${short(rate)} answers/s, ${detail}`);
        answers.push({ what: `small statements of ${CONNECTIONS} connections: ${kind.name}`, value: rate, unit: "answers/s", detail });
      }
      return answers;
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      await server.dispose();
    }
  },
};

/** Writes the rows that the statements read. */
async function loadSmall(server: TestServer, rows: number): Promise<void> {
  const loader = await Loader.create({ hosts: HOSTS, rows, seed: 1 });
  await loader.run(writeUrlOf(server)).finally(() => loader.close());
  await checkOurRows(server, rows);
}

export interface SmallRate {
  /** Answers per second. */
  readonly rate: number;
  /** The server's processor time per statement, in µs; 0 if the system does not report it. */
  readonly cpuUs: number;
}

/** Runs statements of one kind on all connections for `forMs`. @throws Error for an answer without rows */
async function answersPerSecond(server: TestServer, { statement }: SmallKind, forMs: number): Promise<SmallRate> {
  const [startMs, startCpuMs] = [performance.now(), cpuMsOf(server.pid) ?? 0];
  let count = 0;
  let k = 0;
  const connection = async (): Promise<void> => {
    do {
      const sql = statement(k++);
      const answer = await askOurs(server, sql);
      if (!answer.startsWith("[{")) throw new Error(`no rows for ${sql}: ${answer.slice(0, 200)}`);
      count++;
    } while (performance.now() - startMs < forMs);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  const tookMs = performance.now() - startMs;
  return { rate: (count / tookMs) * 1000, cpuUs: (((cpuMsOf(server.pid) ?? 0) - startCpuMs) / count) * 1000 };
}
