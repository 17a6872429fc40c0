// Replication between two server processes, either of which is killed: every row arrives as written.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { BucketServer, type ShownReplication, until, untilEqual } from "./replication-world.ts";

let from: BucketServer;
let to: BucketServer;
let id = "";

const shown = () => from.json<ShownReplication>("GET", `/api/v2/replications/${id}`);
const queueFiles = (): string[] => readdirSync(join(from.server.dataDir, "node0/replications", id)).filter((name) => name.endsWith(".gz"));

beforeAll(async () => {
  [from, to] = [await BucketServer.start(), await BucketServer.start()];
  id = await from.replicateTo(to);
});
afterAll(async () => {
  await Promise.all([from?.server.dispose(), to?.server.dispose()]);
});

test("the remote is killed, and comes back with what it had", async () => {
  await from.write(lines("first", 0, 2000));
  await to.server.kill("SIGKILL");
  await from.write(lines("second", 0, 3000));
  await from.write(lines("second", 1000, 500));
  await until(async () => (await shown()).latestErrorMessage !== "" && (await shown()).remainingBytesToBeSynced > 0);
  await to.server.restart();
  await from.redirect(id, to);
  await untilEqual(from, to);
});

test("the sender is killed while the remote is away, and sends what it had queued", async () => {
  await to.server.kill("SIGKILL");
  await from.write(lines("third", 0, 3000));
  await until(async () => queueFiles().length > 0);
  await from.write(lines("fourth", 0, 100));
  await from.server.kill("SIGKILL");
  await from.server.restart();
  await from.write(lines("fifth", 0, 100));
  await to.server.restart();
  await from.redirect(id, to);
  await untilEqual(from, to);
  await until(async () => queueFiles().length === 0);
});

test("a stop does not wait for a remote that is away", async () => {
  await to.server.kill("SIGKILL");
  await from.write(lines("stopped", 0, 500));
  await until(async () => (await shown()).latestErrorMessage !== "");
  expect(await from.server.stop()).toBe(0);
  await Promise.all([from.server.restart(), to.server.restart()]);
  await from.redirect(id, to);
  await untilEqual(from, to);
});

test("the sender is killed again and again while it sends", async () => {
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 8 }, (_, i) => from.write(lines(`r${round}`, i * 1000, 1000))));
    await from.server.kill("SIGKILL");
    await from.server.restart();
  }
  await untilEqual(from, to);
});

/** With tags, several types and times that repeat between the calls. */
function lines(table: string, first: number, count: number): string {
  return Array.from({ length: count }, (_, i) => {
    const n = first + i;
    return `${table},host=h${n % 7} v=${n / 3},n=${n}i,s="text ${n}" ${1_700_000_000_000_000_000n + BigInt(n % 2500)}`;
  }).join("\n");
}
