// Selects the TSBS queries that this server supports, and measures them on an idle server.
import { prng } from "../../test/support/prng.ts";
import type { TestServer } from "../../test/support/servers/server.ts";
import { TSBS_QUERIES, type TsbsExtent, type TsbsQuery } from "../data/tsbs-queries.ts";
import { type Answer, answerOfSql, difference } from "./answers.ts";
import { median } from "./bench.ts";
import { askOurs } from "./ours.ts";
import { timed } from "./timed.ts";

const WARM_UPS = 2;
/** Slow queries run less often, but at least this often. */
const PATIENCE_MS = 4000;
const LEAST = 5;

/** Queries with `only` in their names, without those that use functions missing in the dialect; `say` reports these. */
export async function questionsFor(
  server: TestServer,
  extent: TsbsExtent,
  only: string | undefined,
  say: (line: string) => void,
): Promise<TsbsQuery[]> {
  const found: TsbsQuery[] = [];
  for (const question of TSBS_QUERIES.filter(({ name }) => name.includes(only ?? ""))) {
    if (question.mayBeRefused && (await isRefused(server, question, extent))) {
      say(`${question.name}: the dialect has not got it; left out`);
    } else found.push(question);
  }
  return found;
}

async function isRefused(server: TestServer, question: TsbsQuery, extent: TsbsExtent): Promise<boolean> {
  return await askOurs(server, question.statement(extent, prng(1)).sql).then(
    () => false,
    (error: unknown) => /Invalid function|does not exist/.test(String(error)),
  );
}

/** Runs every query for `milliseconds`, so that compilation at run time is not measured. */
export async function warmOurs(
  server: TestServer,
  questions: readonly TsbsQuery[],
  extent: TsbsExtent,
  milliseconds: number,
): Promise<void> {
  for (const { statement } of questions) {
    const endMs = performance.now() + milliseconds;
    // other parameters than those measured
    for (let execution = 0; performance.now() < endMs; execution++) await askOurs(server, statement(extent, prng(1000 + execution)).sql);
  }
}

export interface Measured {
  readonly ms: number;
  /** Indexed by execution. */
  readonly answers: readonly Answer[];
}

/** Median times of the queries, in turns: this many executions of each, and further ones until `leastMs` have passed. `expected` are the
 *  answers of measureOurs, by query. @throws Error if an answer differs */
export async function measureInTurns(
  server: TestServer,
  questions: readonly TsbsQuery[],
  extent: TsbsExtent,
  { executions, leastMs }: { readonly executions: number; readonly leastMs: number },
  expected: readonly (readonly Answer[])[],
): Promise<number[]> {
  const milliseconds = questions.map((): number[] => []);
  const endMs = performance.now() + leastMs;
  for (let turn = 0; turn < executions || performance.now() < endMs; turn++) {
    for (const [i, question] of questions.entries()) {
      const execution = turn % expected[i]!.length;
      milliseconds[i]!.push((await execute(server, question, extent, execution, expected[i]![execution])).tookMs);
    }
  }
  return milliseconds.map(median);
}

/** Median time of executions with new parameters, after two that are not counted. `expected` are the answers of an earlier call. @throws
 *  Error if an answer differs */
export async function measureOurs(
  server: TestServer,
  question: TsbsQuery,
  extent: TsbsExtent,
  executions: number,
  expected: readonly Answer[] | undefined,
): Promise<Measured> {
  const milliseconds: number[] = [];
  const answers: Answer[] = [];
  const endMs = performance.now() + PATIENCE_MS;
  for (let execution = 0; execution < executions + WARM_UPS; execution++) {
    if (execution >= LEAST + WARM_UPS && performance.now() > endMs) break;
    const { tookMs, answer } = await execute(server, question, extent, execution, expected?.[execution]);
    if (execution >= WARM_UPS) milliseconds.push(tookMs);
    answers.push(answer);
  }
  return { ms: median(milliseconds), answers };
}

/** One execution with its own parameters. @throws Error if the answer differs from before */
async function execute(
  server: TestServer,
  { name, readsNewest, statement }: TsbsQuery,
  extent: TsbsExtent,
  execution: number,
  before: Answer | undefined,
): Promise<{ tookMs: number; answer: Answer }> {
  const asked = statement(extent, prng(execution + 1));
  const { text, tookMs } = await timed(() => askOurs(server, asked.sql));
  const answer = answerOfSql(text, asked);
  const wrong = readsNewest || before === undefined ? undefined : difference(answer, before);
  if (wrong !== undefined) throw new Error(`${name}: the answer has changed: ${wrong}\n${asked.sql}`);
  return { tookMs, answer };
}
