// How fast is a day exported, and what does a reader cost that does not read? Rows shaped like TSBS, compacted, all of one day.
import { connect } from "node:net";
import type { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, short } from "./support/bench.ts";
import { DATABASE } from "./support/contestant.ts";
import { withOneDay } from "./support/one-day.ts";
import { cpuMsOf, residentBytesOf } from "./support/process-stats.ts";

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
      const first = residentBytesOf(server.pid)?.now;
      const fast = await fastReaders(server, size, rows);
      const answers = [fast.speed];
      const slow = await slowReaders(server, size);
      if (first === undefined || slow.most.length === 0) say("the system does not tell a process's memory: left out");
      else {
        const left = residentBytesOf(server.pid)!.now;
        answers.push(
          {
            ...{
              what: "resident memory that a reader costs who does not read ÷ 32 MiB",
              value: median(slow.most) / SLOW_BYTES_MAX,
              unit: "×",
            },
            ...(size === "real" ? { goal: { atMost: 1 } } : {}),
            detail: `at most ${mib(slow.most)}, after ${STALLED_MS[size] / 1000} s ${mib(slow.held)}; who reads at once ${mib(fast.costs)}`,
          },
          {
            ...{ what: "resident memory after exports ÷ before the first", value: left / first, unit: "×" },
            detail: `${mib([left])} ÷ ${mib([first])}, ${1 + fast.costs.length + slow.most.length} exports`,
          },
        );
      }
      for (const { what, value, unit, detail } of answers) say(`${what}: ${short(value)} ${unit}; ${detail}`);
      return answers;
    }),
};

const archiveUrl = ({ url }: TestServer) => `${url}/api/v3/export/window_data?${new URLSearchParams({ db: DATABASE, table: "cpu" })}`;

const PAGE_BYTES = 4096;

const mib = (bytes: readonly number[]) => bytes.map((each) => `${(each / MIB).toFixed(0)} MiB`).join(", ");

/** Exports one after the other, after a first, uncounted export, and the resident bytes that each took beyond those before it. */
async function fastReaders(server: TestServer, size: keyof typeof ROUNDS, rows: number): Promise<{ speed: Answer; costs: number[] }> {
  const speeds: number[] = [];
  const costs: number[] = [];
  let bytes = await archiveBytes(server);
  const cpuMs = cpuMsOf(server.pid) ?? Number.NaN;
  for (let round = 0; round < ROUNDS[size]; round++) {
    const watch = new ResidentWatch(server.pid);
    const startMs = performance.now();
    bytes = await archiveBytes(server);
    speeds.push((rows * 1000) / (performance.now() - startMs));
    costs.push(watch.end());
  }
  const cpuNs = (((cpuMsOf(server.pid) ?? Number.NaN) - cpuMs) * 1e6) / (rows * speeds.length);
  const speed: Answer = {
    ...{ what: `a day of ${short(rows)} rows as an archive`, value: median(speeds), unit: "rows/s" },
    ...(size === "real" ? { goal: { atLeast: 1_000_000 } } : {}),
    detail:
      `${short(bytes / 1e6)} MB, ${short(bytes / rows)} bytes a row; slowest of ${speeds.length} ${short(Math.min(...speeds))} rows/s; ` +
      `${short(cpuNs)} ns of processor time a row`,
  };
  return { speed, costs };
}

/** The most resident bytes of a process beyond those at first. */
class ResidentWatch {
  private readonly first: number | undefined;
  private most = 0;
  private readonly timer: ReturnType<typeof setInterval>;

  constructor(private readonly pid: number) {
    this.first = residentBytesOf(pid)?.now;
    this.timer = setInterval(() => this.look(), SAMPLE_MS);
  }

  /** Beyond those at first, as things stand; negative if others have returned more. */
  held(): number {
    return (residentBytesOf(this.pid)?.now ?? 0) - (this.first ?? 0);
  }

  /** At least a page: memory that others return meanwhile may be more. */
  end(): number {
    clearInterval(this.timer);
    this.look();
    return Math.max(PAGE_BYTES, this.most - (this.first ?? 0));
  }

  private look(): void {
    this.most = Math.max(this.most, residentBytesOf(this.pid)?.now ?? 0);
  }
}

/** Length of the archive; it is only counted. */
async function archiveBytes(server: TestServer): Promise<number> {
  const response = await fetch(archiveUrl(server));
  if (!response.ok) throw new Error(`export: ${response.status} ${await response.text()}`);
  let bytes = 0;
  for await (const part of response.body!) bytes += part.length;
  return bytes;
}

/** For each round: the most resident bytes while a reader has taken only the first bytes, and while the day is read, beyond those before,
 *  and what is left of them at the end of its wait. */
async function slowReaders(server: TestServer, size: keyof typeof ROUNDS): Promise<{ most: number[]; held: number[] }> {
  const costs = { most: [] as number[], held: [] as number[] };
  if (residentBytesOf(server.pid) === undefined) return costs;
  for (let round = 0; round < ROUNDS[size]; round++) {
    const watch = new ResidentWatch(server.pid);
    const { hostname, port, pathname, search } = new URL(archiveUrl(server));
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    await new Promise((resolve) => socket.once("readable", resolve));
    await Bun.sleep(STALLED_MS[size]);
    costs.held.push(watch.held());
    costs.most.push(watch.end());
    socket.destroy();
  }
  return costs;
}
