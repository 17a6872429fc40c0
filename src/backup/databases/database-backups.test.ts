// Backups and restores over a store that fails, or ends with the process, at each of its calls in turn: what is called whole is whole, a
// restore is there completely or not at all, and nothing is left behind.
import { describe, expect, test } from "bun:test";
import { TsdbError } from "../../model/errors.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import type { ObjectInfo, ObjectStore, ObjectWriter } from "../../object-store/object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import { Manifest } from "../../storage/manifest/manifest.ts";
import type { BlockMeta } from "../../storage/manifest/manifest-entry.ts";
import { sha256 } from "../checksum.ts";
import type { BackupContent } from "./content.ts";
import { DatabaseBackups } from "./database-backups.ts";
import type { DatabaseBackupParts } from "./parts.ts";
import { RestoreLog } from "./restore-log.ts";
import { Shelf } from "./shelf.ts";

/** How a change fails: this one alone; this and all later calls, as when the process dies; the same, but this one has its effect. */
type Failure = "once" | "for ever" | "after";

/** Fails at one of its changes. */
class FailingStore implements ObjectStore {
  changes = 0;
  failAt = Number.POSITIVE_INFINITY;
  how: Failure = "once";
  private isOver = false;

  constructor(private readonly objects: MemoryObjectStore) {}

  put(key: string, bytes: Uint8Array, options?: { ifAbsent?: boolean }): Promise<void> {
    return this.change(() => this.objects.put(key, bytes, options));
  }

  async begin(key: string): Promise<ObjectWriter> {
    const writer = await this.objects.begin(key);
    return {
      append: (bytes) => this.change(() => writer.append(bytes)),
      finish: () => this.change(() => writer.finish()),
      abort: () => writer.abort(),
    };
  }

  get(key: string): Promise<Uint8Array> {
    return this.read(() => this.objects.get(key));
  }

  getRange(key: string, offset: number, byteCount: number): Promise<Uint8Array> {
    return this.read(() => this.objects.getRange(key, offset, byteCount));
  }

  list(prefix: string): Promise<ObjectInfo[]> {
    return this.read(() => this.objects.list(prefix));
  }

  delete(key: string): Promise<void> {
    return this.change(() => this.objects.delete(key));
  }

  localPath(): undefined {
    return undefined;
  }

  private async change<T>(make: () => Promise<T>): Promise<T> {
    if (this.isOver) throw dead();
    this.changes += 1;
    if (this.changes !== this.failAt) return make();
    this.isOver = this.how !== "once";
    if (this.how === "after") await make();
    throw dead();
  }

  private async read<T>(look: () => Promise<T>): Promise<T> {
    if (this.isOver) throw dead();
    return look();
  }
}

function dead(): TsdbError {
  return new TsdbError("io", "the store does not answer");
}

const NODE = "node0";
const KEYS = { prefix: `${NODE}/backups/`, restores: `${NODE}/restores/` };
const ptKey = (id: number) => `${NODE}/data/${String(id).padStart(20, "0")}.pt`;

/** A server's catalog, manifest and backups over objects that outlive it. */
class SmallServer {
  private constructor(
    readonly catalog: Catalog,
    readonly manifest: Manifest,
    readonly backups: DatabaseBackups,
    readonly shelf: Shelf,
    readonly kept: { count: number },
  ) {}

  static async open(store: ObjectStore): Promise<SmallServer> {
    const catalog = await Catalog.open(store, { prefix: `${NODE}/catalog`, newClusterUuid: () => "cluster" });
    const manifest = await Manifest.open(store, { prefix: `${NODE}/manifest` });
    // as a start does
    const known = new Set(manifest.files().map(({ key }) => key));
    for (const { key } of await store.list(`${NODE}/data/`)) if (!known.has(key)) await store.delete(key);
    const shelf = new Shelf(store, KEYS.prefix);
    const kept = { count: 0 };
    const wal = {
      lastSequence: manifest.flushedSequence,
      makeRoom: async () => {},
      append: () => ({ sequence: ++wal.lastSequence, synced: Promise.resolve() }),
    };
    let nextTombstone = 1000;
    const parts: DatabaseBackupParts = {
      ...{ catalog, manifest, wal, store, ptKey, source: "cluster/node0" },
      // these files are no files of rows
      checkFile: () => {},
      tables: { runs: () => [], renamed: () => {} },
      tombstonesOf: (tableId) => catalog.tombstonesOf(tableId),
      reserveTombstones: (count) => {
        nextTombstone += count;
        return nextTombstone - count;
      },
      barrier: () => manifest.commit({ added: [], flushedSequence: wal.lastSequence }),
      keepFiles: () => {
        kept.count += 1;
        return () => {
          kept.count -= 1;
        };
      },
      durableSequence: () => wal.lastSequence,
      ...{
        backupRoom: async () => null,
        dataRoom: async () => null,
        recoverStore: async () => {},
        onRestored: () => {},
        nowMs: () => Date.now(),
        hardDeleteDefaultMs: 1000,
        ended: () => {},
      },
    };
    const backups = new DatabaseBackups(parts, shelf, new RestoreLog(store, KEYS.restores));
    await backups.open();
    return new SmallServer(catalog, manifest, backups, shelf, kept);
  }

  /** The end of a job, whatever it is; "lost" where it was not accepted. */
  async backUp(name: string, force = false, type: "full" | "incremental" = "full"): Promise<string> {
    try {
      await this.backups.start({ type, name, parent: null, force });
    } catch {
      return "lost";
    }
    return this.until(async () => (await this.backups.find(name)).status);
  }

  async restore(name: string): Promise<string> {
    let id: string;
    try {
      id = await this.backups.startRestore(name);
    } catch {
      return "lost";
    }
    return this.until(async () => (await this.backups.findRestore(id)).status);
  }

  private async until(look: () => Promise<string>): Promise<string> {
    for (;;) {
      const status = await look().catch(() => "lost");
      if (status !== "in_progress") return status;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Tables with the content of their files, by database. */
  async tables(store: ObjectStore): Promise<Record<string, Record<string, string[]>>> {
    const found: Record<string, Record<string, string[]>> = {};
    for (const { id, name } of this.catalog.databases()) {
      found[name] = {};
      for (const table of this.catalog.tables(id)) {
        const texts = this.manifest
          .blocksOf(table.id)
          .map(async ({ file }) => new TextDecoder().decode((await store.get(file.key)).slice()));
        found[name][table.name] = (await Promise.all(texts)).sort();
      }
    }
    return found;
  }
}

const block = (tableId: number, seq: number): BlockMeta => ({
  ...{ index: 0, databaseId: 1, tableId, dayStartNs: 0n, rowCount: 1, minTimeNs: 0n, maxTimeNs: 1n, seqMin: seq, seqMax: seq },
  ...{ unique: true, columnIds: [0, 1], seriesCount: 1, flushedMinMs: 1, flushedMaxMs: 1 },
});

/** Adds a file with one block. */
async function addFile({ manifest }: SmallServer, store: ObjectStore, tableId: number, text: string): Promise<void> {
  const id = manifest.allocateFileId();
  const bytes = new TextEncoder().encode(text);
  await store.put(ptKey(id), bytes);
  const seq = manifest.flushedSequence + 1;
  const file = { id, key: ptKey(id), bytes: bytes.byteLength, generation: 0, blocks: [block(tableId, seq)] };
  await manifest.commit({ added: [file], flushedSequence: seq });
}

/** A server with a database of two tables, a backup of it, and then another table. */
async function world(): Promise<MemoryObjectStore> {
  const store = new MemoryObjectStore();
  const server = await SmallServer.open(store);
  const column = { id: 1, name: "v", type: "float" } as const;
  await server.catalog.apply([
    { kind: "create_database", id: 1, namespace: 0, name: "d" },
    ...["a", "b"].flatMap((name, i) => [
      { kind: "create_table", id: i + 1, databaseId: 1, name } as const,
      { kind: "add_columns", tableId: i + 1, columns: [column] } as const,
    ]),
  ]).durable;
  await addFile(server, store, 1, "a before");
  await addFile(server, store, 2, "b before");
  expect(await server.backUp("whole")).toBe("completed");
  await server.catalog.apply([{ kind: "create_table", id: 3, databaseId: 1, name: "c" }]).durable;
  await addFile(server, store, 1, "a after");
  await addFile(server, store, 3, "c after");
  return store;
}

const BEFORE = { d: { a: ["a before"], b: ["b before"] } };
const AFTER = { d: { a: ["a after", "a before"], b: ["b before"], c: ["c after"] } };

/** A copy of all objects. */
async function copyOf(store: MemoryObjectStore): Promise<MemoryObjectStore> {
  const copy = new MemoryObjectStore();
  for (const { key } of await store.list("")) await copy.put(key, await store.get(key));
  return copy;
}

/** Every whole backup has all of its files, and no object of backups belongs to none. */
async function checkShelf(store: MemoryObjectStore): Promise<Record<string, string>> {
  const server = await SmallServer.open(store);
  const all = await server.backups.list();
  const places = new Set<string>();
  for (const { name, status } of all) {
    const { record, attempt } = await server.shelf.find(name);
    if (attempt !== null) places.add(`${name}/attempt.json`);
    if (record === null) continue;
    expect(status).toBe("completed");
    places.add(`${name}/backup.json`);
    places.add(`${name}/${record.run}/content.json`);
    const { files } = await server.shelf.content(record);
    for (const { place, sha256: want } of files) {
      places.add(place);
      expect(sha256(await store.get(KEYS.prefix + place))).toBe(want);
    }
  }
  const objects = (await store.list(KEYS.prefix)).map(({ key }) => key.slice(KEYS.prefix.length));
  expect(objects.filter((place) => !places.has(place))).toEqual([]);
  return Object.fromEntries(all.map(({ name, status }) => [name, status]));
}

/** Runs `act` with each change failing in turn, and once with none; then `check` on what a start finds. */
async function eachChange(
  how: Failure,
  act: (server: SmallServer) => Promise<string>,
  check: (outcome: string, objects: MemoryObjectStore) => Promise<void>,
): Promise<number> {
  const start = await world();
  for (let failAt = 1; ; failAt++) {
    const objects = await copyOf(start);
    const store = new FailingStore(objects);
    const server = await SmallServer.open(store);
    Object.assign(store, { changes: 0, failAt, how });
    const outcome = await act(server);
    await server.backups.stop();
    expect(server.kept.count).toBe(0);
    const isPast = store.changes < failAt;
    await check(outcome, objects);
    if (isPast) return failAt - 1;
  }
}

describe.each(["once", "for ever", "after"] as const)("the store fails: %s", (how) => {
  test("a full backup", async () => {
    const count = await eachChange(
      how,
      (server) => server.backUp("new"),
      async (outcome, objects) => {
        const found = await checkShelf(objects);
        expect(found["whole"]).toBe("completed");
        // what has been told to be whole is
        if (outcome === "completed") expect(found["new"]).toBe("completed");
        else expect(["failed", "completed", undefined]).toContain(found["new"]);
      },
    );
    expect(count).toBeGreaterThan(8);
  });

  test("an incremental backup", async () => {
    await eachChange(
      how,
      (server) => server.backUp("next", false, "incremental"),
      async (outcome, objects) => {
        const found = await checkShelf(objects);
        expect(found["whole"]).toBe("completed");
        if (outcome === "completed") expect(found["next"]).toBe("completed");
      },
    );
  });

  test("a backup in place of another one", async () => {
    await eachChange(
      how,
      (server) => server.backUp("whole", true),
      async (_outcome, objects) => {
        expect(await checkShelf(objects)).toEqual({ whole: "completed" });
        const server = await SmallServer.open(objects);
        expect(await server.restore("whole")).toBe("completed");
        expect([BEFORE, AFTER] as object[]).toContainEqual(await server.tables(objects));
      },
    );
  });

  test("a deletion", async () => {
    await eachChange(
      how,
      (server) => server.backups.delete("whole").catch(() => "lost"),
      async (outcome, objects) => {
        const found = await checkShelf(objects);
        expect([{}, { whole: "completed" }]).toContainEqual(found);
        if (outcome === "full") expect(found).toEqual({});
      },
    );
  });

  test("a restore", async () => {
    const seen = new Set<string>();
    await eachChange(
      how,
      (server) => server.restore("whole"),
      async (outcome, objects) => {
        const server = await SmallServer.open(objects);
        const tables = await server.tables(objects);
        const [record] = await server.backups.restores();
        const isRestored = JSON.stringify(tables) === JSON.stringify(BEFORE);
        if (!isRestored) expect(tables).toEqual(AFTER);
        if (outcome === "completed") expect(isRestored).toBe(true);
        // what the next start says of it is true
        if (record !== undefined) expect(record.status).toBe(isRestored ? "completed" : "failed");
        seen.add(`${outcome} ${isRestored}`);
        // files of the data are those of the manifest, and another restore succeeds
        const keys = new Set(server.manifest.files().map(({ key }) => key));
        expect((await objects.list(`${NODE}/data/`)).filter(({ key }) => !keys.has(key))).toEqual([]);
        expect(await server.restore("whole")).toBe("completed");
        expect(await server.tables(objects)).toEqual(BEFORE);
      },
    );
    expect(seen).toContain("completed true");
    expect(seen).toContain("failed false");
  });
});

test("a cancelled backup and a cancelled restore leave nothing", async () => {
  const objects = await world();
  const server = await SmallServer.open(objects);
  await server.backups.start({ type: "full", name: "cancelled", parent: null, force: false });
  await server.backups.cancel("cancelled");
  while ((await server.backups.find("cancelled")).status === "in_progress") await Bun.sleep(0);
  expect(await server.backups.find("cancelled")).toMatchObject({ status: "failed", error: "it was cancelled" });
  expect(await checkShelf(objects)).toEqual({ whole: "completed", cancelled: "failed" });
  const id = await server.backups.startRestore("whole");
  expect(await server.backups.startRestore("whole").catch(String)).toContain("only one can run at a time");
  expect(await server.backups.delete("whole").catch(String)).toContain("in use");
  await server.backups.cancelRestore(id);
  while ((await server.backups.findRestore(id)).status === "in_progress") await Bun.sleep(0);
  expect(await server.backups.findRestore(id)).toMatchObject({ status: "failed", error: "it was cancelled" });
  expect(await server.tables(objects)).toEqual(AFTER);
  expect(await server.backups.cancelRestore(id).catch(String)).toContain("no restore");
});

test("a restore of databases without tables that was cut off has failed where they have tables", async () => {
  const objects = await world();
  const { catalog } = await SmallServer.open(objects);
  const databases = catalog.databases().map(({ id }) => id);
  const unfinished = { status: "in_progress", createdMs: 1, completedMs: null, error: null, totalFiles: 0, totalBytes: 0 } as const;
  await new RestoreLog(objects, KEYS.restores).put({ id: "r", backup: "whole", ...unfinished, tables: [], databases });
  const server = await SmallServer.open(objects);
  expect((await server.backups.restores()).map(({ status }) => status)).toEqual(["failed"]);
});

test("a backup that is being replaced is not read: its files go when the other one is whole", async () => {
  const objects = await world();
  const server = await SmallServer.open(objects);
  const { backups } = server;
  const child = { type: "incremental", name: "child", force: false } as const;
  // one after the other, before the first has ended
  const [, restore, ...children] = await Promise.all([
    backups.start({ type: "full", name: "whole", parent: null, force: true }),
    backups.startRestore("whole").catch(String),
    backups.start({ ...child, parent: "whole" }).catch(String),
    backups.start({ ...child, parent: null }).catch(String),
  ]);
  expect(restore).toContain('backup "whole" is in progress');
  expect(children[0]).toContain('backup "whole" is in progress');
  expect(children[1]).toContain("an incremental backup needs an earlier one");
  while ((await server.backups.find("whole")).status === "in_progress") await Bun.sleep(0);
  expect(await checkShelf(objects)).toEqual({ whole: "completed" });
  expect(await server.restore("whole")).toBe("completed");
  expect(await server.tables(objects)).toEqual(AFTER);
});

test("a backup of which another server has removed a file does not become whole", async () => {
  const objects = await world();
  const server = await SmallServer.open(objects);
  const record = (await server.shelf.find("whole")).record!;
  const content = await server.shelf.content(record);
  await objects.delete(KEYS.prefix + content.files[0]!.place);
  expect(await server.shelf.complete(record, content).catch(String)).toContain("is gone");
});

test.each([
  ["two tables of a name", (content: BackupContent) => ({ ...content, databases: twice(content.databases) }), "a second table"],
  ["a table without a name", (content: BackupContent) => ({ ...content, databases: named(content, {}, { name: "" }) }), "cannot be empty"],
  ["a table with NUL", (content: BackupContent) => ({ ...content, databases: named(content, {}, { name: "a\0" }) }), "NUL character"],
  ["the server's database", (content: BackupContent) => ({ ...content, databases: named(content, { name: "_internal" }) }), "underscore"],
  ["a quoted database", (content: BackupContent) => ({ ...content, databases: named(content, { name: 'a"' }) }), "quotation marks"],
  ["rows of no table", (content: BackupContent) => ({ ...content, databases: [] }), "does not describe"],
  ["a file elsewhere", (content: BackupContent) => ({ ...content, files: elsewhere(content, "../../catalog/x") }), "file.place"],
  ["a file of another name", (content: BackupContent) => ({ ...content, files: elsewhere(content, "whole/run/none.pt") }), "is missing"],
])("a description that contradicts itself: %s", async (_what, change, why) => {
  const objects = await world();
  const server = await SmallServer.open(objects);
  const record = (await server.shelf.find("whole")).record!;
  const content = await server.shelf.content(record);
  await server.shelf.complete(record, change(content));
  const id = await server.backups.startRestore("whole");
  while ((await server.backups.findRestore(id)).status === "in_progress") await Bun.sleep(0);
  expect(await server.backups.findRestore(id)).toMatchObject({ status: "failed", error: expect.stringContaining(why) });
  expect(await server.tables(objects)).toEqual(AFTER);
});

function twice(databases: BackupContent["databases"]): BackupContent["databases"] {
  return databases.map((database) => {
    const [first, ...others] = database.tables;
    return { ...database, tables: [first!, ...others.map((table) => ({ ...table, name: first!.name }))] };
  });
}

function named({ databases }: BackupContent, ofDatabase: { name?: string }, ofTable: { name?: string } = {}): BackupContent["databases"] {
  const tablesOf = ({ tables: [first, ...others] }: BackupContent["databases"][number]) => [{ ...first!, ...ofTable }, ...others];
  return databases.map((database) => ({ ...database, ...ofDatabase, tables: tablesOf(database) }));
}

function elsewhere({ files }: BackupContent, place: string): BackupContent["files"] {
  return files.map((file) => ({ ...file, place }));
}
