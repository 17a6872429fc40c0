// Measures TSBS's queries during ingest into their table at half the maximum rate, compared with an idle server. New rows continue in time
// after the old ones, so the answer for a fixed window must not change. The queries alternate for as long as several flushes and
// compactions take; measured one after the other, each would see a different phase of the load.
import { TestServer } from "../test/support/servers/server.ts";
import { extentOf } from "./data/tsbs-queries.ts";
import { type Answer, type Bench, short } from "./support/bench.ts";
import { Loader } from "./support/loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { type Measured, measureInTurns, measureOurs, questionsFor, warmOurs } from "./support/questions.ts";

const GOAL = 3;
const HOSTS = 100;
const WARM_MS = 300;
/** Duration of the load before the measurement: code compiles at run time after a start. */
const LOAD_WARM_MS = 2000;
const LOADED_MS = 15_000;
/** Longer than memory alone can hold the writes: flushes and compactions are included in the maximum rate. */
const FULL_SPEED_MS = 10_000;

export const queryHalfLoad: Bench = {
  name: "query-half-load",
  async run(size, say, { rows = size === "real" ? 1_000_000 : 20_000, only } = {}) {
    const extent = extentOf({ hosts: HOSTS, rows });
    const executions = size === "real" ? 15 : 2;
    const loader = await Loader.create({ hosts: HOSTS, rows, seed: 1 });
    const full = await fullSpeed(loader, size === "real" ? FULL_SPEED_MS : 100);
    const server = await TestServer.start();
    try {
      await loader.run(writeUrlOf(server));
      await checkOurRows(server, rows);
      await server.restart();
      const questions = await questionsFor(server, extent, only, say);
      await warmOurs(server, questions, extent, size === "real" ? WARM_MS : 0);
      const idle: Measured[] = [];
      for (const question of questions) idle.push(await measureOurs(server, question, extent, executions, undefined));
      const load = loader.begin(writeUrlOf(server), { endless: true, goOnInTime: true, firstPass: 1, rowsPerSecond: full / 2 });
      if (size === "real") await warmOurs(server, questions, extent, LOAD_WARM_MS / questions.length);
      const turns = { executions, leastMs: size === "real" ? LOADED_MS : 0 };
      const expected = idle.map((each) => each.answers);
      // a failed load would leave the server idle
      const loaded = await Promise.race([measureInTurns(server, questions, extent, turns, expected), failureOf(load.ended)]);
      const answers = questions.map(({ name }, i): Answer => {
        const [idleMs, loadedMs] = [idle[i]!.ms, loaded[i]!];
        say(`${name}: ${short(idleMs)} ms idle, ${short(loadedMs)} ms loaded`);
        return {
          ...{ what: `${name} while ingesting at half speed ÷ idle`, value: loadedMs / idleMs, unit: "×" },
          ...(size === "real" ? { goal: { atMost: GOAL } } : {}),
          detail: `${short(loadedMs)} ÷ ${short(idleMs)} ms`,
        };
      });
      const { rowsPerSecond, rowCount } = await load.stop();
      say(`beside ${short(rowsPerSecond)} rows/s, ${short(rowCount)} rows in all; full speed is ${short(full)} rows/s`);
      return answers;
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      loader.close();
      await server.dispose();
    }
  },
};

async function failureOf(ended: Promise<unknown>): Promise<never> {
  await ended;
  throw new Error("the load ended by itself");
}

/** Rows per second that a separate server accepts over this time. */
async function fullSpeed(loader: Loader, ms: number): Promise<number> {
  const server = await TestServer.start();
  try {
    const load = loader.begin(writeUrlOf(server), { endless: true, goOnInTime: true });
    await Promise.race([Bun.sleep(ms), failureOf(load.ended)]);
    return (await load.stop()).rowsPerSecond;
  } catch (error) {
    throw withOutput(error, server);
  } finally {
    await server.dispose();
  }
}
