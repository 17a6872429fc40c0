// Hostile and unlucky restores against a real server: archives that are cut off, flipped, foreign or lying, and a process that is killed
// in the middle. What is refused changes nothing; what is killed has happened as a whole or not at all.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { TAR_END, tarHeader, tarPadding } from "../../src/backup/tar.ts";
import { prng } from "../support/prng.ts";
import { TestServer } from "../support/servers/server.ts";
import { type Backup, backUp, restoreAll, send } from "../support/servers/v2-backup.ts";

setDefaultTimeout(120_000);

const SETUP = { username: "admin", password: "password12", org: "o", bucket: "b", token: "tok" };
const START_S = 1_577_836_800;
const SEED = Number(process.env["SEED"] ?? 7);

async function startUp(): Promise<TestServer> {
  const server = await TestServer.start({ withBuckets: true });
  const made = await fetch(`${server.bucketsUrl}/api/v2/setup`, { method: "POST", body: JSON.stringify(SETUP) });
  expect(made.status).toBe(201);
  return server;
}

async function write(server: TestServer, bucket: string, lines: string): Promise<void> {
  const url = `${server.bucketsUrl}/api/v2/write?org=o&precision=s&bucket=${bucket}`;
  expect((await fetch(url, { method: "POST", headers: { authorization: "Token tok" }, body: lines })).status).toBe(204);
}

const lines = (value: number, count = 2000) =>
  Array.from({ length: count }, (_, i) => `m,k=k${i % 7} v=${value}i,s="text ${i} of ${value}" ${START_S + i * 60}`).join("\n");

async function stateOf(server: TestServer): Promise<object> {
  const headers = { authorization: "Token tok" };
  const lists = ["/api/v2/buckets", "/api/v2/authorizations", "/api/v2/users"].map(async (path) =>
    (await fetch(server.bucketsUrl + path, { headers })).json(),
  );
  return {
    rows: await server.sql("b", "SELECT v, count(*) AS n, max(s) AS s FROM m GROUP BY v ORDER BY v"),
    lists: await Promise.all(lists),
  };
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  copy[at]! ^= 1 << bit;
  return copy;
}

/** An archive whose checksums are right, of any files. */
function archiveOf(files: readonly (readonly [name: string, bytes: Uint8Array | string])[]): Uint8Array<ArrayBuffer> {
  const sums = files.map(([name, bytes]) => `${createHash("sha256").update(bytes).digest("hex")}  ${name}\n`).join("");
  const all: (readonly [string, Uint8Array | string])[] = [...files, ["SHA256SUMS", sums]];
  const pieces = all.flatMap(([name, content]) => {
    const bytes = Buffer.from(content as Uint8Array);
    return [tarHeader(name, bytes.byteLength, 0), bytes, tarPadding(bytes.byteLength)];
  });
  return new Uint8Array(Buffer.concat([...pieces, TAR_END]));
}

function filesOf(archive: Uint8Array): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const bytes = Buffer.from(archive);
  for (let at = 0; bytes[at] !== 0; ) {
    const name = bytes.toString("latin1", at, at + 100).replaceAll("\0", "");
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 135), 8);
    files.set(name, bytes.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

describe("a server under attack", () => {
  let server: TestServer;
  let backup: Backup;
  let id: number;
  let shard: Uint8Array<ArrayBuffer>;
  let before: object;

  beforeAll(async () => {
    server = await startUp();
    await write(server, "b", lines(1));
    backup = await backUp(server.bucketsUrl, "tok");
    [[id, shard]] = [...backup.shards] as [[number, Uint8Array<ArrayBuffer>]];
    await write(server, "b", lines(2, 1000));
    before = await stateOf(server);
  });
  afterAll(() => server.dispose());

  const restoreUrl = (what: string) => `${server.bucketsUrl}/api/v2/restore/${what}`;
  const unchanged = async () => expect(await stateOf(server)).toEqual(before);

  async function refused(what: string, body: Uint8Array | string, note: string, statuses: readonly number[] = [400]): Promise<void> {
    const { status, text } = await send(restoreUrl(what), "tok", body);
    expect([statuses.includes(status), note, status, text]).toEqual([true, note, status, expect.stringContaining('"code":')]);
    expect(text.length).toBeLessThan(1000);
    expect(text).not.toContain(server.dataDir);
  }

  test("a shard, cut off anywhere or with any bit flipped", async () => {
    const below = prng(SEED);
    for (let round = 0; round < 120; round++) {
      await refused(`shards/${id}`, shard.subarray(0, below(shard.byteLength)), `seed ${SEED}, round ${round}: cut`);
      const bad = flipped(shard, below(shard.byteLength), below(8));
      await refused(`shards/${id}`, bad, `seed ${SEED}, round ${round}: flipped`);
    }
    await refused(`shards/${id}`, Buffer.concat([shard, shard]), "twice");
    await refused(`shards/${id}`, Buffer.concat([shard, Buffer.from("x")]), "with something behind it");
    await unchanged();
  });

  test("metadata and SQL, cut off anywhere or with any bit flipped", async () => {
    const below = prng(SEED + 1);
    for (let round = 0; round < 60; round++) {
      for (const [what, bytes] of [
        ["kv", backup.kv],
        ["sql", backup.sql],
      ] as const) {
        await refused(what, bytes.subarray(0, below(bytes.byteLength)), `seed ${SEED}, round ${round}: ${what} cut`);
        await refused(what, flipped(bytes, below(bytes.byteLength), below(8)), `seed ${SEED}, round ${round}: ${what} flipped`);
      }
    }
    await unchanged();
  });

  test("foreign bytes, and parts in the wrong places", async () => {
    const kinds: readonly (readonly [string, Uint8Array | string])[] = [
      ["nothing", ""],
      ["a text", "hello"],
      ["JSON", "{}"],
      ["zeros", new Uint8Array(4096)],
      ["SQLite of another program", Buffer.concat([Buffer.from("SQLite format 3\0"), new Uint8Array(4080)])],
      ["a tar of other files", archiveOf([["000000001-000000001.tsm", "TSM"]])],
      ["a tar that climbs", archiveOf([["../../shard.json", "{}"]])],
    ];
    for (const [note, bytes] of kinds) for (const what of ["kv", "sql", `shards/${id}`]) await refused(what, bytes, `${note} as ${what}`);
    await refused("kv", backup.sql, "sql as kv");
    await refused("sql", backup.kv, "kv as sql");
    await refused(`shards/${id}`, backup.kv, "kv as a shard");
    const headers = { authorization: "Token tok", "content-encoding": "gzip" };
    for (const what of ["kv", "sql", `shards/${id}`]) {
      for (const body of [
        new Uint8Array([31, 139, 8]),
        new Uint8Array(gzipSync(shard)).subarray(0, 300),
        new TextEncoder().encode("plain"),
      ]) {
        expect((await fetch(restoreUrl(what), { method: "POST", headers, body })).status).toBe(400);
      }
    }
    await unchanged();
  });

  test("archives that lie, with right checksums", async () => {
    const files = filesOf(shard);
    const rows = files.get("1.pt")!;
    const description = JSON.parse(files.get("shard.json")!.toString()) as Record<string, unknown> & {
      tables: { columns: object[]; name: string; id: number }[];
    };
    const [table] = description.tables;
    const lie = (change: object) =>
      archiveOf([
        ["shard.json", JSON.stringify({ ...description, ...change })],
        ["1.pt", rows],
      ]);
    const hour = 3_600_000_000_000n;
    const shifted = (ns: bigint) => ({
      startNs: String(BigInt(description["startNs"] as string) + ns),
      endNs: String(BigInt(description["endNs"] as string) + ns),
    });
    const lies: readonly (readonly [string, object])[] = [
      ["another week", shifted(7n * 24n * hour)],
      ["a second earlier", shifted(-1_000_000_000n)],
      ["an hour of it", { endNs: String(BigInt(description["startNs"] as string) + hour) }],
      ["no time at all", { startNs: "x" }],
      ["ends before it begins", { endNs: "0" }],
      ["no tables", { tables: [] }],
      ["another table's id", { tables: [{ ...table, id: 77 }] }],
      ["a table without a name", { tables: [{ ...table, name: "" }] }],
      ["no columns", { tables: [{ ...table, columns: [] }] }],
      [
        "columns of another type",
        { tables: [{ ...table, columns: table!.columns.map((column) => ({ ...column, type: "field::boolean" })) }] },
      ],
      ["columns of no type", { tables: [{ ...table, columns: [{ id: 1, name: "k", type: "x" }] }] }],
      ["another format", { format: "tsdb shard backup 2" }],
    ];
    for (const [note, change] of lies) await refused(`shards/${id}`, lie(change), note);
    const json = JSON.stringify(description);
    await refused(
      `shards/${id}`,
      archiveOf([
        ["shard.json", json],
        ["1.pt", rows],
        ["2.pt", rows],
      ]),
      "the same rows twice",
    );
    await refused(
      `shards/${id}`,
      archiveOf([
        ["1.pt", rows],
        ["shard.json", json],
      ]),
      "in another order",
    );
    await refused(
      `shards/${id}`,
      archiveOf([
        ["shard.json", json],
        ["1.pt", rows.subarray(0, rows.byteLength - 1)],
      ]),
      "rows cut off",
    );
    await refused(
      `shards/${id}`,
      archiveOf([
        ["shard.json", json],
        ["1.pt", ""],
      ]),
      "no rows",
    );
    // flipped below the checksums of the archive: those of the rows' own file
    const below = prng(SEED + 2);
    for (let round = 0; round < 60; round++) {
      const bad = flipped(rows, below(rows.byteLength), below(8));
      const { status, text } = await send(
        restoreUrl(`shards/${id}`),
        "tok",
        archiveOf([
          ["shard.json", json],
          ["1.pt", bad],
        ]),
      );
      expect([status, `seed ${SEED}, round ${round}: ${text}`]).toEqual([400, expect.stringContaining("nothing was restored")]);
    }
    await unchanged();
  });

  test("invalid numbers of shards, times, levels, organizations and policies", async () => {
    const asked = async (path: string, headers: Record<string, string> = {}) =>
      (await fetch(`${server.bucketsUrl}/api/v2/backup/${path}`, { headers: { authorization: "Token tok", ...headers } })).status;
    for (const [path, status] of [
      ["shards/abc", 400],
      ["shards/-1", 400],
      ["shards/1e3", 400],
      ["shards/99999999999999999999", 400],
      ["shards/9223372036854775807", 404],
      ["shards/0", 404],
      ["shards/1", 404],
      [`shards/${id}?since=x`, 400],
      [`shards/${id}?since=2020-13-45T00:00:00Z`, 400],
      [`shards/${id}?since=9999-01-01T00:00:00Z`, 404],
    ] as const) {
      expect([path, await asked(path)]).toEqual([path, status]);
    }
    expect(await asked(`shards/${id}`, { "gzip-compression-level": "best" })).toBe(400);
    expect(await asked("metadata", { "gzip-compression-level": "__proto__" })).toBe(400);
    await refused("shards/1", shard, "a shard of nothing", [404]);
    await refused("shards/x", shard, "no number");
    const [manifest] = backup.buckets;
    const policy = { duration: 0, shardGroups: [] };
    for (const [note, change, statuses] of [
      ["no organization", { organizationID: "0000000000000001", organizationName: "" }, [404]],
      ["no name", { bucketName: "" }, [400]],
      ["a system bucket", {}, [400, 422]],
      ["two policies", { bucketName: "n", retentionPolicies: [policy, policy] }, [400]],
      ["a negative duration", { bucketName: "n", retentionPolicies: [{ ...policy, duration: -1e12 }] }, [422]],
      ["less than a second below 0", { bucketName: "n", retentionPolicies: [{ ...policy, duration: -1 }] }, [422]],
      [
        "an invalid time",
        { bucketName: "n", retentionPolicies: [{ ...policy, shardGroups: [{ startTime: "x", shards: [{ id: 1 }] }] }] },
        [400],
      ],
      ["shards of text", { bucketName: "n", retentionPolicies: [{ ...policy, shardGroups: [{ startTime: "x", shards: "y" }] }] }, [400]],
    ] as const) {
      await refused("bucketMetadata", JSON.stringify({ ...manifest, ...change }), note, statuses);
    }
    await refused("bucket/0b000000000000ff", "x", "no bucket", [400, 404]);
    await refused("buckets/x", "x", "no id");
    await unchanged();
  });

  test("a shard's number whose bucket has other shards now", async () => {
    const headers = { authorization: "Token tok", "content-type": "application/json" };
    const made = await fetch(`${server.bucketsUrl}/api/v2/orgs`, { headers });
    const { orgs } = (await made.json()) as { orgs: { id: string }[] };
    const body = JSON.stringify({ orgID: orgs[0]!.id, name: "w", retentionRules: [] });
    const bucket = (await (await fetch(`${server.bucketsUrl}/api/v2/buckets`, { method: "POST", headers, body })).json()) as { id: string };
    await write(server, "w", `m v=1 ${START_S + 3 * 86_400}`);
    const manifest = (await backUp(server.bucketsUrl, "tok")).buckets.find(({ bucketID }) => bucketID === bucket.id)!;
    const number = manifest.retentionPolicies[0]!.shardGroups[0]!.id;
    const rules = JSON.stringify({ retentionRules: [{ type: "expire", everySeconds: 0, shardGroupDurationSeconds: 36_000 }] });
    expect((await fetch(`${server.bucketsUrl}/api/v2/buckets/${bucket.id}`, { method: "PATCH", headers, body: rules })).status).toBe(200);
    const answer = await fetch(`${server.bucketsUrl}/api/v2/backup/shards/${number}`, { headers });
    expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining("Begin the backup again")]);
    expect((await fetch(`${server.bucketsUrl}/api/v2/buckets/${bucket.id}`, { method: "DELETE", headers })).status).toBe(204);
    expect((await fetch(`${server.bucketsUrl}/api/v2/backup/shards/${number}`, { headers })).status).toBe(404);
  });

  test("others write and read while a large archive arrives slowly, and while another one stalls", async () => {
    const pieces = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(shard.subarray(0, 700));
        await new Promise(() => {}); // the client never goes on
      },
    });
    const abort = new AbortController();
    const init = {
      method: "POST",
      headers: { authorization: "Token tok" },
      body: pieces,
      signal: abort.signal,
      duplex: "half",
    } as RequestInit;
    const stuck = fetch(restoreUrl(`shards/${id}`), init).catch(() => null);
    await write(server, "b", lines(2, 10));
    await unchanged();
    expect((await backUp(server.bucketsUrl, "tok")).shards.size).toBeGreaterThan(0);
    abort.abort();
    await stuck;
    await unchanged();
  });
});

test("kill -9 at any time of a full restore: each part is there or not", async () => {
  await using source = await startUp();
  await write(source, "b", lines(1));
  const backup = await backUp(source.bucketsUrl, "tok");
  const [[id, shard]] = [...backup.shards] as [[number, Uint8Array<ArrayBuffer>]];
  await using target = await startUp();
  await write(target, "b", lines(3, 500));
  const below = prng(SEED);
  const seen = new Set<string>();
  for (let round = 0; round < 8; round++) {
    const restored = (async () => {
      await send(`${target.bucketsUrl}/api/v2/restore/kv`, "tok", backup.kv);
      await send(`${target.bucketsUrl}/api/v2/restore/shards/${id}`, "tok", shard);
    })().catch(() => {});
    await Bun.sleep(below(120));
    await target.kill();
    await restored;
    await target.restart();
    const tables = await target.sql<{ n: number }>("b", "SELECT count(*) AS n FROM information_schema.tables WHERE table_name = 'm'");
    const rows = tables[0]!.n === 0 ? [] : await target.sql<{ v: number; n: number }>("b", "SELECT v, count(*) AS n FROM m GROUP BY v");
    const state = JSON.stringify(rows);
    // those of before, none after the metadata, or all of the shard
    expect(["[]", '[{"v":3,"n":500}]', '[{"v":1,"n":2000}]']).toContain(state);
    seen.add(state);
  }
  await restoreAll(target.bucketsUrl, "tok", backup);
  expect(await target.sql("b", "SELECT v, count(*) AS n FROM m GROUP BY v")).toEqual([{ v: 1, n: 2000 }]);
  expect(seen.size).toBeGreaterThan(0);
});
