// Measures rows per second recovered from the log after `kill -9`: time to ready after the kill, minus the time to ready of the same server
// on an empty folder, so that the start of the runtime is excluded.
import { readdirSync } from "node:fs";
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, short } from "./support/bench.ts";
import { dataSets } from "./support/data-sets.ts";
import { Loader } from "./support/loader.ts";
import { countRows, writeUrlOf } from "./support/ours.ts";

const GOAL_ROWS_PER_SECOND = 2e6;

export const replay: Bench = {
  name: "replay",
  async run(size, say) {
    const rounds = size === "real" ? 3 : 1;
    const answers: Answer[] = [];
    for (const { name, options } of dataSets(size).filter((_, i) => i % 2 === 0)) {
      const loader = await Loader.create(options);
      const emptyMs: number[] = [];
      const replayMs: number[] = [];
      try {
        for (let round = 0; round < rounds; round++) {
          await using server = await TestServer.start({ flags: ["--gen0-duration", "1h"] });
          emptyMs.push(server.startMs);
          await loader.run(writeUrlOf(server));
          await server.kill("SIGKILL");
          const flushed = readdirSync(server.dataDir, { recursive: true }).filter((file) => String(file).endsWith(".pt"));
          if (flushed.length > 0) throw new Error(`rows were flushed before the kill: ${flushed.join(", ")}`);
          await server.restart();
          replayMs.push(server.startMs);
          const found = await countRows(server);
          if (found !== options.rows) throw new Error(`${found} rows of ${options.rows} came back`);
        }
      } finally {
        loader.close();
      }
      const milliseconds = Math.max(1, median(replayMs) - median(emptyMs));
      const rowsPerSecond = options.rows / (milliseconds / 1000);
      say(`${name}: ${short(options.rows)} rows in ${short(milliseconds)} ms`);
      answers.push({
        ...{ what: `replay after kill -9, ${name}`, value: rowsPerSecond, unit: "rows/s" },
        ...(size === "real" ? { goal: { atLeast: GOAL_ROWS_PER_SECOND } } : {}),
        detail: `ready after ${short(median(replayMs))} ms, on an empty folder after ${short(median(emptyMs))} ms`,
      });
    }
    return answers;
  },
};
