// All recorded scripts against the in-memory source. `differences.ts` says where ours differs by intent.
// `test/vectors/flux/not-passing.txt` lists the cases that differ besides: it can only shrink, so a case that passes has to be taken out
// (`UPDATE=1` does it), and none may come in.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fluxCases } from "./cases.ts";
import { DIFFERENCES } from "./differences.ts";
import { caseDifference } from "./play-case.ts";

const LIST = join(import.meta.dir, "../vectors/flux/not-passing.txt");
const DIFFERENCES_MAX = 40;

test("recorded scripts", async () => {
  const listed = new Set(readFileSync(LIST, "utf8").split("\n").filter(Boolean));
  const intended = new Set(DIFFERENCES.map(([id]) => id));
  expect(intended.size).toBeLessThanOrEqual(DIFFERENCES_MAX);
  const failing: string[] = [];
  const worse: string[] = [];
  for (const each of fluxCases()) {
    const difference = await caseDifference(each);
    if (difference === null) continue;
    if (intended.delete(each.id)) continue;
    failing.push(each.id);
    if (!listed.has(each.id)) worse.push(`${each.id}: ${difference}`);
  }
  expect(worse).toEqual([]);
  // what differs by intent does differ
  expect([...intended]).toEqual([]);
  if (process.env["UPDATE"] === "1") writeFileSync(LIST, failing.map((id) => `${id}\n`).join(""));
  else expect([...listed].filter((id) => !failing.includes(id))).toEqual([]);
}, 180_000);
