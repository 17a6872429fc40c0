// How fast are backups and restores of databases, and what do they cost the writes meanwhile? Other processes share the machine's disk.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prng } from "../test/support/prng.ts";
import { backUp, type Job, restore } from "../test/support/servers/database-backups.ts";
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, alternate, type Bench, median, short } from "./support/bench.ts";

const BODY_ROWS = 5000;
const FIELDS = 10;
/** Stored rows; rows that are written in a round. */
const ROWS = { smoke: 20_000, real: 1_500_000 } as const;
const WRITTEN = { smoke: 20_000, real: 400_000 } as const;
const ROUNDS = { smoke: 1, real: 5 } as const;
const WAIT_MS = 300_000;

export const backup: Bench = {
  name: "backup",
  async run(size, say) {
    const folder = mkdtempSync(join(tmpdir(), "tsdb-bench-"));
    const flags = ["--use-pacha-tree", "--backup-dir", join(folder, "backups"), "--compaction-check-interval", "24h"];
    const server = await TestServer.start({ dataDir: join(folder, "data"), flags });
    try {
      const below = prng(1);
      // random digits, so that files are large
      const stored = bodiesOf("stored", ROWS[size], () => `${below(1e9)}.${below(1e6)}`);
      await write(server, stored);
      await backUp(server, "first");
      const speeds = { backup: [] as number[], restore: [] as number[] };
      let bytes = 0;
      for (let round = 0; round < ROUNDS[size]; round++) {
        const startMs = performance.now();
        const job = await backUp(server, "b", { force: true });
        const middleMs = performance.now();
        requireCompleted(await restore(server, "b"), job);
        bytes = job.total_size_bytes;
        speeds.backup.push(bytes / 1000 / (middleMs - startMs));
        speeds.restore.push(bytes / 1000 / (performance.now() - middleMs));
      }
      const plain = bodiesOf("written", WRITTEN[size], (row) => String(row % 1000));
      const during: number[] = [];
      const [withBackups, without] = await alternate(
        ROUNDS[size],
        [() => written(server, plain, during), () => written(server, plain, null)],
        WAIT_MS,
      );
      const answers: Answer[] = [
        {
          what: "a full backup",
          value: median(speeds.backup),
          unit: "MB/s",
          detail: `${short(bytes / 1e6)} MB of files, from the request to the end; ${short(median(during))} MB/s beside ingest`,
        },
        { what: "a restore", value: median(speeds.restore), unit: "MB/s", detail: "the same files, verified" },
        {
          what: "ingest while backups are made one after the other ÷ without",
          value: withBackups! / without!,
          unit: "×",
          detail: `${short(withBackups!)} ÷ ${short(without!)} rows/s`,
        },
      ];
      for (const { what, value, unit, detail } of answers) say(`${what}: ${short(value)} ${unit}; ${detail}`);
      return answers;
    } finally {
      await server.dispose();
      rmSync(folder, { recursive: true });
    }
  },
};

/** Rows written a second; with `during`, while backups are made, whose speeds are added to it. */
async function written(server: TestServer, bodies: readonly string[], during: number[] | null): Promise<number> {
  let isOver = false;
  const making = (async () => {
    while (during !== null && !isOver) {
      const startMs = performance.now();
      const job = await backUp(server, "beside", { force: true });
      requireCompleted(job, job);
      during.push(job.total_size_bytes / 1000 / (performance.now() - startMs));
    }
  })();
  const startMs = performance.now();
  await write(server, bodies);
  const milliseconds = performance.now() - startMs;
  isOver = true;
  await making;
  return (bodies.length * BODY_ROWS * 1000) / milliseconds;
}

/** Two connections. */
async function write(server: TestServer, bodies: readonly string[]): Promise<void> {
  const url = `${server.url}/api/v3/write_lp?db=d&precision=ns`;
  let next = 0;
  const connection = async () => {
    while (next < bodies.length) {
      const response = await fetch(url, { method: "POST", body: bodies[next++]! });
      if (response.status !== 204) throw new Error(`write: ${response.status} ${await response.text()}`);
    }
  };
  await Promise.all([connection(), connection()]);
}

function bodiesOf(table: string, rows: number, value: (row: number) => string): string[] {
  return Array.from({ length: Math.ceil(rows / BODY_ROWS) }, (_, body) => {
    return Array.from({ length: BODY_ROWS }, (_, i) => {
      const row = body * BODY_ROWS + i;
      const fields = Array.from({ length: FIELDS }, (_, field) => `f${field}=${value(row + field)}`);
      return `${table},host=h${row % 100} ${fields.join(",")} ${1_700_000_000_000_000_000n + BigInt(row)}`;
    }).join("\n");
  });
}

function requireCompleted(...jobs: readonly Job[]): void {
  for (const { status, error } of jobs) if (status !== "completed") throw new Error(`${status}: ${error}`);
}
