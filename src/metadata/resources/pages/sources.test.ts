// Sources as records: secrets at rest, in backups, and when the address changes; what goes with an organization.
import { expect, test } from "bun:test";
import { lightServer } from "../../../../test/vectors/v2/light-server.ts";
import { MemoryObjectStore } from "../../../object-store/memory-object-store.ts";
import { SecretBox } from "../../access/secret-box.ts";
import type { V2Line } from "../../line.ts";

const OLD = SecretBox.ofText("1".repeat(64));
const NEW = SecretBox.ofText("2".repeat(64));
const SECRETS = { token: "the-token", password: "the-password", sharedSecret: "the-shared-secret" };
const NONE = { token: "", password: "", sharedSecret: "" };

async function withLine<T>(store: MemoryObjectStore, box: SecretBox, run: (line: V2Line) => Promise<T>): Promise<T> {
  const server = await lightServer({ store, box });
  try {
    return await run(server.line);
  } finally {
    await server.stop();
  }
}

async function made(line: V2Line) {
  const setup = { username: "ann", password: "", org: "o", bucket: "b", token: "t", everySeconds: 0 };
  const { org } = await line.setUp(setup, { strong: false });
  const place = { orgID: org.id, isDefault: false, name: "s", type: "v1", url: "http://a.example:8086/x", metaUrl: "" };
  const settings = { telegraf: "", defaultRP: "", username: "u", insecureSkipVerify: true };
  return { org, source: await line.sources.create({ ...place, ...settings, ...SECRETS }) };
}

test("secrets are in no log as text, and a new key opens them once they are renewed", async () => {
  const store = new MemoryObjectStore();
  const { id } = await withLine(store, OLD, async (line) => (await made(line)).source);
  for (const { key } of await store.list("")) {
    const bytes = Buffer.from((await store.get(key))!).toString("latin1");
    for (const secret of Object.values(SECRETS)) expect(bytes).not.toContain(secret);
  }
  await withLine(store, NEW, async (line) => {
    expect(line.sources.get(id)).toMatchObject({ name: "s", username: "u", ...NONE });
    // a change of something else leaves them
    await line.sources.update(id, { name: "renamed" });
  });
  await withLine(store, NEW.after(OLD), async (line) => {
    expect(line.sources.get(id)).toMatchObject({ name: "renamed", ...SECRETS });
    expect(await line.renewSealed()).toBeGreaterThan(0);
  });
  await withLine(store, NEW, async (line) => expect(line.sources.get(id)).toMatchObject(SECRETS));
});

test("a backup has them for servers with other keys", async () => {
  const records = await withLine(new MemoryObjectStore(), OLD, async (line) => {
    await made(line);
    return [...line.metadata.catalog.records.ofKind("source")].map(([id, value]) => line.portable.opened({ of: "source", id, value }));
  });
  expect(records.map(({ value }) => JSON.parse(String(value["secrets"])))).toEqual([SECRETS]);
  await withLine(new MemoryObjectStore(), NEW, async (line) => {
    const [record] = records.map((each) => line.portable.sealed(each));
    for (const secret of Object.values(SECRETS)) expect(JSON.stringify(record)).not.toContain(secret);
    await line.metadata.change((change) => change.put("source", record!.id, record!.value as never));
    expect(line.sources.get(record!.id)).toMatchObject(SECRETS);
  });
});

test.each([
  ["another path", { url: "http://a.example:8086/y" }, SECRETS],
  ["another name of the source", { name: "n" }, SECRETS],
  ["another host", { url: "http://b.example:8086/x" }, NONE],
  ["another port", { url: "http://a.example:8087/x" }, NONE],
  ["another scheme", { url: "https://a.example:8086/x" }, NONE],
  ["no address", { url: "" }, NONE],
  ["another host, and a token for it", { url: "http://b.example", token: "new" }, { ...NONE, token: "new" }],
])("with %s", async (_, changes, secrets) => {
  await withLine(new MemoryObjectStore(), OLD, async (line) => {
    const { source } = await made(line);
    await line.sources.update(source.id, changes);
    expect(line.sources.get(source.id)).toEqual({ ...source, ...changes, ...secrets });
  });
});

test("they go with their organization, and the built-in one stays as it is", async () => {
  await withLine(new MemoryObjectStore(), OLD, async (line) => {
    const { org, source } = await made(line);
    const builtIn = line.sources.get("020f755c3c082000");
    const listed = () => line.sources.heads().map(({ id }) => line.sources.get(id));
    expect(listed()).toEqual([builtIn, source]);
    await line.organizations.delete(org.id);
    expect(listed()).toEqual([builtIn]);
    await expect(line.sources.delete(builtIn.id)).rejects.toThrow("cannot delete autogen source");
    await expect(line.sources.update(builtIn.id, { name: "n" })).rejects.toThrow("cannot change autogen source");
    expect(listed()).toEqual([builtIn]);
  });
});

test("a backup whose secrets have another form is one without", async () => {
  await withLine(new MemoryObjectStore(), OLD, async (line) => {
    const { source } = await made(line);
    const value = line.metadata.catalog.records.ofKind("source").get(source.id)!;
    for (const secrets of ["", "7", "null", "[1]", '{"token":5,"password":{},"more":1}']) {
      const { value: sealed } = line.portable.sealed({ of: "source", id: source.id, value: { ...value, secrets } });
      await line.metadata.change((change) => change.put("source", source.id, sealed as never));
      expect(line.sources.get(source.id)).toEqual({ ...source, ...NONE });
    }
  });
});
