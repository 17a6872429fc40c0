// Random statements over random tables: the same answers from a table that makes groups, keeps to hints and gives newest rows alone as from
// a table that has nothing but rows.
import { expect, test } from "bun:test";
import { prng } from "../../test/support/prng.ts";
import type { FakeRow } from "../../test/support/rows/fake-table.ts";
import { randomStatement } from "../../test/support/sql/random-sql.ts";
import { Twins, twinRows } from "../../test/support/sql/sql-twins.ts";
import { Kernel } from "../kernel/memory/kernel.ts";
import { SqlEngine } from "./execute/engine.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const ROUNDS = Number(process.env["ROUNDS"] ?? 1);
const STATEMENTS = 60;

test.each([false, true])(`times are unique: %p, seed ${SEED}`, async (areTimesUnique) => {
  const below = prng(SEED + (areTimesUnique ? 1000 : 0));
  const kernel = Kernel.create();
  const engine = await SqlEngine.open(kernel, { memoryBytes: 256 << 20, threads: 2, tempDir: null });
  let [aggregations, newest] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const plain = twinRows(below, 1 + below(300));
    const second = (i: number) => BigInt(((i * 7919) % 500) - 250) * 1_000_000_000n;
    const rows = areTimesUnique ? plain.map((row, i): FakeRow => ({ ...row, time: second(i) })) : plain;
    const twins = new Twins(kernel, engine, "cpu", rows);
    twins.groups.rowCountMax = below(2) === 0 ? rows.length : 1e9;
    for (let i = 0; i < STATEMENTS; i++) {
      const answer = await twins.ask(randomStatement(below, areTimesUnique));
      aggregations += Number(answer.aggregations > 0);
      newest += Number(twins.groups.requests.some(({ newestOnly }) => newestOnly === true));
      if (answer.fields === "error") throw new Error(answer.rows.join());
    }
  }
  engine.close();
  // the statements must be such that there is something to compare
  expect(aggregations).toBeGreaterThan((ROUNDS * STATEMENTS) / 8);
  expect(newest).toBeGreaterThan(areTimesUnique ? (ROUNDS * STATEMENTS) / 50 : -1);
});
