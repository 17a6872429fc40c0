// Trees as text: all recorded scripts keep their trees and comments, and texts that the vendor's server formatted stay as they are.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatFile } from "../../src/flux/format/format.ts";
import type { File } from "../../src/flux/parse/ast.ts";
import { syntaxProblems } from "../../src/flux/parse/check.ts";
import { filesOfJson, packageJson } from "../../src/flux/parse/json.ts";
import { parseFile } from "../../src/flux/parse/parser.ts";
import { fluxCases } from "./cases.ts";

const LINES = readFileSync(join(import.meta.dir, "../vectors/flux/formatted.jsonl"), "utf8")
  .trim()
  .split("\n");
const FORMATTED = LINES.map((line) => JSON.parse(line) as string);

/** One of so many scripts; `npm run test:full` takes all. */
const EVERY = process.env["ALL_STATES"] === "1" ? 1 : 3;

/** The tree without places, comments and parentheses. */
function bare(tree: File): string {
  return JSON.stringify(tree, (name, value: unknown) => {
    if (["location", "comments", "errors", "eof"].includes(name)) return undefined;
    if (typeof value === "bigint") return String(value);
    let inner = value as { readonly type?: string; readonly expression?: unknown } | null;
    while (inner?.type === "ParenExpression") inner = inner.expression as typeof inner;
    // a date is its midnight
    return inner?.type === "DateTimeLiteral" ? { ...inner, value: "" } : inner;
  });
}

const SCRIPTS = fluxCases()
  .map(({ id, script }) => ({ id, script: script.toWellFormed(), tree: parseFile(script.toWellFormed()) }))
  .filter(({ tree }) => syntaxProblems(tree).length === 0);

test("recorded scripts keep their trees", () => {
  expect(SCRIPTS.length).toBeGreaterThan(2900);
  for (const { id, script, tree } of SCRIPTS.filter((_, i) => i % EVERY === 0)) {
    const made = formatFile(tree, script);
    const madeTree = parseFile(made);
    if (bare(madeTree) !== bare(tree)) throw new Error(`${id}\n${script}\n=====\n${made}`);
    const again = formatFile(madeTree, made);
    if (again === made) continue;
    // a comment at the very end gets its line end first
    if (again !== `${made}\n`) throw new Error(`${id} formatted twice\n${made}\n=====\n${again}`);
    if (formatFile(parseFile(again), again) !== again) throw new Error(`${id} formatted three times\n${again}`);
  }
}, 60_000);

test("trees of JSON keep their form", () => {
  for (const { id, script, tree } of SCRIPTS.filter((_, i) => i % (2 * EVERY) === 1)) {
    const json = JSON.stringify(packageJson(tree, script));
    if (/"type":"(BuiltinStatement|TestCaseStatement|LabelLiteral)"|"attributes"|<INVALID_OP>/.test(json)) continue;
    const file = filesOfJson(JSON.parse(json))[0]!;
    const made = formatFile(file);
    const problems = syntaxProblems(parseFile(made));
    if (problems.length > 0) throw new Error(`${id}: ${JSON.stringify(problems)}\n${made}`);
    if (formatFile(filesOfJson(JSON.parse(JSON.stringify(packageJson(parseFile(made), made))))[0]!) !== made)
      throw new Error(`${id}\n${made}`);
  }
}, 60_000);

test.each(FORMATTED)("a recorded text: %#", (text) => {
  expect(formatFile(parseFile(text), text, 0)).toBe(text);
});

const COMMENTED = `// head
import "array" // the package

// a
x = 1 // one
y = [
    1, // first
    // second
    2,
]

/* */`.slice(0, -6);

test("comments stand before what follows them", () => {
  const text = `${COMMENTED}f = (r) => {\n  // in a block\n  z = r.a // z\n  return z // end\n}\narray.from(rows: [{a: "// none"}]) // rows\n  // map\n  |> map(fn: (r) => r)\n// last`;
  const made = formatFile(parseFile(text), text);
  const comments = (given: string) => given.match(/\/\/ (?!none)[^\n]*/g);
  expect(comments(made)).toEqual(comments(text));
  expect(made).toEndWith("|> map(fn: (r) => r)// last\n");
  const again = formatFile(parseFile(made), made);
  expect(again).toBe(`${made}\n`);
  expect(formatFile(parseFile(again), again)).toBe(again);
  expect(bare(parseFile(made))).toBe(bare(parseFile(text)));
});

/** What a tree of JSON may leave without the parentheses that text needs. */
test.each([
  ["(1 + 2) * 3", "(1 + 2) * 3"],
  ["1 - (2 - 3)", "1 - (2 - 3)"],
  ["not (a and b)", "not (a and b)"],
  ["(if a then b else c).x", "(if a then b else c).x"],
  ["-(-1)", "--1"],
  ["(a |> f()) ^ 2", "a |> f() ^ 2"],
  ["((r) => r)(r: 1)", "((r) => r)(r: 1)"],
] as const)("parentheses of %s", (text, wanted) => {
  const without = JSON.stringify(packageJson(parseFile(text), text), (_, value: unknown) => {
    const node = value as { type?: string; expression?: unknown } | null;
    return node?.type === "ParenExpression" ? node.expression : value;
  });
  expect(formatFile(filesOfJson(JSON.parse(without))[0]!)).toBe(`${wanted}\n`);
});

test("a line of 100 characters fits, one of 101 breaks", () => {
  const of = (length: number) => `x = {a: 1, b: "${"y".repeat(length - 17)}"}`;
  expect(formatFile(parseFile(of(100)), of(100))).toBe(`${of(100)}\n`);
  expect(formatFile(parseFile(of(101)), of(101))).toBe(`x = {\n    a: 1,\n    b: "${"y".repeat(84)}",\n}\n`);
});
