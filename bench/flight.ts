// Measures the cost of Arrow Flight compared with HTTP: a large answer over both, each read without decoding, and small statements over
// both while two connections write at the maximum rate.
import { tableFromIPC } from "apache-arrow";
import { FlightData } from "../src/api/flight/wire/flight-messages.ts";
import { encapsulated } from "../src/api/flight/wire/ipc-messages.ts";
import { TestServer } from "../test/support/servers/server.ts";
import { TSBS_START_NS } from "./data/tsbs-cpu.ts";
import { type Answer, alternate, type Bench, median, short } from "./support/bench.ts";
import { DATABASE } from "./support/contestant.ts";
import { dataSets } from "./support/data-sets.ts";
import { FlightReader, messagesIn } from "./support/flight-reader.ts";
import { PASS } from "./support/load-worker.ts";
import { Loader } from "./support/loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";

const LARGE = "SELECT time, hostname, usage_user, usage_system, usage_idle FROM cpu";
/** One host, five minutes: a row with one number. */
const SMALL = `SELECT max(usage_user) AS most FROM cpu WHERE hostname = 'host_1'
  AND time >= '${isoOf(TSBS_START_NS)}' AND time < '${isoOf(TSBS_START_NS + 300_000_000_000n)}'`;
/** Flight's time ÷ that of the same format over HTTP. */
const GOAL_BESIDE_ARROW = 1.5;
/** Maximum latency of a small statement ÷ the same over HTTP: maxima vary between runs. */
const GOAL_LONGEST = 2;

export const flight: Bench = {
  name: "flight",
  async run(size, say) {
    const { name, options } = dataSets(size)[0]!;
    const loader = await Loader.create(options);
    const server = await TestServer.start({ withFlight: true });
    const reader = await FlightReader.open(Number(server.flightAddress.split(":").at(-1)));
    try {
      await loader.run(writeUrlOf(server));
      await checkOurRows(server, options.rows);
      const isReal = size === "real";
      const answers = await largeAnswers(server, reader, options.rows, isReal ? 9 : 2);
      const load = loader.begin(writeUrlOf(server, `load${PASS}`), { endless: true });
      try {
        answers.push(await smallAnswers(server, reader, isReal ? 1000 : 10));
      } finally {
        const { rowsPerSecond } = await load.stop();
        say(`${name}: small statements beside ${short(rowsPerSecond)} rows/s`);
      }
      return isReal ? answers : answers.map(({ goal: _, ...answer }) => answer);
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      reader.close();
      loader.close();
      await server.dispose();
    }
  },
};

/** Milliseconds and processor time of all rows, over Flight and over HTTP. */
async function largeAnswers(server: TestServer, reader: FlightReader, rows: number, rounds: number): Promise<Answer[]> {
  const overHttp = (format: string) => async () => overHttpOf(server, LARGE, format);
  const overFlight = () => reader.ask(LARGE, DATABASE);
  sameRows(await overFlight(), await overHttp("arrow")(), rows);
  const cpuMs: number[][] = [[], [], []];
  const contestants = [overFlight, overHttp("json"), overHttp("arrow")].map((ask, i) => async () => {
    const cpuBefore = cpuMsOf(server.pid);
    const startedMs = performance.now();
    await ask();
    const tookMs = performance.now() - startedMs;
    if (cpuBefore !== undefined) cpuMs[i]!.push(cpuMsOf(server.pid)! - cpuBefore);
    return tookMs;
  });
  const [flightMs, jsonMs, arrowMs] = await alternate(rounds, contestants);
  const what = `${short(rows)} rows of 5 columns over Flight ÷ over HTTP as`;
  const detail = (ms: number, i: number) =>
    `${short(flightMs!)} ÷ ${short(ms)} ms${cpuMs[0]!.length === 0 ? "" : `; processor ${short(median(cpuMs[0]!))} ÷ ${short(median(cpuMs[i]!))} ms`}`;
  return [
    { what: `${what} JSON`, value: flightMs! / jsonMs!, unit: "×", detail: detail(jsonMs!, 1) },
    { what: `${what} Arrow`, value: flightMs! / arrowMs!, unit: "×", goal: { atMost: GOAL_BESIDE_ARROW }, detail: detail(arrowMs!, 2) },
  ];
}

async function smallAnswers(server: TestServer, reader: FlightReader, count: number): Promise<Answer> {
  const asks = [() => reader.ask(SMALL, DATABASE), () => overHttpOf(server, SMALL, "arrow")];
  const expected = [await asks[0]!(), await asks[1]!()];
  const tookMs: number[][] = [[], []];
  for (let i = 0; i < count; i++) {
    for (const which of i % 2 === 0 ? [0, 1] : [1, 0]) {
      const startedMs = performance.now();
      const found = await asks[which]!();
      tookMs[which]!.push(performance.now() - startedMs);
      if (!found.equals(expected[which]!)) throw new Error("the answer changed although nobody wrote to its table");
    }
  }
  const [flightMs, httpMs] = tookMs.map((all) => ({ longest: Math.max(...all), median: median(all) })) as [Times, Times];
  return {
    ...{ what: "longest time of a small statement over Flight under full ingest ÷ over HTTP", value: flightMs.longest / httpMs.longest },
    ...{ unit: "×", goal: { atMost: GOAL_LONGEST } },
    detail: `${short(flightMs.longest)} ÷ ${short(httpMs.longest)} ms, medians ${short(flightMs.median)} ÷ ${short(httpMs.median)} ms, of ${count}`,
  };
}

interface Times {
  readonly longest: number;
  readonly median: number;
}

async function overHttpOf(server: TestServer, statement: string, format: string): Promise<Buffer> {
  const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: DATABASE, q: statement, format })}`);
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body!) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  if (!response.ok) throw new Error(`${statement}: ${response.status} ${bytes.toString().slice(0, 500)}`);
  return bytes;
}

/** @throws Error unless both hold so many rows, and the same, in any order */
function sameRows(overFlight: Buffer, overHttp: Buffer, rows: number): void {
  const stream = Buffer.concat(messagesIn(overFlight).map((message) => encapsulated(FlightData.decode(message))));
  const sums = [stream, overHttp].map((bytes) => {
    const table = tableFromIPC(bytes);
    let sum = 0n;
    for (const name of ["time", "usage_user", "usage_idle"]) {
      const column = table.getChild(name)!;
      for (const value of column.data.flatMap(({ values }) => [...values])) sum += BigInt(value);
    }
    return `${table.numRows} rows with a sum of ${sum}`;
  });
  if (sums[0] !== sums[1] || !sums[0]!.startsWith(`${rows} `)) throw new Error(`Flight gave ${sums[0]}, HTTP ${sums[1]}, of ${rows}`);
}

function isoOf(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}
