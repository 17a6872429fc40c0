// How much longer do TSBS's queries take while their table is written to at half the speed that the server can take? The new rows go on in
// time where the old ones ended, so that a query of a time window must answer as it did before. The questions take turns, for as long as
// several flushes and compactions take: asked one after the other each would meet another moment of the load.
import { TestServer } from "../test/support/server.ts";
import { extentOf } from "./data/tsbs-queries.ts";
import { type Answer, type Bench, short } from "./support/bench.ts";
import { Loader } from "./support/loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { type Measured, measureInTurns, measureOurs, questionsFor, warmOurs } from "./support/questions.ts";

const GOAL = 3;
const HOSTS = 100;
const WARM_MS = 300;
/** So long the load runs before anything is measured: after a start its code is compiled as it runs, too. */
const LOAD_WARM_MS = 2000;
const LOADED_MS = 15_000;
/** Longer than memory alone takes what comes: flushes and compactions are a part of what the server can take. */
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
      // a load that failed would leave the server idle
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

/** Rows a second that a server of its own takes for so long. */
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
