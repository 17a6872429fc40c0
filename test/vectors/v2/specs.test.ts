// What release 2.8.0 says of the objects of templates: `specs.jsonl` has lists of them, and the issues that came.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { finish } from "../../../src/model/steps.ts";
import { templateSteps } from "../../../src/templates/template.ts";
import { readObjects } from "../../../src/templates/template-object.ts";

interface Recorded {
  readonly contents: unknown;
  /** `spec.retentionRules[0].type: …`, without the root. */
  readonly issues: readonly string[];
}

const recorded = readFileSync(`${import.meta.dir}/specs.jsonl`, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

test.each(recorded)("%j", ({ contents, issues }) => {
  const found = finish(templateSteps(readObjects(contents), new Map())).issues.map(({ fields, idxs, reason }) => {
    const path = fields.map((name, i) => (idxs[i] === null ? name : `${name}[${idxs[i]}]`)).slice(1);
    return `${path.join(".")}: ${reason}`;
  });
  expect(found).toEqual([...issues]);
});
