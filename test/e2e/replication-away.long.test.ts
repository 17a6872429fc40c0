// A remote that is away for a minute, killed in the middle of a stream of writes, while the sender is killed too: every row arrives as
// written. The minute is a real one: attempts are further and further apart meanwhile.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { BucketServer, type ShownReplication, until, untilEqual } from "./replication-world.ts";

const AWAY_MS = 60_000;
/** The sender is killed after this long. */
const SENDER_KILLED_MS = 25_000;
const PAUSE_MS = 250;
const BODY_ROWS = 500;

let from: BucketServer;
let to: BucketServer;
let id = "";
let written = 0;

const shown = () => from.json<ShownReplication>("GET", `/api/v2/replications/${id}`);

beforeAll(async () => {
  [from, to] = [await BucketServer.start(), await BucketServer.start()];
  id = await from.replicateTo(to);
});
afterAll(async () => {
  await Promise.all([from?.server.dispose(), to?.server.dispose()]);
});

/** Writes until the time is over. */
async function writeFor(milliseconds: number): Promise<void> {
  const endMs = performance.now() + milliseconds;
  while (performance.now() < endMs) {
    await from.write(body(written++));
    await Bun.sleep(PAUSE_MS);
  }
}

test(
  "every row arrives exactly as written over a minute without the remote, with a kill of either side",
  async () => {
    await writeFor(1000);
    await until(async () => (await shown()).latestResponseCode === 204);
    const sending = writeFor(500);
    await to.server.kill("SIGKILL");
    await sending;
    const startMs = performance.now();
    await writeFor(SENDER_KILLED_MS);
    await until(async () => (await shown()).latestErrorMessage !== "" && (await shown()).remainingBytesToBeSynced > 0);
    await from.server.kill("SIGKILL");
    await from.server.restart();
    await writeFor(AWAY_MS - (performance.now() - startMs));
    expect((await shown()).remainingBytesToBeSynced).toBeGreaterThan(0);
    await to.server.restart();
    await from.redirect(id, to);
    await writeFor(1000);
    await untilEqual(from, to);
    await until(async () => (await shown()).remainingBytesToBeSynced === 0);
    expect(await counted()).toEqual([written * BODY_ROWS, written]);
  },
  AWAY_MS * 4,
);

/** Rows of the remote, and how many of them are the first of a body: what the sender has is no witness of what was written. */
async function counted(): Promise<number[]> {
  const all = `from(bucket: "b") |> range(start: 0) |> filter(fn: (r) => r._field == "n") |> group()`;
  const csv = await to.script(
    `${all} |> count() |> yield(name: "rows")\n${all} |> filter(fn: (r) => r._value == 0) |> count() |> yield(name: "bodies")`,
  );
  return [...csv.matchAll(/^,(?:rows|bodies),.*?(\d+)\r$/gm)].map(([, count]) => Number(count));
}

/** All rows are distinct; every type is there. */
function body(number: number): string {
  const startNs = 1_700_000_000_000_000_000n + BigInt(number * BODY_ROWS);
  const lines = Array.from({ length: BODY_ROWS }, (_, i) => {
    return `m${number % 3},host=h${i % 7},a\\ b=ü v=${i / 3},n=${i}i,u=${i}u,t=${i % 2 === 0},s="text ${number} \\"${i}\\"" ${startNs + BigInt(i)}`;
  });
  return lines.join("\n");
}
