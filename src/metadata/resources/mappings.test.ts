// Which bucket a database and a retention policy denote: stored mappings, virtual ones, and the default one of a database.
import { describe, expect, test } from "bun:test";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import { SecretBox } from "../access/secret-box.ts";
import { V2Line } from "../line.ts";
import { databaseIdOf } from "../store/ids.ts";

const FOREVER = { everySeconds: 0, shardSeconds: null };

class World {
  readonly ids = new Map<string, string>();
  orgID = "";

  private constructor(
    readonly catalog: Catalog,
    public line: V2Line,
  ) {}

  static async open(buckets: readonly string[]): Promise<World> {
    const catalog = await Catalog.open(new MemoryObjectStore(), { prefix: "n/catalog" });
    const world = new World(catalog, lineOf(catalog));
    const { id: ownerID } = await world.line.users.create({ name: "ann", status: "active", oauthID: "" });
    world.orgID = (await world.line.organizations.create({ name: "o", description: "", ownerID })).id;
    for (const name of buckets) {
      const bucket = await world.line.buckets.create({ orgID: world.orgID, name, description: "", rp: "", retention: FOREVER });
      world.ids.set(name, bucket.id);
    }
    return world;
  }

  async map(database: string, retentionPolicy: string, bucket: string, isDefault = false): Promise<string> {
    const mapping = { orgID: this.orgID, bucketID: this.ids.get(bucket)!, database, retentionPolicy, isDefault };
    return (await this.line.mappings.create(mapping)).id;
  }

  /** The name of the bucket, and "*" for the default mapping. */
  resolved(database: string, retentionPolicy: string | null = null): string | null {
    const found = this.line.mappings.resolve(this.orgID, database, retentionPolicy);
    if (found === null) return null;
    const name = [...this.ids].find(([, id]) => id === found.bucketID)?.[0];
    return `${name}${found.isDefault ? "*" : ""}`;
  }

  /** What lists show, in the same words; without the system buckets. */
  get listed(): string[] {
    const names = new Map([...this.ids].map(([name, id]) => [id, name]));
    return this.line.mappings.list(this.orgID).flatMap(({ bucketID, database, retentionPolicy, isDefault, isVirtual }) => {
      const name = names.get(bucketID);
      return name === undefined ? [] : [`${database}.${retentionPolicy}=${name}${isDefault ? "*" : ""}${isVirtual ? "?" : ""}`];
    });
  }
}

function lineOf(catalog: Catalog): V2Line {
  const options = { sessions: { lengthMs: 1, renewMs: null }, box: SecretBox.random(), keepsHashesOnly: true };
  return new V2Line(catalog, { ...options, nowMs: () => 0, onDropped: () => {} });
}

describe("virtual mappings", () => {
  test("are those of the buckets' names", async () => {
    const world = await World.open(["d", "d/p", "d/autogen", "a/b/c", "e/", "/f"]);
    expect(world.listed).toEqual([
      ".f=/f?",
      "a.b/c=a/b/c?",
      // two of one pair: the plain name counts
      "d.autogen=d*?",
      "d.p=d/p?",
      "e.=e/?",
    ]);
    expect([world.resolved("d"), world.resolved("d", "autogen"), world.resolved("d", "p")]).toEqual(["d*", "d*", "d/p"]);
    expect([world.resolved("a"), world.resolved("a", "b/c"), world.resolved("a/b", "c"), world.resolved("a/b")]).toEqual([
      ...[null, "a/b/c", null, null],
    ]);
    expect([world.resolved("d", "P"), world.resolved("D"), world.resolved(""), world.resolved("d", "")]).toEqual([null, null, null, null]);
  });

  test("give way to stored ones of their database and policy", async () => {
    const world = await World.open(["d", "d/p", "x"]);
    await world.map("d", "p", "x");
    expect(world.listed).toEqual(["d.p=x*", "d.autogen=d?", "x.autogen=x*?"]);
    expect([world.resolved("d"), world.resolved("d", "p"), world.resolved("d", "autogen")]).toEqual(["x*", "x*", "d"]);
    await world.map("d", "autogen", "x");
    expect(world.resolved("d", "autogen")).toBe("x");
  });

  test("are stored under their id when they are changed, and are as before when they are deleted", async () => {
    const world = await World.open(["d"]);
    const id = world.ids.get("d")!;
    await world.line.mappings.delete(world.orgID, id);
    expect(world.listed).toEqual(["d.autogen=d*?"]);
    const changed = await world.line.mappings.update(world.orgID, id, { retentionPolicy: "p" });
    expect(changed.id).toBe(id);
    expect(world.listed).toEqual(["d.p=d*?", "d.autogen=d?"]);
    await world.line.mappings.delete(world.orgID, id);
    expect(world.listed).toEqual(["d.autogen=d*?"]);
  });

  test("are found by the id of their bucket, also behind a stored one of their names", async () => {
    const world = await World.open(["d", "e"]);
    const id = world.ids.get("d")!;
    await world.map("d", "autogen", "e");
    expect(world.listed).toEqual(["d.autogen=e*", "e.autogen=e*?"]);
    expect(world.line.mappings.get(world.orgID, id)).toMatchObject({ id, bucketID: id, isDefault: true, isVirtual: true });
    expect(world.line.mappings.update(world.orgID, id, { isDefault: false })).rejects.toThrow("same orgID, db, and rp");
  });
});

test("one mapping of a database is the default one, whatever happens to others", async () => {
  const world = await World.open(["x", "y", "z"]);
  const { mappings } = world.line;
  const first = await world.map("d", "1", "x");
  const second = await world.map("d", "2", "y");
  const third = await world.map("d", "3", "z", true);
  expect(world.resolved("d")).toBe("z*");
  await mappings.update(world.orgID, third, { isDefault: false });
  expect(world.resolved("d")).toBe("x*");
  await mappings.update(world.orgID, first, { isDefault: false });
  expect(world.resolved("d")).toBe("y*");
  await mappings.update(world.orgID, third, { isDefault: true });
  await mappings.delete(world.orgID, third);
  expect(world.resolved("d")).toBe("x*");
  await world.line.buckets.delete(world.ids.get("x")!);
  expect(world.listed.filter((text) => text.startsWith("d."))).toEqual(["d.2=y*"]);
  // the only one cannot be none
  await mappings.update(world.orgID, second, { isDefault: false });
  expect(world.resolved("d")).toBe("y*");
  // the same after a restart
  expect(lineOf(world.catalog).mappings.list(world.orgID)).toEqual(mappings.list(world.orgID));
});

test("a bucket that port 8181 deletes takes its mappings along, and brings them back", async () => {
  const world = await World.open(["x", "y"]);
  await world.map("d", "1", "x");
  await world.map("d", "2", "y");
  const id = databaseIdOf(world.ids.get("x")!)!;
  world.catalog.apply([{ kind: "soft_delete", of: "database", id, name: "x-gone", deletedMs: 1, hardDeleteMs: null }]);
  expect([world.resolved("d"), world.resolved("d", "1"), world.resolved("x")]).toEqual(["y*", null, null]);
  world.catalog.apply([{ kind: "restore", of: "database", id, name: "x" }]);
  expect([world.resolved("d"), world.resolved("d", "1"), world.resolved("x")]).toEqual(["x*", "x*", "x*"]);
  world.catalog.apply([{ kind: "soft_delete", of: "database", id, name: "x-gone", deletedMs: 1, hardDeleteMs: 1 }]);
  world.catalog.apply([{ kind: "drop", of: "database", id }]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(world.catalog.records.ofKind("dbrp").size).toBe(1);
  await world.line.organizations.delete(world.orgID);
  expect(world.catalog.records.ofKind("dbrp").size).toBe(0);
});

test("what cannot be mapped", async () => {
  const world = await World.open(["x"]);
  const mapping = { orgID: world.orgID, bucketID: world.ids.get("x")!, database: "d", retentionPolicy: "r", isDefault: true };
  const { mappings } = world.line;
  for (const [changed, kind] of [
    [{ orgID: "0000000000000001" }, "not_found"],
    [{ bucketID: "0000000000000001" }, "not_found"],
    [{ database: "" }, "bad_request"],
    [{ database: "a/b" }, "bad_request"],
    [{ retentionPolicy: ".." }, "bad_request"],
    [{ retentionPolicy: "a\u0000" }, "bad_request"],
  ] as const) {
    expect(await mappings.create({ ...mapping, ...changed }).catch((error) => error.kind)).toBe(kind);
  }
  await mappings.create(mapping);
  expect(await mappings.create(mapping).catch((error) => error.kind)).toBe("already_exists");
});
