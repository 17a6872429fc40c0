// Records of the v2 line: kept, replaced, forgotten, and there again after a restart and in a snapshot.
import { describe, expect, test } from "bun:test";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "./catalog.ts";
import { readOperation } from "./operations.ts";
import { readRecords } from "./records.ts";
import { CatalogState } from "./state.ts";

const A = "00000000000000aa";
const B = "00000000000000bb";

async function opened(store: MemoryObjectStore, snapshotEntries = 200): Promise<Catalog> {
  return Catalog.open(store, { prefix: "n/catalog", snapshotEntries });
}

describe("records", () => {
  test("survive a restart, by the log alone and by a snapshot", async () => {
    for (const snapshotEntries of [200, 2]) {
      const store = new MemoryObjectStore();
      const catalog = await opened(store, snapshotEntries);
      await catalog.apply([
        { kind: "put_record", of: "user", id: A, value: { name: "ann" } },
        { kind: "put_record", of: "user", id: B, value: { name: "bob" } },
      ]).durable;
      await catalog.apply([{ kind: "put_record", of: "user", id: A, value: { name: "anna" } }]).durable;
      await catalog.apply([{ kind: "delete_record", of: "user", id: B }]).durable;
      await catalog.close();
      const again = await opened(store, snapshotEntries);
      expect([...again.records.ofKind("user")]).toEqual([[A, { name: "anna" }]]);
      // the id of the deleted record is not used again
      expect(again.records.lastId).toBe(B);
      expect(again.records.kinds()).toEqual(["user"]);
    }
  });

  test("deleting what is not there is refused and changes nothing", () => {
    const state = new CatalogState();
    state.apply({ kind: "put_record", of: "user", id: A, value: {} });
    expect(() => state.apply({ kind: "delete_record", of: "user", id: B })).toThrow("does not exist");
    expect(() => state.apply({ kind: "delete_record", of: "label", id: A })).toThrow("does not exist");
    expect(state.records.ofKind("user").size).toBe(1);
  });

  test.each([
    [{ kind: "put_record", of: "user", id: "aa", value: {} }, "16 hex digits"],
    [{ kind: "put_record", of: "user", id: A.toUpperCase(), value: {} }, "16 hex digits"],
    [{ kind: "put_record", of: 5, id: A, value: {} }, "a text"],
    [{ kind: "put_record", of: "user", id: A, value: [] }, "an object"],
    [{ kind: "delete_record", of: "user" }, "a text"],
  ])("a damaged operation is refused: %j", (operation, reason) => {
    expect(() => readOperation(operation)).toThrow(reason);
  });

  test("a snapshot of a server without records has none", () => {
    expect(readRecords(undefined).kinds()).toEqual([]);
    expect(() => readRecords({ lastId: A, records: {} })).toThrow("an array");
  });
});

test("who watches databases is told which have changed", async () => {
  const catalog = await opened(new MemoryObjectStore());
  const seen: number[][] = [];
  catalog.onDatabaseChanges((ids) => seen.push([...ids]));
  catalog.apply([{ kind: "create_database", id: 1, namespace: 0, name: "a" }]);
  catalog.apply([{ kind: "put_record", of: "database", id: A, value: {} }]);
  catalog.apply([{ kind: "set_retention", of: "database", id: 1, retentionNs: "5" }]);
  await catalog.apply([{ kind: "soft_delete", of: "database", id: 1, name: "a-1", deletedMs: 1, hardDeleteMs: null }]).durable;
  expect(seen).toEqual([[1], [1], [1]]);
});
