// Measures statements in which another database was once faster, on 10 M rows of 4,000 hosts, flushed and compacted. Every answer is first
// compared with that of another statement that asks the same.
import { TestServer } from "../test/support/servers/server.ts";
import { CORNER_QUERIES, type CornerQuery } from "./data/corner-queries.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { NO_COMPACTION } from "./support/compaction.ts";
import { loadBoth } from "./support/load-both.ts";
import { askOurs, withOutput } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";
import { inStates } from "./support/states.ts";
import { timed } from "./support/timed.ts";

const HOSTS: Record<Size, number> = { smoke: 100, real: 4000 };
const ROWS: Record<Size, number> = { smoke: 20_000, real: 10_000_000 };
/** Executions that are not counted, and executions. */
const ROUNDS: Record<Size, readonly [warm: number, counted: number]> = { smoke: [1, 1], real: [20, 31] };

export const corners: Bench = {
  name: "corners",
  async run(size, say, { rows = ROWS[size], only = "", state } = {}) {
    const server = await TestServer.start({ flags: NO_COMPACTION });
    try {
      await loadBoth(HOSTS[size], rows, server, undefined);
      const answers: Answer[] = [];
      for await (const each of inStates(server, state)) {
        for (const query of CORNER_QUERIES.filter(({ name }) => name.includes(only))) {
          const answer = await measure(server, query, size, `${short(rows)} rows ${each}`);
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

async function measure(server: TestServer, { name, sql, same, atMostMs }: CornerQuery, size: Size, where: string): Promise<Answer> {
  const [found, expected] = [await askOurs(server, sql), await askOurs(server, same)];
  if (rowsOf(found) !== rowsOf(expected)) throw new Error(`${name}: ${found.slice(0, 300)} instead of ${expected.slice(0, 300)}`);
  const [warm, counted] = ROUNDS[size];
  for (let round = 0; round < warm; round++) await askOurs(server, sql);
  const tookMs: number[] = [];
  const beforeMs = cpuMsOf(server.pid) ?? Number.NaN;
  for (let round = 0; round < counted; round++) tookMs.push((await timed(() => askOurs(server, sql))).tookMs);
  const cpuMs = ((cpuMsOf(server.pid) ?? Number.NaN) - beforeMs) / counted;
  const goal = size === "real" ? { goal: { atMost: atMostMs } } : {};
  return {
    ...{ what: `${name}, ${where}`, value: median(tookMs), unit: "ms", ...goal },
    detail: `${short(cpuMs)} ms of processor time, ${(JSON.parse(found) as unknown[]).length} rows`,
  };
}

/** The rows in any order. */
function rowsOf(answer: string): string {
  return (JSON.parse(answer) as unknown[])
    .map((row) => JSON.stringify(row))
    .sort()
    .join("\n");
}
