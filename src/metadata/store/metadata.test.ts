// Changes of records: all or nothing, the same after a restart, and in step with the databases that port 8181 makes.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import { SecretBox } from "../access/secret-box.ts";
import { V2Line } from "../line.ts";
import { bucketIdOf, databaseIdOf, nextId, parseId, readId } from "./ids.ts";
import { Metadata } from "./metadata.ts";
import { migrate } from "./migrations.ts";

const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");
const USER = { name: "ann", status: "active", oauthID: "" } as const;

async function opened(store = new MemoryObjectStore()): Promise<{ catalog: Catalog; metadata: Metadata }> {
  const catalog = await Catalog.open(store, { prefix: "n/catalog" });
  return { catalog, metadata: Metadata.open(catalog, () => NOW_MS) };
}

const names = (metadata: Metadata) => metadata.view.all<{ name: string }>("select name from users order by id").map(({ name }) => name);

describe("a change", () => {
  test("is in the view at once and there again after a restart", async () => {
    const store = new MemoryObjectStore();
    const { catalog, metadata } = await opened(store);
    const ids = await metadata.change((change) => {
      const made = [change.newId(), change.newId()];
      change.put("user", made[0]!, USER);
      change.put("user", made[1]!, { ...USER, name: "bob" });
      return made;
    });
    await metadata.change((change) => change.remove("user", ids[0]!));
    expect(names(metadata)).toEqual(["bob"]);
    await catalog.close();
    const again = await opened(store);
    expect(names(again.metadata)).toEqual(["bob"]);
    // an id that was given out stays used
    const next = await again.metadata.change((change) => change.newId());
    expect(next > ids[1]!).toBe(true);
  });

  test.each([
    [
      "the plan throws",
      () => {
        throw new Error("no");
      },
    ],
    [
      "a name is there twice",
      (change: { put: (kind: "user", id: string, value: typeof USER) => void; newId: () => string }) => {
        change.put("user", change.newId(), USER);
      },
    ],
  ] as const)("that fails changes nothing: %s", async (_, fails) => {
    const { catalog, metadata } = await opened();
    await metadata.change((change) => change.put("user", change.newId(), USER));
    const { version } = catalog;
    const failing = metadata.change((change) => {
      change.put("user", change.newId(), { ...USER, name: "eve" });
      fails(change);
    });
    expect(failing).rejects.toThrow();
    await failing.catch(() => {});
    expect(names(metadata)).toEqual(["ann"]);
    expect(catalog.version).toBe(version);
  });

  test("that would leave something dangling is refused", async () => {
    const { catalog, metadata } = await opened();
    const id = await metadata.change((change) => {
      const made = change.newId();
      change.put("user", made, USER);
      change.put("password", made, { hash: "h" });
      return made;
    });
    const { version } = catalog;
    expect(metadata.change((change) => change.remove("user", id))).rejects.toThrow("FOREIGN KEY");
    expect(names(metadata)).toEqual(["ann"]);
    expect(catalog.version).toBe(version);
  });

  test("that removes a record twice is refused as a whole", async () => {
    const { catalog, metadata } = await opened();
    const id = await metadata.change((change) => {
      const made = change.newId();
      change.put("user", made, USER);
      return made;
    });
    const { version } = catalog;
    const failing = metadata.change((change) => {
      change.remove("user", id);
      change.remove("user", id);
    });
    expect(failing).rejects.toThrow("BUG");
    await failing.catch(() => {});
    expect([names(metadata), catalog.version]).toEqual([["ann"], version]);
  });

  test("of a read-only server is refused before anything happens", async () => {
    const store = new MemoryObjectStore();
    await (await opened(store)).catalog.close();
    const catalog = await Catalog.open(store, { prefix: "n/catalog", readOnly: true });
    const metadata = Metadata.open(catalog, () => NOW_MS);
    const failing = metadata.change((change) => change.put("user", change.newId(), USER));
    expect(await failing.catch((error) => error.kind)).toBe("read_only");
    expect(names(metadata)).toEqual([]);
  });
});

test("records that contradict each other are a damaged catalog", async () => {
  const { catalog } = await opened();
  catalog.apply([{ kind: "put_record", of: "password", id: "00000000000000aa", value: { hash: "h" } }]);
  expect(() => Metadata.open(catalog, () => NOW_MS)).toThrow(/the catalog's records: the password 00000000000000aa contradicts/);
});

test("records of a newer server are not read over", async () => {
  const { catalog } = await opened();
  catalog.apply([{ kind: "put_record", of: "hologram", id: "00000000000000aa", value: {} }]);
  expect(() => Metadata.open(catalog, () => NOW_MS)).toThrow(/"hologram".*newer/);
});

test("what is left of a bucket goes with its database", async () => {
  const { catalog } = await opened();
  const options = { sessions: { lengthMs: 1, renewMs: null }, box: SecretBox.random(), keepsHashesOnly: true };
  const line = new V2Line(catalog, { ...options, nowMs: () => NOW_MS, onDropped: () => {} });
  const user = await line.users.create({ name: "ann", status: "active", oauthID: "" });
  const org = await line.organizations.create({ name: "o", description: "", ownerID: user.id });
  const bucket = await line.buckets.create({
    ...{ orgID: org.id, name: "b", description: "d", rp: "" },
    retention: { everySeconds: 0, shardSeconds: null },
  });
  const label = await line.labels.create({ orgID: org.id, name: "l", properties: {} });
  await line.labels.add({ labelID: label.id, resourceType: "buckets", resourceID: bucket.id });
  await line.members.add({ userID: user.id, resourceType: "buckets", resourceID: bucket.id, role: "member" });
  const databaseId = databaseIdOf(bucket.id)!;
  // as port 8181 deletes it: restored, it has everything again
  catalog.apply([{ kind: "soft_delete", of: "database", id: databaseId, name: "b-gone", deletedMs: 1, hardDeleteMs: null }]);
  expect(line.buckets.find(bucket.id)).toBeNull();
  catalog.apply([{ kind: "restore", of: "database", id: databaseId, name: "b" }]);
  expect(line.buckets.get(bucket.id).description).toBe("d");
  catalog.apply([{ kind: "soft_delete", of: "database", id: databaseId, name: "b-gone", deletedMs: 1, hardDeleteMs: 1 }]);
  catalog.apply([{ kind: "drop", of: "database", id: databaseId }]);
  await new Promise((resolve) => setImmediate(resolve));
  const left = ["bucket", "label_mapping", "member"].map((kind) => [...catalog.records.ofKind(kind).values()]);
  // the owner of the organization, and its two system buckets
  expect(left.map((records) => records.length)).toEqual([2, 0, 1]);
});

test("a bucket that was looked up before is found as it is now", async () => {
  const { catalog } = await opened();
  const options = { sessions: { lengthMs: 1, renewMs: null }, box: SecretBox.random(), keepsHashesOnly: true };
  const line = new V2Line(catalog, { ...options, nowMs: () => NOW_MS, onDropped: () => {} });
  const { buckets } = line;
  const user = await line.users.create({ name: "ann", status: "active", oauthID: "" });
  const { id: orgID } = await line.organizations.create({ name: "o", description: "", ownerID: user.id });
  const found = (...wanted: string[]) => wanted.map((name) => buckets.findByName(orgID, name)?.id ?? null);
  expect(found("a", "b/c")).toEqual([null, null]);
  const about = { orgID, description: "", rp: "", retention: { everySeconds: 0, shardSeconds: null } };
  const { id } = await buckets.create({ ...about, name: "a" });
  const { id: other } = await buckets.create({ ...about, name: "b/c" });
  expect([...found("a", "b/c"), buckets.find(id)?.name]).toEqual([id, other, "a"]);
  // what looks like an organization and a name is neither an id nor another organization
  const lookalikes = [buckets.find(`16 ${orgID} a`), buckets.find(`${orgID}/a`), buckets.findByName(`${orgID} b`, "c")];
  expect(lookalikes).toEqual([null, null, null]);
  await buckets.update(id, { name: "z", everySeconds: 30 * 86_400 });
  expect([...found("a", "z"), buckets.find(id)?.retentionSeconds]).toEqual([null, id, 30 * 86_400]);
  // within a change that is undone, and by port 8181
  const failing = line.metadata.change((change) => {
    buckets.planUpdate(change, id, { description: "never" });
    expect(buckets.find(id)?.description).toBe("never");
    throw new Error("undone");
  });
  await expect(failing).rejects.toThrow("undone");
  expect(buckets.find(id)?.description).toBe("");
  catalog.apply([{ kind: "rename_database", id: databaseIdOf(id)!, name: "y" }]);
  expect([...found("z", "y"), buckets.find(id)?.name]).toEqual([null, id, "y"]);
  await buckets.delete(id);
  expect([...found("y", "b/c"), buckets.find(id)]).toEqual([null, other, null]);
});

test("the revision tells what may be wrong now, also of a change that is undone", async () => {
  const { catalog, metadata } = await opened();
  const versions: number[] = [];
  const note = () => versions.push(metadata.revision);
  note();
  const id = await metadata.change((change) => {
    const made = change.newId();
    change.put("user", made, USER);
    note();
    return made;
  });
  note();
  const failing = metadata.change((change) => {
    change.remove("user", id);
    note();
    throw new Error("undone");
  });
  await expect(failing).rejects.toThrow("undone");
  expect(names(metadata)).toEqual(["ann"]);
  note();
  catalog.apply([{ kind: "create_database", id: 1, namespace: 0, name: "d" }]);
  const task = await metadata.change((change) => {
    const [orgID, made] = [change.newId(), change.newId()];
    change.put("organization", orgID, { name: "o", description: "", namespace: 0, createdAt: change.now, updatedAt: change.now });
    const about = { orgID, ownerID: id, kind: "task", name: "t", description: "", status: "active", flux: "", offset: null } as const;
    change.put("task", made, { ...about, every: "1m", cron: null, createdAt: change.now, updatedAt: null });
    return made;
  });
  note();
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  // runs of tasks come and go many times a second
  const state = { latestCompleted: "2026-01-01T00:00:00Z", doneAhead: [], lastRunStatus: null, lastRunError: null, lastSuccess: null };
  await metadata.change((change) => change.put("task_state", task, state));
  await metadata.change((change) => change.remove("task_state", task));
  expect(metadata.revision).toBe(versions.at(-1)!);
});

test("the view follows the databases of port 8181", async () => {
  const { catalog, metadata } = await opened();
  const rows = () => metadata.view.all("select id, name, isDeleted, retentionSeconds, shardSeconds from databases");
  catalog.apply([
    { kind: "create_database", id: 1, namespace: 0, name: "d" },
    { kind: "set_retention", of: "database", id: 1, retentionNs: "1500000000" },
  ]);
  const id = bucketIdOf(1);
  expect(rows()).toEqual([{ id, name: "d", isDeleted: 0, retentionSeconds: 2, shardSeconds: 3600 }]);
  catalog.apply([{ kind: "soft_delete", of: "database", id: 1, name: "d-gone", deletedMs: 1, hardDeleteMs: null }]);
  expect(rows()).toMatchObject([{ name: "d-gone", isDeleted: 1 }]);
  catalog.apply([{ kind: "restore", of: "database", id: 1, name: "d" }]);
  expect(rows()).toMatchObject([{ name: "d", isDeleted: 0 }]);
  catalog.apply([{ kind: "soft_delete", of: "database", id: 1, name: "d-gone", deletedMs: 1, hardDeleteMs: 1 }]);
  catalog.apply([{ kind: "drop", of: "database", id: 1 }]);
  expect(rows()).toEqual([]);
});

describe("ids", () => {
  test.each([
    ["", "id must have a length of 16 bytes"],
    ["abc", "id must have a length of 16 bytes"],
    ["00000000000000000", "id must have a length of 16 bytes"],
    ["zzzzzzzzzzzzzzzz", "invalid ID"],
    ["0000000000000000", "invalid ID"],
    ["00000000000000é", "id must have a length of 16 bytes"],
  ])("%j: %s", (text, message) => expect(() => readId(text)).toThrow(message));

  test("are read in either case", () => {
    expect(readId("00000000000000AB")).toBe("00000000000000ab");
    expect(parseId("xyz")).toBeNull();
  });

  test("ascend with the clock, and without it", () => {
    const first = nextId("0000000000000000", NOW_MS);
    expect(first).toBe((BigInt(NOW_MS) << 20n).toString(16).padStart(16, "0"));
    expect(nextId(first, NOW_MS) > first).toBe(true);
    expect(nextId(first, NOW_MS - 1000) > first).toBe(true);
    expect(nextId(first, NOW_MS + 1) > nextId(first, NOW_MS)).toBe(true);
  });

  test("of a bucket are those of its database", () => {
    expect(bucketIdOf(1)).toBe("0b00000000000001".padStart(16, "0"));
    expect(bucketIdOf(1).length).toBe(16);
    expect(databaseIdOf(bucketIdOf(123_456))).toBe(123_456);
    for (const other of ["0000000000000001", "0b00000000000000", "ffffffffffffffff"]) expect(databaseIdOf(other)).toBeNull();
  });
});

test("migrations run once each, in order", () => {
  const db = new Database(":memory:");
  migrate(db, ["create table a (x)"]);
  migrate(db, ["create table a (x)", "create table b (y)"]);
  expect(db.query("select name from sqlite_master order by name").all()).toEqual([{ name: "a" }, { name: "b" }]);
  expect(db.query("pragma user_version").get()).toEqual({ user_version: 2 });
});
