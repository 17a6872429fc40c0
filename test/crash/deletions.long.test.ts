// A real server is killed with SIGKILL at random moments while clients write, delete what they have written, and write it again, and while
// it merges its files. What was acknowledged is so after every start; what was under way has happened whole or not at all.
// `ROUNDS=… SEED=… bun test test/crash` runs longer or again.
import { expect, test } from "bun:test";
import { type Below, prng } from "../support/prng.ts";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import type { TestServer } from "../support/servers/server.ts";
import { dataFiles } from "../support/storage/data-files.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 6);
const SEED = Number(process.env["SEED"] ?? 1);
const CLIENTS = 4;
const BODY_LINES_MAX = 60;
const DATABASE = "crash";
const TABLES = ["first", "second"] as const;
/** Files are merged as soon as there are two, and deletions applied to them. */
const FLAGS = ["--compaction-check-interval", "100ms", "--compaction-cleanup-wait", "0s"];
/** As in kill.long.test.ts: in the middle of it; in the flush of a stop; in a flush of old rows, or about then. */
const ENDINGS = [
  { runMs: [0, 250], stopMs: undefined, flags: FLAGS },
  { runMs: [0, 80], stopMs: 120, flags: FLAGS },
  { runMs: [80, 120], stopMs: undefined, flags: FLAGS },
  { runMs: [950, 1250], stopMs: undefined, flags: [...FLAGS, "--gen0-duration", "1s"] },
] as const;

/** Rows of a body: none, as written first, as written again after a deletion. */
const STATES = ["none", "first", "again"] as const;
type State = (typeof STATES)[number];

/** Some lines of one table in a range of time that nothing else uses. */
interface Body {
  readonly number: number;
  readonly table: (typeof TABLES)[number];
  readonly client: number;
  readonly lineCount: number;
  /** Two while something is under way or was when the server was killed. */
  possible: readonly State[];
}

test(`${ROUNDS} rounds of SIGKILL under ${CLIENTS} clients that delete, seed ${SEED}`, async () => {
  const below = prng(SEED);
  await using server = await startDataServer(FLAGS);
  const bodies: Body[] = [];
  const setUp = TABLES.map((table) => `${table},client=none body=-1i,first=true,again=true 1`).join("\n");
  expect((await fetch(`${server.url}/api/v3/write_lp?db=${DATABASE}`, { method: "POST", body: setUp })).status).toBe(204);
  const count = (state: State) => bodies.filter(({ possible }) => possible[0] === state).length;
  const isEnough = () => STATES.every((state) => count(state) > ROUNDS / 2) && hasClosedDay(server);
  // on a busy machine more rounds, and longer ones, until they say something
  for (let round = 0; round < ROUNDS || !isEnough(); round++) {
    const stretch = 1 + Math.max(0, round + 1 - ROUNDS);
    await workUntilKilled(server, bodies, { ...ENDINGS[round % ENDINGS.length]!, stretch }, prng(SEED * 1000 + round));
    if (below(4) === 0) await server.restartAndKill(below(400));
    await server.restart(ENDINGS[(round + 1) % ENDINGS.length]!.flags);
    await check(server, bodies, round);
  }
  expect(await server.stop()).toBe(0);
}, 600_000);

const hasClosedDay = (server: TestServer) => dataFiles(server.dataDir).some(({ kind }) => kind === "merged");

/** `stretch`: how many times as long as others the round may take. */
type Ending = (typeof ENDINGS)[number] & { readonly stretch: number };

async function workUntilKilled(server: TestServer, bodies: Body[], ending: Ending, below: Below): Promise<void> {
  let isOver = false;
  async function client(client: number, below: Below): Promise<void> {
    const own = () => bodies.filter((body) => body.client === client && body.possible.length === 1);
    while (!isOver) {
      const known = own();
      const body = below(3) === 0 ? undefined : known[below(known.length)];
      try {
        if (body === undefined) {
          const table = TABLES[below(TABLES.length)]!;
          const next: Body = { number: bodies.length, table, client, lineCount: 1 + below(BODY_LINES_MAX), possible: ["none"] };
          bodies.push(next);
          await change(next, "first", () => write(server, next, "first"));
        } else if (body.possible[0] === "none") {
          await change(body, "again", () => write(server, body, "again"));
        } else {
          await change(body, "none", () => remove(server, body, below(2) === 0));
        }
      } catch (error) {
        if (!isOver) throw error;
        return;
      }
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i, prng(below(2 ** 31))));
  const [least, most] = ending.runMs;
  await Promise.race([Bun.sleep((least + below(most - least)) * ending.stretch), ...clients]);
  isOver = true;
  if (ending.stopMs === undefined) await server.kill("SIGKILL");
  else await server.stopAndKill(below(ending.stopMs));
  await Promise.all(clients);
}

/** `act` says whether it was done. */
async function change(body: Body, state: State, act: () => Promise<boolean>): Promise<void> {
  const before = body.possible[0]!;
  body.possible = [before, state];
  body.possible = [(await act()) ? state : before];
}

function timeOf({ number }: Body, line: number): bigint {
  // bodies of a day or two, so that blocks hold many
  return 1_700_000_000_000_000_000n + BigInt(number) * 60_000_000_000n + BigInt(line);
}

async function write(server: TestServer, body: Body, field: "first" | "again"): Promise<boolean> {
  const lines = Array.from({ length: body.lineCount }, (_, line) => {
    return `${body.table},client=c${body.client} body=${body.number}i,${field}=true ${timeOf(body, line)}`;
  });
  const url = `${server.url}/api/v3/write_lp?db=${DATABASE}&precision=nanosecond`;
  const response = await fetch(url, { method: "POST", body: lines.join("\n") });
  if (response.status !== 204) throw new Error(`a write was answered ${response.status}: ${await response.text()}\n${server.output}`);
  return true;
}

async function remove(server: TestServer, body: Body, byTag: boolean): Promise<boolean> {
  const range = { minNs: timeOf(body, 0), maxNs: timeOf(body, body.lineCount - 1) };
  const tags = byTag ? [{ tag: "client", values: [`c${body.client}`, "nobody"] }] : [];
  try {
    await dataOf(server).deleteRows({ database: DATABASE, table: body.table, range, tags });
    return true;
  } catch (error) {
    // in long runs there may be too many that no compaction has applied
    if ((error as Error).message.includes("limit_exceeded")) return false;
    throw error;
  }
}

/** Every body is in a state that it can be in; from now on it is known which. */
async function check(server: TestServer, bodies: readonly Body[], round: number): Promise<void> {
  const found = new Map<string, { n: number; first: number; again: number }>();
  for (const table of TABLES) {
    const statement = `SELECT body, count(*) AS n, count("first") AS f, count(again) AS a FROM "${table}" GROUP BY body`;
    const rows = await server.sql<{ body: number; n: number; f: number; a: number }>(DATABASE, statement);
    for (const { body, n, f, a } of rows) found.set(`${table} ${body}`, { n, first: f, again: a });
  }
  const wrong: string[] = [];
  for (const body of bodies) {
    const { n, first, again } = found.get(`${body.table} ${body.number}`) ?? { n: 0, first: 0, again: 0 };
    const state = n === 0 ? "none" : first === n && again === 0 ? "first" : again === n && first === 0 ? "again" : "torn";
    const isWhole = n === 0 || n === body.lineCount;
    if (state === "torn" || !isWhole || !body.possible.includes(state)) {
      const counts = `${n} of ${body.lineCount} rows, ${first} first, ${again} again`;
      wrong.push(`body ${body.number} of ${body.table}: ${counts}; can be ${body.possible.join(" or ")}`);
    } else body.possible = [state];
  }
  expect(wrong, `round ${round}, seed ${SEED}\n${server.output.slice(-3000)}`).toEqual([]);
}
