// Deletion, restoring and dropping in the catalog: the same state after every restart, read from the log or from a snapshot; what does not
// fit is refused and changes nothing.
import { describe, expect, test } from "bun:test";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { Catalog } from "./catalog.ts";
import type { CatalogOperation } from "./operations.ts";
import { CatalogState } from "./state.ts";

const open = (store: ObjectStore, snapshotEntries: number) => Catalog.open(store, { prefix: "catalog", snapshotEntries });

const MADE: CatalogOperation[] = [
  { kind: "create_database", id: 1, namespace: 0, name: "a" },
  { kind: "create_table", id: 1, databaseId: 1, name: "t" },
  { kind: "create_table", id: 2, databaseId: 1, name: "u" },
  { kind: "add_columns", tableId: 1, columns: [{ id: 1, name: "host", type: "tag" }] },
  { kind: "delete_rows", id: 1, tableId: 1, sequence: 1, minTimeNs: "0", maxTimeNs: "9", tags: [] },
];

/** What is left after `operations`, by names. */
function view(catalog: Catalog) {
  const { databaseCount, tableCount, partialTombstoneCount, nextIds } = catalog;
  const live = catalog.databases().map(({ id, name }) => [name, catalog.tables(id).map((table) => table.name)]);
  const deleted = catalog.deleted().map(({ of, def, ...deletion }) => [of, def.id, def.name, deletion]);
  return { live, deleted, databaseCount, tableCount, partialTombstoneCount, nextIds };
}

const LIVES: [
  what: string,
  operations: CatalogOperation[],
  live: unknown[],
  counts: [databases: number, tables: number, tombstones: number],
][] = [
  [
    "a deleted table makes room for one of its name",
    [
      { kind: "soft_delete", of: "table", id: 1, name: "t-1", deletedMs: 5, hardDeleteMs: 9 },
      { kind: "create_table", id: 3, databaseId: 1, name: "t" },
    ],
    [["a", ["u", "t"]]],
    [1, 2, 1],
  ],
  [
    "a restored one is in its old place",
    [
      { kind: "soft_delete", of: "table", id: 1, name: "t-1", deletedMs: 5, hardDeleteMs: null },
      { kind: "restore", of: "table", id: 1, name: "again" },
    ],
    [["a", ["again", "u"]]],
    [1, 2, 1],
  ],
  [
    "a deleted database takes its tables along",
    [{ kind: "soft_delete", of: "database", id: 1, name: "a-1", deletedMs: 5, hardDeleteMs: 9 }],
    [],
    [0, 0, 1],
  ],
  [
    "and brings back those that were not deleted on their own",
    [
      { kind: "soft_delete", of: "table", id: 2, name: "u-1", deletedMs: 4, hardDeleteMs: null },
      { kind: "soft_delete", of: "database", id: 1, name: "a-1", deletedMs: 5, hardDeleteMs: 9 },
      { kind: "schedule_drop", of: "database", id: 1, hardDeleteMs: null },
      { kind: "create_database", id: 2, namespace: 0, name: "a" },
      { kind: "restore", of: "database", id: 1, name: "b" },
    ],
    [
      ["b", ["t"]],
      ["a", []],
    ],
    [2, 1, 1],
  ],
  [
    "a dropped table's deletions go with it",
    [
      { kind: "soft_delete", of: "table", id: 1, name: "t-1", deletedMs: 5, hardDeleteMs: 5 },
      { kind: "drop", of: "table", id: 1 },
    ],
    [["a", ["u"]]],
    [1, 1, 0],
  ],
  [
    "a dropped database's tables too; no id comes again",
    [
      { kind: "soft_delete", of: "database", id: 1, name: "a-1", deletedMs: 5, hardDeleteMs: 5 },
      { kind: "drop", of: "database", id: 1 },
      { kind: "create_database", id: 2, namespace: 0, name: "a-1" },
    ],
    [["a-1", []]],
    [1, 0, 0],
  ],
];

describe("lives of databases and tables", () => {
  test.each(LIVES)("%s", async (_, operations, live, [databases, tables, tombstones]) => {
    for (const snapshotEntries of [1, 200]) {
      const store = new MemoryObjectStore();
      const catalog = await open(store, snapshotEntries);
      for (const operation of [...MADE, ...operations]) await catalog.apply([operation]).durable;
      const before = view(catalog);
      expect(before).toMatchObject({ live, databaseCount: databases, tableCount: tables, partialTombstoneCount: tombstones });
      await catalog.close();
      expect(view(await open(store, snapshotEntries))).toEqual(before);
    }
  });

  test("names that are gone are found by none but who asks for deleted ones", async () => {
    const catalog = await open(new MemoryObjectStore(), 200);
    catalog.apply([
      ...MADE,
      { kind: "soft_delete", of: "table", id: 1, name: "t-1", deletedMs: 5, hardDeleteMs: 9 },
      { kind: "create_database", id: 2, namespace: 0, name: "gone" },
      { kind: "soft_delete", of: "database", id: 2, name: "gone-1", deletedMs: 6, hardDeleteMs: null },
    ]);
    expect([catalog.findTable(1, "t"), catalog.findTable(1, "t-1"), catalog.findSchema(1, "t-1")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(catalog.findDeletedTable(1, "t-1")).toMatchObject({ of: "table", formerName: "t", deletedMs: 5, hardDeleteMs: 9 });
    expect([catalog.findDatabase("gone"), catalog.findDatabase("gone-1")]).toEqual([undefined, undefined]);
    expect(catalog.findDeletedDatabase("gone-1")).toMatchObject({ of: "database", formerName: "gone", deletedMs: 6, hardDeleteMs: null });
    expect(catalog.tableById(1)?.name).toBe("t-1");
  });
});

const CONTRADICTIONS: [what: string, operation: CatalogOperation, message: RegExp][] = [
  ["an unknown table", { kind: "soft_delete", of: "table", id: 9, name: "x", deletedMs: 1, hardDeleteMs: null }, /table 9 does not exist/],
  ["a name that is taken", { kind: "soft_delete", of: "table", id: 1, name: "u", deletedMs: 1, hardDeleteMs: null }, /a second table "u"/],
  ["a drop of what lives", { kind: "drop", of: "database", id: 1 }, /database 1 is dropped and was not deleted/],
  ["a restore of what lives", { kind: "restore", of: "table", id: 1, name: "x" }, /table 1 is restored and was not deleted/],
  ["a time for what lives", { kind: "schedule_drop", of: "table", id: 1, hardDeleteMs: 1 }, /is to be dropped and was not deleted/],
];

test.each(CONTRADICTIONS)("a log with %s is refused", (_, operation, message) => {
  const state = new CatalogState();
  for (const made of MADE) state.apply(made);
  const before = JSON.stringify(state.toSnapshot());
  expect(() => state.apply(operation)).toThrow(message);
  expect(JSON.stringify(state.toSnapshot())).toBe(before);
});
