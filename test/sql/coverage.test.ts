// Every documented function is called by a statement of the suites that must be answered.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { DOCUMENTED_FUNCTIONS } from "../../src/sql/bind/dialect.ts";

const FOLDER = import.meta.dir;

/** The suites' text, without what stands in a line with an expected error. */
const statements = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".test.ts") && name !== "coverage.test.ts")
  .flatMap((name) => readFileSync(`${FOLDER}/${name}`, "utf8").split("\n"))
  .filter((line) => !line.includes("new Error("))
  .join("\n")
  .toLowerCase();

/** Written without parentheses, or with words between them. */
const WORDS: ReadonlySet<string> = new Set(["current_date", "current_time", "current_timestamp"]);

function isCalled(name: string): boolean {
  return new RegExp(WORDS.has(name) ? `\\b${name}\\b` : `\\b${name}\\s*[({]`).test(statements);
}

test.each(Object.entries(DOCUMENTED_FUNCTIONS))("%s", (_, names) => {
  expect(names.filter((name) => !isCalled(name))).toEqual([]);
});
