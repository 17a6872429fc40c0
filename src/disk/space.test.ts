// Whether the disk takes anything new: what is refused and in which words, the reserve, and that it is found out when there is space again.
import { describe, expect, test } from "bun:test";
import { kindOf } from "../../test/conformance/object-store.ts";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { ioError } from "./io-error.ts";
import { DiskSpace } from "./space.ts";

const RESERVE = 1000;
const SECOND = 1000;

function spaceOf(capacityBytes: number, reserveBytes = RESERVE) {
  const disk = new FaultyDisk({ capacityBytes });
  const clock = { ms: 0 };
  const changes: (string | null)[] = [];
  const space = new DiskSpace(disk, {
    ...{ path: "reserve", folder: "/data", reserveBytes },
    nowMs: () => clock.ms,
    onChange: (problem) => changes.push(problem?.message ?? null),
  });
  const file = (path: string, bytes: number) => async () => {
    const reserved = await disk.openReserved(path);
    await reserved.extend(bytes);
  };
  const nextCheck = async () => {
    clock.ms += SECOND;
    await space.check();
  };
  return { disk, clock, space, changes, file, nextCheck };
}

const failing = (code: string) => () => Promise.reject(ioError("append to", "x", Object.assign(new Error(`${code}: words`), { code })));

describe("a full disk", () => {
  test("is reported once, with the needed and the free bytes, and once when it is over", async () => {
    const { disk, space, changes, file, nextCheck } = spaceOf(5000);
    await space.check();
    expect(disk.peek("reserve")!.byteLength).toBe(RESERVE);
    await space.take(3000, file("a", 3000));
    for (let i = 0; i < 3; i++) expect(await kindOf(space.take(2000, file("b", 2000)))).toBe("no_space");
    expect(space.problem?.message).toBe(
      "the disk is full: 2000 bytes are needed in /data, 1000 bytes are free (ENOSPC); nothing was stored, writes are taken again when there is space",
    );
    await nextCheck();
    expect(space.problem).not.toBeNull();
    disk.capacityBytes = 6000;
    await nextCheck();
    expect(space.problem).toBeNull();
    expect(changes).toEqual([expect.stringContaining("the disk is full"), null]);
    await space.take(2000, file("b", 2000));
  });

  test("is not asked again at once, nor written to in order to find out", async () => {
    const { disk, space, clock, file } = spaceOf(5000);
    await space.check();
    expect(await kindOf(space.take(9000, file("a", 9000)))).toBe("no_space");
    const { calls } = disk;
    expect(await kindOf(space.take(9000, file("a", 9000)))).toBe("no_space");
    clock.ms += SECOND;
    expect(await kindOf(space.take(9000, file("a", 9000)))).toBe("no_space");
    expect(disk.calls).toBe(calls);
  });

  test("gives its reserve to what is urgent, and takes nothing else before it is whole again", async () => {
    const { disk, space, clock, file, nextCheck } = spaceOf(5000);
    await space.check();
    await space.take(3900, file("a", 3900));
    await space.urgent(600, file("operation", 600));
    expect([disk.peek("reserve")!.byteLength, disk.peek("operation")!.byteLength]).toEqual([0, 600]);
    clock.ms += SECOND;
    expect(await kindOf(space.take(100, file("b", 100)))).toBe("no_space");
    expect(space.problem?.message).toContain("and 1000 for the reserve in /data, 500 bytes are free");
    await disk.unlink("a");
    await nextCheck();
    expect([space.problem, disk.peek("reserve")!.byteLength]).toEqual([null, RESERVE]);
  });

  test("that has no room for what is urgent either says so, and keeps the reserve free for what is smaller", async () => {
    const { disk, space, file } = spaceOf(5000);
    await space.check();
    await space.take(3900, file("a", 3900));
    expect(await kindOf(space.urgent(2000, file("large", 2000)))).toBe("no_space");
    await space.urgent(900, file("small", 900));
    expect(disk.usedBytes).toBe(4800);
  });

  test("from the start on: without a reserve there is none to give", async () => {
    const { space, file } = spaceOf(500);
    await space.check();
    expect(space.problem?.message).toContain("1000 bytes are needed and 1000 for the reserve");
    expect(await kindOf(space.urgent(600, file("operation", 600)))).toBe("no_space");
    await space.urgent(400, file("operation", 400));
  });
});

const REFUSALS: [code: string, kind: string, words: string][] = [
  ["ENOSPC", "no_space", "the disk is full: 10 bytes"],
  ["EDQUOT", "no_space", "(EDQUOT)"],
  ["EFBIG", "no_space", "(EFBIG)"],
  ["EIO", "no_space", "the disk takes nothing: cannot append to x: EIO: words"],
  ["EROFS", "no_space", "EROFS: words"],
  ["EMFILE", "no_space", "EMFILE: words"],
  // trying again would not help
  ["ENXIO", "io", "cannot append to x: ENXIO: words"],
];
test.each(REFUSALS)("system error %s is %s", async (code, kind, words) => {
  for (const way of ["take", "urgent"] as const) {
    const { space, nextCheck } = spaceOf(9000);
    const error = await space[way](10, failing(code)).then(
      () => null,
      (caught: Error) => caught,
    );
    expect(error).toMatchObject({ kind });
    expect(error!.message).toContain(words);
    expect(space.problem !== null).toBe(kind === "no_space");
    await nextCheck();
    expect(space.problem).toBeNull();
  }
});

test("an error that is no failed file call does not count as a full disk", async () => {
  const { space } = spaceOf(9000);
  const bug = () => Promise.reject(new Error("a bug"));
  await expect(space.take(1, bug)).rejects.toThrow("a bug");
  await expect(space.urgent(1, bug)).rejects.toThrow("a bug");
  expect(space.problem).toBeNull();
});
