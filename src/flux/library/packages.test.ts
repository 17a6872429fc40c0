// Each package of the library as a whole: its text is cut where the parser would, and all its types hold.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { syntaxProblems } from "../parse/check.ts";
import { parseFile } from "../parse/parser.ts";
import { packageSource } from "./package-source.ts";
import { fluxLibrary } from "./packages.ts";

const PATHS = [...fluxLibrary().paths];

test.each(PATHS)("%s: all names have types", (path) => {
  for (const [name, scheme] of fluxLibrary().importPackage(path)!.members.entries()) expect(scheme, name).toBeDefined();
});

test.each(PATHS)("%s: cut into the statements that the parser finds", (path) => {
  const text = fluxLibrary().sourceOf(path)!;
  const file = parseFile(text);
  expect(syntaxProblems(file)).toEqual([]);
  const { imports, statements } = packageSource(text);
  expect(parseFile(imports).imports.map((each) => each.path.value)).toEqual(file.imports.map((each) => each.path.value));
  const names = file.body.map((statement) => {
    const bound = statement.type === "OptionStatement" ? statement.assignment : statement;
    return "id" in bound ? bound.id.name : bound.type;
  });
  expect([...statements.keys()]).toEqual(names);
});

test.each(PATHS)("%s: what is native is there, and nothing else", (path) => {
  const { statements } = packageSource(fluxLibrary().sourceOf(path)!);
  const builtins = [...statements].filter(([, { isBuiltin }]) => isBuiltin).map(([name]) => name);
  const natives = fluxLibrary().nativesOf(path);
  expect(builtins.filter((name) => !natives.includes(name))).toEqual([]);
});

/** `path: name name …`, as the documentation of the language and its public packages have them. */
const LISTED = readFileSync(join(import.meta.dir, "../../../test/vectors/flux/library.txt"), "utf8")
  .trim()
  .split("\n")
  .map((line) => line.split(": ") as [path: string, names: string]);

test("all packages are listed", () => {
  expect(LISTED.length).toBeGreaterThan(85);
  expect(LISTED.flatMap(([, names]) => names.split(" ")).length).toBeGreaterThan(550);
});

test.each(LISTED)("%s has %s", (path, names) => {
  const known = fluxLibrary().importPackage(path)?.members;
  expect(names.split(" ").filter((name) => known?.get(name) === undefined)).toEqual([]);
});
