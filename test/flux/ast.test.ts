// Trees as `/api/v2/query/ast` of the vendor's 2.8 printed them.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageJson } from "../../src/flux/parse/json.ts";
import { parseFile } from "../../src/flux/parse/parser.ts";

const LINES = readFileSync(join(import.meta.dir, "../vectors/flux/ast.jsonl"), "utf8")
  .trim()
  .split("\n");
const RECORDED = LINES.map((line) => JSON.parse(line) as [string, unknown]);

test.each(RECORDED)("%j", (text, tree) => {
  expect(JSON.parse(JSON.stringify(packageJson(parseFile(text), text)))).toEqual(tree);
});

test.each(["x = // c\n /x/", "x = a =~ // c\n /x/", "f(a: // c\n /x/)"])(
  "a comment before a regular expression stands there once: %j",
  (text) => {
    const tree = JSON.stringify(packageJson(parseFile(text), text));
    expect(tree.match(/"text":"\/\/ c/g)).toHaveLength(1);
  },
);
