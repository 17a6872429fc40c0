// Measures how TSBS's queries scale with the data: 1, 10 and 50 M rows of the same hosts, which is 28 hours, 12 and 58 days; this server
// only. Windows are at random positions, so data is not always cached.
import { TestServer } from "../test/support/servers/server.ts";
import { extentOf } from "./data/tsbs-queries.ts";
import { type Answer, type Bench, type Size, short } from "./support/bench.ts";
import { Loader } from "./support/loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";
import { measureOurs, questionsFor, warmOurs } from "./support/questions.ts";

const HOSTS = 100;
const WARM_MS = 300;
/** Numbers of passes over the data. */
const SIZES: Record<Size, readonly number[]> = { smoke: [1, 2], real: [1, 10, 50] };

export const queryGrowth: Bench = {
  name: "query-growth",
  async run(size, say, { rows = size === "real" ? 50_000_000 : 4_000, only } = {}) {
    const passRows = Math.ceil(rows / SIZES[size].at(-1)!);
    const loader = await Loader.create({ hosts: HOSTS, rows: passRows, seed: 1, bodyLines: Math.min(passRows, 10_000) });
    const server = await TestServer.start();
    const milliseconds = new Map<string, number[]>();
    try {
      let loaded = 0;
      for (const passes of SIZES[size]) {
        await loader.run(writeUrlOf(server), { firstPass: loaded, passes: passes - loaded, goOnInTime: true });
        loaded = passes;
        await checkOurRows(server, passes * passRows);
        await server.restart();
        const extent = extentOf({ hosts: HOSTS, rows: passes * passRows });
        const questions = await questionsFor(server, extent, only, say);
        await warmOurs(server, questions, extent, size === "real" ? WARM_MS : 0);
        for (const question of questions) {
          const { ms } = await measureOurs(server, question, extent, size === "real" ? 11 : 1, undefined);
          milliseconds.set(question.name, [...(milliseconds.get(question.name) ?? []), ms]);
        }
        say(`${short(passes * passRows)} rows measured`);
      }
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      loader.close();
      await server.dispose();
    }
    const sizes = SIZES[size].map((passes) => short(passes * passRows)).join(", ");
    return [...milliseconds].map(
      ([name, found]): Answer => ({
        ...{ what: `${name}, ${short(rows)} rows ÷ ${short(passRows)}`, value: found.at(-1)! / found[0]!, unit: "×" },
        detail: `${found.map(short).join(", ")} ms of ${sizes} rows`,
      }),
    );
  },
};
