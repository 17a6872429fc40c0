// Scripts that nobody would write, run: each gives an answer or an error of the language, and nothing else is thrown.
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { RUN_LIMITS } from "../../src/flux/interpret/run-limits.ts";
import type { FluxServices } from "../../src/flux/interpret/services.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { filesOfJson } from "../../src/flux/parse/json.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { TsdbError } from "../../src/model/errors.ts";
import { fluxCases } from "../flux/cases.ts";
import { MemorySource } from "../flux/memory-source.ts";
import { prng } from "../support/prng.ts";
import { LibraryCalls } from "./flux-calls.ts";
import { mutated } from "./flux-parser.ts";
import { changedTree } from "./flux-trees.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;
/** Longer ones are mostly data. */
const SCRIPT_MAX = 900;
/** Steps count instead of the clock: a seed gives the same answers on any machine. */
const LIMITS = { ...RUN_LIMITS, stepsMax: 200_000, bytesMax: 16 << 20, cellsMax: 1_000_000, busyMsMax: Number.POSITIVE_INFINITY };
const SERVICES: FluxServices = {
  http: async () => ({ status: 200, headers: [], body: new TextEncoder().encode("{}"), durationMs: 1 }),
  write: async () => null,
  secret: () => "secret",
};

/** Recorded scripts with tokens put in, taken out and moved. */
export function scriptRounds(seed: number, rounds: number): Promise<void> {
  const below = prng(seed);
  const scripts = shortScripts();
  return everyRound(rounds, () => ({ text: mutated(scripts, below) }));
}

/** Calls of the functions of all packages. */
export function callRounds(seed: number, rounds: number): Promise<void> {
  const calls = new LibraryCalls(prng(seed));
  return everyRound(rounds, () => ({ text: calls.script() }));
}

/** Trees in JSON. */
export function treeRounds(seed: number, rounds: number): Promise<void> {
  const below = prng(seed);
  const scripts = shortScripts();
  return everyRound(rounds, () => ({ text: "", tree: changedTree(scripts, below) }));
}

function shortScripts(): string[] {
  return fluxCases().flatMap(({ script, data }) => (data.length === 0 && script.length < SCRIPT_MAX ? [script] : []));
}

interface Input {
  readonly text: string;
  readonly tree?: unknown;
}

async function everyRound(rounds: number, input: () => Input): Promise<void> {
  const source = new MemorySource();
  for (let round = 0; round < rounds; round++) {
    const each = input();
    try {
      await run(each, source);
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.stack : String(error)}\nin ${JSON.stringify(each.tree ?? each.text)}`);
    }
  }
}

/** The answer to a script, or the message of its error. */
export function onceFailed(script: string): Promise<string> {
  return run({ text: `import "array"\n${script}` }, new MemorySource());
}

/** @returns the answer, or the message of the error @throws what is no error of the language */
async function run({ text, tree }: Input, source: MemorySource): Promise<string> {
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  let answer = "";
  try {
    const extern = tree === undefined ? [] : filesOfJson(tree);
    for (const piece of answerQuery({ text, extern, now: NOW, dialect, limits: LIMITS, services: SERVICES }, fluxLibrary(), source)) {
      if (piece instanceof Promise) await piece;
      else if (typeof piece === "string") answer += piece;
    }
    return answer;
  } catch (error) {
    if (error instanceof FluxError || (tree !== undefined && error instanceof TsdbError && error.kind === "bad_query"))
      return error.message;
    throw error;
  }
}
