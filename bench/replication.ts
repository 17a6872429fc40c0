// How many rows a second does a replication bring to another server, and what does it cost the writes? Two processes share the machine.
import { BucketServer } from "../test/e2e/replication-world.ts";
import { type Answer, alternate, type Bench, median, short } from "./support/bench.ts";
import { cpuMsOf } from "./support/process-stats.ts";

const BODY_ROWS = 5000;
const ROWS = { smoke: 20_000, real: 1_000_000 } as const;
const ROUNDS = { smoke: 1, real: 3 } as const;
const WAIT_MS = 300_000;

interface Sent {
  readonly writtenPerSecond: number;
  /** From the first write until the remote has all rows. */
  readonly arrivedPerSecond: number;
  readonly cpuUsOfRow: number;
}

export const replication: Bench = {
  name: "replication",
  async run(size, say, { rows = ROWS[size] } = {}) {
    const bodies = Array.from({ length: Math.ceil(rows / BODY_ROWS) }, (_, i) => bodyOf(i));
    const sent: Sent[] = [];
    const alone: Sent[] = [];
    const [withReplication, without] = await alternate(
      ROUNDS[size],
      [() => round(bodies, true, sent), () => round(bodies, false, alone)],
      WAIT_MS,
    );
    const of = (all: readonly Sent[], what: keyof Sent) => median(all.map((each) => each[what]));
    const answers: Answer[] = [
      {
        what: "rows a second that a replication brings to another server",
        value: of(sent, "arrivedPerSecond"),
        unit: "rows/s",
        detail: `${short(bodies.length * BODY_ROWS)} rows of 2 tags and 3 fields, written as fast as they are taken; sender ${short(of(sent, "cpuUsOfRow"))} µs a row`,
      },
      {
        what: "ingest into a replicated bucket ÷ into another",
        value: withReplication! / without!,
        unit: "×",
        detail: `${short(withReplication!)} ÷ ${short(without!)} rows/s; server ${short(of(sent, "cpuUsOfRow"))} ÷ ${short(of(alone, "cpuUsOfRow"))} µs a row`,
      },
    ];
    for (const { what, value, unit, detail } of answers) say(`${what}: ${short(value)} ${unit}; ${detail}`);
    return answers;
  },
};

/** Two connections, each with its next body when the one before is acknowledged. Gives the rows written a second. */
async function round(bodies: readonly string[], isReplicated: boolean, into: Sent[]): Promise<number> {
  const [from, to] = [await BucketServer.start(), await BucketServer.start()];
  try {
    if (isReplicated) await from.replicateTo(to, { maxQueueSizeBytes: 1 << 30 });
    const cpuMs = cpuMsOf(from.server.pid) ?? Number.NaN;
    const startMs = performance.now();
    let next = 0;
    const connection = async () => {
      while (next < bodies.length) await from.write(bodies[next++]!);
    };
    await Promise.all([connection(), connection()]);
    const rows = bodies.length * BODY_ROWS;
    const writtenPerSecond = (rows * 1000) / (performance.now() - startMs);
    if (isReplicated) await untilArrived(to, rows);
    const arrivedPerSecond = (rows * 1000) / (performance.now() - startMs);
    const cpuUsOfRow = (((cpuMsOf(from.server.pid) ?? Number.NaN) - cpuMs) * 1000) / rows;
    into.push({ writtenPerSecond, arrivedPerSecond, cpuUsOfRow });
    return writtenPerSecond;
  } finally {
    await Promise.all([from.server.dispose(), to.server.dispose()]);
  }
}

/** @throws Error when rows are missing after five minutes */
async function untilArrived({ server }: BucketServer, rows: number): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const [found] = await server.sql<{ n: number }>("b", "SELECT count(*) AS n FROM cpu").catch(() => []);
    if (found?.n === rows) return;
    if (performance.now() - startMs > WAIT_MS) throw new Error(`${found?.n} of ${rows} rows have arrived`);
    await Bun.sleep(20);
  }
}

function bodyOf(number: number): string {
  const lines: string[] = [];
  for (let row = 0; row < BODY_ROWS; row++) {
    const time = 1_700_000_000_000_000_000n + BigInt(number * BODY_ROWS + row);
    lines.push(`cpu,host=h${row % 100},region=r${row % 5} usage=${(row % 1000) / 10},count=${row}i,up=true ${time}`);
  }
  return lines.join("\n");
}
