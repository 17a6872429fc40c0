// What happens beside a backup: a stop while a call begins a job, another server of the folder, and a full disk.
import { expect, test } from "bun:test";
import { TsdbError } from "../../model/errors.ts";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import { Manifest } from "../../storage/manifest/manifest.ts";
import { DatabaseBackups } from "./database-backups.ts";
import type { DatabaseBackupParts } from "./parts.ts";
import { RestoreLog } from "./restore-log.ts";
import { type Attempt, Shelf } from "./shelf.ts";

/** Calls `onPut` before each put, which fails where that throws. */
class WatchedStore extends MemoryObjectStore {
  onPut: (key: string) => void = () => {};

  override async put(key: string, bytes: Uint8Array, options?: { ifAbsent?: boolean }): Promise<void> {
    this.onPut(key);
    return super.put(key, bytes, options);
  }
}

/** Backups of a server with one database that has no tables. */
async function backupsOn(store: MemoryObjectStore): Promise<DatabaseBackups> {
  const catalog = await Catalog.open(store, { prefix: "node0/catalog" });
  const manifest = await Manifest.open(store, { prefix: "node0/manifest" });
  await catalog.apply([{ kind: "create_database", id: 1, namespace: 0, name: "d" }]).durable;
  const parts: DatabaseBackupParts = {
    ...{ catalog, manifest, store, source: "cluster/node0", ptKey: (id) => `node0/data/${id}.pt`, checkFile: () => {} },
    ...{ tables: { runs: () => [], renamed: () => {} }, tombstonesOf: () => [], reserveTombstones: () => 1 },
    wal: { lastSequence: 0, makeRoom: async () => {}, append: () => ({ sequence: 1, synced: Promise.resolve() }) },
    ...{ barrier: async () => {}, keepFiles: () => () => {}, durableSequence: () => 0, recoverStore: async () => {} },
    ...{ backupRoom: async () => null, dataRoom: async () => null, onRestored: () => {}, nowMs: () => Date.now() },
    ...{ hardDeleteDefaultMs: 1000, ended: () => {} },
  };
  const backups = new DatabaseBackups(parts, new Shelf(store, "node0/backups/"), new RestoreLog(store, "node0/restores/"));
  await backups.open();
  return backups;
}

test("a stop ends a backup that is begun meanwhile", async () => {
  const store = new WatchedStore();
  const backups = await backupsOn(store);
  let stopped: Promise<void> | null = null;
  store.onPut = () => {
    stopped ??= backups.stop();
  };
  const name = await backups.start({ type: "full", name: "b", parent: null, force: false });
  await stopped;
  expect(await backups.find(name)).toMatchObject({ status: "failed", error: "the server was stopped" });
});

test("a stop ends a restore that is begun meanwhile", async () => {
  const store = new WatchedStore();
  const backups = await backupsOn(store);
  await backups.start({ type: "full", name: "b", parent: null, force: false });
  while ((await backups.find("b")).status === "in_progress") await Bun.sleep(0);
  let stopped: Promise<void> | null = null;
  store.onPut = () => {
    stopped ??= backups.stop();
  };
  const id = await backups.startRestore("b");
  await stopped;
  expect(await backups.findRestore(id)).toMatchObject({ status: "failed", error: "the server was stopped" });
});

test("a backup stays while another server makes its child", async () => {
  const store = new MemoryObjectStore();
  const backups = await backupsOn(store);
  const shelf = new Shelf(store, "node0/backups/");
  await backups.start({ type: "full", name: "b", parent: null, force: false });
  while ((await backups.find("b")).status === "in_progress") await Bun.sleep(0);
  const attempt: Attempt = {
    ...{ name: "child", type: "incremental", parent: "b", run: "r", source: "other/node0", createdMs: 1, error: null },
  };
  await shelf.begin(attempt);
  expect(await backups.delete("b").catch(String)).toContain('"child" is in progress on another server');
  expect(await backups.find("b")).toMatchObject({ status: "completed" });
  await shelf.fail(attempt, "it was cancelled");
  expect(await backups.delete("b")).toBe("full");
  expect(await backups.list()).toEqual([]);
});

test("on a full disk backups can be deleted, also those that have failed", async () => {
  const store = new WatchedStore();
  const backups = await backupsOn(store);
  await backups.start({ type: "full", name: "b", parent: null, force: false });
  while ((await backups.find("b")).status === "in_progress") await Bun.sleep(0);
  await backups.start({ type: "full", name: "failed", parent: null, force: false });
  await backups.cancel("failed");
  while ((await backups.find("failed")).status === "in_progress") await Bun.sleep(0);
  store.onPut = () => {
    throw new TsdbError("no_space", "the disk is full");
  };
  expect([await backups.delete("b"), await backups.delete("failed")]).toEqual(["full", "full"]);
  expect(await store.list("node0/backups/")).toEqual([]);
});
