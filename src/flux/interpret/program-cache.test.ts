// Scripts of one text share a program; those with errors, long ones and files before a script are not kept.
import { expect, test } from "bun:test";
import { fluxLibrary } from "../library/packages.ts";
import { parseFile } from "../parse/parser.ts";
import { ProgramCache } from "./program-cache.ts";

const script = (n: number) => `import "array"\narray.from(rows: [{a: ${n}}])`;

test("a script that was seen is not made again", () => {
  const cache = new ProgramCache(fluxLibrary());
  const program = cache.program(script(1));
  expect(cache.program(script(1))).toBe(program);
  expect(cache.program(script(2))).not.toBe(program);
});

test("files before a script belong to the request", () => {
  const cache = new ProgramCache(fluxLibrary());
  const text = 'import "array"\narray.from(rows: [{a: v}])';
  cache.program(text, [parseFile("v = 1")]);
  expect(() => cache.program(text)).toThrow("undefined identifier v");
  expect(() => cache.program(text, [parseFile("v = 2")])).not.toThrow();
});

test("a script with errors is not kept", () => {
  const cache = new ProgramCache(fluxLibrary());
  expect(() => cache.program("x = ")).toThrow("compilation failed");
  expect(() => cache.program("x = 1 + 1.0")).toThrow("expected int but found float");
  expect(() => cache.program("x = 1 + 1.0")).toThrow("expected int but found float");
});

test("the scripts used least go first, and long ones are not kept", () => {
  const cache = new ProgramCache(fluxLibrary());
  const long = (n: number) => `${script(n)} //${"x".repeat(20_000)}`;
  const first = cache.program(long(0));
  for (let n = 1; n < 24; n++) cache.program(long(n));
  expect(cache.program(long(0))).toBe(first);
  for (let n = 24; n < 40; n++) cache.program(long(n));
  expect(cache.program(long(0))).toBe(first);
  expect(cache.size).toBeLessThan(28);
  const { size } = cache;
  cache.program(`${script(1)} //${"x".repeat(40_000)}`);
  expect(cache.size).toBe(size);
});

/** How often the steps pause before they end, or fail. */
function pauses(text: string, extern = ""): { readonly count: number; readonly error: string | null } {
  const steps = new ProgramCache(fluxLibrary()).programInSteps(text, extern === "" ? [] : [parseFile(extern)]);
  for (let count = 0; ; count++) {
    try {
      if (steps.next().done === true) return { count, error: null };
    } catch (error) {
      return { count, error: (error as Error).message.split(":")[0]! };
    }
  }
}

test("a long script pauses between its tree, its checks, its types, its code and its run", () => {
  const comment = ` //${"x".repeat(40_000)}`;
  expect(pauses(script(1))).toEqual({ count: 0, error: null });
  expect(pauses(script(1) + comment)).toEqual({ count: 4, error: null });
  expect(pauses(`x = v${comment}`, "v = 2")).toEqual({ count: 4, error: null });
  expect(pauses(`x = ${comment}`)).toEqual({ count: 1, error: "compilation failed" });
  expect(pauses(`x = 1 + 1.0${comment}`)).toEqual({ count: 2, error: "error @1" });
});
