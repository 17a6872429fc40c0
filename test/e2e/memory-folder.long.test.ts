// Servers with their data in memory, in the data folder of others: the default folder is the same for all that are started in one place.
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { TestServer } from "../support/servers/server.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

const FLAGS = ["--exec-mem-pool-bytes", "32MiB", "--query-workers", "1"];
const LINES = (tag: string) => Array.from({ length: 3000 }, (_, i) => `t s="${tag} ${i}",v=${i} ${i}`).join("\n");
/** More than fits into memory. */
const SPILLING =
  "SELECT count(*) AS n, min(left(x, 1)) AS first, max(left(x, 1)) AS last " +
  "FROM (SELECT DISTINCT a.s || b.s || repeat('x', 60) AS x FROM t a, t b WHERE a.v < 300)";

test("each spills into a folder of its own, and takes nothing of the others along when it ends", async () => {
  await using kept = await TestServer.start({ flags: FLAGS });
  const { dataDir } = kept;
  const temporary = join(dataDir, "node0/tmp");
  // of a process that has ended, as far as this system goes
  mkdirSync(join(temporary, "memory-4194305/engine-0"), { recursive: true });
  writeFileSync(join(temporary, "memory-4194305/engine-0/left.tmp"), "");
  const memory = { dataDir, flags: [...FLAGS, "--object-store", "memory"] };
  await using b = await TestServer.start(memory);
  await using c = await TestServer.start(memory);
  const servers = [kept, b, c];
  await Promise.all(servers.map((server, i) => store(server, "d", LINES("abc"[i]!))));
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(servers.map((server) => server.sql<object>("d", SPILLING)));
    expect(answers).toEqual(["a", "b", "c"].map((tag) => [{ n: 900_000, first: tag, last: tag }]));
  }
  expect(readdirSync(temporary).sort()).toEqual(["engine-0", ...[`memory-${b.pid}`, `memory-${c.pid}`].sort()]);
  const own = join(temporary, `memory-${c.pid}`);
  await b.stop();
  await kept.restart();
  expect(existsSync(own)).toBe(true);
  expect(await c.sql<object>("d", SPILLING)).toMatchObject([{ n: 900_000 }]);
  await c.stop();
  expect(readdirSync(temporary)).toEqual(["engine-0"]);
  expect(await kept.sql<object>("d", SPILLING)).toMatchObject([{ n: 900_000 }]);
});
