// Measures the gain of a file index. Requests are looked up by an id in a string field, unique per row: without and with the index, in
// flushed and in compacted files, and with more data than the cache holds. Every answer is compared with the rows that were written.
import { TestServer } from "../test/support/servers/server.ts";
import { type Answer, type Bench, median, type Size, short } from "./support/bench.ts";
import { compactAll, NO_COMPACTION } from "./support/compaction.ts";
import { withOutput } from "./support/ours.ts";
import { cpuMsOf } from "./support/process-stats.ts";

/** A file holds one day. */
const FILE_ROWS = 50_000;
const SMOKE_FILE_ROWS = 1000;
const BODY_ROWS_MAX = 10_000;
const HOSTS = 50;
const DAY_NS = 86_400_000_000_000n;
/** All days are in the past. */
const START_NS = 1_700_006_400_000_000_000n;
/** Time between rows of a day. */
const STEP_NS = DAY_NS / BigInt(FILE_ROWS);
const DEADLINE_MS = 120_000;
const UNCACHED = "compacted, not in the cache";

/** 32 hexadecimal digits in random order. */
function idOf(row: number): string {
  const half = (seed: bigint) => Bun.hash.xxHash64(String(row), seed).toString(16).padStart(16, "0");
  return half(1n) + half(2n);
}

const timeOf = (row: number) => START_NS + BigInt(Math.floor(row / FILE_ROWS)) * DAY_NS + BigInt(row % FILE_ROWS) * STEP_NS;

function lineOf(row: number): string {
  return `log,host=h${row % HOSTS} request="${idOf(row)}",path="/api/${row % 977}",status=${200 + (row % 5)}i,took=${row % 1009}.5 ${timeOf(row)}`;
}

interface Question {
  readonly name: string;
  /** Number of ids in the query. */
  readonly ids: number;
  readonly url: (ids: readonly string[]) => string;
  /** Expected value for the rows. */
  readonly expected: (rows: readonly number[]) => string;
}

const sql = (q: string) => `/api/v3/query_sql?${new URLSearchParams({ db: "db", q, format: "csv" })}`;
const list = (ids: readonly string[]) => ids.map((id) => `'${id}'`).join(", ");
const counted = (rows: readonly number[]) => `n,s\n${rows.length},${rows.reduce((sum, row) => sum + 200 + (row % 5), 0)}\n`;

const QUESTIONS: readonly Question[] = [
  {
    name: "one request",
    ids: 1,
    url: ([id]) => sql(`SELECT host, status, took FROM log WHERE request = '${id}'`),
    expected: (rows) => `host,status,took\n${rows.map((row) => `h${row % HOSTS},${200 + (row % 5)},${row % 1009}.5\n`).join("")}`,
  },
  {
    name: "ten requests, counted",
    ids: 10,
    url: (ids) => sql(`SELECT count(*) AS n, sum(status) AS s FROM log WHERE request IN (${list(ids)})`),
    expected: counted,
  },
  {
    name: "one request, v1",
    ids: 1,
    url: ([id]) => `/query?${new URLSearchParams({ db: "db", q: `SELECT status FROM log WHERE request = '${id}'`, epoch: "ns" })}`,
    expected: ([row]) =>
      `{"results":[{"statement_id":0,"series":[{"name":"log","columns":["time","status"],"values":[[${timeOf(row!)},${200 + (row! % 5)}]]}]}]}\n`,
  },
];

export const fileIndex: Bench = {
  name: "file-index",
  async run(size, say, { rows = size === "real" ? 2_000_000 : 2 * SMOKE_FILE_ROWS, only = "", state } = {}) {
    const server = await TestServer.start({ flags: NO_COMPACTION });
    try {
      const fileRows = size === "real" ? FILE_ROWS : SMOKE_FILE_ROWS;
      const bodyRows = Math.min(fileRows, BODY_ROWS_MAX);
      const fileCount = Math.ceil(rows / fileRows);
      for (let file = 0; file < fileCount; file++) {
        for (let at = 0; at < fileRows; at += bodyRows) await write(server, file * fileRows + at, bodyRows);
        // a stop flushes memory to a file
        await server.restart();
      }
      say(`${short(fileCount * fileRows)} rows in ${fileCount} files`);
      const answers: Answer[] = [];
      for (const where of ["flushed", "compacted", UNCACHED].filter((name) => state === undefined || name.startsWith(state))) {
        if (where === "compacted") await compactAll(server);
        if (where === UNCACHED) await server.restart(["--file-cache-size", "1MiB"]);
        const asked = QUESTIONS.filter(({ name }) => name.includes(only));
        const how = { size, rows: fileCount * fileRows };
        const without = await measureAll(server, asked, how);
        await change(server, "POST", { columns: ["request"] });
        const bytes = await indexed(server);
        const withIndex = await measureAll(server, asked, how);
        await change(server, "DELETE", {});
        // later measurements benefit from compiled code: the better of before and after counts
        const again = await measureAll(server, asked, how);
        asked.forEach((question, i) => {
          const best = without[i]!.ms < again[i]!.ms ? without[i]! : again[i]!;
          answers.push(answerOf(question, where, best, withIndex[i]!, { ...how, bytes }));
        });
      }
      return answers;
    } catch (error) {
      throw withOutput(error, server);
    } finally {
      await server.dispose();
    }
  },
};

interface Measured {
  readonly ms: number;
  readonly cpuMs: number;
}

interface How {
  readonly size: Size;
  readonly rows: number;
}

async function measureAll(server: TestServer, questions: readonly Question[], how: How): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const question of questions) measured.push(await measure(server, question, how));
  return measured;
}

/** Medians over ids at random positions, new ones each time; the first rounds warm up. */
async function measure(server: TestServer, { ids, url, expected }: Question, { size, rows }: How): Promise<Measured> {
  const [warm, rounds] = size === "real" ? [5, 41] : [0, 1];
  const times: number[] = [];
  let cpuMs = 0;
  for (let round = 0; round < warm + rounds; round++) {
    if (round === warm) cpuMs = cpuMsOf(server.pid) ?? 0;
    const asked = [...new Set(Array.from({ length: ids }, (_, i) => (round * 7_368_787 + i * 1_299_709 + 17) % rows))];
    const startMs = performance.now();
    const response = await fetch(server.url + url(asked.map(idOf)));
    const text = await response.text();
    if (round >= warm) times.push(performance.now() - startMs);
    if (text !== expected(asked)) throw new Error(`${url(asked.map(idOf))}: ${response.status} ${text}, expected ${expected(asked)}`);
  }
  return { ms: median(times), cpuMs: ((cpuMsOf(server.pid) ?? 0) - cpuMs) / rounds };
}

function answerOf(
  question: Question,
  where: string,
  without: Measured,
  withIndex: Measured,
  { rows, bytes }: How & { bytes: number },
): Answer {
  const ms = `${short(without.ms)} → ${short(withIndex.ms)} ms`;
  const cpu = `processor ${short(without.cpuMs)} → ${short(withIndex.cpuMs)} ms`;
  return {
    what: `${question.name} of ${short(rows)}, ${where}: without ÷ with a file index`,
    ...{ value: without.ms / withIndex.ms, unit: "×", goal: { atLeast: 1 } },
    detail: `${ms}, ${cpu}; the index ${(bytes / rows).toFixed(2)} bytes a row`,
  };
}

async function write(server: TestServer, firstRow: number, rowCount: number): Promise<void> {
  const body = Array.from({ length: rowCount }, (_, i) => lineOf(firstRow + i)).join("\n");
  const response = await fetch(`${server.url}/api/v3/write_lp?db=db&precision=nanosecond`, { method: "POST", body });
  if (response.status !== 204) throw new Error(`write: ${response.status} ${await response.text()}`);
}

async function change(server: TestServer, method: "POST" | "DELETE", more: object): Promise<void> {
  const init = { method, headers: { "content-type": "application/json" }, body: JSON.stringify({ db: "db", table: "log", ...more }) };
  const response = await fetch(`${server.url}/api/v3/enterprise/configure/file_index`, init);
  if (response.status !== 200) throw new Error(`file index: ${response.status} ${await response.text()}`);
}

/** Waits until every file is indexed; returns the bytes of the indexes. */
async function indexed(server: TestServer): Promise<number> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const [row] = await server.sql<Record<string, number>>("db", "SELECT * FROM system.file_index");
    if (row!["file_count"] === row!["indexed_file_count"]) return row!["size_bytes"]!;
    if (performance.now() > deadlineMs) throw new Error(`${row!["indexed_file_count"]} of ${row!["file_count"]} files are indexed`);
    await Bun.sleep(50);
  }
}
