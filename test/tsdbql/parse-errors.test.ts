// What is refused before it runs, and in which words: as influxd 1.6.7 does, statement by statement. Its answers are goldens
// (renew-goldens.ts), so that it need not be installed.
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseParams } from "../../src/tsdbql/parse/params.ts";
import { parseQuery } from "../../src/tsdbql/parse/parser.ts";
import { REGEX_STATEMENT } from "./regexes.ts";

/** Where 1.6.7 contradicts its own grammar; ours instead. */
const OURS: Readonly<Record<string, string | null>> = {
  // it takes a comment behind a comma for a regular expression
  "SELECT a /**/, /***/ b FROM m": null,
};

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dir, "../golden/tsdbql", name), "utf8")) as unknown;

function errorOf(run: () => unknown): string | null {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  return null;
}

describe("statements", () => {
  const goldens = read("parse-errors.json") as [statement: string, error: string | null][];

  test(`${goldens.length} statements are taken or refused in 1.x's words`, () => {
    const found = goldens.map(([statement]) => [statement, errorOf(() => parseQuery(statement))]);
    expect(found).toEqual(goldens.map(([statement, error]) => [statement, statement in OURS ? OURS[statement]! : error]));
  });
});

describe("bind parameters", () => {
  const goldens = read("bound-errors.json") as [statement: string, params: string, error: string | null][];

  test(`${goldens.length} statements are taken or refused in 1.x's words`, () => {
    const bound = (statement: string, params: string) => errorOf(() => parseQuery(statement, parseParams(params)));
    const found = goldens.map(([statement, params]) => [statement, params, bound(statement, params)]);
    expect(found).toEqual(goldens.map(([statement, params, error]) => [statement, params, error]));
  });
});

describe("regular expressions", () => {
  const goldens = read("regex-errors.json") as [regex: string, error: string | null][];

  test(`${goldens.length} are taken or refused in Go's words`, () => {
    const errorWith = (regex: string) => errorOf(() => parseQuery(REGEX_STATEMENT, parseParams(JSON.stringify({ x: { regex } }))));
    expect(goldens.map(([regex]) => [regex, errorWith(regex)])).toEqual(goldens);
  });
});
