// File indexes in the catalog: which columns of a table have one, after every kind of change, and after a restart from the log or a
// snapshot.
import { expect, test } from "bun:test";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "./catalog.ts";
import type { CatalogOperation } from "./operations.ts";
import { CatalogState } from "./state.ts";

const MADE: CatalogOperation[] = [
  { kind: "create_database", id: 1, namespace: 0, name: "d" },
  { kind: "create_table", id: 1, databaseId: 1, name: "t" },
  { kind: "create_table", id: 2, databaseId: 1, name: "u" },
  {
    kind: "add_columns",
    tableId: 1,
    columns: [
      { id: 1, name: "host", type: "tag" },
      { id: 2, name: "text", type: "string" },
      { id: 3, name: "n", type: "integer" },
    ],
  },
  { kind: "add_columns", tableId: 2, columns: [{ id: 1, name: "text", type: "float" }] },
];

const set = (of: "database" | "table", id: number, columns: readonly string[] | null): CatalogOperation => {
  return { kind: "set_file_index", of, id, columns };
};

const LIVES: [what: string, operations: CatalogOperation[], ofT: string[], ofU: string[]][] = [
  ["no index", [], [], []],
  ["a table's own, in the order of its columns", [set("table", 1, ["text", "host"])], ["host", "text"], []],
  ["a later one is in its place", [set("table", 1, ["text"]), set("table", 1, ["host"])], ["host"], []],
  ["an index that was deleted", [set("table", 1, ["text"]), set("table", 1, null)], [], []],
  ["a database's, where a table has such a column as tag or string", [set("database", 1, ["text", "n"])], ["text"], []],
  ["a table's own goes before its database's", [set("database", 1, ["text"]), set("table", 1, ["host"])], ["host"], []],
  [
    "and the database's is there when it has gone",
    [set("database", 1, ["text"]), set("table", 1, ["host"]), set("table", 1, null)],
    ["text"],
    [],
  ],
  [
    "columns that come later",
    [set("database", 1, ["zone"]), { kind: "add_columns", tableId: 2, columns: [{ id: 2, name: "zone", type: "tag" }] }],
    [],
    ["zone"],
  ],
  [
    "a restored table has it again",
    [
      set("table", 1, ["text"]),
      { kind: "soft_delete", of: "table", id: 1, name: "t-1", deletedMs: 5, hardDeleteMs: 9 },
      { kind: "restore", of: "table", id: 1, name: "t" },
    ],
    ["text"],
    [],
  ],
  [
    "a new table of a dropped one's name has none",
    [
      set("table", 2, ["text"]),
      { kind: "soft_delete", of: "table", id: 2, name: "u-1", deletedMs: 5, hardDeleteMs: 5 },
      { kind: "drop", of: "table", id: 2 },
      { kind: "create_table", id: 3, databaseId: 1, name: "u" },
      { kind: "add_columns", tableId: 3, columns: [{ id: 1, name: "text", type: "tag" }] },
    ],
    [],
    [],
  ],
];

test.each(LIVES)("indexed columns: %s", async (_, operations, ofT, ofU) => {
  for (const snapshotEntries of [1, 200]) {
    const store = new MemoryObjectStore();
    const catalog = await Catalog.open(store, { prefix: "catalog", snapshotEntries });
    for (const operation of [...MADE, ...operations]) await catalog.apply([operation]).durable;
    await catalog.close();
    for (const each of [catalog, await Catalog.open(store, { prefix: "catalog", snapshotEntries })]) {
      const columns = ["t", "u"].map((name) => each.fileIndexes.columnsOf(each.findTable(1, name)!).map((column) => column.name));
      expect(columns).toEqual([ofT, ofU]);
    }
  }
});

test("a dropped database takes its index and those of its tables along", () => {
  const state = new CatalogState();
  const gone: CatalogOperation[] = [
    { kind: "soft_delete", of: "database", id: 1, name: "d-1", deletedMs: 5, hardDeleteMs: 5 },
    { kind: "drop", of: "database", id: 1 },
  ];
  for (const operation of [...MADE, set("database", 1, ["text"]), set("table", 1, ["host"]), ...gone]) state.apply(operation);
  expect(state.fileIndexes.isEmpty).toBe(true);
});

test("an index of nothing is refused", () => {
  const state = new CatalogState();
  for (const operation of MADE) state.apply(operation);
  expect(() => state.apply(set("table", 9, ["text"]))).toThrow(/table 9 does not exist/);
  expect(state.fileIndexes.isEmpty).toBe(true);
});
