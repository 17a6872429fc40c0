// Remote connections and replications as records: the token at rest and in backups, and what goes with what.
import { expect, test } from "bun:test";
import { MemoryObjectStore } from "../../../object-store/memory-object-store.ts";
import { Catalog } from "../../../storage/catalog/catalog.ts";
import { SecretBox } from "../../access/secret-box.ts";
import { V2Line } from "../../line.ts";

const OLD = SecretBox.ofText("1".repeat(64));
const NEW = SecretBox.ofText("2".repeat(64));
const TOKEN = "a-token-of-another-server";

async function withLine<T>(store: MemoryObjectStore, box: SecretBox, run: (line: V2Line, catalog: Catalog) => Promise<T>): Promise<T> {
  const catalog = await Catalog.open(store, { prefix: "n/catalog" });
  const sessions = { lengthMs: 60_000, renewMs: null };
  const options = { nowMs: () => Date.now(), sessions, box, keepsHashesOnly: false, onDropped: () => {} };
  const line = new V2Line(catalog, { ...options, hashCost: { memoryCost: 8, timeCost: 1 } });
  try {
    return await run(line, catalog);
  } finally {
    await catalog.close();
  }
}

/** An organization with a bucket, a remote connection and a replication. */
async function made(line: V2Line) {
  const setup = { username: "ann", password: "", org: "o", bucket: "b", token: "t", everySeconds: 0 };
  const { org, bucket } = await line.setUp(setup, { strong: false });
  const place = { orgID: org.id, description: null };
  const remote = await line.remotes.create({
    ...{ ...place, name: "r", remoteURL: "http://localhost", remoteOrgID: null, allowInsecureTLS: false, token: TOKEN },
  });
  const replication = await line.replications.create({
    ...{ ...place, name: "p", remoteID: remote.id, localBucketID: bucket.id, remoteBucketID: null, remoteBucketName: "b" },
    ...{ maxQueueSizeBytes: 67_108_860, dropNonRetryableData: false, maxAgeSeconds: 0, sinceSequence: 7 },
  });
  return { org, bucket, remote, replication };
}

test("the token is in no log as text, and a new key opens it once it is renewed", async () => {
  const store = new MemoryObjectStore();
  const { id } = await withLine(store, OLD, async (line) => (await made(line)).remote);
  for (const { key } of await store.list("")) expect(Buffer.from((await store.get(key))!).toString("latin1")).not.toContain(TOKEN);
  await withLine(store, NEW, async (line) => expect(line.remotes.token(id)).toBe(""));
  await withLine(store, NEW.after(OLD), async (line) => {
    expect(line.remotes.token(id)).toBe(TOKEN);
    await line.renewSealed();
  });
  await withLine(store, NEW, async (line) => expect(line.remotes.token(id)).toBe(TOKEN));
});

test("a backup has the token for servers with other keys", async () => {
  const records = await withLine(new MemoryObjectStore(), OLD, async (line, catalog) => {
    await made(line);
    return [...catalog.records.ofKind("remote")].map(([id, value]) => line.portable.opened({ of: "remote", id, value }));
  });
  expect(records).toMatchObject([{ value: { token: TOKEN } }]);
  await withLine(new MemoryObjectStore(), NEW, async (line) => {
    const [record] = records.map((each) => line.portable.sealed(each));
    expect(JSON.stringify(record)).not.toContain(TOKEN);
    expect(line.portable.opened(record!)).toMatchObject({ value: { token: TOKEN } });
  });
});

test("a change without a token keeps it", async () => {
  await withLine(new MemoryObjectStore(), OLD, async (line) => {
    const { remote } = await made(line);
    await line.remotes.update(remote.id, { name: "renamed" });
    expect(line.remotes.token(remote.id)).toBe(TOKEN);
    await line.remotes.update(remote.id, { token: "another" });
    expect(line.remotes.token(remote.id)).toBe("another");
  });
});

test("the token is not sent to another server than it was given for", async () => {
  await withLine(new MemoryObjectStore(), OLD, async (line) => {
    const { id } = (await made(line)).remote;
    const moved = async (remoteURL: string, token?: string) => {
      expect(await line.remotes.update(id, { remoteURL, ...(token === undefined ? {} : { token }) })).toMatchObject({ remoteURL });
      return line.remotes.token(id);
    };
    // the same server
    expect(await moved("http://LOCALHOST:80/base/")).toBe(TOKEN);
    expect(await moved("http://localhost:8086")).toBe("");
    expect(await moved("http://localhost")).toBe("");
    for (const url of ["https://localhost", "http://other", "http:", "", "not an address"]) {
      expect(await moved("http://localhost", TOKEN)).toBe(TOKEN);
      expect(await moved(url)).toBe("");
    }
    expect(await moved("http://other", "another")).toBe("another");
  });
});

test("a replication goes with its bucket and its organization, and holds its remote connection", async () => {
  await withLine(new MemoryObjectStore(), OLD, async (line) => {
    const { org, bucket, remote, replication } = await made(line);
    expect(line.remotes.delete(remote.id)).rejects.toThrow("cannot be deleted as a replication references it");
    await line.buckets.delete(bucket.id);
    expect(line.replications.find(replication.id)).toBeNull();
    expect(line.remotes.find(remote.id)).not.toBeNull();
    await line.organizations.delete(org.id);
    expect(line.remotes.find(remote.id)).toBeNull();
  });
});

test("of another organization too, when its remote connection goes", async () => {
  await withLine(new MemoryObjectStore(), OLD, async (line) => {
    const { org, replication } = await made(line);
    const owner = line.users.findByName("ann")!;
    const other = await line.organizations.create({ name: "other", description: "", ownerID: owner.id });
    const { id: _, ...record } = replication;
    const second = await line.replications.create({ ...record, orgID: other.id });
    await line.organizations.delete(org.id);
    expect(line.replications.list()).toEqual([]);
    expect(line.replications.find(second.id)).toBeNull();
  });
});
