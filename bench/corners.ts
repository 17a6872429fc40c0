// Measures statements in which another database was once faster, on 10 M rows of 4,000 hosts, flushed and compacted, and the same questions
// to the peers that are installed. Every answer is first compared with that of another statement that asks the same, and with the peers'.
import { TestServer } from "../test/support/servers/server.ts";
import { CORNER_QUERIES, type CornerQuery } from "./data/corner-queries.ts";
import { judge, measurePeers, type QueryPeer, ROWS_SHOWN, type Rounds } from "./peers/query-peer.ts";
import { withPeers } from "./peers/with-peers.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { NO_COMPACTION } from "./support/compaction.ts";
import { askOurs, withOutput } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";
import { inStates } from "./support/states.ts";
import { timed } from "./support/timed.ts";

const HOSTS: Record<Size, number> = { smoke: 100, real: 4000 };
const ROWS: Record<Size, number> = { smoke: 20_000, real: 10_000_000 };
/** Code is compiled in some hundred executions. */
const ROUNDS: Record<Size, Rounds> = { smoke: [1, 1], real: [300, 31] };
const WARM_MS = 5000;

export const corners: Bench = {
  name: "corners",
  async run(size, say, { rows = ROWS[size], only = "", state, peers = true } = {}) {
    const server = await TestServer.start({ flags: NO_COMPACTION });
    try {
      return await withPeers(server, { hosts: HOSTS[size], rows, peers }, say, async (started) => {
        const answers: Answer[] = [];
        for await (const each of inStates(server, state)) {
          for (const query of CORNER_QUERIES.filter(({ name }) => name.includes(only))) {
            const answer = await measure(server, started, query, size, `${short(rows)} rows ${each}`);
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

async function measure(
  server: TestServer,
  peers: readonly QueryPeer[],
  { name, sql, same, peers: statements, atMostMs }: CornerQuery,
  size: Size,
  where: string,
): Promise<Answer> {
  const [found, expected] = [rowsOf(await askOurs(server, sql)), rowsOf(await askOurs(server, same))];
  if (textOf(found) !== textOf(expected)) throw new Error(`${name}: ${textOf(found, 300)} instead of ${textOf(expected, 300)}`);
  const [warm, counted] = ROUNDS[size];
  const warmUntilMs = performance.now() + WARM_MS;
  for (let round = 0; round < warm && performance.now() < warmUntilMs; round++) await askOurs(server, sql);
  const tookMs: number[] = [];
  const beforeMs = cpuMsOf(server.pid) ?? Number.NaN;
  for (let round = 0; round < counted; round++) tookMs.push((await timed(() => askOurs(server, sql))).tookMs);
  const cpuMs = ((cpuMsOf(server.pid) ?? Number.NaN) - beforeMs) / counted;
  const detail = `${short(cpuMs)} ms of processor time, ${found.length} rows`;
  const { times, answers } = await measurePeers(peers, (peer) => statements[peer], ROUNDS[size], found.length);
  for (const [peer, { rows }] of answers) {
    if (found.length <= ROWS_SHOWN && textOf(rows) !== textOf(found)) {
      throw new Error(`${name}: ${peer} found ${textOf(rows, 300)}, not ${textOf(found, 300)}`);
    }
  }
  return judge({ what: `${name}, ${where}`, ms: median(tookMs), detail, times, atMostMs }, size);
}

/** The cells of each row of an answer of ours. */
const rowsOf = (answer: string) => (JSON.parse(answer) as object[]).map((row) => Object.values(row) as unknown[]);

/** Rows and their cells in any order, as databases print them: numbers, texts too, to nine digits, times without what is zero. */
function textOf(rows: readonly (readonly unknown[])[], charactersMax = Number.POSITIVE_INFINITY): string {
  const cell = (value: unknown) => (/^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(String(value)) ? Number(value).toPrecision(9) : String(value));
  const time = (text: string) => text.replace(/^(\d{4}-\d\d-\d\d)[T ]([\d:]+)(\.0*)?(Z|\+00:00)?$/, "$1T$2");
  const lines = rows
    .map((row) =>
      row
        .map((value) => time(cell(value)))
        .sort()
        .join(" "),
    )
    .sort();
  return lines.join("\n").slice(0, charactersMax);
}
