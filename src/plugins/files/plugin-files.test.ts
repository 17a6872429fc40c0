// What a start makes of replacements that a crash interrupted.
import { expect, test } from "bun:test";
import {
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PluginFiles } from "./plugin-files.ts";

const ID = "0b0e7a9c-1d2f-4a5b-8c6d-7e8f9a0b1c2d";

test("interrupted replacements are rolled back or completed, in nested folders too", () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-plugins-"));
  const outside = mkdtempSync(join(tmpdir(), "tsdb-outside-"));
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  try {
    for (const above of ["", "team/", "team/of/"]) {
      // between the two renames
      put(`${above}.between.${ID}.old/__init__.py`, "old");
      put(`${above}.between.${ID}.new/__init__.py`, "new");
      // after both
      put(`${above}after/__init__.py`, "new");
      put(`${above}.after.${ID}.old/__init__.py`, "old");
      // a single file, before its rename
      put(`${above}one.py`, "old");
      put(`${above}.one.py.${ID}.new`, "new");
    }
    put(`.venv/.x.${ID}.new`, "not a client's");
    writeFileSync(join(outside, `.x.${ID}.new`), "not below the folder");
    symlinkSync(outside, join(folder, "link"));
    new PluginFiles(folder, { repository: undefined as never, check: undefined as never });
    for (const above of ["", "team/", "team/of/"]) {
      const textOf = (path: string) => readFileSync(join(folder, above, path), "utf8");
      expect([textOf("between/__init__.py"), textOf("after/__init__.py"), textOf("one.py")]).toEqual(["old", "new", "old"]);
    }
    const shown = (path: string) => readdirSync(join(folder, path)).sort();
    expect(shown("")).toEqual([".venv", "after", "between", "link", "one.py", "team"]);
    expect(shown("team")).toEqual(["after", "between", "of", "one.py"]);
    expect(shown("team/of")).toEqual(["after", "between", "one.py"]);
    expect([existsSync(join(folder, `.venv/.x.${ID}.new`)), existsSync(join(outside, `.x.${ID}.new`))]).toEqual([true, true]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(outside, { recursive: true, force: true });
  }
});

test("replacements of one folder at the same time: each is whole, and none fails because of another", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-plugins-"));
  try {
    const files = new PluginFiles(folder, { repository: undefined as never, check: undefined as never });
    const NAMES = ["__init__.py", "part.py"];
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        [0, 1, 2, 3].map((i) =>
          files.updateFolder(
            "plug",
            NAMES.map((path) => ({ path, content: `${round} ${i}` })),
          ),
        ),
      );
      const [first, second] = NAMES.map((name) => readFileSync(join(folder, "plug", name), "utf8"));
      expect(first).toStartWith(`${round} `);
      expect(second).toBe(first);
    }
    expect(readdirSync(folder)).toEqual(["plug"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Runs `act`; the numbers of the files and folders that were synced meanwhile. */
async function syncedBy(act: () => Promise<void>): Promise<Set<number>> {
  const handle = await open(tmpdir(), "r");
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const { sync } = prototype;
  const synced = new Set<number>();
  prototype.sync = function (this: FileHandle) {
    synced.add(fstatSync(this.fd).ino);
    return sync.call(this);
  };
  try {
    await act();
  } finally {
    prototype.sync = sync;
  }
  return synced;
}

test("what was sent is durable with its name, before what was there goes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-plugins-"));
  try {
    const files = new PluginFiles(folder, { repository: undefined as never, check: undefined as never });
    const numbers = (...paths: readonly string[]) => paths.map((path) => statSync(join(folder, path)).ino);
    const ofFile = await syncedBy(() => files.create("team/one.py", "text"));
    expect([...ofFile]).toEqual(expect.arrayContaining(numbers("team/one.py", "team", "")));
    const sent = ["__init__.py", "deep/part.py"].map((path) => ({ path, content: path }));
    const ofFolder = await syncedBy(() => files.updateFolder("plug", sent));
    expect([...ofFolder]).toEqual(expect.arrayContaining(numbers("plug/__init__.py", "plug/deep/part.py", "plug/deep", "plug", "")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
