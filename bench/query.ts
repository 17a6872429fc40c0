// Measures the queries of TSBS, compared with InfluxDB 1 on the same rows. Every execution draws hosts and times, queries both servers, and
// compares the answers value by value.
import { prng } from "../test/support/prng.ts";
import { TestServer } from "../test/support/servers/server.ts";
import { extentOf, type TsbsExtent, type TsbsQuery, type TsbsStatement } from "./data/tsbs-queries.ts";
import { answerOfInflux, answerOfSql, difference } from "./support/answers.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { NO_COMPACTION } from "./support/compaction.ts";
import { type RunningInflux, startInflux } from "./support/influx.ts";
import { loadBoth } from "./support/load-both.ts";
import { askOurs, withOutput } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";
import { questionsFor } from "./support/questions.ts";
import { inStates } from "./support/states.ts";
import { timed } from "./support/timed.ts";
import { warmUp } from "./support/warm-up.ts";

const HOSTS = 100;
const WARM_UPS = 3;
/** For answers of InfluxDB below this time a weaker goal applies. */
const QUICK_MS = 3;
const QUICK_RATIO = 1.5;

/** State of the data: files as flushed, or whole days as compacted. */

export const query: Bench = {
  name: "query",
  async run(size, say, { rows = size === "real" ? 1_000_000 : 20_000, only, peers = true, state } = {}) {
    const extent = extentOf({ hosts: HOSTS, rows });
    const server = await TestServer.start({ flags: NO_COMPACTION });
    let influx: RunningInflux | undefined;
    try {
      if (startInflux === undefined) say("InfluxDB 1 is not installed: left out");
      else if (peers) influx = await startInflux();
      await loadBoth(HOSTS, rows, server, influx);
      const answers: Answer[] = [];
      for await (const each of inStates(server, state)) {
        say(`${short(rows)} rows, ${each}`);
        const questions = await questionsFor(server, extent, only, say);
        for (const question of questions) await warm(question, extent, size, server, influx);
        for (const question of questions) {
          const measured = await measure(question, extent, size, server, influx);
          answers.push(...judge(question, measured, size, `${short(rows)} rows ${each}`));
          const theirs = influx === undefined ? "" : `, InfluxDB 1 ${short(measured.influxMs)} ms`;
          say(`${question.name}: ${short(measured.oursMs)} ms (${short(measured.cpuMs)} ms of processor time)${theirs}`);
        }
      }
      return answers;
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      await influx?.stop();
      await server.dispose();
    }
  },
};

/** Warms up both, one after the other. */
function warm(question: TsbsQuery, extent: TsbsExtent, size: Size, server: TestServer, influx: RunningInflux | undefined): Promise<void> {
  return warmUp(question, extent, size, async ({ sql, influxql }) => {
    await askOurs(server, sql);
    await influx?.ask(influxql);
  });
}

interface Measured {
  readonly oursMs: number;
  /** NaN if it was not queried. */
  readonly influxMs: number;
  /** Processor time of our server per execution; NaN if the system does not report it. */
  readonly cpuMs: number;
  readonly rowCount: number;
}

/** Medians over executions with the same parameters on both sides, in alternating order. */
async function measure(
  question: TsbsQuery,
  extent: TsbsExtent,
  size: Size,
  server: TestServer,
  influx: RunningInflux | undefined,
): Promise<Measured> {
  const oursMs: number[] = [];
  const influxMs: number[] = [];
  const cpuMs: number[] = [];
  let rowCount = 0;
  const [least, most, budgetMs] = size === "real" ? [9, 31, 4000] : [2, 2, 0];
  const endMs = performance.now() + budgetMs;
  for (let execution = 0; execution < least + WARM_UPS || (performance.now() < endMs && execution < most + WARM_UPS); execution++) {
    const statement = question.statement(extent, prng(execution + 1));
    const [ours, theirs] = await both(
      execution % 2 === 0,
      async () => {
        const before = cpuMsOf(server.pid) ?? Number.NaN;
        const answer = await timed(() => askOurs(server, statement.sql));
        cpuMs.push((cpuMsOf(server.pid) ?? Number.NaN) - before);
        return answer;
      },
      influx === undefined ? undefined : () => timed(() => influx.ask(statement.influxql)),
    );
    rowCount = compare(question, statement, ours.text, theirs?.text);
    if (execution < WARM_UPS) continue;
    oursMs.push(ours.tookMs);
    if (theirs !== undefined) influxMs.push(theirs.tookMs);
  }
  return {
    oursMs: median(oursMs),
    influxMs: influxMs.length === 0 ? Number.NaN : median(influxMs),
    cpuMs: median(cpuMs.slice(WARM_UPS)),
    rowCount,
  };
}

async function both<T>(oursFirst: boolean, ours: () => Promise<T>, theirs: (() => Promise<T>) | undefined): Promise<[T, T | undefined]> {
  if (theirs === undefined) return [await ours(), undefined];
  if (oursFirst) return [await ours(), await theirs()];
  const second = await theirs();
  return [await ours(), second];
}

/** @throws Error unless both found the same. Returns the number of rows. */
function compare({ name }: TsbsQuery, statement: TsbsStatement, oursText: string, theirsText: string | undefined): number {
  const ours = answerOfSql(oursText, statement);
  const wrong = theirsText === undefined ? undefined : difference(ours, answerOfInflux(theirsText, statement));
  if (wrong !== undefined) throw new Error(`${name}: ${wrong}\n${statement.sql}\n${statement.influxql}`);
  return ours.size;
}

function judge(
  { name, timesFaster, atMostMs }: TsbsQuery,
  { oursMs, influxMs, cpuMs, rowCount }: Measured,
  size: Size,
  where: string,
): Answer[] {
  const answers: Answer[] = [];
  const withGoal = (goal: Answer["goal"]) => (size === "real" && goal !== undefined ? { goal } : {});
  if (!Number.isNaN(influxMs)) {
    const ratio = timesFaster > 1 ? 1 / timesFaster : influxMs < QUICK_MS ? QUICK_RATIO : 1;
    answers.push({
      ...{ what: `${name} ÷ InfluxDB 1, ${where}`, value: oursMs / influxMs, unit: "×" },
      ...withGoal({ atMost: ratio }),
      detail: `${short(oursMs)} ÷ ${short(influxMs)} ms, ${short(cpuMs)} ms of processor time, ${rowCount} rows`,
    });
  }
  if (Number.isNaN(influxMs) || atMostMs !== undefined) {
    answers.push({
      ...{ what: `${name}, ${where}`, value: oursMs, unit: "ms" },
      ...withGoal(atMostMs === undefined ? undefined : { atMost: atMostMs }),
      detail: `${rowCount} rows`,
    });
  }
  return answers;
}
