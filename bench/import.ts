// How fast is a Parquet file imported? A day of rows shaped like TSBS, as this server exports it, into a table of another database: from
// the request to the end of the job; and what the server's processors do for it.
import { TarReader } from "../src/backup/tar.ts";
import { TsdbError } from "../src/model/errors.ts";
import { IMPORTS, importFile } from "../test/support/servers/imports.ts";
import type { TestServer } from "../test/support/servers/server.ts";
import { type Bench, median, short } from "./support/bench.ts";
import { DATABASE } from "./support/contestant.ts";
import { withOneDay } from "./support/one-day.ts";
import { cpuMsOf } from "./support/process-stats.ts";

const PASSES = 4;
const ROWS = { smoke: 20_000, real: 4_000_000 } as const;
const ROUNDS = { smoke: 1, real: 5 } as const;

export const importDay: Bench = {
  name: "import",
  run: (size, say, { rows = ROWS[size] } = {}) =>
    withOneDay(rows, PASSES, async (server) => {
      const file = await exportedDay(server);
      const speeds: number[] = [];
      const processorSeconds: number[] = [];
      for (let round = 0; round <= ROUNDS[size]; round++) {
        const startMs = performance.now();
        const startCpuMs = cpuMsOf(server.pid) ?? Number.NaN;
        await importOnce(server, `round${round}`, file, rows);
        // the first one is not counted
        if (round === 0) continue;
        speeds.push((rows * 1000) / (performance.now() - startMs));
        processorSeconds.push(((cpuMsOf(server.pid) ?? Number.NaN) - startCpuMs) / 1000);
      }
      const what = `a file of ${short(rows)} rows of 21 columns imported`;
      const slowest = `slowest of ${speeds.length} ${short(Math.min(...speeds))} rows/s`;
      const detail = `${short(file.length / 1e6)} MB; ${slowest}; ${short(rows / median(processorSeconds))} rows a processor second`;
      say(`${what}: ${short(median(speeds))} rows/s; ${detail}`);
      const goal = size === "real" ? { goal: { atLeast: 1_000_000 } } : {};
      return [{ what, value: median(speeds), unit: "rows/s", detail, ...goal }];
    }),
};

/** The only day of the table. */
async function exportedDay(server: TestServer): Promise<Uint8Array<ArrayBuffer>> {
  const query = new URLSearchParams({ db: DATABASE, table: "cpu" });
  const response = await fetch(`${server.url}/api/v3/export/window_data?${query}`);
  if (!response.ok) throw new Error(`export: ${response.status} ${await response.text()}`);
  const tar = new TarReader(response.body!, (reason) => new TsdbError("io", `export: ${reason}`));
  const entry = await tar.next();
  if (entry === null) throw new Error("the export has no day");
  const pieces: Uint8Array[] = [];
  await tar.pipe(entry, async (piece) => void pieces.push(piece.slice()));
  if ((await tar.next()) !== null) throw new Error("the export has more than one day");
  return new Uint8Array(Buffer.concat(pieces));
}

async function importOnce(server: TestServer, database: string, file: Uint8Array<ArrayBuffer>, rows: number): Promise<void> {
  const written = await fetch(`${server.url}/api/v3/write_lp?db=${database}`, {
    method: "POST",
    body: "cpu,hostname=none usage_user=0i 1",
  });
  if (!written.ok) throw new Error(`write: ${written.status}`);
  const job = await importFile(server, database, "cpu", file);
  if (job.last_message !== undefined) throw new Error(`${IMPORTS}: ${job.last_message}`);
  const [count] = await server.sql(database, "SELECT count(*) AS n FROM cpu");
  if (count?.["n"] !== rows + 1) throw new Error(`${count?.["n"]} rows after the import of ${rows}`);
}
