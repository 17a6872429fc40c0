// Measures the time from starting the program on a folder full of data to the first answer of a query: after a clean stop, and after `kill
// -9` with unflushed rows. The values are random floats, which are incompressible; the files are still in the page cache.
import { prng } from "../test/support/prng.ts";
import { TestServer } from "../test/support/servers/server.ts";
import { extentOf, TSBS_QUERIES } from "./data/tsbs-queries.ts";
import { type Answer, type Bench, median, short } from "./support/bench.ts";
import { Loader } from "./support/loader.ts";
import { askOurs, checkOurRows, writeUrlOf } from "./support/ours.ts";
import { folderBytes } from "./support/peer-process.ts";

const HOSTS = 100;
const GOAL_MS = 1000;
/** The goal of replay.ts. */
const REPLAY_ROWS_PER_SECOND = 2e6;
const QUESTION = TSBS_QUERIES.find(({ name }) => name === "single-groupby-1-1-1")!;

export const startFull: Bench = {
  name: "start-full",
  async run(size, say, { rows = size === "real" ? 12_000_000 : 60_000 } = {}) {
    const passRows = Math.min(rows, size === "real" ? 1_000_000 : 20_000);
    const passes = Math.ceil(rows / passRows);
    const rounds = size === "real" ? 5 : 1;
    const loader = await Loader.create({ hosts: HOSTS, rows: passRows, seed: 1, shape: "random floats" });
    const server = await TestServer.start({ flags: ["--gen0-duration", "1h"] });
    try {
      const { rowsPerSecond } = await loader.run(writeUrlOf(server), { passes, goOnInTime: true });
      const cleanRows = passes * passRows;
      let total = cleanRows;
      await server.stop();
      const gigabytes = `${short(folderBytes(server.dataDir) / 1e9)} GB`;
      say(`${short(total)} rows, ${gigabytes}, written at ${short(rowsPerSecond)} rows/s`);
      const cleanMs: number[] = [];
      for (let round = 0; round < rounds; round++) {
        if (round > 0) await server.stop();
        cleanMs.push(await firstAnswer(server, total, round));
      }
      const killedMs: number[] = [];
      for (let round = 0; round < Math.min(3, rounds); round++) {
        await loader.run(writeUrlOf(server), { firstPass: passes + round, goOnInTime: true });
        total += passRows;
        await server.kill("SIGKILL");
        killedMs.push(await firstAnswer(server, total, round));
        await checkOurRows(server, total);
        // flushes the replayed rows
        if (round + 1 < Math.min(3, rounds)) await server.restart();
      }
      const within = (atMost: number) => (size === "real" ? { goal: { atMost } } : {});
      const answers: Answer[] = [
        {
          ...{ what: `first answer after a clean stop, ${gigabytes}`, value: median(cleanMs), unit: "ms" },
          ...within(GOAL_MS),
          detail: `${short(cleanRows)} rows, ${rounds} starts`,
        },
        {
          ...{ what: `first answer after kill -9, ${short(passRows)} rows in no file`, value: median(killedMs), unit: "ms" },
          ...within(GOAL_MS + (passRows / REPLAY_ROWS_PER_SECOND) * 1000),
          detail: `beside ${gigabytes}`,
        },
      ];
      return answers;
    } finally {
      loader.close();
      await server.dispose();
    }
  },
};

/** From spawning the program to the answer of a query over a random hour of the data. */
async function firstAnswer(server: TestServer, rows: number, round: number): Promise<number> {
  const statement = QUESTION.statement(extentOf({ hosts: HOSTS, rows }), prng(round + 1));
  const startedMs = performance.now();
  await server.restart();
  const text = await askOurs(server, statement.sql);
  const tookMs = performance.now() - startedMs;
  if ((JSON.parse(text) as unknown[]).length < 6) throw new Error(`too few minutes in ${text.slice(0, 200)}`);
  return tookMs;
}
