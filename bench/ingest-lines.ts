// Measures bodies of one line on 256 connections: what a body costs, whatever it holds. The loader writes to sockets, because a client
// library takes longer than the server.
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, short } from "./support/bench.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";
import { loadBySockets, type SocketRate } from "./support/socket-loader.ts";

const CONNECTIONS = 256;
const ROUNDS = 5;
/** VictoriaMetrics, which has no log; InfluxDB 1.6, which syncs it. */
const GOAL_RATE = 28_000;
const GOAL_P99_MS = 39;

export const ingestLines: Bench = {
  name: "ingest-lines",
  async run(size, _say, { rows = size === "real" ? 60_000 : 2000 } = {}) {
    const server = await TestServer.start();
    try {
      const load = { url: writeUrlOf(server), headers: {}, connections: CONNECTIONS, hosts: 100, rows, bodyLines: 1 };
      await loadBySockets(load);
      const rates: SocketRate[] = [];
      const cpuUs: number[] = [];
      for (let round = 0; round < (size === "real" ? ROUNDS : 1); round++) {
        const cpuMs = cpuMsOf(server.pid);
        rates.push(await loadBySockets(load));
        if (cpuMs !== undefined) cpuUs.push(((cpuMsOf(server.pid)! - cpuMs) * 1000) / rows);
      }
      // each round sends the same rows
      await checkOurRows(server, rows);
      const answers = answersOf(rates, cpuUs);
      return size === "real" ? answers : answers.map(({ goal: _, ...answer }) => answer);
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      await server.dispose();
    }
  },
};

function answersOf(rates: readonly SocketRate[], cpuUs: readonly number[]): Answer[] {
  const what = `bodies of one line on ${CONNECTIONS} connections`;
  const of = (read: (rate: SocketRate) => number) => median(rates.map(read));
  const detail = cpuUs.length === 0 ? "" : `${short(median([...cpuUs]))} us of processor time a body`;
  return [
    { what, value: of(({ rate }) => rate), unit: "rows/s", goal: { atLeast: GOAL_RATE }, detail },
    {
      what: `${what}, 99 % answered within`,
      value: of(({ p99Ms }) => p99Ms),
      unit: "ms",
      goal: { atMost: GOAL_P99_MS },
      detail: `median ${short(of(({ medianMs }) => medianMs))} ms`,
    },
  ];
}
