// Tests whether one short statement or body can block other clients. Every production of each grammar, and every kind of body, grows to
// eight times its size, while a tiny query, a small write and /ping run continuously: growth of time and memory, and the latency of the
// small requests.
import { TestServer } from "../test/support/servers/server.ts";
import { GROWING_BODIES } from "./data/growth-bodies.ts";
import { GROWING_FLUX } from "./data/growth-flux.ts";
import { GROWING_SQL } from "./data/growth-sql.ts";
import { GROWING_TSDBQL } from "./data/growth-tsdbql.ts";
import { type Answer, type Bench, short } from "./support/bench.ts";
import { writeLines } from "./support/growth-grammar.ts";
import { askGrowing, judge, Watcher } from "./support/growth-run.ts";
import { withOutput } from "./support/ours.ts";

const GRAMMARS = [GROWING_TSDBQL, GROWING_SQL, GROWING_FLUX, GROWING_BODIES];
const DATABASE = "growth";
/** Smoke asks one production of so many. */
const SMOKE_EVERY = 36;

export const statementGrowth: Bench = {
  name: "statement-growth",
  async run(size, say, { only = "" } = {}) {
    const answers: Answer[] = [];
    for (const grammar of GRAMMARS) {
      const wanted = grammar.productions.filter(
        ({ name }, i) => `${grammar.name}: ${name}`.includes(only) && (size === "real" || i % SMOKE_EVERY === 0),
      );
      if (wanted.length === 0) continue;
      const server = await TestServer.start({ withBuckets: true });
      const watcher = new Watcher();
      try {
        await writeLines(server, DATABASE, 1, () => "tiny v=1 1");
        await grammar.prepare(server, DATABASE, size);
        for (const production of wanted) {
          const asked = await askGrowing({ grammar, production, server, watcher, size }, DATABASE);
          for (const answer of judge(grammar, production, asked, size)) {
            answers.push(answer);
            say(`${answer.what}: ${short(answer.value)} ${answer.unit} (${answer.detail})`);
          }
        }
      } catch (error) {
        throw withOutput(error, server);
      } finally {
        watcher.close();
        await server.dispose();
      }
    }
    return answers;
  },
};
