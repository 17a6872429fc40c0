// Tables with caches live at the same time on one real server: rows come, late ones among them, are written again and deleted, caches are
// made, asked and deleted, tables go and come back, the server stops and is killed. Whatever a cache says is what a naive model of its
// table says. `ROUNDS=… SEED=… bun test test/fuzz/cached-tables.long.test.ts` runs longer or again.
import { expect, test } from "bun:test";
import { CachedTable } from "../support/caches/cached-table.ts";
import { prng } from "../support/prng.ts";
import { TestServer } from "../support/servers/server.ts";

const SEED = Number(process.env["SEED"] ?? 1);
/** Each ends with an end of the server, or with none. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 2);
const STEPS = 20;
const TABLES = ["t0", "t1", "t2"];
const TOLD_STEPS = 15;
/** Flushed every second, merged at once, files removed at once. */
const FLAGS = [
  "--compaction-cleanup-wait",
  "0s",
  "--gen0-duration",
  "1s",
  "--compaction-delay",
  "0s",
  "--last-cache-eviction-interval",
  "100ms",
];

test(
  `${ROUNDS} rounds of ${STEPS} steps of ${TABLES.length} tables, seed ${SEED}`,
  async () => {
    await using server = await TestServer.start({ flags: FLAGS });
    const below = prng(SEED);
    const json = { "content-type": "application/json" };
    const made = await fetch(`${server.url}/api/v3/configure/database`, { method: "POST", headers: json, body: '{"db":"d"}' });
    expect(made.status).toBe(200);
    const lives = TABLES.map((name, i) => ({
      table: new CachedTable(() => server, "d", name, prng(SEED * 1000 + i)),
      told: [] as string[],
    }));
    await Promise.all(lives.map(({ table }) => table.create()));
    for (let round = 0; round < ROUNDS; round++) {
      const live = async ({ table, told }: (typeof lives)[number]): Promise<void> => {
        try {
          for (let step = 0; step < STEPS; step++) told.push(await table.step());
        } catch (error) {
          const scenario = told.slice(-TOLD_STEPS).join("; ");
          throw new Error(`seed ${SEED}, round ${round}, ${table.name}: after ${scenario}: ${(error as Error).message}`, { cause: error });
        }
      };
      // the others are not to be running while the server is disposed of
      const ended = await Promise.allSettled(lives.map(live));
      for (const each of ended) if (each.status === "rejected") throw each.reason;
      const end = below(3);
      if (end === 0) await server.kill();
      if (end < 2) await server.restart();
      for (const { told } of lives) told.push(["kill", "stop", "go on"][end]!);
    }
    for (const { table } of lives) await table.checkAll();
  },
  60_000 + ROUNDS * 10_000,
);
