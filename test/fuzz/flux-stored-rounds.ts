// Random scripts over random points: stored in every state, with operators left to the scan and without, they answer as over the same
// points in memory, read by a source that knows no storage, with row functions interpreted.
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import type { Kernel } from "../../src/kernel/memory/kernel.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { MemorySource } from "../flux/memory-source.ts";
import { prng } from "../support/prng.ts";
import { ROW_STATES } from "../support/rows/row-states.ts";
import { StoredRows } from "../support/rows/stored-rows.ts";
import { randomPoints } from "./flux-points.ts";
import { randomScript } from "./flux-queries.ts";

const NOW = parseTime("2024-06-01T00:00:00Z")!;
const DIALECT = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };

/** @param scripts for each set of points @returns how many answers had rows */
export async function storedRounds(kernel: Kernel, seed: number, rounds: number, scripts: number): Promise<number> {
  const below = prng(seed);
  let withRows = 0;
  for (let round = 0; round < rounds; round++) {
    const points = randomPoints(below);
    const memory = new MemorySource();
    memory.addBucket("b", points.lines);
    const buckets = memory.buckets();
    const { id } = buckets[0]!;
    const stores: StoredRows[] = [];
    try {
      for (const state of ROW_STATES) {
        const databases = [{ as: id, namespace: 1, name: id }];
        stores.push(await StoredRows.open(kernel, state, [{ database: id, lines: points.lines }], { databases }));
      }
      for (let i = 0; i < scripts; i++) {
        const text = randomScript(below, points);
        const expected = await outcome(async () => fromMemory(text, memory));
        if (expected.includes("\r\n,,0,")) withRows++;
        for (const [s, stored] of stores.entries()) {
          for (const pushesDown of [true, false]) {
            const got = await outcome(() => stored.flux({ text, now: NOW, dialect: DIALECT, pushesDown }, buckets));
            if (got === expected || isOfLeftOut(expected)) continue;
            const where = `seed ${seed}, round ${round}: ${ROW_STATES[s]}, pushed down: ${pushesDown}`;
            throw new Error(
              `${where}\n${text}\nexpected\n${excerpt(expected, got)}\ngot\n${excerpt(got, expected)}\nover\n${points.lines.slice(0, 4000)}`,
            );
          }
        }
      }
    } finally {
      for (const each of stores) await each.close();
    }
  }
  return withRows;
}

function fromMemory(text: string, source: MemorySource): string {
  let answer = "";
  const query = { text, now: NOW, dialect: DIALECT, pushesDown: false, rowFunctions: "interpreted" } as const;
  for (const piece of answerQuery(query, fluxLibrary(), source)) if (typeof piece === "string") answer += piece;
  return answer;
}

async function outcome(ask: () => Promise<string>): Promise<string> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof FluxError || error instanceof TsdbError) return `error: ${error.message}`;
    throw error;
  }
}

/** An error that a filter has for rows which the storage leaves out: a later filter refuses their fields. */
function isOfLeftOut(answer: string): boolean {
  return answer.startsWith("error:") && answer.includes(": cannot compile");
}

/** What a text has where it begins to differ from another. */
function excerpt(text: string, other: string): string {
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  return text.slice(Math.max(0, text.lastIndexOf("\n", at - 300)), at + 400);
}
