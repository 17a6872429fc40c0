// Backups of databases on a real server: what they bring back, what is refused, and what a damaged one does.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Shelf } from "../../src/backup/databases/shelf.ts";
import { NodeDisk } from "../../src/disk/node-disk.ts";
import { FileObjectStore } from "../../src/object-store/file-object-store.ts";
import { prng } from "../support/prng.ts";
import { ask, backUp, ended, restore, statuses } from "../support/servers/database-backups.ts";
import { TestServer } from "../support/servers/server.ts";
import { SmallDisk } from "../support/storage/small-disk.ts";
import { store } from "./client.ts";

const FLAGS = ["--use-pacha-tree"];
const ALL = "SELECT * FROM cpu ORDER BY time, host";

let folder: string;
let server: TestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tsdb-backups-"));
  server = await TestServer.start({ flags: [...FLAGS, "--backup-dir", folder] });
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

const row = (host: string, f: number, ns: number) => ({ f, host, time: `1970-01-01T00:00:00.00000000${ns}` });

/** Files of a backup, with their folder. */
function filesOf(name: string): string[] {
  const found = readdirSync(join(folder, "backups", name), { recursive: true, withFileTypes: true });
  return found.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = bytes[place]! ^ 1;
  writeFileSync(path, bytes);
}

test("a full and an incremental backup, back on the same server and on an empty one", async () => {
  await store(server, "d", "cpu,host=a f=1 1\ncpu,host=b f=2 2");
  await store(server, "other", "m v=1 1");
  expect(await backUp(server, "first")).toMatchObject({
    name: "first",
    type: "full",
    status: "completed",
    total_files: 1,
    processed_files: 1,
  });
  await store(server, "d", "cpu,host=a f=9 1\ncpu,host=c f=3 3");
  const second = await backUp(server, "second", { type: "incremental" });
  expect(second).toMatchObject({ type: "incremental", parent: "first", status: "completed", total_files: 1 });
  // a later write, a new table, and a database that no backup has
  await store(server, "d", "cpu,host=a f=100 1\nlater v=1 1");
  await store(server, "late", "m v=1 1");

  expect(await restore(server, "first")).toMatchObject({ backup_name: "first", status: "completed", total_files: 1 });
  expect(await server.sql<object>("d", ALL)).toEqual([row("a", 1, 1), row("b", 2, 2)]);
  expect(await server.sql<object>("d", "SHOW TABLES")).not.toContainEqual(expect.objectContaining({ table_name: "later" }));
  expect(await server.sql<object>("late", "SELECT v FROM m")).toEqual([{ v: 1 }]);
  // rows that are written now are later than those of the backup
  await store(server, "d", "cpu,host=a f=7 1");
  expect(await server.sql<object>("d", ALL)).toEqual([row("a", 7, 1), row("b", 2, 2)]);

  await using empty = await TestServer.start({ flags: [...FLAGS, "--backup-dir", folder] });
  expect(await restore(empty, "second")).toMatchObject({ status: "completed", total_files: 2 });
  const want = [row("a", 9, 1), row("b", 2, 2), row("c", 3, 3)];
  expect(await empty.sql<object>("d", ALL)).toEqual(want);
  expect(await empty.sql<object>("other", "SELECT v FROM m")).toEqual([{ v: 1 }]);
  await store(empty, "d", "cpu,host=b f=8 2");
  await empty.kill();
  await empty.restart();
  expect(await empty.sql<object>("d", ALL)).toEqual([want[0]!, row("b", 8, 2), want[2]!]);
  // what the log of this server has in its first places is later than what came from the long log of another one
  await store(empty, "d", "cpu,host=a f=5 1\ncpu,host=c f=6 3");
  await empty.restart();
  expect(await empty.sql<object>("d", ALL)).toEqual([row("a", 5, 1), row("b", 8, 2), row("c", 6, 3)]);
  expect((await ask(empty, "GET", "restore")).body).toMatchObject({ restores: [{ backup_name: "second", status: "completed" }] });

  // the incremental one goes with what it needs
  expect((await ask(server, "DELETE", "backup/first")).body).toEqual({ backup_name: "first", type: "full" });
  expect(await statuses(server)).toEqual({});
});

test("tables that a restore replaced can be restored", async () => {
  await store(server, "undo", "t v=1 1");
  await backUp(server, "undo");
  await store(server, "undo", "t v=2 1");
  await restore(server, "undo");
  expect(await server.sql<object>("undo", "SELECT v FROM t")).toEqual([{ v: 1 }]);
  const body = JSON.stringify({ db: "undo", table: "t", new_name: "before" });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}/api/v3/configure/table/restore`, { method: "POST", body, headers });
  expect([response.status, await response.text()]).toEqual([200, ""]);
  expect(await server.sql<object>("undo", 'SELECT v FROM "before"')).toEqual([{ v: 2 }]);
});

test("what was deleted before a backup is not in it, where no rows but those of a deleted table have come since the last file", async () => {
  await store(server, "hidden", "t v=1 1\nt v=2 2");
  await backUp(server, "rows");
  await store(server, "hidden", "gone v=1 1");
  await fetch(`${server.url}/api/v3/configure/table?db=hidden&table=gone`, { method: "DELETE" });
  await fetch(`${server.url}/query?db=hidden`, { method: "POST", body: new URLSearchParams({ q: "DELETE FROM t WHERE time < 2" }) });
  const left = await server.sql<object>("hidden", "SELECT v FROM t");
  expect(left).toEqual([{ v: 2 }]);
  await backUp(server, "less");
  await restore(server, "less");
  expect(await server.sql<object>("hidden", "SELECT v FROM t")).toEqual(left);
});

test("a disk for backups needs no room for the reserve of the data", async () => {
  using disk = SmallDisk.mount(1 << 20);
  if (disk === null) return;
  await using own = await TestServer.start({ flags: [...FLAGS, "--backup-dir", disk.path, "--disk-reserve", "16MiB"] });
  await store(own, "d", "t v=1 1");
  expect(await backUp(own, "small")).toMatchObject({ status: "completed", total_files: 1 });
  writeFileSync(join(disk.path, "others"), new Uint8Array(disk.freeBytes()));
  const failed = await ask(own, "POST", "backup", { type: "full", name: "none" });
  expect([failed.status, JSON.stringify(failed.body)]).toEqual([503, expect.stringContaining("the disk is full")]);
});

test("a flipped byte is found, and the file named; nothing is restored", async () => {
  await store(server, "e", "cpu,host=a f=1 1");
  await backUp(server, "damaged");
  const [file] = filesOf("damaged").filter((path) => path.endsWith(".pt"));
  const whole = readFileSync(file!);
  await store(server, "e", "cpu,host=a f=2 1");
  for (const at of [0, Math.floor(whole.length / 2), -1]) {
    flip(file!, at);
    const { status, error } = await restore(server, "damaged");
    expect([status, error]).toEqual(["failed", expect.stringContaining(file!.slice(folder.length + 1))]);
    expect(error).toContain("SHA-256");
    writeFileSync(file!, whole);
  }
  // shorter, longer, missing
  for (const bytes of [whole.subarray(1), Buffer.concat([whole, whole])]) {
    writeFileSync(file!, bytes);
    expect(await restore(server, "damaged")).toMatchObject({ status: "failed", error: expect.stringContaining("bytes") });
  }
  rmSync(file!);
  expect(await restore(server, "damaged")).toMatchObject({ status: "failed", error: expect.stringContaining("is missing") });
  writeFileSync(file!, whole);

  const [content] = filesOf("damaged").filter((path) => path.endsWith("content.json"));
  flip(content!, 100);
  expect(await restore(server, "damaged")).toMatchObject({ status: "failed", error: expect.stringContaining("content.json") });
  flip(content!, 100);
  const description = join(folder, "backups/damaged/backup.json");
  flip(description, 100);
  expect(await statuses(server)).toMatchObject({ damaged: "failed" });
  const refused = await ask(server, "POST", "restore", { backup_name: "damaged" });
  expect([refused.status, refused.body!["error"]]).toEqual([400, expect.stringContaining("backups/damaged/backup.json")]);

  expect(await server.sql<object>("e", "SELECT f FROM cpu")).toEqual([{ f: 2 }]);
  expect((await ask(server, "DELETE", "backup/damaged")).status).toBe(200);
  expect(filesOf("damaged")).toEqual([]);
});

test("of each file of a chain any damage is found, and nothing is restored", async () => {
  await store(server, "chain", "cpu,host=a f=1 1");
  await backUp(server, "older", { type: "full" });
  await store(server, "chain", "cpu,host=b f=2 2\nmem v=1 1");
  await backUp(server, "newer", { type: "incremental", parent: "older" });
  await store(server, "chain", "cpu,host=c f=3 3");
  const rows = () => server.sql<object>("chain", ALL);
  const before = await rows();
  const random = prng(Number(process.env["SEED"] ?? 1));
  const files = [...filesOf("older"), ...filesOf("newer")];
  expect(files.length).toBeGreaterThanOrEqual(6);
  for (const path of files) {
    // the later backup names all files it needs, and reads no description but its own
    const name = path.endsWith(".json") && path.includes("/older/") ? "older" : "newer";
    const whole = readFileSync(path);
    const flipped = Buffer.from(whole);
    flipped[random(whole.length)]! ^= 1 << random(8);
    for (const bytes of [flipped, whole.subarray(0, random(whole.length)), Buffer.alloc(0), Buffer.alloc(whole.length), null]) {
      if (bytes === null) rmSync(path);
      else writeFileSync(path, bytes);
      const asked = await ask(server, "POST", "restore", { backup_name: name });
      const about = `${path.slice(folder.length + 1)} of ${bytes?.length ?? "no"} bytes, ${asked.status}`;
      if (asked.status === 202) {
        const job = await ended(server, `restore/${String(asked.body!["restore_id"])}`);
        expect([about, job.status]).toEqual([about, "failed"]);
      } else expect([400, 404], about).toContain(asked.status);
      expect([about, await rows()]).toEqual([about, before]);
    }
    writeFileSync(path, whole);
  }
  expect(await restore(server, "newer")).toMatchObject({ status: "completed" });
  expect(await rows()).toEqual([row("a", 1, 1), row("b", 2, 2)]);
  expect((await ask(server, "DELETE", "backup/older")).status).toBe(200);
}, 60_000);

test("a whole file that is another one than described is found", async () => {
  await store(server, "mixed", "cpu,host=a f=1 1");
  await backUp(server, "mixed");
  await store(server, "mixed", "cpu,host=a f=1 1\ncpu,host=b f=1 2");
  await backUp(server, "later", { type: "incremental", parent: "mixed" });
  const shelf = new Shelf(new FileObjectStore(new NodeDisk(), folder), "backups/");
  const { record } = await shelf.find("mixed");
  const content = await shelf.content(record!);
  const other = (await shelf.content((await shelf.find("later")).record!)).files.at(-1)!;
  const { place, sha256 } = other;
  const files = content.files.map((file) => ({ place, sha256, file: { ...file.file, bytes: other.file.bytes } }));
  await shelf.complete(record!, { ...content, files });
  const { status, error } = await restore(server, "mixed");
  expect([status, error]).toEqual(["failed", expect.stringContaining(`backups/${place} is damaged: its block`)]);
  expect((await ask(server, "DELETE", "backup/mixed")).status).toBe(200);
});

describe("refused", () => {
  test("invalid names, parents that cannot be, and what is there", async () => {
    await backUp(server, "there");
    await backUp(server, "child", { type: "incremental", parent: "there" });
    const refused: readonly (readonly [body: Record<string, unknown>, status: number, why: RegExp])[] = [
      ...["../x", "a/b", ".hidden", "", "a b", "ü", "x".repeat(129), "..", "a\0b"].map(
        (name) => [{ type: "full", name }, 400, /invalid backup name/] as const,
      ),
      [{ type: "full", name: "there" }, 409, /exists/],
      [{ type: "full", name: "there", force: true }, 409, /the incremental "child" needs it/],
      [{ type: "full", name: "new", parent: "there" }, 400, /has no parent/],
      [{ type: "incremental", name: "new", parent: "new" }, 400, /its own parent/],
      [{ type: "incremental", name: "new", parent: "nobody" }, 404, /not found: nobody/],
      [{ type: "incremental", name: "new", parent: "../there" }, 404, /not found/],
      [{ type: "differential" }, 400, /"full" or "incremental"/],
    ];
    for (const [body, status, why] of refused) {
      const answer = await ask(server, "POST", "backup", body);
      expect([body, answer.status, answer.body!["error"]]).toEqual([body, status, expect.stringMatching(why)]);
    }
    for (const [method, path, status] of [
      ["GET", "backup/nobody", 404],
      ["GET", "backup/..%2F..%2Fdata", 404],
      ["DELETE", "backup/..%2Fthere", 404],
      ["DELETE", "backup/nobody", 404],
      ["GET", "restore/nobody", 404],
      ["DELETE", "restore/nobody", 404],
    ] as const) {
      expect([path, (await ask(server, method, path)).status]).toEqual([path, status]);
    }
    expect((await ask(server, "DELETE", "backup", { name: "there" })).status).toBe(404);
    expect((await ask(server, "POST", "restore", { backup_name: "../there" })).status).toBe(400);
    expect(await statuses(server)).toMatchObject({ there: "completed", child: "completed" });
  });

  test("without the flag 503, in the base edition 404", async () => {
    await using plain = await TestServer.start();
    const calls: readonly (readonly [string, string, unknown?])[] = [
      ["POST", "backup", { type: "full" }],
      ["GET", "backup"],
      ["DELETE", "backup", { name: "x" }],
      ["GET", "backup/x"],
      ["DELETE", "backup/x"],
      ["POST", "restore", { backup_name: "x" }],
      ["GET", "restore"],
      ["GET", "restore/x"],
      ["DELETE", "restore/x"],
    ];
    for (const [method, path, body] of calls) {
      const answer = await ask(plain, method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, 503]);
      expect(answer.body!["error"]).toContain("--use-pacha-tree");
    }
    await plain.restart([...FLAGS, "--edition", "core"]);
    for (const [method, path] of calls) {
      expect((await fetch(`${plain.url}/api/v3/enterprise/${path}`, { method })).status).toBe(404);
    }
  });
});

test("of port 8086 a backup has rows, and nothing else", async () => {
  await using both = await TestServer.start({ flags: FLAGS, withBuckets: true });
  const setup = { username: "u", password: "password1", org: "o", bucket: "first", token: "t".repeat(20) };
  const headers = { "content-type": "application/json", authorization: `Token ${setup.token}` };
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${both.bucketsUrl}/api/v2/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(201);
    return (await response.json()) as { id: string; org: { id: string } };
  };
  const { org } = await post("setup", setup);
  const other = await post("orgs", { name: "p" });
  await post("buckets", { name: "of another", orgID: other.id });
  const now = BigInt(Date.now()) * 1_000_000n;
  await store(both, "first", `m v=1 ${now}`);
  const write = await fetch(`${both.bucketsUrl}/api/v2/write?orgID=${other.id}&bucket=of%20another`, {
    method: "POST",
    headers,
    body: `m v=2 ${now}`,
  });
  expect(write.status).toBe(204);
  await backUp(both, "b");
  await post("dashboards", { name: "later", orgID: org.id });
  await store(both, "first", `m v=3 ${now}`);
  const buckets = async () => {
    const response = await fetch(`${both.bucketsUrl}/api/v2/buckets?orgID=${org.id}&limit=100`, { headers });
    const found = ((await response.json()) as { buckets: { id: string; name: string; type: string }[] }).buckets;
    return found.filter(({ type }) => type === "user").map(({ id, name }) => ({ id, name }));
  };
  const before = await buckets();
  expect((await restore(both, "b")).status).toBe("completed");
  expect(await buckets()).toEqual(before);
  expect(await both.sql<object>("first", "SELECT v FROM m")).toEqual([{ v: 1 }]);
  const dashboards = await fetch(`${both.bucketsUrl}/api/v2/dashboards`, { headers });
  expect((await dashboards.json()) as object).toMatchObject({ dashboards: [{ name: "later" }] });
  const script = 'from(bucket: "of another") |> range(start: 0) |> keep(columns: ["_value"])';
  const flux = async (target: TestServer) => {
    const url = `${target.bucketsUrl}/api/v2/query?orgID=${other.id}`;
    const answer = await fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/vnd.flux" }, body: script });
    return { status: answer.status, text: await answer.text() };
  };
  expect((await flux(both)).text).toContain(",2\r\n");
  await both.restart();
  expect(await buckets()).toEqual(before);
  expect(await both.sql<object>("first", "SELECT v FROM m")).toEqual([{ v: 1 }]);
});
