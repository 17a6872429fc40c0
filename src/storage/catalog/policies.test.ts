// Settings of retention policies in the catalog: the same after every restart, read from the log or from a snapshot; logs and snapshots of
// servers that had none; what is no such setting.
import { expect, test } from "bun:test";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "./catalog.ts";
import { freshPolicies, readSetPolicies, type SetPolicies } from "./policies.ts";
import { CatalogState } from "./state.ts";

const SET: SetPolicies = {
  ...{ kind: "set_policies", databaseId: 1, defaultPolicy: "week", place: null },
  ...{ label: "Week", shardNs: "3600000000000", replicas: 2 },
};
const { kind: _, databaseId: __, ...SETTINGS } = SET;

test.each([1, 100])("they are kept over starts, with a snapshot every %p entries", async (snapshotEntries) => {
  const store = new MemoryObjectStore();
  const open = () => Catalog.open(store, { prefix: "catalog", snapshotEntries });
  let catalog = await open();
  await catalog.apply([
    { kind: "create_database", id: 1, namespace: 0, name: "a" },
    { kind: "create_database", id: 2, namespace: 0, name: "b" },
    SET,
  ]).durable;
  await catalog.apply([{ kind: "soft_delete", of: "database", id: 1, name: "a-1", deletedMs: 5, hardDeleteMs: null }]).durable;
  await catalog.apply([{ kind: "restore", of: "database", id: 1, name: "a" }]).durable;
  for (let start = 0; start < 2; start++) {
    expect(catalog.policies(1)).toEqual(SETTINGS);
    expect(catalog.policies(2)).toEqual({ defaultPolicy: null, place: 2, label: null, shardNs: null, replicas: 1 });
    await catalog.close();
    catalog = await open();
  }
  await catalog.close();
});

test("a snapshot of a server that had no policies", () => {
  const state = new CatalogState();
  state.apply({ kind: "create_database", id: 1, namespace: 0, name: "a" });
  const snapshot = state.toSnapshot() as { databases: object[] };
  expect(snapshot.databases).toEqual([{ id: 1, namespace: 0, name: "a" }]);
  expect(CatalogState.fromSnapshot(snapshot).policies(1)).toEqual(freshPolicies(1));
});

test.each([
  { replicas: -1 },
  { shardNs: "-1" },
  { shardNs: 5 },
  { place: "1" },
  { defaultPolicy: undefined },
  { label: 7 },
  { databaseId: null },
])("%j is refused", (wrong) => {
  expect(() => readSetPolicies({ ...SET, ...wrong })).toThrow();
});

test("a database that does not exist has no policies", () => {
  expect(() => new CatalogState().apply(SET)).toThrow("database 1 does not exist");
});
