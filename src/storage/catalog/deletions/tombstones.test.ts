// Deletions and retention periods in the catalog: the same after every restart, read from the log or from a snapshot; what does not fit is
// refused; logs of servers that had neither stay readable.
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { prng } from "../../../../test/support/prng.ts";
import { type FaultyDisk, faultLoop } from "../../../../test/support/storage/faulty-disk.ts";
import { ALL_TIME } from "../../../model/query/scan.ts";
import { coverOf, hidesAll, type Tombstone } from "../../../model/rows/tombstone.ts";
import { FileObjectStore } from "../../../object-store/file-object-store.ts";
import { MemoryObjectStore } from "../../../object-store/memory-object-store.ts";
import type { ObjectStore } from "../../../object-store/object-store.ts";
import { encodeEntry, encodeSnapshot, numberedName } from "../../../object-store/operation-file.ts";
import { Catalog } from "../catalog.ts";
import { type CatalogOperation, type DeleteRows, deleteRowsOperation } from "../operations.ts";

const PREFIX = "node0/catalog";
const open = (store: ObjectStore, snapshotEntries = 200) =>
  Catalog.open(store, { prefix: PREFIX, newClusterUuid: () => "00000000-0000-4000-8000-000000000001", snapshotEntries });

const SCHEMA: CatalogOperation[] = [
  { kind: "create_database", id: 1, namespace: 0, name: "db" },
  { kind: "create_table", id: 1, databaseId: 1, name: "cpu" },
  { kind: "create_table", id: 2, databaseId: 1, name: "mem" },
  ...[1, 2].map((tableId): CatalogOperation => {
    const columns = [
      { id: 1, name: "host", type: "tag" },
      { id: 2, name: "value", type: "float" },
      { id: 3, name: "region", type: "tag" },
    ] as const;
    return { kind: "add_columns", tableId, columns };
  }),
];

const DELETION: DeleteRows = {
  kind: "delete_rows",
  id: 1,
  tableId: 1,
  sequence: 5,
  minTimeNs: String(ALL_TIME.minNs),
  maxTimeNs: "99",
  tags: [{ columnId: 1, values: ["a", null] }],
};

function everything(catalog: Catalog) {
  const tables = catalog.tables(1).map(({ id }) => ({
    tombstones: catalog.tombstonesOf(id),
    retentionNs: catalog.retentionNs("table", id),
    minNs: catalog.retentionMinNs(id, 1000),
  }));
  const { partialTombstoneCount, nextIds, version } = catalog;
  return { tables, partialTombstoneCount, nextIds, version, database: catalog.retentionNs("database", 1), all: catalog.tombstones() };
}

function randomTombstone(below: (n: number) => number, { id, sequence }: { id: number; sequence: number }): Tombstone {
  const minNs = below(6) === 0 ? ALL_TIME.minNs : BigInt(below(5));
  const maxNs = below(3) === 0 ? ALL_TIME.maxNs : 4n + BigInt(below(5));
  const tags = [1, 3].flatMap((columnId) => (below(2) === 0 ? [] : [{ columnId, values: [null, "a", 'é"\u0000'].filter(() => below(2)) }]));
  return { id, tableId: 1 + below(2), sequence, range: { minNs, maxNs }, tags };
}

describe("deletions and retention", () => {
  test.each([1, 2, 3])("are what a list would say, and the same after restarts from log and snapshot, seed %i", async (seed) => {
    const below = prng(seed);
    const store = new MemoryObjectStore();
    const catalog = await open(store, 4);
    await catalog.apply(SCHEMA).durable;
    let model: Tombstone[] = [];
    let id = 1;
    for (let step = 0; step < 60; step++) {
      if (below(4) === 0 && model.length > 0) {
        const gone = model.filter(() => below(3) === 0);
        await catalog.apply([{ kind: "retire_tombstones", ids: gone.map((tombstone) => tombstone.id) }]).durable;
        model = model.filter((tombstone) => !gone.includes(tombstone));
      } else {
        const tombstone = randomTombstone(below, { id: id + below(2), sequence: step });
        await catalog.apply([deleteRowsOperation(tombstone)]).durable;
        model = [...model.filter((other) => other.tableId !== tombstone.tableId || !coverOf(tombstone)(other)), tombstone];
        id = tombstone.id + 1;
      }
      for (const tableId of [1, 2]) expect(catalog.tombstonesOf(tableId)).toEqual(model.filter((one) => one.tableId === tableId));
      expect(catalog.tombstones()).toEqual(model);
      expect(catalog.partialTombstoneCount).toBe(model.filter((tombstone) => !hidesAll(tombstone)).length);
      expect(catalog.nextIds.tombstoneId).toBe(id);
      if (below(6) === 0) expect(everything(await open(store))).toEqual(everything(catalog));
    }
    await catalog.close();
    expect(everything(await open(store))).toEqual(everything(catalog));
  });

  test("a list of tombstones that was taken stays as it is", async () => {
    const catalog = await open(new MemoryObjectStore());
    catalog.apply([...SCHEMA, DELETION]);
    const before = catalog.tombstonesOf(1);
    catalog.apply([{ ...DELETION, id: 2, minTimeNs: "0" }]);
    catalog.apply([{ kind: "retire_tombstones", ids: [1] }]);
    expect(before.map(({ id }) => id)).toEqual([1]);
    expect(catalog.tombstonesOf(1).map(({ id }) => id)).toEqual([2]);
  });

  const MIN = ALL_TIME.minNs;
  const DAY_MS = 86_400_000;
  const HOUR = "3600000000000";
  const MONTH = String(30n * 86_400_000_000_000n);
  const RETENTION: [why: string, database: string | null, table: string | null, minNs: bigint][] = [
    ["no retention period", null, null, MIN],
    ["the database's", HOUR, null, 82_800_000_000_000n],
    ["the table's before the database's", MONTH, HOUR, 82_800_000_000_000n],
    ["the table's for ever", HOUR, "0", MIN],
    ["the database's for ever", "0", null, MIN],
    ["before 1970", null, MONTH, BigInt(DAY_MS) * 1_000_000n - 30n * 86_400_000_000_000n],
    ["the longest retention period", "9223372036854775807", null, BigInt(DAY_MS) * 1_000_000n - (2n ** 63n - 1n)],
  ];
  test.each(RETENTION)("retention: %s", async (_, database, table, minNs) => {
    const store = new MemoryObjectStore();
    const catalog = await open(store, 1);
    catalog.apply(SCHEMA);
    const operations: CatalogOperation[] = [
      { kind: "set_retention", of: "database", id: 1, retentionNs: database },
      { kind: "set_retention", of: "table", id: 2, retentionNs: table },
    ];
    await catalog.apply(operations).durable;
    const check = (found: Catalog) => {
      expect(found.retentionMinNs(2, DAY_MS)).toBe(minNs);
      expect(found.retentionNs("database", 1)).toBe(database === null ? null : BigInt(database));
      expect(found.retentionNs("table", 2)).toBe(table === null ? null : BigInt(table));
      expect(found.retentionNs("table", 1)).toBeNull();
    };
    check(catalog);
    await catalog.close();
    check(await open(store));
  });

  test("the oldest time that is kept never leaves 64 bits", async () => {
    const catalog = await open(new MemoryObjectStore());
    catalog.apply([...SCHEMA, { kind: "set_retention", of: "table", id: 1, retentionNs: "9223372036854775807" }]);
    expect(catalog.retentionMinNs(1, -DAY_MS)).toBe(MIN);
    expect(catalog.retentionMinNs(1, 0)).toBe(MIN + 1n);
  });

  // from a snapshot, and from the log
  test.each([1, 200])("ids that were set aside come after greater ones, with a snapshot every %d entries", async (snapshotEntries) => {
    const store = new MemoryObjectStore();
    const catalog = await open(store, snapshotEntries);
    catalog.apply([...SCHEMA, { ...DELETION, id: 7 }]);
    const table = { kind: "create_table", id: 20, databaseId: 1, name: "gone" } as const;
    const gone = { kind: "soft_delete", of: "table", id: 20, name: "gone 1", deletedMs: 0, hardDeleteMs: 0 } as const;
    catalog.apply([table, gone, { kind: "drop", of: "table", id: 20 }]);
    catalog.apply([
      { kind: "create_table", id: 12, databaseId: 1, name: "reused", isReused: true },
      { kind: "delete_rows", id: 3, tableId: 12, sequence: 1, minTimeNs: "0", maxTimeNs: "9", tags: [] },
      { kind: "delete_rows", id: 4, tableId: 12, sequence: 2, minTimeNs: "10", maxTimeNs: "19", tags: [] },
    ]);
    await catalog.apply([{ kind: "create_table", id: 21, databaseId: 1, name: "next" }]).durable;
    const check = ({ tombstonesOf, ...found }: { tombstonesOf: number[]; tombstoneId: number; tableId: number; tables: number[] }) => {
      expect([tombstonesOf, found]).toEqual([[3, 4], { tombstoneId: 8, tableId: 22, tables: [1, 2, 12, 21] }]);
    };
    const seen = (of: Catalog) => {
      const { tombstoneId, tableId } = of.nextIds;
      return { tombstonesOf: of.tombstonesOf(12).map(({ id }) => id), tombstoneId, tableId, tables: of.tables(1).map(({ id }) => id) };
    };
    check(seen(catalog));
    await catalog.close();
    check(seen(await open(store)));
  });

  const UNFIT: [title: string, operation: CatalogOperation][] = [
    ["a deletion id used before", { ...DELETION, id: 1 }],
    ["a deletion in no table", { ...DELETION, id: 2, tableId: 9 }],
    ["a deletion by a field", { ...DELETION, id: 2, tags: [{ columnId: 2, values: [null] }] }],
    ["a deletion by time as a tag", { ...DELETION, id: 2, tags: [{ columnId: 0, values: [null] }] }],
    ["a deletion by a column that is not there", { ...DELETION, id: 2, tags: [{ columnId: 9, values: [null] }] }],
    ["a deletion that ends before it begins", { ...DELETION, id: 2, minTimeNs: "100" }],
    ["a deletion retired that is not there", { kind: "retire_tombstones", ids: [1, 2] }],
    ["a deletion retired twice", { kind: "retire_tombstones", ids: [1, 1] }],
    ["retention of no table", { kind: "set_retention", of: "table", id: 9, retentionNs: "1" }],
    ["retention of no database", { kind: "set_retention", of: "database", id: 2, retentionNs: null }],
  ];
  test.each(UNFIT)("%s is our bug when applied, corruption when read, and changes nothing", async (_title, operation) => {
    const store = new MemoryObjectStore();
    const catalog = await open(store);
    await catalog.apply([...SCHEMA, DELETION]).durable;
    const before = everything(catalog);
    expect(() => catalog.apply([operation])).toThrow("BUG");
    expect(everything(catalog)).toEqual(before);
    const key = `${PREFIX}/log/${numberedName(catalog.version + 1)}.json`;
    await store.put(key, encodeEntry({ kind: "catalog", first: catalog.version + 1, operations: [operation] }));
    const error = await open(store).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ kind: "corrupt_file", details: { file: key } });
  });

  const { tags: _tags, ...withoutTags } = DELETION;
  const UNREADABLE: [operation: unknown, message: string][] = [
    [{ ...DELETION, id: 1.5 }, "id is 1.5, want a whole number"],
    [{ ...DELETION, sequence: "5" }, 'sequence is "5", want a whole number'],
    [{ ...DELETION, minTimeNs: 5 }, "minTimeNs is 5, want nanoseconds as a decimal text"],
    [{ ...DELETION, maxTimeNs: "9223372036854775808" }, 'maxTimeNs is "9223372036854775808", want 64 bits'],
    [withoutTags, "tags is missing, want an array"],
    [{ ...DELETION, tags: [{ columnId: 1, values: "a" }] }, 'tags[0].values is "a", want an array'],
    [{ ...DELETION, tags: [{ columnId: 1, values: [1] }] }, "tags[0].values[0] is 1, want a text"],
    [{ ...DELETION, tags: [{ columnId: -1, values: [] }] }, "tags[0].columnId is -1, want a whole number"],
    [{ ...DELETION, tags: [null] }, "tags[0] is null, want an object"],
    [{ kind: "retire_tombstones", ids: [null] }, "ids is null, want a whole number"],
    [{ kind: "set_retention", of: "column", id: 1, retentionNs: "1" }, 'of is "column", want database or table'],
    [{ kind: "set_retention", of: "table", id: 1, retentionNs: "-1" }, 'retentionNs is "-1", want 0 or more'],
    [{ kind: "set_retention", of: "table", id: 1, retentionNs: 7 }, "retentionNs is 7, want nanoseconds as a decimal text"],
  ];
  test.each(UNREADABLE)("%j: %s", async (operation, message) => {
    const store = new MemoryObjectStore();
    const key = `${PREFIX}/log/${numberedName(1)}.json`;
    await store.put(key, encodeEntry({ kind: "catalog", first: 1, operations: [operation] }));
    const error = (await open(store).catch((caught: unknown) => caught)) as Error;
    expect(error).toMatchObject({ kind: "corrupt_file" });
    expect(error.message).toStartWith(`${key}: ${message}`);
  });

  test("a snapshot of a server that could not delete has no deletions and no retention", async () => {
    const store = new MemoryObjectStore();
    const state = {
      clusterUuid: "u",
      nextDatabaseId: 2,
      nextTableId: 2,
      databases: [{ id: 1, namespace: 0, name: "db" }],
      tables: [{ id: 1, databaseId: 1, name: "cpu", nextColumnId: 2, columns: [{ id: 1, name: "host", type: "tag" }] }],
    };
    await store.put(`${PREFIX}/snapshot/${numberedName(7)}.json`, encodeSnapshot({ kind: "catalog", last: 7, state }));
    const catalog = await open(store);
    expect(catalog.tombstones()).toEqual([]);
    expect(catalog.nextIds.tombstoneId).toBe(1);
    expect(catalog.retentionMinNs(1, 0)).toBe(MIN);
    catalog.apply([DELETION]);
    expect(catalog.tombstonesOf(1)).toHaveLength(1);
  });

  test("format 1: the entry written by the first release still reads, and today's bytes are the same", async () => {
    const golden = `${import.meta.dir}/../../../../test/golden/format-v1/catalog-deletions.json`;
    const operations: CatalogOperation[] = [
      { kind: "create_cluster", uuid: "u" },
      ...SCHEMA,
      deleteRowsOperation({ id: 1, tableId: 1, sequence: 3, range: ALL_TIME, tags: [] }),
      { ...DELETION, id: 2 },
      { kind: "retire_tombstones", ids: [1] },
      { kind: "set_retention", of: "database", id: 1, retentionNs: MONTH },
      { kind: "set_retention", of: "table", id: 1, retentionNs: null },
    ];
    const written = encodeEntry({ kind: "catalog", first: 1, operations });
    if (process.env["UPDATE"] === "1") writeFileSync(golden, written);
    const kept = new Uint8Array(readFileSync(golden));
    expect(written).toEqual(kept);
    const store = new MemoryObjectStore();
    await store.put(`${PREFIX}/log/${numberedName(1)}.json`, kept);
    const catalog = await open(store);
    expect(catalog.tombstones().map(({ id, range }) => [id, range])).toEqual([[2, { minNs: MIN, maxNs: 99n }]]);
    expect(catalog.retentionMinNs(1, 0)).toBe(-BigInt(MONTH));
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`whichever call fails, a restart finds a prefix of the deletions, at least what was durable (seed ${SEED})`, async () => {
    const STEPS: CatalogOperation[] = [
      ...SCHEMA,
      DELETION,
      { kind: "set_retention", of: "table", id: 1, retentionNs: HOUR },
      { ...DELETION, id: 2, tags: [] },
      { ...DELETION, id: 4, tableId: 2 },
      { kind: "retire_tombstones", ids: [2] },
      { kind: "set_retention", of: "database", id: 1, retentionNs: MONTH },
    ];
    await faultLoop(
      prng(SEED),
      async (disk) => {
        let acked = 0;
        try {
          const catalog = await open(new FileObjectStore(disk, "root"), 3);
          acked = catalog.version;
          for (const operation of STEPS) {
            const { durable, version } = catalog.apply([operation]);
            await durable;
            acked = version;
          }
          await catalog.close();
        } catch {
          // the injected fault
        }
        return acked;
      },
      async (disk: FaultyDisk, acked) => {
        const store = new FileObjectStore(disk, "root");
        await store.recover();
        const catalog = await open(store);
        expect(catalog.version).toBeGreaterThanOrEqual(Math.max(1, acked));
        const expected = await open(new MemoryObjectStore());
        expected.apply(STEPS.slice(0, catalog.version - 1));
        expect(everything(catalog)).toEqual(everything(expected));
      },
    );
  });
});
