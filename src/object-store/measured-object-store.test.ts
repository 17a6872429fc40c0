// What is told of operations, against a store in memory: sizes by hand, errors as errors, and the store's answers unchanged.
import { expect, test } from "bun:test";
import { MeasuredObjectStore, type StoreOperation } from "./measured-object-store.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";

function measured() {
  const told: StoreOperation[] = [];
  const store = new MeasuredObjectStore(new MemoryObjectStore(), (operation) => void told.push(operation));
  const lines = () => told.map(({ op, result, bytes, objects }) => `${op} ${result} ${bytes} ${objects}`);
  return { store, told, lines };
}

test("each operation is told with its size", async () => {
  const { store, told, lines } = measured();
  await store.put("a/b", new Uint8Array(7));
  await store.put("a/c", new Uint8Array(3));
  expect((await store.get("a/b")).byteLength).toBe(7);
  expect((await store.getRange("a/b", 5, 10)).byteLength).toBe(2);
  expect(await store.list("a/")).toEqual([
    { key: "a/b", sizeBytes: 7 },
    { key: "a/c", sizeBytes: 3 },
  ]);
  await store.delete("a/b");
  expect(lines()).toEqual([
    ...["put success 7 1", "put success 3 1", "get success 7 1", "get_range success 2 1", "list success 0 2", "delete success 0 1"],
  ]);
  for (const { seconds } of told) expect(seconds).toBeGreaterThanOrEqual(0);
});

test("a streamed object is one operation, when it is there", async () => {
  const { store, lines } = measured();
  const writer = await store.begin("a");
  await writer.append(new Uint8Array(4));
  await writer.append(new Uint8Array(5));
  expect(lines()).toEqual([]);
  await writer.finish();
  expect(lines()).toEqual(["put success 9 1"]);
  const given = await store.begin("b");
  await given.append(new Uint8Array(4));
  await given.abort();
  expect(lines()).toEqual(["put success 9 1"]);
  expect((await store.get("a")).byteLength).toBe(9);
});

test("errors are passed on and told", async () => {
  const { store, lines } = measured();
  await expect(store.get("absent")).rejects.toMatchObject({ kind: "not_found" });
  await store.put("a", new Uint8Array(1), { ifAbsent: true });
  await expect(store.put("a", new Uint8Array(1), { ifAbsent: true })).rejects.toMatchObject({ kind: "already_exists" });
  expect(lines()).toEqual(["get error 0 0", "put success 1 1", "put error 0 0"]);
});
