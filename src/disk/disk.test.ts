// The real disk and the test disk answer alike; the test disk forgets what was not synced; one server per folder.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { SmallDisk } from "../../test/support/storage/small-disk.ts";
import { TsdbError } from "../model/errors.ts";
import type { Disk } from "./disk.ts";
import { parentOf } from "./disk.ts";
import { codeOf } from "./io-error.ts";
import { LOCK_FILE_NAME, lockFolder } from "./lock.ts";
import { NodeDisk } from "./node-disk.ts";
import { hasEntry, modeForOthers, writePrivateFile } from "./private-files.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function temporaryFolder(): string {
  const folder = mkdtempSync(`${tmpdir()}/tsdb-disk-`);
  folders.push(folder);
  return folder;
}

async function codeOfRejection(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  );
  if (!(error instanceof TsdbError && error.kind === "io")) return "not an io error";
  return codeOf(error) ?? "no code";
}

const bytes = (text: string) => new TextEncoder().encode(text);

const DISKS: [name: string, make: () => { disk: Disk; root: string }][] = [
  ["real disk", () => ({ disk: new NodeDisk(), root: temporaryFolder() })],
  ["test disk", () => ({ disk: new FaultyDisk(), root: "root" })],
];
describe.each(DISKS)("%s", (_name, make) => {
  test("append, read, truncate, stat", async () => {
    const { disk, root } = make();
    await disk.makeFolder(`${root}/a/b`);
    const path = `${root}/a/b/f`;
    const file = await disk.openAppend(path, { exclusive: true });
    await file.append(bytes("hello "));
    await file.append(bytes("world"));
    await file.sync();
    await file.close();
    const more = await disk.openAppend(path);
    await more.append(bytes("!"));
    await more.close();
    expect(new TextDecoder().decode(await disk.readFile(path))).toBe("hello world!");
    const reader = await disk.openRead(path);
    expect(reader.sizeBytes).toBe(12);
    const part = new Uint8Array(5);
    expect(await reader.read(6, part)).toBe(5);
    expect(new TextDecoder().decode(part)).toBe("world");
    expect(await reader.read(10, part)).toBe(2);
    expect(await reader.read(99, part)).toBe(0);
    await reader.close();
    await disk.truncate(path, 5);
    await disk.syncFile(path);
    expect(await disk.stat(path)).toEqual({ isFolder: false, sizeBytes: 5 });
    expect((await disk.stat(`${root}/a`))?.isFolder).toBe(true);
    expect(await disk.stat(`${root}/x`)).toBeNull();
  });

  test("appends to a file that makes them durable itself", async () => {
    const { disk, root } = make();
    await disk.makeFolder(root);
    const path = `${root}/f`;
    const file = await disk.openAppend(path, { exclusive: true, durable: true });
    await file.append(bytes("hello "));
    await file.close();
    const more = await disk.openAppend(path, { durable: true });
    await more.append(bytes("world"));
    await more.close();
    expect(new TextDecoder().decode(await disk.readFile(path))).toBe("hello world");
    expect(await codeOfRejection(disk.openAppend(path, { exclusive: true, durable: true }))).toBe("EEXIST");
  });

  test("a file that takes its space before it is used", async () => {
    const { disk, root } = make();
    await disk.makeFolder(root);
    const file = await disk.openReserved(`${root}/f`);
    await file.extend(3_000_000);
    await file.extend(2); // never shorter
    expect([file.sizeBytes, (await disk.stat(`${root}/f`))?.sizeBytes]).toEqual([3_000_000, 3_000_000]);
    await file.write(2_999_995, bytes("hello"));
    await Promise.all([file.write(1, bytes("x")), file.extend(3_000_001)]);
    await file.rename(`${root}/g`);
    expect([file.path, await disk.stat(`${root}/f`)]).toEqual([`${root}/g`, null]);
    const content = await disk.readFile(`${root}/g`);
    expect(content.byteLength).toBe(3_000_001);
    expect([...content.subarray(0, 3), ...content.subarray(2_999_994)]).toEqual([0, 120, 0, 0, ...bytes("hello"), 0]);
    await file.truncate(5);
    expect([file.sizeBytes, (await disk.stat(`${root}/g`))?.sizeBytes]).toEqual([5, 5]);
    await file.close();
    const again = await disk.openReserved(`${root}/g`);
    expect(again.sizeBytes).toBe(5);
    await again.close();
    await (await disk.openReserved(`${root}/g`, { isNew: true })).close();
    expect((await disk.stat(`${root}/g`))?.sizeBytes).toBe(0);
  });

  test("list, link, rename, unlink", async () => {
    const { disk, root } = make();
    await disk.makeFolder(`${root}/sub`);
    for (const name of ["b", "a"]) await (await disk.openAppend(`${root}/${name}`)).close();
    await disk.link(`${root}/a`, `${root}/c`);
    expect(await codeOfRejection(disk.link(`${root}/a`, `${root}/b`))).toBe("EEXIST");
    await disk.rename(`${root}/a`, `${root}/b`);
    await disk.unlink(`${root}/c`);
    await disk.syncFolder(root);
    expect(await disk.list(root)).toEqual([
      { name: "b", isFolder: false },
      { name: "sub", isFolder: true },
    ]);
    expect(await disk.list(`${root}/nothing`)).toEqual([]);
  });

  test("errors are io errors with the system's code", async () => {
    const { disk, root } = make();
    await disk.makeFolder(root);
    await (await disk.openAppend(`${root}/f`)).close();
    expect(await codeOfRejection(disk.openAppend(`${root}/f`, { exclusive: true }))).toBe("EEXIST");
    expect(await codeOfRejection(disk.openAppend(`${root}/missing/f`))).toBe("ENOENT");
    expect(await codeOfRejection(disk.openRead(`${root}/x`))).toBe("ENOENT");
    expect(await codeOfRejection(disk.readFile(`${root}/x`))).toBe("ENOENT");
    expect(await codeOfRejection(disk.unlink(`${root}/x`))).toBe("ENOENT");
    expect(await codeOfRejection(disk.rename(`${root}/x`, `${root}/y`))).toBe("ENOENT");
    expect(await codeOfRejection(disk.truncate(`${root}/x`, 0))).toBe("ENOENT");
  });
});

describe("test disk after a crash", () => {
  test("content lasts from its sync, an entry from its folder's sync", async () => {
    const disk = new FaultyDisk();
    await disk.makeFolder("d");
    const file = await disk.openAppend("d/f");
    await file.append(bytes("durable"));
    await file.sync();
    expect(disk.afterCrash().paths()).toEqual([]);
    await disk.syncFolder("d");
    await file.append(bytes(" lost"));
    await disk.rename("d/f", "d/g");
    const after = disk.afterCrash();
    expect(after.paths()).toEqual(["d/f"]);
    expect(new TextDecoder().decode(after.peek("d/f"))).toBe("durable");
    await disk.syncFolder("d");
    expect(disk.afterCrash().paths()).toEqual(["d/g"]);
  });

  test("an append lasts at once in a file that makes it durable itself", async () => {
    const disk = new FaultyDisk();
    const file = await disk.openAppend("f", { durable: true });
    await disk.syncFolder("");
    await file.append(bytes("durable"));
    expect(new TextDecoder().decode(disk.afterCrash().peek("f"))).toBe("durable");
  });

  test("the Nth call fails, and every later one", async () => {
    const disk = new FaultyDisk({ failAt: 2 });
    const file = await disk.openAppend("f");
    expect(await codeOfRejection(file.append(bytes("12345678")))).toBe("ENXIO");
    expect(disk.fired).toBe(true);
    expect(new TextDecoder().decode(disk.peek("f"))).toBe("1234"); // torn
    expect(await codeOfRejection(file.sync())).toBe("ENXIO");
  });
});

test("parentOf gives the folder part of a path", () => {
  expect(["a/b/c", "/a", "a", "/a/b"].map(parentOf)).toEqual(["a/b", "/", "", "/a"]);
});

describe("folder lock", () => {
  test("a second server is refused until the first lets go", () => {
    const folder = temporaryFolder();
    const lock = lockFolder(folder);
    try {
      lockFolder(folder);
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ kind: "config", message: `data folder ${folder} is in use by another server` });
    }
    lock.release();
    lock.release();
    lockFolder(folder).release();
  });

  test("another process holds it; when it is killed the folder is free", async () => {
    const folder = temporaryFolder();
    const script = `import { lockFolder } from ${JSON.stringify(`${import.meta.dir}/lock.ts`)};
      lockFolder(${JSON.stringify(folder)}); Bun.gc(true); console.log("locked"); setInterval(() => {}, 1000);`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe("locked\n");
    expect(() => lockFolder(folder)).toThrow("in use by another server");
    child.kill("SIGKILL");
    await child.exited;
    lockFolder(folder).release();
  });

  test("it makes no other file: a server starts on a full disk too", () => {
    const folder = temporaryFolder();
    const lock = lockFolder(folder);
    expect(readdirSync(folder)).toEqual([LOCK_FILE_NAME]);
    lock.release();
    using disk = SmallDisk.mount(64 << 10);
    if (disk === null) return;
    lockFolder(disk.path).release();
    expect(() => writeFileSync(join(disk.path, "rest"), new Uint8Array(128 << 10))).toThrow("ENOSPC");
    lockFolder(disk.path).release();
  });

  test("a folder that is not there", () => {
    expect(() => lockFolder(`${temporaryFolder()}/missing`)).toThrow("cannot lock");
  });
});

describe("a private file", () => {
  test("takes the place of another one, and nobody else may read it", () => {
    const path = join(temporaryFolder(), "key");
    writePrivateFile(path, "one");
    writePrivateFile(path, "two");
    expect([readFileSync(path, "utf8"), modeForOthers(path), readdirSync(dirname(path))]).toEqual(["two", null, ["key"]]);
  });

  test("is not made in place of a link to what is not there now", () => {
    const path = join(temporaryFolder(), "key");
    expect(hasEntry(path)).toBe(false);
    symlinkSync("/nowhere/key", path);
    expect(hasEntry(path)).toBe(true);
  });

  test("that finds no space is not there", () => {
    using disk = SmallDisk.mount(64 << 10);
    if (disk === null) return;
    const path = join(disk.path, "key");
    expect(() => writePrivateFile(path, "x".repeat(128 << 10))).toThrow("ENOSPC");
    expect(readdirSync(disk.path)).toEqual([]);
  });
});
