// Types of all functions of the library, as release 2.8.0 (Flux 0.196.1) prints them: the order of labels, names of variables and line
// breaks show in error messages, and the order decides which of several labels an error names.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { programsOf } from "../../src/flux/interpret/program-cache.ts";
import { fluxLibrary } from "../../src/flux/library/packages.ts";

const LINES = readFileSync(join(import.meta.dir, "../vectors/flux/types.jsonl"), "utf8")
  .trim()
  .split("\n");
const RECORDED = LINES.map((line) => JSON.parse(line) as [path: string, name: string, type: string]);

/** What the error says that it found in place of `literal`. */
function foundType(path: string, name: string, literal: string): string | null {
  const script = path === "universe" ? `${literal} + ${name}` : `import p "${path}"\n${literal} + p.${name}`;
  try {
    programsOf(fluxLibrary()).program(script, []);
    return null;
  } catch (error) {
    return /but found (.*)$/s.exec((error as Error).message)?.[1] ?? null;
  }
}

test("all types are those of the reference", () => {
  expect(RECORDED.length).toBe(630);
  const wrong = RECORDED.filter(([path, name, type]) => foundType(path, name, type === "int" ? '"x"' : "1") !== type);
  expect(wrong).toEqual([]);
});
