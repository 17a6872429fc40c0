// What every object store must do, run on each implementation by its own test.
import { describe, expect, test } from "bun:test";
import type { ErrorKind } from "../../src/model/errors.ts";
import { TsdbError } from "../../src/model/errors.ts";
import type { ObjectStore } from "../../src/object-store/object-store.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(new Uint8Array(bytes));

/** The kind a promise rejects with; "resolved" or "bug" otherwise. */
export async function kindOf(promise: Promise<unknown>): Promise<ErrorKind | "resolved" | "bug"> {
  try {
    await promise;
    return "resolved";
  } catch (error) {
    return error instanceof TsdbError ? error.kind : "bug";
  }
}

/** Tests that every object store must pass. */
export function objectStoreSuite(name: string, make: () => Promise<ObjectStore>): void {
  describe(`object store: ${name}`, () => {
    test("an object is read back, whole and in ranges", async () => {
      const store = await make();
      await store.put("a/b/one.bin", bytesOf("0123456789"));
      expect(textOf(await store.get("a/b/one.bin"))).toBe("0123456789");
      const ranges: [offset: number, byteCount: number, text: string][] = [
        [0, 10, "0123456789"],
        [3, 4, "3456"],
        [8, 100, "89"],
        [10, 1, ""],
        [50, 1, ""],
        [2, 0, ""],
      ];
      for (const [offset, byteCount, text] of ranges) expect(textOf(await store.getRange("a/b/one.bin", offset, byteCount))).toBe(text);
    });

    test("the store keeps a copy: the caller may reuse its bytes", async () => {
      const store = await make();
      const bytes = bytesOf("first");
      await store.put("k", bytes);
      bytes.fill(0);
      expect(textOf(await store.get("k"))).toBe("first");
    });

    test("an object written in pieces is there when it is finished, and not before", async () => {
      const store = await make();
      const writer = await store.begin("a/large");
      const piece = bytesOf("0123");
      await writer.append(piece);
      piece.fill(0);
      await writer.append(bytesOf("456"));
      expect(await store.list("")).toEqual([]);
      await writer.finish();
      expect(textOf(await store.get("a/large"))).toBe("0123456");
      const second = await store.begin("a/large");
      await second.append(bytesOf("other"));
      await second.finish();
      expect(textOf(await store.get("a/large"))).toBe("other");
      await second.abort();
      const given = await store.begin("a/given-up");
      await given.append(bytesOf("lost"));
      await given.abort();
      await given.abort();
      expect((await store.list("")).map(({ key }) => key)).toEqual(["a/large"]);
    });

    test("empty objects, and bytes in shared memory", async () => {
      const store = await make();
      await store.put("empty", new Uint8Array(0));
      expect((await store.get("empty")).byteLength).toBe(0);
      const shared = new Uint8Array(new SharedArrayBuffer(4));
      shared.set([1, 2, 3, 4]);
      await store.put("shared", shared);
      expect([...(await store.get("shared"))]).toEqual([1, 2, 3, 4]);
    });

    test("put replaces; put ifAbsent collides and changes nothing", async () => {
      const store = await make();
      await store.put("k", bytesOf("one"), { ifAbsent: true });
      expect(await kindOf(store.put("k", bytesOf("two"), { ifAbsent: true }))).toBe("already_exists");
      expect(textOf(await store.get("k"))).toBe("one");
      await store.put("k", bytesOf("three"));
      expect(textOf(await store.get("k"))).toBe("three");
    });

    test("of many conditional puts at once exactly one wins", async () => {
      const store = await make();
      const kinds = await Promise.all(
        Array.from({ length: 8 }, (_, i) => kindOf(store.put("race/k", bytesOf(`${i}`), { ifAbsent: true }))),
      );
      expect(kinds.filter((kind) => kind === "resolved")).toHaveLength(1);
      expect(kinds.filter((kind) => kind === "already_exists")).toHaveLength(7);
      expect(textOf(await store.get("race/k"))).toBe(`${kinds.indexOf("resolved")}`);
    });

    test("list is by key prefix, in key order, with sizes", async () => {
      const store = await make();
      for (const key of ["log/3", "log/1", "log/2", "logs/1", "log/sub/9", "other", "n-1/x", "n/x"]) await store.put(key, bytesOf(key));
      const keys = async (prefix: string) => (await store.list(prefix)).map((object) => object.key);
      expect(await keys("log/")).toEqual(["log/1", "log/2", "log/3", "log/sub/9"]);
      expect(await keys("log")).toEqual(["log/1", "log/2", "log/3", "log/sub/9", "logs/1"]);
      expect(await keys("log/s")).toEqual(["log/sub/9"]);
      expect(await keys("n")).toEqual(["n-1/x", "n/x"]);
      expect(await keys("nothing/here")).toEqual([]);
      expect(await store.list("log/sub/")).toEqual([{ key: "log/sub/9", sizeBytes: 9 }]);
      expect((await keys("")).length).toBe(8);
    });

    test("delete removes, and is quiet when there is nothing", async () => {
      const store = await make();
      await store.put("d/k", bytesOf("x"));
      await store.delete("d/k");
      await store.delete("d/k");
      expect(await store.list("")).toEqual([]);
      expect(await kindOf(store.get("d/k"))).toBe("not_found");
      expect(await kindOf(store.getRange("d/k", 0, 1))).toBe("not_found");
    });

    test.each(["", "/a", "a/", "a//b", "../a", "a/../b", ".hidden", "a/.tmp", "a b", "a\\b", "ü", "a\0b", "long".repeat(129)])(
      "the key %j is refused as a bug",
      async (key) => {
        const store = await make();
        expect(await kindOf(store.put(key, bytesOf("x")))).toBe("bug");
        expect(await kindOf(store.get(key))).toBe("bug");
        expect(await kindOf(store.delete(key))).toBe("bug");
      },
    );
  });
}
