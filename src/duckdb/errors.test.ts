// The family of an error of the engine, by its kind and its words.
import { expect, test } from "bun:test";
import type { ErrorKind } from "../model/errors.ts";
import { errorKindOf } from "./errors.ts";

const KINDS: [kind: string, message: string, family: ErrorKind | null][] = [
  ["IO", 'Could not write to file "x.tmp": No space left on device', "no_space"],
  ["IO", 'Could not write to file "x.tmp": Disk quota exceeded', "no_space"],
  ["IO", 'Cannot open file "x.tmp": Read-only file system', "no_space"],
  ["IO", 'Cannot open file "x.csv": No such file or directory', "bad_query"],
  ["Binder", "No space left on device", "bad_query"],
  ["Out of Memory", "failed to allocate", "query_limit"],
  ["INTERRUPT", "Interrupted!", "cancelled"],
  ["INTERNAL", "assertion", null],
];
test.each(KINDS)("kind of a DuckDB error: %s: %s", (kind, message, family) => {
  expect(errorKindOf({ kind, message, position: null })).toBe(family);
});
