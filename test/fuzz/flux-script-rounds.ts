// Scripts that nobody would write, run: each gives an answer or an error of the language, and nothing else is thrown.
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { fluxCases } from "../flux/cases.ts";
import { MemorySource } from "../flux/memory-source.ts";
import { prng } from "../support/prng.ts";
import { mutated } from "./flux-parser.ts";

const NOW = parseTime("2024-03-05T10:30:00Z")!;
/** Longer ones are mostly data. */
const SCRIPT_MAX = 900;

export function scriptRounds(seed: number, rounds: number): void {
  const below = prng(seed);
  const scripts = fluxCases().flatMap(({ script, data }) => (data.length === 0 && script.length < SCRIPT_MAX ? [script] : []));
  const source = new MemorySource();
  for (let round = 0; round < rounds; round++) runScript(mutated(scripts, below), source);
}

function runScript(text: string, source: MemorySource): void {
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  try {
    for (const _ of answerQuery({ text, now: NOW, dialect }, fluxLibrary(), source));
  } catch (error) {
    if (error instanceof FluxError) return;
    throw new Error(`${error instanceof Error ? error.stack : String(error)}\nin ${JSON.stringify(text)}`);
  }
}
