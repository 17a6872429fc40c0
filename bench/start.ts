// Measures the time from starting the program on an empty folder to the first answer of a query.
import { TestServer } from "../test/support/servers/server.ts";
import { type Bench, median, short } from "./support/bench.ts";

const GOAL_MS = 400;

export const start: Bench = {
  name: "start",
  async run(size, say) {
    const rounds = size === "real" ? 7 : 1;
    const readyMs: number[] = [];
    const answeredMs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const startedMs = performance.now();
      await using server = await TestServer.start();
      readyMs.push(performance.now() - startedMs);
      await firstAnswer(server);
      answeredMs.push(performance.now() - startedMs);
    }
    say(`healthy after ${short(median(readyMs))} ms, a row written and read after ${short(median(answeredMs))} ms`);
    return [
      {
        ...{ what: "first answer after start on an empty folder", value: median(answeredMs), unit: "ms" as const },
        ...(size === "real" ? { goal: { atMost: GOAL_MS } } : {}),
        detail: `healthy after ${short(median(readyMs))} ms; then a write and a query`,
      },
    ];
  },
};

async function firstAnswer(server: TestServer): Promise<void> {
  const written = await fetch(`${server.url}/api/v3/write_lp?db=first`, { method: "POST", body: "t v=1i 1" });
  if (!written.ok) throw new Error(`the first write failed: ${written.status} ${await written.text()}`);
  const rows = await server.sql("first", "SELECT v FROM t");
  if (JSON.stringify(rows) !== '[{"v":1}]') throw new Error(`the first answer is ${JSON.stringify(rows)}`);
}
