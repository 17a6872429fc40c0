// How fast is a day exported, and what does a reader cost that does not read? Rows shaped like TSBS, compacted, all of one day.
import { connect } from "node:net";
import type { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, short } from "./support/bench.ts";
import { DATABASE } from "./support/contestant.ts";
import { withOneDay } from "./support/one-day.ts";
import { residentBytesOf } from "./support/process-stats.ts";

const PASSES = 10;
const ROWS = { smoke: 20_000, real: 10_000_000 } as const;
const ROUNDS = { smoke: 1, real: 5 } as const;
const MIB = 1 << 20;
/** Beyond it, the server has made the whole file, or waits for the reader. */
const STALLED_MS = { smoke: 200, real: 15_000 } as const;
const SAMPLE_MS = 50;
const SLOW_BYTES_MAX = 32 * MIB;

export const exportDay: Bench = {
  name: "export",
  run: (size, say, { rows = ROWS[size] } = {}) =>
    withOneDay(rows, PASSES, async (server) => {
      const speeds: number[] = [];
      let bytes = await archiveBytes(server);
      for (let round = 0; round < ROUNDS[size]; round++) {
        const startMs = performance.now();
        bytes = await archiveBytes(server);
        speeds.push((rows * 1000) / (performance.now() - startMs));
      }
      const answers: Answer[] = [
        {
          ...{ what: `a day of ${short(rows)} rows as an archive`, value: median(speeds), unit: "rows/s" },
          ...(size === "real" ? { goal: { atLeast: 1_000_000 } } : {}),
          detail: `${short(bytes / 1e6)} MB, ${short(bytes / rows)} bytes a row; slowest of ${speeds.length} ${short(Math.min(...speeds))} rows/s`,
        },
      ];
      const costs = await slowReaders(server, size);
      if (costs.length === 0) say("the system does not tell a process's memory: left out");
      else
        answers.push({
          ...{ what: "resident memory that a reader costs who does not read ÷ 32 MiB", value: median(costs) / SLOW_BYTES_MAX, unit: "×" },
          ...(size === "real" ? { goal: { atMost: 1 } } : {}),
          detail: costs.map((cost) => `${(cost / MIB).toFixed(0)} MiB`).join(", "),
        });
      for (const { what, value, unit, detail } of answers) say(`${what}: ${short(value)} ${unit}; ${detail}`);
      return answers;
    }),
};

const archiveUrl = ({ url }: TestServer) => `${url}/api/v3/export/window_data?${new URLSearchParams({ db: DATABASE, table: "cpu" })}`;

const PAGE_BYTES = 4096;

/** Length of the archive; it is only counted. */
async function archiveBytes(server: TestServer): Promise<number> {
  const response = await fetch(archiveUrl(server));
  if (!response.ok) throw new Error(`export: ${response.status} ${await response.text()}`);
  let bytes = 0;
  for await (const part of response.body!) bytes += part.length;
  return bytes;
}

/** For each round: the resident bytes while a reader has taken only the first bytes, beyond those while the day is read. */
async function slowReaders(server: TestServer, size: keyof typeof ROUNDS): Promise<number[]> {
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS[size]; round++) {
    const before = residentBytesOf(server.pid);
    if (before === undefined) return [];
    const { hostname, port, pathname, search } = new URL(archiveUrl(server));
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    await new Promise((resolve) => socket.once("readable", resolve));
    let most = 0;
    for (const endMs = performance.now() + STALLED_MS[size]; performance.now() < endMs; await Bun.sleep(SAMPLE_MS)) {
      most = Math.max(most, residentBytesOf(server.pid)!.now);
    }
    // memory that others return meanwhile may be more
    costs.push(Math.max(PAGE_BYTES, most - before.now));
    socket.destroy();
  }
  return costs;
}
