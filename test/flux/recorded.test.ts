// The recorded scripts against the in-memory source. `test/vectors/flux/not-passing.txt` lists the cases that differ still: it can only
// shrink, so a case that passes has to be taken out (`UPDATE=1` does it), and none may come in.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fluxCases } from "./cases.ts";
import { caseDifference } from "./play-case.ts";

const LIST = join(import.meta.dir, "../vectors/flux/not-passing.txt");

test("recorded scripts", () => {
  const listed = new Set(readFileSync(LIST, "utf8").split("\n").filter(Boolean));
  const failing: string[] = [];
  const worse: string[] = [];
  for (const each of fluxCases()) {
    const difference = caseDifference(each);
    if (difference === null) continue;
    failing.push(each.id);
    if (!listed.has(each.id)) worse.push(`${each.id}: ${difference}`);
  }
  expect(worse).toEqual([]);
  if (process.env["UPDATE"] === "1") writeFileSync(LIST, failing.map((id) => `${id}\n`).join(""));
  else expect([...listed].filter((id) => !failing.includes(id))).toEqual([]);
}, 60_000);
