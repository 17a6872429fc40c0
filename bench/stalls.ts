// Measures the longest stall of the main thread: during ingest at the maximum rate of two connections, and with a buffer so small that it
// flushes and merges files continuously. Measured inside the server by a timer.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainEnvironment, TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, short } from "./support/bench.ts";
import { compacted, EAGER_COMPACTION } from "./support/compaction.ts";
import { Loader, type LoadResult } from "./support/loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./support/ours.ts";

const GOAL_MS = 50;
/** More than in other benchmarks: a day has more rows, and so several files to merge. */
const HOSTS = 1000;
const PROBE = join(import.meta.dir, "support/loop-probe.ts");
const MAIN = join(import.meta.dir, "../src/main.ts");

interface Stall {
  readonly endMs: number;
  readonly lengthMs: number;
  readonly waitedMs: number;
}

export const stalls: Bench = {
  name: "stalls",
  async run(size, say, { rows = size === "real" ? 10_000_000 : 40_000 } = {}) {
    if (!existsSync("/proc/self/schedstat")) {
      say("the system does not tell how long a thread waited for a processor: left out");
      return [];
    }
    const passRows = Math.min(rows, size === "real" ? 1_000_000 : 20_000);
    const loader = await Loader.create({ hosts: HOSTS, rows: passRows, seed: 1 });
    const folder = mkdtempSync(join(tmpdir(), "tsdb-bench-"));
    const probeFile = join(folder, "stalls");
    const server = await TestServer.start({
      command: [process.execPath, "--preload", PROBE, MAIN],
      env: { ...plainEnvironment(), BENCH_LOOP_PROBE: probeFile },
      flags: ["--buffer-mem-limit", "1GiB"],
    });
    try {
      const answers: Answer[] = [];
      const phase = async (name: string, load: () => Promise<LoadResult | undefined>) => {
        const startMs = Date.now();
        const loaded = await load();
        const beside = loaded === undefined ? "" : `; ${short(loaded.rowCount)} rows at ${short(loaded.rowsPerSecond)} rows/s`;
        answers.push(judge(name, readStalls(probeFile, startMs), beside));
        say(`${answers.at(-1)!.what}: ${short(answers.at(-1)!.value)} ms; ${answers.at(-1)!.detail}`);
      };
      await phase("ingest", () => loader.run(writeUrlOf(server), { passes: 2, goOnInTime: true }));
      const seriesCount = size === "real" ? passRows : passRows / 10;
      const series = await Loader.create({ hosts: seriesCount, rows: seriesCount, seed: 1, shape: "wide table" });
      try {
        await phase(`${short(seriesCount)} new series in a table of 100 fields`, async () => series.run(writeUrlOf(server, "wide")));
      } finally {
        series.close();
      }
      await server.restart(["--buffer-mem-limit", "128MiB", ...EAGER_COMPACTION]);
      const passes = Math.max(1, Math.floor(rows / passRows) - 2);
      await phase("ingest, flush and merges", () => loader.run(writeUrlOf(server), { firstPass: 2, passes, goOnInTime: true }));
      await server.restart(EAGER_COMPACTION);
      await phase("compaction of whole days", async () => void (await compacted(server)));
      await checkOurRows(server, (passes + 2) * passRows);
      return size === "real" ? answers.map((answer) => ({ ...answer, goal: { atMost: GOAL_MS } })) : answers;
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      loader.close();
      await server.dispose();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function readStalls(file: string, sinceMs: number): Stall[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ").map(Number))
    .map(([endMs, lengthMs, waitedMs]) => ({ endMs: endMs!, lengthMs: lengthMs!, waitedMs: waitedMs! }))
    .filter(({ endMs }) => endMs >= sinceMs);
}

/** Time waiting for a processor that other threads used is not a stall of the server; on an idle machine there is none. */
function judge(name: string, found: readonly Stall[], beside: string): Answer {
  const own = found.map(({ lengthMs, waitedMs }) => Math.max(0, lengthMs - waitedMs)).sort((a, b) => b - a);
  const longest = found.reduce((most, { lengthMs }) => Math.max(most, lengthMs), 0);
  const over = own.filter((milliseconds) => milliseconds > GOAL_MS).length;
  return {
    ...{ what: `longest stall of the main thread, ${name}`, value: own[0] ?? 1, unit: "ms" },
    detail: `with waiting for a processor ${short(longest)} ms; ${over} over ${GOAL_MS} ms, ${found.length} over 10 ms${beside}`,
  };
}
