// `filter`, `map` and `reduce` by loops over columns answer as the interpreter does, byte for byte.
import { expect, test } from "bun:test";
import { answerQuery, DEFAULT_ANNOTATIONS } from "../../src/flux/interpret/query.ts";
import type { ScriptRun } from "../../src/flux/interpret/script-run.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";
import { parseTime } from "../../src/flux/values/duration.ts";
import { FluxError } from "../../src/flux/values/flux-error.ts";
import { prng } from "../support/prng.ts";
import { MemorySource } from "./memory-source.ts";
import { rowScript, tables } from "./row-functions.ts";

const SEED = Number(process.env["SEED"] ?? 20_261_123);
const ROUNDS = Number(process.env["ROUNDS"] ?? 300);
const NOW = parseTime("2024-03-05T10:30:00Z")!;

function answer(text: string, rowFunctions: ScriptRun["rowFunctions"]): string {
  const dialect = { header: true, delimiter: ",", annotations: DEFAULT_ANNOTATIONS };
  try {
    let body = "";
    for (const piece of answerQuery({ text, now: NOW, dialect, rowFunctions }, fluxLibrary(), new MemorySource())) body += piece ?? "";
    return body;
  } catch (error) {
    if (error instanceof FluxError) return `error: ${error.message}`;
    throw new Error(`${String(error)}\nin ${text}`);
  }
}

test(`generated functions, seed ${SEED}`, () => {
  const below = prng(SEED);
  let answers = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const text = rowScript(below, tables(below, below(20) === 0 ? 0 : 1 + below(12)));
    const interpreted = answer(text, "interpreted");
    if (!interpreted.startsWith("error")) answers++;
    const compiled = answer(text, "compiled");
    if (compiled !== interpreted) throw new Error(`${text}\ncompiled:\n${compiled}\ninterpreted:\n${interpreted}`);
  }
  expect(answers).toBeGreaterThan(ROUNDS / 4);
}, 60_000);
