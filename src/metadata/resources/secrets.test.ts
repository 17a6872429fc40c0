// Secrets and tokens at rest: encrypted in the catalog's log, and encrypted anew when the key is changed.
import { describe, expect, test } from "bun:test";
import { MemoryObjectStore } from "../../object-store/memory-object-store.ts";
import { Catalog } from "../../storage/catalog/catalog.ts";
import { SecretBox } from "../access/secret-box.ts";
import { V2Line } from "../line.ts";

const OLD = SecretBox.ofText("1".repeat(64));
const NEW = SecretBox.ofText("2".repeat(64));
const SECRET = "correct horse battery staple";
const TOKEN = "a-token-that-lists-show";

async function withLine<T>(store: MemoryObjectStore, box: SecretBox, run: (line: V2Line) => Promise<T>): Promise<T> {
  const catalog = await Catalog.open(store, { prefix: "n/catalog" });
  const sessions = { lengthMs: 60_000, renewMs: null };
  const options = { nowMs: () => Date.now(), sessions, box, keepsHashesOnly: false, onDropped: () => {} };
  const line = new V2Line(catalog, { ...options, hashCost: { memoryCost: 8, timeCost: 1 } });
  try {
    return await run(line);
  } finally {
    await catalog.close();
  }
}

async function stored(): Promise<{ readonly store: MemoryObjectStore; readonly orgID: string }> {
  const store = new MemoryObjectStore();
  const orgID = await withLine(store, OLD, async (line) => {
    const setup = { username: "ann", password: "", org: "o", bucket: "b", token: TOKEN, everySeconds: 0 };
    const { org } = await line.setUp(setup, { strong: false });
    await line.secrets.put(
      org.id,
      new Map([
        ["k", SECRET],
        ["empty", ""],
      ]),
    );
    return org.id;
  });
  return { store, orgID };
}

const read = (line: V2Line, orgID: string) => ({
  secrets: ["k", "empty"].map((key) => line.secrets.value(orgID, key)),
  tokens: line.authorizations.list({ orgID }).map(({ token }) => token),
});

test("neither is in the log as text", async () => {
  const { store } = await stored();
  const objects: string[] = [];
  for (const { key } of await store.list("")) objects.push(Buffer.from((await store.get(key))!).toString("latin1"));
  const all = objects.join("\n");
  expect(all).toContain("sealedValue");
  for (const text of [SECRET, TOKEN, btoa(SECRET), "1".repeat(64)]) expect(all).not.toContain(text);
});

describe("a change of the key", () => {
  test("encrypts everything anew, once", async () => {
    const { store, orgID } = await stored();
    await withLine(store, NEW.after(OLD), async (line) => {
      // readable before it is done
      expect(read(line, orgID)).toEqual({ secrets: [SECRET, ""], tokens: [TOKEN] });
      expect(await line.renewSealed()).toBe(3);
      expect(await line.renewSealed()).toBe(0);
    });
    await withLine(store, NEW, async (line) => expect(read(line, orgID)).toEqual({ secrets: [SECRET, ""], tokens: [TOKEN] }));
    await withLine(store, OLD, async (line) => {
      expect(() => line.secrets.value(orgID, "k")).toThrow("was encrypted with another key");
      expect(line.authorizations.list({ orgID }).map(({ token }) => token)).toEqual([""]);
    });
  });

  test("leaves what neither key opens", async () => {
    const { store, orgID } = await stored();
    await withLine(store, NEW.after(SecretBox.random()), async (line) => expect(await line.renewSealed()).toBe(0));
    await withLine(store, OLD, async (line) => expect(read(line, orgID).secrets).toEqual([SECRET, ""]));
  });

  test.each(["", "1".repeat(63), `${"1".repeat(63)}g`, `${"1".repeat(64)}\n`])("%j is no key", (text) => {
    expect(() => SecretBox.ofText(text)).toThrow("want 64 hex digits");
  });
});
