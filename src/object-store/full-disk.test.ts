// Puts and operations on a disk that refuses one kind of call: nothing half there, nothing left behind, and all of it again when it takes
// calls again.
import { describe, expect, test } from "bun:test";
import { kindOf } from "../../test/conformance/object-store.ts";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { FileObjectStore } from "./file-object-store.ts";
import { openOperationLog } from "./operation-log.ts";

const BYTES = new TextEncoder().encode("content");
const CODES = ["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EMFILE"];
/** Calls of a put before the object has its name. */
const BEFORE = ["make folder", "open", "append to", "sync", "close"];
const CALLS: [way: string, call: string, code: string][] = [
  ...["put", "put if absent", "begin"].flatMap((way) =>
    BEFORE.flatMap((call) => CODES.map((code): [string, string, string] => [way, call, code])),
  ),
  ...["ENOSPC", "EDQUOT"].flatMap((code): [string, string, string][] => [
    ["put", "rename", code],
    ["put if absent", "link", code],
    ["begin", "rename", code],
  ]),
];

async function store(way: string, objects: FileObjectStore): Promise<void> {
  if (way !== "begin") return objects.put("a/b", BYTES, { ifAbsent: way === "put if absent" });
  const writer = await objects.begin("a/b");
  try {
    await writer.append(BYTES);
    await writer.finish();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

describe("an object", () => {
  test.each(CALLS)("%s, %s refused with %s: nothing is there, and all of it the next time", async (way, call, code) => {
    const disk = new FaultyDisk();
    const objects = new FileObjectStore(disk, "root");
    disk.refuse = (operation) => (operation === call ? code : undefined);
    expect(await kindOf(store(way, objects))).toBe("no_space");
    disk.refuse = () => undefined;
    expect(await objects.list("")).toEqual([]);
    // a temporary file whose closing failed is removed at the next start
    if (call !== "close") expect(disk.paths()).toEqual([]);
    await store(way, objects);
    expect(await objects.get("a/b")).toEqual(BYTES);
    expect(await new FileObjectStore(disk.afterCrash(), "root").get("a/b")).toEqual(BYTES);
  });

  test.each(["put", "put if absent"])("%s: a folder that cannot be synced is no matter of space", async (way) => {
    const disk = new FaultyDisk();
    const objects = new FileObjectStore(disk, "root");
    await objects.put("a/first", BYTES);
    disk.refuse = (operation) => (operation === "sync folder" ? "ENOSPC" : undefined);
    expect(await kindOf(store(way, objects))).toBe("io");
  });
});

describe("operations", () => {
  async function open(disk: FaultyDisk) {
    const failures: unknown[] = [];
    const options = { prefix: "p", kind: "test", retryMs: 1, onFailure: (error: unknown) => failures.push(error) };
    return { ...(await openOperationLog<string>(new FileObjectStore(disk, "root"), options)), failures };
  }

  test.each(CODES)("wait while the disk refuses with %s, in their order, and the log goes on", async (code) => {
    const disk = new FaultyDisk();
    const { log, failures } = await open(disk);
    await log.append("a").durable;
    let refusals = 0;
    const { promise: refused, resolve } = Promise.withResolvers<void>();
    disk.refuse = (operation) => {
      if (operation !== "append to") return undefined;
      if (++refusals === 3) resolve();
      return code;
    };
    const b = log.append("b").durable;
    let isDurable = false;
    void b.then(() => {
      isDurable = true;
    });
    await refused;
    const c = log.append("c").durable; // an operation that frees space may still come
    expect([isDurable, log.stalled?.kind, log.failed]).toEqual([false, "no_space", null]);
    expect((await open(disk.afterCrash())).operations.map(({ value }) => value)).toEqual(["a"]);
    disk.refuse = () => undefined;
    await Promise.all([b, c]);
    expect([log.stalled, failures]).toEqual([null, []]);
    expect((await open(disk.afterCrash())).operations.map(({ value }) => value)).toEqual(["a", "b", "c"]);
  });

  test("that wait do not hold up an end", async () => {
    const disk = new FaultyDisk();
    const { log } = await open(disk);
    disk.refuse = (operation) => (operation === "append to" ? "ENOSPC" : undefined);
    const { durable } = log.append("a");
    await log.close();
    expect(await kindOf(durable)).toBe("unavailable");
  });
});
