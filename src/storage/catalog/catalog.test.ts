// The catalog over its log: lookups, restarts, snapshots, contradictions, faults, and a file of the first release.
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { kindOf } from "../../../test/conformance/object-store.ts";
import { prng } from "../../../test/support/prng.ts";
import { FaultyDisk, faultLoop } from "../../../test/support/storage/faulty-disk.ts";
import type { TsdbError } from "../../model/errors.ts";
import { ColumnType, TIME_COLUMN } from "../../model/rows/column.ts";
import type { RowDeleteDef } from "../../model/rows/row-delete.ts";
import { FileObjectStore } from "../../object-store/file-object-store.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import type { ObjectStore } from "../../object-store/object-store.ts";
import { encodeEntry, numberedName } from "../../object-store/operation-file.ts";
import { Catalog, type CatalogOptions } from "./catalog.ts";
import type { CatalogOperation } from "./operations.ts";

const PREFIX = "node0/catalog";
const open = (store: ObjectStore, options: Partial<CatalogOptions> = {}) =>
  Catalog.open(store, { prefix: PREFIX, newClusterUuid: () => "00000000-0000-4000-8000-000000000001", ...options });

const SCHEMA: CatalogOperation[] = [
  { kind: "create_database", id: 1, namespace: 0, name: "db" },
  { kind: "create_table", id: 1, databaseId: 1, name: "cpu" },
  {
    kind: "add_columns",
    tableId: 1,
    columns: [
      { id: 1, name: "host", type: "tag" },
      { id: 2, name: "Host", type: "string" },
      { id: 3, name: "größe 📏", type: "unsigned" },
    ],
  },
  { kind: "create_database", id: 2, namespace: 7, name: "db" },
  { kind: "create_table", id: 2, databaseId: 2, name: "cpu" },
  { kind: "create_table", id: 3, databaseId: 1, name: "CPU" },
];

function everything(catalog: Catalog) {
  return catalog.databases().map((database) => ({ ...database, tables: catalog.tables(database.id) }));
}

describe("catalog", () => {
  test("operations are visible at once, and the same after a restart", async () => {
    const store = new MemoryObjectStore();
    const catalog = await open(store);
    expect(catalog.version).toBe(1);
    const { version, durable } = catalog.apply(SCHEMA);
    expect(version).toBe(1 + SCHEMA.length);
    const check = (found: Catalog) => {
      expect(found.findDatabase("db")).toEqual({ id: 1, namespace: 0, name: "db" });
      expect(found.findDatabase("db", 7)?.id).toBe(2);
      expect(found.findDatabase("DB")).toBeUndefined();
      expect(found.databaseById(2)?.namespace).toBe(7);
      expect(found.findTable(1, "cpu")?.columns).toEqual([
        TIME_COLUMN,
        { id: 1, name: "host", type: ColumnType.tag },
        { id: 2, name: "Host", type: ColumnType.string },
        { id: 3, name: "größe 📏", type: ColumnType.unsigned },
      ]);
      expect(found.findTable(1, "CPU")?.id).toBe(3);
      expect(found.tableById(2)?.databaseId).toBe(2);
      expect(found.tables(1).map(({ name }) => name)).toEqual(["cpu", "CPU"]);
      expect(found.nextIds).toEqual({ databaseId: 3, tableId: 4, tombstoneId: 1, tokenId: 0, cacheId: 0, triggerId: 1 });
      expect(found.schemaById(1)?.nextColumnId).toBe(4);
      expect(found.version).toBe(version);
    };
    check(catalog);
    await durable;
    await catalog.durable(version);
    const again = await open(store);
    check(again);
    expect(again.clusterUuid).toBe(catalog.clusterUuid);
    expect(everything(again)).toEqual(everything(catalog));
  });

  test("what a start could not read is not logged", async () => {
    const store = new MemoryObjectStore();
    const catalog = await open(store);
    await catalog.apply(SCHEMA).durable;
    const version = catalog.version;
    const beyond = "1000000000000000019884624838656";
    const request: RowDeleteDef = {
      ...{ sequence: 1, databaseId: 1, tableId: 1, database: "db", table: "cpu", minTimeNs: null, endTimeNs: beyond },
      ...{ predicate: "", createdMs: 1, state: "held", tombstoneIds: [], endedMs: null, abortReason: null },
    };
    expect(() => catalog.apply([{ kind: "request_row_delete", request }])).toThrow(beyond);
    expect(catalog.version).toBe(version);
    await catalog.close();
    expect(everything(await open(store))).toEqual(everything(catalog));
  });

  test("the cluster's id is made once, and is durable when open returns", async () => {
    const disk = new FaultyDisk();
    const first = await Catalog.open(new FileObjectStore(disk, "root"), { prefix: PREFIX });
    expect(first.clusterUuid).toMatch(/^[0-9a-f-]{36}$/);
    const second = await Catalog.open(new FileObjectStore(disk.afterCrash(), "root"), { prefix: PREFIX });
    expect(second.clusterUuid).toBe(first.clusterUuid);
    expect(second.version).toBe(1);
  });

  test("a table definition never changes: added columns make a new one", async () => {
    const catalog = await open(new MemoryObjectStore());
    catalog.apply(SCHEMA);
    const before = catalog.findTable(1, "cpu")!;
    catalog.apply([{ kind: "add_columns", tableId: 1, columns: [{ id: 9, name: "late", type: "boolean" }] }]);
    expect(before.columns).toHaveLength(4);
    expect(catalog.findTable(1, "cpu")!.columns).toHaveLength(5);
    expect(catalog.schemaById(1)?.nextColumnId).toBe(10);
    expect(catalog.findTable(1, "CPU")).toBe(catalog.findTable(1, "CPU")!);
  });

  test("a snapshot holds everything, counters too", async () => {
    const store = new MemoryObjectStore();
    const catalog = await open(store, { snapshotEntries: 2 });
    await catalog.apply(SCHEMA).durable;
    await catalog.close();
    const snapshots = await store.list(`${PREFIX}/snapshot/`);
    expect(snapshots).toHaveLength(1);
    for (const { key } of await store.list(`${PREFIX}/log/`)) await store.delete(key);
    const again = await open(store);
    expect(everything(again)).toEqual(everything(catalog));
    expect(again.nextIds).toEqual(catalog.nextIds);
    expect(again.clusterUuid).toBe(catalog.clusterUuid);
    expect(again.version).toBe(catalog.version);
  });

  test("when the log has failed nothing is applied any more", async () => {
    const store = new MemoryObjectStore();
    const failures: TsdbError[] = [];
    const catalog = await open(store, { onFailure: (error) => failures.push(error) });
    await (await open(store)).apply([SCHEMA[0]!]).durable; // another server on the same place
    expect(await kindOf(catalog.apply([SCHEMA[0]!]).durable)).toBe("unavailable");
    expect(failures).toHaveLength(1);
    expect(() => catalog.apply([SCHEMA[1]!])).toThrow("the catalog log has failed");
    expect(catalog.findTable(1, "cpu")).toBeUndefined();
  });

  const UNFIT: [title: string, operation: CatalogOperation][] = [
    ["a second cluster", { kind: "create_cluster", uuid: "x" }],
    ["a database id used before", { kind: "create_database", id: 2, namespace: 0, name: "new" }],
    ["a database name twice", { kind: "create_database", id: 3, namespace: 0, name: "db" }],
    ["a table in no database", { kind: "create_table", id: 4, databaseId: 9, name: "new" }],
    ["a table id used before", { kind: "create_table", id: 3, databaseId: 1, name: "new" }],
    ["a table name twice", { kind: "create_table", id: 4, databaseId: 1, name: "cpu" }],
    ["columns of no table", { kind: "add_columns", tableId: 9, columns: [] }],
    ["a column id used before", { kind: "add_columns", tableId: 1, columns: [{ id: 3, name: "new", type: "tag" }] }],
    ["a column name twice", { kind: "add_columns", tableId: 1, columns: [{ id: 4, name: "host", type: "tag" }] }],
    ["a second time", { kind: "add_columns", tableId: 1, columns: [{ id: 4, name: "time", type: "integer" }] }],
    [
      "the same new column twice",
      { kind: "add_columns", tableId: 1, columns: ["a", "a"].map((name, i) => ({ id: 4 + i, name, type: "tag" })) },
    ],
  ];
  test.each(UNFIT)("%s is our bug when applied, corruption when read, and changes nothing", async (_title, operation) => {
    const store = new MemoryObjectStore();
    const catalog = await open(store);
    await catalog.apply(SCHEMA).durable;
    const before = everything(catalog);
    expect(() => catalog.apply([operation])).toThrow("BUG");
    expect(everything(catalog)).toEqual(before);
    const key = `${PREFIX}/log/${numberedName(catalog.version + 1)}.json`;
    await store.put(key, encodeEntry({ kind: "catalog", first: catalog.version + 1, operations: [operation] }));
    const error = await open(store).catch((caught: unknown) => caught as TsdbError);
    expect(error).toMatchObject({ kind: "corrupt_file", details: { file: key } });
  });

  const UNREADABLE: [operation: unknown, message: string][] = [
    [null, "operation is null, want an object"],
    [{ kind: "drop_moon" }, 'operation kind is "drop_moon"'],
    [{ kind: "create_database", id: -1, namespace: 0, name: "x" }, "id is -1, want a whole number"],
    [{ kind: "create_database", id: 5, namespace: 0 }, "name is missing, want a text"],
    [{ kind: "add_columns", tableId: 1, columns: {} }, "columns is {}, want an array"],
    [{ kind: "add_columns", tableId: 1, columns: [{ id: 1, name: "x", type: "time" }] }, 'columns[0].type is "time", want tag, float'],
    [{ kind: "add_columns", tableId: 1, columns: [{ id: 1, name: "x", type: "toString" }] }, 'columns[0].type is "toString"'],
  ];
  test.each(UNREADABLE)("%j: %s", async (operation, message) => {
    const store = new MemoryObjectStore();
    const key = `${PREFIX}/log/${numberedName(1)}.json`;
    await store.put(key, encodeEntry({ kind: "catalog", first: 1, operations: [operation] }));
    const error = (await open(store).catch((caught: unknown) => caught)) as TsdbError;
    expect(error.kind).toBe("corrupt_file");
    expect(error.message).toStartWith(`${key}: ${message}`);
  });

  test("members that this server does not know are ignored", async () => {
    const store = new MemoryObjectStore();
    const operations = [
      { kind: "create_cluster", uuid: "u", extra: 1 },
      { ...SCHEMA[0], retentionNs: "5" },
    ];
    await store.put(`${PREFIX}/log/${numberedName(1)}.json`, encodeEntry({ kind: "catalog", first: 1, operations }));
    expect((await open(store)).findDatabase("db")?.id).toBe(1);
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`whichever call fails, a restart finds a prefix of the operations, at least what was durable (seed ${SEED})`, async () => {
    const runs = await faultLoop(
      prng(SEED),
      async (disk) => {
        let acked = 0;
        try {
          const catalog = await open(new FileObjectStore(disk, "root"), { snapshotEntries: 3 });
          acked = catalog.version;
          for (const operation of SCHEMA) {
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
      async (disk, acked) => {
        const store = new FileObjectStore(disk, "root");
        await store.recover();
        const catalog = await open(store);
        expect(catalog.version).toBeGreaterThanOrEqual(Math.max(1, acked));
        const expected = await open(new MemoryObjectStore());
        expected.apply(SCHEMA.slice(0, catalog.version - 1));
        expect(everything(catalog)).toEqual(everything(expected));
      },
    );
    expect(runs).toBeGreaterThan(30);
  });

  test("format 1: the entry written by the first release still reads, and today's bytes are the same", async () => {
    const golden = `${import.meta.dir}/../../../test/golden/format-v1/catalog-entry.json`;
    const written = encodeEntry({ kind: "catalog", first: 1, operations: [{ kind: "create_cluster", uuid: "u" }, ...SCHEMA] });
    if (process.env["UPDATE"] === "1") writeFileSync(golden, written);
    const kept = new Uint8Array(readFileSync(golden));
    expect(written).toEqual(kept);
    const store = new MemoryObjectStore();
    await store.put(`${PREFIX}/log/${numberedName(1)}.json`, kept);
    const catalog = await open(store);
    expect(catalog.clusterUuid).toBe("u");
    expect(catalog.findTable(1, "cpu")?.columns).toHaveLength(4);
  });
});
