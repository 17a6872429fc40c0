// What the differential suite asks of a server, be it ours or the peer: preparation, writes, statements.
import { CHANGES } from "./differential-changes.ts";
import { DATA, DATABASE, PREPARATION } from "./differential-data.ts";
import { FUNCTION_STATEMENTS } from "./differential-functions.ts";
import { SHOWS } from "./differential-shows.ts";
import { SELECTS } from "./differential-statements.ts";
import type { Peer } from "./peer.ts";
import { randomStatements } from "./random-statements.ts";

const SEED = 5;
const RANDOM_COUNT = 250;

export const WRITTEN_STATEMENTS: readonly string[] = [...new Set([...SELECTS, ...FUNCTION_STATEMENTS, ...SHOWS])];
const RANDOM_STATEMENTS: readonly string[] = [...new Set(randomStatements(SEED, RANDOM_COUNT))];
/** In order; those that change something, some of them more than once, come last. */
export const STATEMENTS: readonly string[] = [...WRITTEN_STATEMENTS, ...RANDOM_STATEMENTS, ...CHANGES];

/** Creates the databases of the cases. */
export async function createDatabases(server: Omit<Peer, "stop">): Promise<void> {
  for (const q of PREPARATION) {
    const { text } = await server.query({ q });
    if (text.includes('"error"')) throw new Error(`${q}: ${text}`);
  }
}

/** Creates the databases and writes their rows. */
export async function prepare(server: Omit<Peer, "stop">): Promise<void> {
  await createDatabases(server);
  for (const { database, retentionPolicy, lines } of DATA) {
    if (lines.length > 0) await server.write(database, retentionPolicy, lines.join("\n"));
  }
}

/** The answer's text, without the line end that 1.x puts behind it. */
export async function answerOf(server: Omit<Peer, "stop">, statement: string): Promise<string> {
  const { text } = await server.query({ db: DATABASE, q: statement });
  return text.trimEnd();
}

interface Answer {
  readonly results?: readonly { readonly series?: readonly { values?: unknown[][] }[] }[];
}

/** The same, with rows of equal times in an order of their own: between them 1.x leaves it open. */
function withSortedTies(text: string): string {
  const answer = JSON.parse(text) as Answer;
  for (const { series = [] } of answer.results ?? []) {
    for (const one of series) {
      const { values } = one;
      if (values === undefined) continue;
      const keyed = values.map((row, i) => ({ row, text: JSON.stringify(row), group: i }));
      // a run of one time is sorted, runs stay where they are
      for (let i = 1; i < keyed.length; i++) keyed[i]!.group = keyed[i]!.row[0] === keyed[i - 1]!.row[0] ? keyed[i - 1]!.group : i;
      if (keyed.length > 0) keyed[0]!.group = 0;
      keyed.sort((a, b) => a.group - b.group || (a.text < b.text ? -1 : Number(a.text > b.text)));
      one.values = keyed.map(({ row }) => row);
    }
  }
  return JSON.stringify(answer);
}

/** True if two answers are equal up to rounding. */
export function isSameAnswer(found: string, expected: string): boolean {
  return found === expected || (found !== "" && withSortedTies(found) === withSortedTies(expected));
}

/** The same for a statement whose last digits depend on the order of the steps: deviations, which the scan computes part by part. */
export function isSameAnswerTo(statement: string, found: string, expected: string): boolean {
  if (!statement.includes("stddev")) return isSameAnswer(found, expected);
  return isSameAnswer(withRoundedFloats(found), withRoundedFloats(expected));
}

/** Sums of floats depend in their last digits on the order of the rows, which files and memory may have differently. Numbers above 64 bits
 *  are floats too. */
export function withRoundedFloats(text: string): string {
  return text.replace(/-?\d+(?:\.\d+(?:e[-+]?\d+)?|e[-+]?\d+)|-?\d{20,}/g, (number) => Number(number).toPrecision(13));
}
