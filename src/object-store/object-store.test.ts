// The conformance suite on both stores, and what only the file store can get wrong: crashes.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { kindOf, objectStoreSuite } from "../../test/conformance/object-store.ts";
import { prng } from "../../test/support/prng.ts";
import { FaultyDisk, faultLoop } from "../../test/support/storage/faulty-disk.ts";
import { NodeDisk } from "../disk/node-disk.ts";
import { FileObjectStore } from "./file-object-store.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function temporaryFolder(): string {
  const folder = mkdtempSync(`${tmpdir()}/tsdb-store-`);
  folders.push(folder);
  return folder;
}

objectStoreSuite("memory", async () => new MemoryObjectStore());
objectStoreSuite("file on a real disk", async () => new FileObjectStore(new NodeDisk(), `${temporaryFolder()}/objects`));
objectStoreSuite("file on the test disk", async () => new FileObjectStore(new FaultyDisk(), "objects"));

async function putInPieces(store: FileObjectStore, key: string, bytes: Uint8Array): Promise<void> {
  const writer = await store.begin(key);
  try {
    for (let at = 0; at < bytes.length; at += 20) await writer.append(bytes.subarray(at, at + 20));
    await writer.finish();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

describe("file store", () => {
  test("leaves no temporary file behind, also after a collision", async () => {
    const root = temporaryFolder();
    const store = new FileObjectStore(new NodeDisk(), root);
    await store.put("k", new Uint8Array(3));
    await store.put("k2", new Uint8Array(3), { ifAbsent: true });
    expect(await kindOf(store.put("k", new Uint8Array(3), { ifAbsent: true }))).toBe("already_exists");
    expect(readdirSync(`${root}/.tmp`)).toEqual([]);
  });

  test("of a shared root each owner's start removes its own unfinished puts", async () => {
    const root = temporaryFolder();
    const [own, other] = ["a", "b"].map((owner) => new FileObjectStore(new NodeDisk(), root, undefined, { owner }));
    const [whole, lost] = [await own!.begin("whole"), await own!.begin("lost")];
    await whole.append(new Uint8Array(3));
    await other!.recover();
    await whole.finish();
    expect(await other!.get("whole")).toEqual(new Uint8Array(3));
    await lost.append(new Uint8Array(3));
    expect(readdirSync(`${root}/.tmp-a`)).toHaveLength(1);
    await own!.recover();
    expect(readdirSync(`${root}/.tmp-a`)).toEqual([]);
    await lost.abort();
  });

  test("folders of a shared root may be removed at any time", async () => {
    const root = temporaryFolder();
    const store = new FileObjectStore(new NodeDisk(), root, undefined, { owner: "a" });
    for (const gone of [null, "a", ".tmp-a", ""]) {
      if (gone !== null) rmSync(`${root}/${gone}`, { recursive: true });
      await store.put("a/b/1", new Uint8Array(1), { ifAbsent: gone !== ".tmp-a" });
      const writer = await store.begin("a/c/2");
      await writer.finish();
      expect((await store.list("")).map(({ key }) => key)).toEqual(["a/b/1", "a/c/2"]);
    }
  });

  test("the memory store hands out bytes that a worker can share", async () => {
    const store = new MemoryObjectStore();
    await store.put("k", new Uint8Array([7]));
    expect(store.sharedBytes("k").buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test.each([true, false])(
    `whichever call fails, an object is whole or absent, and there when put resolved (ifAbsent %p, seed ${SEED})`,
    async (ifAbsent) => {
      const objects = ["a/1", "a/2", "b/1"].map((key, i) => ({ key, bytes: new Uint8Array(50).fill(i + 1) }));
      const runs = await faultLoop(
        prng(SEED),
        async (disk) => {
          const store = new FileObjectStore(disk, "root");
          let stored = 0;
          for (; stored < objects.length; stored++) {
            const { key, bytes } = objects[stored]!;
            const done = stored === 1 && !ifAbsent ? putInPieces(store, key, bytes) : store.put(key, bytes, { ifAbsent });
            if ((await kindOf(done)) !== "resolved") break;
          }
          return stored;
        },
        async (disk, stored) => {
          const store = new FileObjectStore(disk, "root");
          await store.recover();
          expect(disk.paths().filter((path) => path.includes(".tmp"))).toEqual([]);
          const found = await store.list("");
          expect(found.length).toBeGreaterThanOrEqual(stored);
          expect(await new FileObjectStore(disk.afterCrash(), "root").list("")).toEqual(found); // what was found stays
          expect(found.map(({ key }) => key)).toEqual(objects.slice(0, found.length).map(({ key }) => key));
          for (const { key } of found) expect(await store.get(key)).toEqual(objects.find((object) => object.key === key)!.bytes);
        },
      );
      expect(runs).toBeGreaterThan(15);
    },
  );
});
