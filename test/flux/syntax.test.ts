// Each recorded script parses, or fails with the recorded syntax errors at the recorded places.
import { expect, test } from "bun:test";
import { syntaxErrorText, syntaxProblems } from "../../src/flux/parse/check.ts";
import { parseFile } from "../../src/flux/parse/parser.ts";
import { errorMessage, type FluxCase, fluxCases } from "./cases.ts";

const PREFIX = "compilation failed: ";

function recordedSyntaxError(each: FluxCase): string {
  const message = errorMessage(each) ?? "";
  // trees of `extern` are not text
  return message.startsWith(PREFIX) && !message.includes("extern json") ? message : "";
}

test("syntax errors of all recorded scripts", () => {
  const wrong = fluxCases().flatMap((each) => {
    // the text of an error in a regular expression is the engine's
    if (each.script.trim() === "" || each.text === false) return [];
    const problems = syntaxProblems(parseFile(each.script));
    const got = problems.length === 0 ? "" : syntaxErrorText(problems);
    const want = recordedSyntaxError(each);
    return got === want ? [] : [`${each.id}\n  got ${got}\n  want ${want}`];
  });
  expect(wrong).toEqual([]);
});
