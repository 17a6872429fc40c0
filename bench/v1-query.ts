// Measures /query for v1 clients, compared with InfluxDB 1 on the same rows: TSBS's queries in the v1 language and statements over whole
// series, with answers compared value by value; and a long answer: the time to its first byte, and its total.
import { prng } from "../test/support/prng.ts";
import { TestServer } from "../test/support/servers/server.ts";
import { extentOf, TSBS_QUERIES, type TsbsExtent, type TsbsQuery } from "./data/tsbs-queries.ts";
import { WHOLE_STATEMENTS } from "./data/whole-tsdbql.ts";
import { answerOfInflux, difference } from "./support/answers.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { NO_COMPACTION } from "./support/compaction.ts";
import { DATABASE } from "./support/contestant.ts";
import { type RunningInflux, startInflux } from "./support/influx.ts";
import { loadBoth } from "./support/load-both.ts";
import { withOutput } from "./support/ours.ts";
import { timed } from "./support/timed.ts";
import { warmUp } from "./support/warm-up.ts";

const HOSTS = 100;
const WARM_UPS = 3;
/** As in query.ts: for faster answers a weaker goal applies. */
const QUICK_MS = 3;
const QUICK_RATIO = 1.5;
/** About 7 MB of JSON. */
const LONG = "SELECT usage_user, usage_system, usage_idle, hostname FROM cpu LIMIT 100000";
const FIRST_BYTE_MS_MAX = 20;

export const v1Query: Bench = {
  name: "v1-query",
  async run(size, say, { rows = size === "real" ? 1_000_000 : 20_000, only, peers = true } = {}) {
    const extent = extentOf({ hosts: HOSTS, rows });
    const server = await TestServer.start({ flags: NO_COMPACTION });
    let influx: RunningInflux | undefined;
    try {
      if (startInflux === undefined) say("InfluxDB 1 is not installed: left out");
      else if (peers) influx = await startInflux();
      await loadBoth(HOSTS, rows, server, influx);
      // a clean stop flushes
      await server.restart();
      const answers: Answer[] = [];
      const questions = [...TSBS_QUERIES, ...WHOLE_STATEMENTS].filter(({ name }) => name.includes(only ?? ""));
      for (const question of questions) await warm(question, extent, size, server, influx);
      for (const question of questions) {
        const answer = await measure(question, extent, size, server, influx);
        answers.push(answer);
        say(`${answer.what}: ${short(answer.value)} ${answer.unit} (${answer.detail})`);
      }
      if (only === undefined) answers.push(...(await longAnswer(size, server, say)));
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
  return warmUp(question, extent, size, async ({ influxql }) => {
    await askText(server, influxql);
    await influx?.ask(influxql);
  });
}

function ask(server: TestServer, statement: string): Promise<Response> {
  return fetch(`${server.url}/query?${new URLSearchParams({ db: DATABASE, q: statement })}`);
}

async function askText(server: TestServer, statement: string): Promise<string> {
  const text = await (await ask(server, statement)).text();
  if (text.includes('"error"')) throw new Error(`${statement}: ${text.slice(0, 500)}`);
  return text;
}

/** Medians over executions with the same parameters on both sides, in alternating order. */
async function measure(
  { name, statement, timesFaster }: TsbsQuery,
  extent: TsbsExtent,
  size: Size,
  server: TestServer,
  influx: RunningInflux | undefined,
): Promise<Answer> {
  const oursMs: number[] = [];
  const theirsMs: number[] = [];
  const [least, most, budgetMs] = size === "real" ? [9, 31, 3000] : [2, 2, 0];
  const endMs = performance.now() + budgetMs;
  for (let execution = 0; execution < least + WARM_UPS || (performance.now() < endMs && execution < most + WARM_UPS); execution++) {
    const asked = statement(extent, prng(execution + 1));
    const ours = () => timed(() => askText(server, asked.influxql));
    const theirs = () => (influx === undefined ? undefined : timed(() => influx.ask(asked.influxql)));
    const theirsFirst = execution % 2 === 0 ? undefined : await theirs();
    const our = await ours();
    const their = theirsFirst ?? (await theirs());
    if (their !== undefined) {
      const wrong = difference(answerOfInflux(our.text, asked), answerOfInflux(their.text, asked));
      if (wrong !== undefined) throw new Error(`${name}: ${wrong}\n${asked.influxql}`);
    }
    if (execution < WARM_UPS) continue;
    oursMs.push(our.tookMs);
    if (their !== undefined) theirsMs.push(their.tookMs);
  }
  const ours = median(oursMs);
  if (theirsMs.length === 0) return { what: `/query ${name}`, value: ours, unit: "ms", detail: "" };
  const theirs = median(theirsMs);
  const atMost = timesFaster > 1 ? 1 / timesFaster : theirs < QUICK_MS ? QUICK_RATIO : 1;
  return {
    ...{ what: `/query ${name} ÷ InfluxDB 1`, value: ours / theirs, unit: "×", detail: `${short(ours)} ÷ ${short(theirs)} ms` },
    ...(size === "real" ? { goal: { atMost } } : {}),
  };
}

/** The time to the first byte of a long answer, and the throughput of the rest. */
async function longAnswer(size: Size, server: TestServer, say: (line: string) => void): Promise<Answer[]> {
  const firstMs: number[] = [];
  const wholeMs: number[] = [];
  let bytes = 0;
  for (let execution = 0; execution < (size === "real" ? 20 : 2); execution++) {
    const startMs = performance.now();
    const reader = (await ask(server, LONG)).body!.getReader();
    bytes = 0;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (bytes === 0) firstMs.push(performance.now() - startMs);
      bytes += next.value.byteLength;
    }
    wholeMs.push(performance.now() - startMs);
  }
  const [first, whole] = [median(firstMs), median(wholeMs)];
  say(`${short(bytes)} bytes: first after ${short(first)} ms, all after ${short(whole)} ms`);
  return [
    {
      ...{ what: "/query, first byte of a long answer", value: first, unit: "ms", detail: `${short(bytes)} bytes` },
      ...(size === "real" ? { goal: { atMost: FIRST_BYTE_MS_MAX } } : {}),
    },
    { what: "/query, a long answer", value: whole, unit: "ms", detail: `${short(bytes / 1e3 / whole)} MB/s` },
  ];
}
