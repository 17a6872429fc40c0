// Unpacking of the embedded native files: whole files only, whatever lay there before, also in several processes at once.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TsdbError } from "../model/errors.ts";
import { cacheFolder, type EmbeddedFiles, unpack } from "./embedded-duckdb.ts";

let scratch = "";
let embedded: EmbeddedFiles;
const CONTENTS = { "lib.so": "a library".repeat(1000), "module.node": "a module".repeat(10) };

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "tsdb-unpack-"));
  mkdirSync(join(scratch, "inside"));
  const files = Object.entries(CONTENTS).map(([name, text]) => {
    const path = join(scratch, "inside", name);
    writeFileSync(path, text);
    return { name, path, bytes: text.length };
  });
  embedded = { hash: "0123456789abcdef", files };
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function expectUnpacked(folder: string): void {
  expect(readdirSync(folder).sort()).toEqual(Object.keys(CONTENTS));
  for (const [name, text] of Object.entries(CONTENTS)) expect(readFileSync(join(folder, name), "utf8")).toBe(text);
}

test("an empty cache gets the files, for this user only", () => {
  const folder = join(scratch, "cache/deep");
  unpack(embedded, folder);
  expectUnpacked(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "lib.so")).mode & 0o777).toBe(0o700);
});

test("a complete cache is left as it is", () => {
  const folder = join(scratch, "cache");
  unpack(embedded, folder);
  const before = statSync(join(folder, "lib.so"));
  unpack(embedded, folder);
  expect(statSync(join(folder, "lib.so")).ino).toBe(before.ino);
});

test("a cut file is replaced, by a new file", () => {
  const folder = join(scratch, "cache");
  unpack(embedded, folder);
  const before = statSync(join(folder, "lib.so"));
  truncateSync(join(folder, "lib.so"), 100);
  unpack(embedded, folder);
  expectUnpacked(folder);
  // a process that has the old one mapped keeps it
  expect(statSync(join(folder, "lib.so")).ino).not.toBe(before.ino);
});

test("several processes at once leave one complete copy", async () => {
  const folder = join(scratch, "cache");
  const script = `
    import { unpack } from ${JSON.stringify(join(import.meta.dir, "embedded-duckdb.ts"))};
    unpack(${JSON.stringify(embedded)}, ${JSON.stringify(folder)});`;
  const processes = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, "-e", script], { stderr: "inherit" }));
  expect(await Promise.all(processes.map((child) => child.exited))).toEqual([0, 0, 0, 0]);
  expectUnpacked(folder);
});

test("failures are one clear error and leave no rest", () => {
  const cases: [what: string, prepare: (folder: string) => void, folder: string][] = [
    ["a file stands in the way", (folder) => writeFileSync(folder, ""), "cache"],
    ["a link to somewhere else", (folder) => symlinkSync(scratch, folder), "cache2"],
    ["a file inside is missing", () => rmSync(join(scratch, "inside/module.node")), "cache3"],
  ];
  for (const [what, prepare, name] of cases) {
    const folder = join(scratch, name);
    prepare(folder);
    const attempt = () => unpack(embedded, folder);
    expect(attempt, what).toThrow(TsdbError);
    expect(attempt, what).toThrow(/cannot unpack the SQL engine into .*cache.*TSDB_CACHE_DIR/);
  }
  expect(readdirSync(join(scratch, "cache3"))).toEqual(["lib.so"]);
});

test("cacheFolder by TSDB_CACHE_DIR, XDG_CACHE_HOME and HOME", () => {
  const own = join(scratch, "home");
  mkdirSync(own);
  chmodSync(own, 0o700);
  expect(cacheFolder({ TSDB_CACHE_DIR: "/a", XDG_CACHE_HOME: "/b", HOME: own })).toBe("/a");
  expect(cacheFolder({ XDG_CACHE_HOME: "/b", HOME: own })).toBe("/b/tsdb");
  expect(cacheFolder({ HOME: own })).toBe(join(own, ".cache/tsdb"));
  expect(cacheFolder({ HOME: join(scratch, "nobody") })).toStartWith(join(tmpdir(), "tsdb-cache-"));
});
