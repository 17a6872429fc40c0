// A real server is killed with SIGKILL at random moments while several clients write, and started again. Every row that was acknowledged is
// there, and every body is there whole or not at all. `ROUNDS=… SEED=… bun test test/crash` runs longer or again.
import { expect, test } from "bun:test";
import { type Below, prng } from "../support/prng.ts";
import { TestServer } from "../support/servers/server.ts";
import { dataFiles } from "../support/storage/data-files.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 12);
const SEED = Number(process.env["SEED"] ?? 1);
const WRITERS = 4;
const BODY_LINES_MAX = 200;
/** Columns made on the way; a table may have 500. */
const COLUMNS = 200;
const DATABASE = "crash";
/** A body is spread over them, so that a body that is cut between two tables shows. */
const TABLES = ["first", "second"] as const;
/** How a round ends: in the middle of writes; in the flush of a stop; in the flush of rows that have become too old, or about then; in
 *  the compaction of files that earlier rounds have left, or about then. */
const ENDINGS = {
  writing: { writeMs: [0, 120], stopMs: undefined, flags: [] },
  stopping: { writeMs: [0, 60], stopMs: 120, flags: [] },
  ageing: { writeMs: [950, 1250], stopMs: undefined, flags: ["--gen0-duration", "1s"] },
  compacting: {
    writeMs: [0, 300],
    stopMs: undefined,
    flags: ["--compaction-check-interval", "100ms", "--compaction-delay", "0s", "--compaction-cleanup-wait", "0s"],
  },
} as const;
/** The endings in their order; ageing takes long and comes seldom. */
const SCHEDULE: readonly (keyof typeof ENDINGS)[] = ["writing", "stopping", "compacting", "stopping", "writing", "ageing", "compacting"];

/** What a writer knows about the bodies of one round, by their number. */
interface Sent {
  readonly lineCount: number;
  acknowledged: boolean;
}

test(`${ROUNDS} rounds of SIGKILL under ${WRITERS} writers, seed ${SEED}`, async () => {
  const below = prng(SEED);
  await using server = await TestServer.start();
  let acknowledged = 0;
  const kept: number[] = [];
  const kinds = { flushed: false, merged: false };
  // on a busy machine more rounds, and longer ones, until there were flushes and compactions that a kill could meet
  for (let round = 0; round < ROUNDS || !kinds.flushed || !kinds.merged; round++) {
    const sent = await writeUntilKilled({ server, round, below, stretch: 1 + Math.max(0, round + 1 - ROUNDS) });
    acknowledged += sent.filter((body) => body.acknowledged).length;
    if (below(4) === 0) await server.restartAndKill(below(400));
    await server.restart(endingOf(round + 1).flags);
    kept.push(await checkRound(server, round, sent));
    for (const { kind } of dataFiles(server.dataDir)) kinds[kind] = true;
  }
  // what a round left is still there after all the kills that followed it
  for (const [round, rowCount] of kept.entries()) {
    if (rowCount > 0) expect(await rowsOfRound(server, round), `rows of round ${round} at the end`).toBe(rowCount);
  }
  // or the rounds were too short to say anything
  expect(acknowledged).toBeGreaterThan(ROUNDS);
  expect(await server.stop()).toBe(0);
}, 600_000);

type Ending = (typeof ENDINGS)[keyof typeof ENDINGS];

const endingOf = (round: number): Ending => ENDINGS[SCHEDULE[round % SCHEDULE.length]!];

interface Round {
  readonly server: TestServer;
  readonly round: number;
  readonly below: Below;
  /** How many times as long as others it may take. */
  readonly stretch: number;
}

/** Writes from several clients until the server is killed; returns every body that was begun. */
async function writeUntilKilled({ server, round, below, stretch }: Round): Promise<Sent[]> {
  const ending = endingOf(round);
  const sent: Sent[] = [];
  const { url } = server;
  let stopping = false;
  let killed = false;
  async function writer(writer: number, below: Below): Promise<void> {
    while (!killed) {
      const body: Sent = { lineCount: 1 + below(BODY_LINES_MAX), acknowledged: false };
      const number = sent.push(body) - 1;
      const text = bodyText({ round, number, writer, lineCount: body.lineCount, newColumn: below(20) === 0 });
      const response = await fetch(`${url}/api/v3/write_lp?db=${DATABASE}`, { method: "POST", body: text }).catch(() => undefined);
      // the server is gone; what happened to this body nobody knows
      if (response === undefined || (stopping && response.status === 503)) return;
      if (response.status !== 204) throw new Error(`a write was answered ${response.status}: ${await response.text()}\n${server.output}`);
      body.acknowledged = true;
    }
  }
  const writers = Array.from({ length: WRITERS }, (_, i) => writer(i, prng(SEED + round * WRITERS + i)));
  const [least, most] = ending.writeMs;
  await Promise.race([Bun.sleep((least + below(most - least)) * stretch), ...writers]);
  if (ending.stopMs === undefined) {
    await server.kill("SIGKILL");
  } else {
    stopping = true;
    await server.stopAndKill(below(ending.stopMs));
  }
  killed = true;
  await Promise.all(writers);
  return sent;
}

interface BodyText {
  readonly round: number;
  readonly number: number;
  readonly writer: number;
  readonly lineCount: number;
  /** Changes the schema, so that the catalog's log is written too. */
  readonly newColumn: boolean;
}

/** Every line carries its body's number and the number of lines that belong to it. */
function bodyText({ round, number, writer, lineCount, newColumn }: BodyText): string {
  const lines = Array.from({ length: lineCount }, (_, part) => {
    const extra = newColumn && part === 0 ? `,column_${(round * 3 + writer) % COLUMNS}=true` : "";
    const time = 1_700_000_000_000_000_000n + BigInt(round) * 1_000_000_000_000n + BigInt(number) * 1_000_000n + BigInt(part);
    return `${TABLES[part % TABLES.length]},writer=w${writer} round=${round}i,body=${number}i,parts=${lineCount}i${extra} ${time}`;
  });
  return lines.join("\n");
}

/** Checks what the server holds of one round against what was sent, and returns its row count. */
async function checkRound(server: TestServer, round: number, sent: readonly Sent[]): Promise<number> {
  const found = await bodiesOfRound(server, round);
  const lost: string[] = [];
  const torn: string[] = [];
  for (const [number, { lineCount, acknowledged }] of sent.entries()) {
    const rowCount = found.get(number) ?? 0;
    if (acknowledged && rowCount === 0) lost.push(`body ${number} of ${lineCount} lines`);
    if (rowCount !== 0 && rowCount !== lineCount) torn.push(`body ${number}: ${rowCount} of ${lineCount} lines`);
  }
  const context = `round ${round}, seed ${SEED}\n${server.output.slice(-4000)}`;
  expect(lost, `acknowledged and lost in ${context}`).toEqual([]);
  expect(torn, `half there in ${context}`).toEqual([]);
  expect(
    [...found.keys()].filter((number) => sent[number] === undefined),
    `never sent, in ${context}`,
  ).toEqual([]);
  return [...found.values()].reduce((sum, rowCount) => sum + rowCount, 0);
}

/** Row count by body number. */
async function bodiesOfRound(server: TestServer, round: number): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  for (const table of await tablesThere(server)) {
    const statement = `SELECT body, count(*) AS n FROM ${table} WHERE round = ${round} GROUP BY body`;
    for (const { body, n } of await server.sql<{ body: number; n: number }>(DATABASE, statement)) {
      counts.set(body, (counts.get(body) ?? 0) + n);
    }
  }
  return counts;
}

async function rowsOfRound(server: TestServer, round: number): Promise<number> {
  return [...(await bodiesOfRound(server, round)).values()].reduce((sum, rowCount) => sum + rowCount, 0);
}

/** The first kills may come before a database or a table is made. */
async function tablesThere(server: TestServer): Promise<readonly string[]> {
  const parameters = new URLSearchParams({ db: DATABASE, q: "SHOW TABLES", format: "csv" });
  const response = await fetch(`${server.url}/api/v3/query_sql?${parameters}`);
  const text = await response.text();
  if (response.status === 404) return [];
  if (response.status !== 200) throw new Error(`SHOW TABLES: ${response.status} ${text}`);
  return TABLES.filter((table) => new RegExp(`\\b${table}\\b`).test(text));
}
