// Measures whether memory stays constant during long ingest, and goes back afterwards. Resident memory is sampled continuously; its
// maximum after the first 5 M rows is compared with the maximum before, and with the ceiling stated in the README. Then TSBS's queries
// read 10 M rows of 4,000 hosts on another server: its memory after the last one, and after a while without requests.
import { totalmem } from "node:os";
import { prng } from "../test/support/prng.ts";
import { TestServer } from "../test/support/servers/server.ts";
import { extentOf, TSBS_QUERIES } from "./data/tsbs-queries.ts";
import { type Answer, type Bench, type Size, short } from "./support/bench.ts";
import { Loader, type RunningLoad } from "./support/loader.ts";
import { askOurs, checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { residentBytesOf } from "./support/process-stats.ts";

const HOSTS = 100;
const GOAL_RATIO = 1.2;
const SAMPLE_MS = 10;
const MIB = 1 << 20;
/** As stated in the README: the kernel's address space, the query engine's share of the machine, the program itself. */
const CEILING_BYTES = 4096 * MIB + 0.2 * totalmem() + 300 * MIB;

/** The data that the queries read. */
const READ_HOSTS = 4000;
const READ_ROWS: Record<Size, number> = { smoke: 20_000, real: 10_000_000 };
const EXECUTIONS: Record<Size, number> = { smoke: 1, real: 4 };
/** A minute without use, after which memory goes back, and the time that this takes. */
const IDLE_MS: Record<Size, number> = { smoke: 0, real: 80_000 };
const GOAL_READ_BYTES = 1024 * MIB;
const GOAL_IDLE_BYTES = 400 * MIB;

interface Sample {
  readonly rows: number;
  readonly bytes: number;
}

export const memory: Bench = {
  name: "memory",
  async run(size, say, { rows = size === "real" ? 50_000_000 : 100_000 } = {}) {
    const passRows = Math.min(rows, size === "real" ? 1_000_000 : 20_000);
    const firstRows = Math.min(5_000_000, rows / 5);
    const passes = Math.ceil(rows / passRows);
    const loader = await Loader.create({ hosts: HOSTS, rows: passRows, seed: 1 });
    const server = await TestServer.start();
    try {
      const load = loader.begin(writeUrlOf(server), { passes, goOnInTime: true });
      const samples = await sampleUntilEnd(server.pid, load);
      if (samples.length === 0) {
        say("the system does not tell a process's memory: left out");
        return [];
      }
      const { rowsPerSecond, rowCount } = await load.ended;
      await checkOurRows(server, rowCount);
      const before = greatest(samples.filter((sample) => sample.rows <= firstRows));
      const after = greatest(samples.filter((sample) => sample.rows > firstRows));
      const last = greatest(samples.filter((sample) => sample.rows > rowCount * 0.8));
      const mib = (bytes: number) => `${(bytes / MIB).toFixed(0)} MiB`;
      say(`${short(rowCount)} rows at ${short(rowsPerSecond)} rows/s: ${profile(samples, rowCount).map(mib).join(", ")}`);
      return [
        {
          ...{
            what: `resident memory after the first ${short(firstRows)} of ${short(rowCount)} rows ÷ before`,
            value: after / before,
            unit: "×",
          },
          ...(size === "real" ? { goal: { atMost: GOAL_RATIO } } : {}),
          detail: `${mib(after)} ÷ ${mib(before)}; in the last fifth ${mib(last)}; ${short(rowsPerSecond)} rows/s`,
        },
        {
          ...{ what: `resident memory while ${short(rowCount)} rows flow in ÷ its ceiling`, value: after / CEILING_BYTES, unit: "×" },
          ...(size === "real" ? { goal: { atMost: 1 } } : {}),
          detail: `${mib(after)} ÷ ${mib(CEILING_BYTES)}`,
        },
        ...(await afterQueries(size)),
      ];
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      loader.close();
      await server.dispose();
    }
  },
};

/** Resident memory after TSBS's queries, and after some time without requests. */
async function afterQueries(size: Size): Promise<Answer[]> {
  const rows = READ_ROWS[size];
  const passRows = Math.min(rows, 1_000_000);
  const loader = await Loader.create({ hosts: READ_HOSTS, rows: passRows, seed: 1 });
  const server = await TestServer.start();
  try {
    await loader.run(writeUrlOf(server), { passes: rows / passRows, goOnInTime: true });
    await checkOurRows(server, rows);
    const extent = extentOf({ hosts: READ_HOSTS, rows });
    for (const { mayBeRefused, statement } of TSBS_QUERIES) {
      if (mayBeRefused) continue;
      for (let execution = 0; execution < EXECUTIONS[size]; execution++) await askOurs(server, statement(extent, prng(execution + 1)).sql);
    }
    const read = residentBytesOf(server.pid)!;
    await Bun.sleep(IDLE_MS[size]);
    const idle = residentBytesOf(server.pid)!;
    const answer = (what: string, bytes: number, atMost: number): Answer => ({
      ...{ what: `resident memory ${what} ÷ ${(atMost / MIB).toFixed(0)} MiB`, value: bytes / atMost, unit: "×" },
      ...(size === "real" ? { goal: { atMost: 1 } } : {}),
      detail: `${(bytes / MIB).toFixed(0)} MiB; at most ${(read.peak / MIB).toFixed(0)} MiB before`,
    });
    return [
      answer(`after TSBS's queries on ${short(rows)} rows of ${short(READ_HOSTS)} hosts`, read.now, GOAL_READ_BYTES),
      answer(`${IDLE_MS[size] / 1000} s later, without requests`, idle.now, GOAL_IDLE_BYTES),
    ];
  } catch (error) {
    throw withOutput(error, server);
  } finally {
    loader.close();
    await server.dispose();
  }
}

async function sampleUntilEnd(pid: number, load: RunningLoad): Promise<Sample[]> {
  const samples: Sample[] = [];
  let ended = false;
  const end = load.ended.then(
    () => {
      ended = true;
    },
    () => {
      ended = true;
    },
  );
  while (!ended) {
    const rows = load.rowsDone;
    const bytes = residentBytesOf(pid)?.now;
    if (bytes !== undefined) samples.push({ rows, bytes });
    await Promise.race([Bun.sleep(SAMPLE_MS), end]);
  }
  return samples;
}

function greatest(samples: readonly Sample[]): number {
  return samples.reduce((most, { bytes }) => Math.max(most, bytes), 0);
}

/** The maximum of each tenth of the rows; with few rows, tenths without a sample are omitted. */
function profile(samples: readonly Sample[], rowCount: number): number[] {
  return Array.from({ length: 10 }, (_, tenth) =>
    greatest(samples.filter(({ rows }) => Math.min(9, Math.floor((rows / rowCount) * 10)) === tenth)),
  ).filter((bytes) => bytes > 0);
}
