// Caches in the catalog: the same after every restart, read from the log or from a snapshot; gone with their table; what does not
// fit is refused.
import { describe, expect, test } from "bun:test";
import type { CacheDef, DistinctCacheDef, LastCacheDef } from "../../model/caches.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { Catalog } from "./catalog.ts";
import { type CatalogOperation, readOperation } from "./operations.ts";
import { CatalogState } from "./state.ts";

const open = (store: ObjectStore, snapshotEntries: number) => Catalog.open(store, { prefix: "catalog", snapshotEntries });

const TABLES: CatalogOperation[] = [
  { kind: "create_database", id: 1, namespace: 0, name: "a" },
  { kind: "create_table", id: 1, databaseId: 1, name: "t" },
  { kind: "create_table", id: 2, databaseId: 1, name: "u" },
  {
    kind: "add_columns",
    tableId: 1,
    columns: [
      { id: 1, name: "host", type: "tag" },
      { id: 2, name: "load", type: "float" },
      { id: 3, name: "state", type: "string" },
      { id: 4, name: "up", type: "boolean" },
    ],
  },
  { kind: "add_columns", tableId: 2, columns: [{ id: 1, name: "host", type: "tag" }] },
];

const last = (id: number, over: Partial<LastCacheDef> = {}): LastCacheDef => ({
  ...{ kind: "last", id, tableId: 1, name: `l${id}`, nodes: "all", createdMs: 1_700_000_000_000 },
  ...{ keyColumnIds: [1], valueColumnIds: null, count: 1, ttlSeconds: 14_400 },
  ...over,
});
const distinct = (id: number, over: Partial<DistinctCacheDef> = {}): DistinctCacheDef => ({
  ...{ kind: "distinct", id, tableId: 1, name: `d${id}`, nodes: "nodes:a,b", createdMs: 1_700_000_000_000 },
  ...{ columnIds: [3, 1], maxCardinality: 100_000, maxAgeSeconds: 86_400 },
  ...over,
});
const create = (cache: CacheDef): CatalogOperation => ({ kind: "create_cache", cache });

const view = (catalog: Catalog) => ({
  ofTable: [1, 2].map((id) => catalog.caches(id)),
  has: [1, 2].map((id) => catalog.hasCaches(id)),
  live: catalog.liveCaches(),
  count: catalog.cacheCount,
  nextId: catalog.nextIds.cacheId,
});

const MADE = [last(0, { keyColumnIds: [], valueColumnIds: [2, 3] }), distinct(1), last(2, { tableId: 2, count: 5, ttlSeconds: 1 })];
const DELETED = { deletedMs: 5, hardDeleteMs: null } as const;
const LIVES: [what: string, operations: CatalogOperation[], ofTables: CacheDef[][], live: CacheDef[]][] = [
  ["caches that were created", [], [[MADE[0]!, MADE[1]!], [MADE[2]!]], MADE],
  ["a deleted one", [{ kind: "delete_cache", id: 1 }], [[MADE[0]!], [MADE[2]!]], [MADE[0]!, MADE[2]!]],
  ["the last one of a table", [{ kind: "delete_cache", id: 2 }], [[MADE[0]!, MADE[1]!], []], [MADE[0]!, MADE[1]!]],
  [
    "a name that is free again",
    [{ kind: "delete_cache", id: 2 }, create(last(3, { name: "l2", tableId: 2 }))],
    [[MADE[0]!, MADE[1]!], [last(3, { name: "l2", tableId: 2 })]],
    [MADE[0]!, MADE[1]!, last(3, { name: "l2", tableId: 2 })],
  ],
  [
    "a name of the other kind",
    [create(distinct(3, { name: "l0" }))],
    [[MADE[0]!, MADE[1]!, distinct(3, { name: "l0" })], [MADE[2]!]],
    [...MADE, distinct(3, { name: "l0" })],
  ],
  [
    "a deleted table's, which cannot be asked",
    [{ kind: "soft_delete", of: "table", id: 1, name: "t-1", ...DELETED }],
    [[MADE[0]!, MADE[1]!], [MADE[2]!]],
    [MADE[2]!],
  ],
  [
    "a deleted database's",
    [{ kind: "soft_delete", of: "database", id: 1, name: "a-1", ...DELETED }],
    [[MADE[0]!, MADE[1]!], [MADE[2]!]],
    [],
  ],
  [
    "a restored table's",
    [
      { kind: "soft_delete", of: "table", id: 1, name: "t-1", ...DELETED },
      { kind: "restore", of: "table", id: 1, name: "again" },
    ],
    [[MADE[0]!, MADE[1]!], [MADE[2]!]],
    MADE,
  ],
  [
    "a dropped table's, whose ids do not come again",
    [
      { kind: "soft_delete", of: "table", id: 2, name: "u-1", ...DELETED },
      { kind: "drop", of: "table", id: 2 },
    ],
    [[MADE[0]!, MADE[1]!], []],
    [MADE[0]!, MADE[1]!],
  ],
  [
    "a dropped database's",
    [
      { kind: "soft_delete", of: "database", id: 1, name: "a-1", ...DELETED },
      { kind: "drop", of: "database", id: 1 },
    ],
    [[], []],
    [],
  ],
];

describe("caches in the catalog", () => {
  test.each(LIVES)("%s", async (_, operations, ofTable, live) => {
    for (const snapshotEntries of [1, 200]) {
      const store = new MemoryObjectStore();
      const catalog = await open(store, snapshotEntries);
      await catalog.apply([...TABLES, ...MADE.map(create), ...operations]).durable;
      const expected = {
        ...{ ofTable, live, has: ofTable.map((caches) => caches.length > 0), count: ofTable.flat().length },
        nextId: operations.some(({ kind }) => kind === "create_cache") ? 4 : 3,
      };
      expect(view(catalog)).toEqual(expected);
      for (const cache of ofTable.flat()) expect(catalog.findCache(cache.kind, cache.tableId, cache.name)).toEqual(cache);
      await catalog.close();
      expect(view(await open(store, snapshotEntries))).toEqual(expected);
    }
  });

  test("a listener is called once for each step that changes caches, and sees the new ones", async () => {
    const catalog = await open(new MemoryObjectStore(), 200);
    const seen: string[] = [];
    catalog.onCacheChanges(() =>
      seen.push(
        catalog
          .liveCaches()
          .map(({ name }) => name)
          .join(),
      ),
    );
    catalog.apply(TABLES);
    expect(seen).toEqual([]);
    catalog.apply(MADE.map(create));
    catalog.apply([{ kind: "delete_cache", id: 1 }]);
    catalog.apply([{ kind: "create_database", id: 2, namespace: 0, name: "b" }]);
    catalog.apply([{ kind: "soft_delete", of: "table", id: 1, name: "t-1", ...DELETED }]);
    catalog.apply([{ kind: "restore", of: "table", id: 1, name: "t" }]);
    expect(seen).toEqual(["l0,d1,l2", "l0,l2", "l2", "l0,l2"]);
  });
});

const CONTRADICTIONS: [what: string, operation: CatalogOperation, message: RegExp][] = [
  ["an unknown table", create(last(3, { tableId: 9 })), /table 9, which does not exist/],
  ["an id used before", create(last(2)), /cache id 2 of "l2" was used before/],
  ["a name twice", create(last(3, { name: "l0" })), /a second last cache "l0" of table 1/],
  ["an unknown column", create(last(3, { valueColumnIds: [9] })), /asks for column 9 of table 1/],
  ["time as a key", create(last(3, { keyColumnIds: [0] })), /asks for column 0 of/],
  ["time as a value", create(last(3, { valueColumnIds: [0] })), /asks for column 0 of/],
  ["a float as a key", create(last(3, { keyColumnIds: [2] })), /cannot tell rows by column 2/],
  ["a column as key and value", create(last(3, { keyColumnIds: [1], valueColumnIds: [1] })), /names a column twice/],
  ["a boolean in a distinct one", create(distinct(3, { columnIds: [4] })), /cannot tell rows by column 4/],
  ["a column twice", create(distinct(3, { columnIds: [1, 1] })), /names a column twice/],
  ["no columns", create(distinct(3, { columnIds: [] })), /has no columns/],
  ["a deletion of none", { kind: "delete_cache", id: 7 }, /cache 7 does not exist/],
];

test.each(CONTRADICTIONS)("a log with %s is refused", (_, operation, message) => {
  const state = new CatalogState();
  for (const made of [...TABLES, ...MADE.map(create)]) state.apply(made);
  const before = JSON.stringify(state.toSnapshot());
  expect(() => state.apply(operation)).toThrow(message);
  expect(JSON.stringify(state.toSnapshot())).toBe(before);
});

const UNREADABLE: [cache: unknown, message: string][] = [
  [undefined, "cache is missing, want an object"],
  [{ ...last(0), kind: "first" }, 'kind is "first", want last or distinct'],
  [{ ...last(0), count: 0 }, "count is 0, want at least 1"],
  [{ ...last(0), keyColumnIds: ["host"] }, 'keyColumnIds is "host", want a whole number'],
  [{ ...last(0), valueColumnIds: undefined }, "valueColumnIds is missing, want an array"],
  [{ ...last(0), nodes: null }, "nodes is null, want a text"],
  [{ ...distinct(0), maxAgeSeconds: 1.5 }, "maxAgeSeconds is 1.5, want a whole number"],
];
test.each(UNREADABLE)("an unreadable cache %j: %s", (cache, message) => {
  expect(() => readOperation({ kind: "create_cache", cache })).toThrow(message);
});

test("an operation is the same after JSON, and unknown members are ignored", () => {
  for (const cache of MADE) {
    const text = JSON.stringify({ kind: "create_cache", cache: { ...cache, colour: "red" } });
    expect(readOperation(JSON.parse(text))).toEqual(create(cache));
  }
});
