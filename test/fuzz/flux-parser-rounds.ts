// What holds for any text: it parses to a tree within the text, whose JSON can be written and read again.
import { expect } from "bun:test";
import { syntaxProblems } from "../../src/flux/parse/check.ts";
import { filesOfJson, packageJson } from "../../src/flux/parse/json.ts";
import { parseFile } from "../../src/flux/parse/parser.ts";
import { walk } from "../../src/flux/parse/walk.ts";
import { fluxCases } from "../flux/cases.ts";
import { prng } from "../support/prng.ts";
import { mutated } from "./flux-parser.ts";

/** Fuzzes the parser with mutated scripts. */
export function parserRounds(seed: number, rounds: number): void {
  const below = prng(seed);
  const scripts = fluxCases().map(({ script }) => script);
  for (let round = 0; round < rounds; round++) checkScript(mutated(scripts, below));
}

function checkScript(text: string): void {
  const file = parseFile(text);
  for (const statement of file.body) {
    walk(statement, ({ location: { from, to } }, depth) => {
      if (from < 0 || to < from || to > text.length) throw new Error(`a node from ${from} to ${to} in ${JSON.stringify(text)}`);
      return depth < 200;
    });
  }
  if (syntaxProblems(file).length > 0) return;
  const json = JSON.stringify(packageJson(file, text));
  const hasTypes = file.body.some(({ type }) => type === "BuiltinStatement" || type === "TestCaseStatement");
  if (!json.includes("null") && !hasTypes) expect(filesOfJson(JSON.parse(json))).toHaveLength(1);
}
