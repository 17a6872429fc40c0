// Definitions of caches on a real server: made, listed and deleted over HTTP with every member, with what is refused; as before after a
// kill and a restart; out of sight, back and gone with their table and database.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { LIMITS } from "../../src/model/limits.ts";
import { TestServer } from "../support/servers/server.ts";
import { cpu, DISTINCT, LAST, MADE, REFUSED, type Row } from "./cache-requests.ts";
import { store } from "./client.ts";

setDefaultTimeout(60_000);

const JSON_TYPE = { "content-type": "application/json" };

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
  // ids of columns: host 1, zone 2, f 3, i 4, u 5, s 6, b 7
  await store(server, "db", 'cpu,host=a,zone=x f=1,i=2i,u=3u,s="t",b=true 1');
  await store(server, "db", "plain v=1 1");
  await store(server, "other", "cpu,host=a f=1 1");
});
afterAll(() => server.dispose());

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = JSON_TYPE): Promise<Answer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(`${server.url}${path}`, { method, ...(body === undefined ? {} : { body: text, headers }) });
  return { status: response.status, text: await response.text() };
}

async function done(method: string, path: string, body?: unknown): Promise<void> {
  expect(await send(method, path, body)).toEqual({ status: 200, text: "" });
}

const remove = (path: string, table: string, name: string, db = "db") =>
  send("DELETE", `${path}?${new URLSearchParams({ db, table, name })}`);

const lastCaches = (database = "db") => server.sql<Row>(database, "SELECT * FROM system.last_caches");
const distinctCaches = (database = "db") => server.sql<Row>(database, "SELECT * FROM system.distinct_caches");
const all = async (database = "db") => [await lastCaches(database), await distinctCaches(database)];
const names = async (database = "db") => (await all(database)).flat().map(({ name }) => name);

describe("made, listed, deleted", () => {
  test.each(MADE)("%s", async (_, path, body, op, listed) => {
    const kind = path === LAST ? "CreateLastCache" : "CreateDistinctCache";
    const list = path === LAST ? lastCaches : distinctCaches;
    const beforeNs = BigInt(Date.now()) * 1_000_000n;
    const { status, text } = await send("POST", path, { db: "db", ...body });
    expect(status).toBe(201);
    const { catalog_batch: batch, sequence_number: sequence } = JSON.parse(text);
    expect(sequence).toBeInteger();
    const { time_ns: _timeNs, ...change } = batch.Database;
    expect(change).toEqual({ database_id: 1, database_name: "db", ops: [{ [kind]: expect.objectContaining(op) }] });
    const timeNs = BigInt(/"time_ns":(\d+)/.exec(text)![1]!);
    expect(timeNs >= beforeNs && timeNs <= BigInt(Date.now()) * 1_000_000n).toBe(true);
    expect(await list()).toEqual([listed]);
    const name = String(listed["name"]);
    expect(await remove(path, String(body["table"]), name)).toEqual({ status: 200, text: "" });
    expect(await names()).toEqual([]);
    expect((await remove(path, String(body["table"]), name)).status).toBe(404);
  });

  test("creating a distinct cache answers with its catalog operation", async () => {
    const { status, text } = await send("POST", DISTINCT, { db: "db", table: "cpu", columns: ["zone", "host"] });
    expect(status).toBe(201);
    const { Database: database } = JSON.parse(text).catalog_batch;
    const { table_id: tableId, cache_id: cacheId } = database.ops[0].CreateDistinctCache;
    expect(text).toMatch(
      new RegExp(
        `^\\{"catalog_batch":\\{"Database":\\{"time_ns":\\d{19},"database_id":1,"database_name":"db","ops":\\[\\{"CreateDistinctCache":` +
          `\\{"table_id":${tableId},"table_name":"cpu","node_spec":"all","cache_id":${cacheId},"cache_name":"cpu_zone_host_distinct_cache",` +
          `"column_ids":\\[\\{"tag":1\\},\\{"tag":0\\}\\],"max_cardinality":100000,"max_age_seconds":86400,"source":\\{"type":"User"\\}\\}\\}` +
          `\\]\\}\\},"sequence_number":\\d+\\}$`,
      ),
    );
    expect(await send("DELETE", DISTINCT, { db: "db", table: "cpu", name: "cpu_zone_host_distinct_cache" })).toEqual({
      status: 200,
      text: "",
    });
  });

  test("a deletion by body wants its type, one by query string none", async () => {
    const owner = { db: "db", table: "plain", name: "l" };
    expect((await send("POST", LAST, owner)).status).toBe(201);
    expect((await send("DELETE", LAST, JSON.stringify(owner), { "content-type": "text/plain" })).status).toBe(415);
    expect(await send("DELETE", LAST)).toEqual({ status: 400, text: "serde error: missing field `db`" });
    expect(await names()).toEqual(["l"]);
    // a query string goes before a body
    expect((await send("DELETE", `${LAST}?db=db&table=plain&name=x`, owner)).status).toBe(404);
    expect(await send("DELETE", LAST, owner)).toEqual({ status: 200, text: "" });
  });
});

describe("what is refused changes nothing", () => {
  beforeAll(async () => {
    expect((await send("POST", LAST, cpu({ name: "l", count: 2 }))).status).toBe(201);
    expect((await send("POST", DISTINCT, cpu({ name: "d", columns: ["host", "zone"] }))).status).toBe(201);
  });
  afterAll(async () => {
    expect(await names()).toEqual(["l", "d"]);
    await done("DELETE", `${LAST}?db=db&table=cpu&name=l`);
    await done("DELETE", `${DISTINCT}?db=db&table=cpu&name=d`);
  });
  test.each(REFUSED)("%s: %s", async (_, method, path, body, status, text) => {
    const before = await all();
    const answer = await send(method, path, body);
    expect(answer).toEqual({ status, text: typeof text === "string" ? text : expect.stringMatching(text) });
    expect(await all()).toEqual(before);
  });
});

test("names that are made of long names are refused, and given ones do instead", async () => {
  const host = "h".repeat(9000);
  await store(server, "long", `t,${host}=a v=1 1`);
  const { status, text } = await send("POST", LAST, { db: "long", table: "t" });
  expect([status, text]).toEqual([400, "the cache's name is too long: 9013 bytes, max 8192; give it one"]);
  expect((await send("POST", LAST, { db: "long", table: "t", name: "short" })).status).toBe(201);
  expect(await names("long")).toEqual(["short"]);
});

test("an acknowledged cache and an acknowledged deletion survive a kill, one after the other", async () => {
  expect((await send("POST", LAST, cpu({ name: "kept", value_columns: ["f"] }))).status).toBe(201);
  await server.kill();
  await server.restart();
  expect(await names()).toEqual(["kept"]);
  expect((await send("POST", DISTINCT, cpu({ name: "kept", columns: ["host"] }))).status).toBe(201);
  await done("DELETE", `${LAST}?db=db&table=cpu&name=kept`);
  await server.kill();
  await server.restart();
  expect(await all()).toEqual([[], [expect.objectContaining({ name: "kept", column_names: ["host"] })]]);
  await done("DELETE", `${DISTINCT}?db=db&table=cpu&name=kept`);
  await server.restart();
  expect(await names()).toEqual([]);
});

test("of many who make one at the same time, one does", async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => send("POST", DISTINCT, cpu({ name: "race", columns: ["host"] }))));
  expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  const removed = await Promise.all(Array.from({ length: 20 }, () => remove(DISTINCT, "cpu", "race")));
  expect(removed.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 19 }, () => 404)]);
});

describe("with their table and database", () => {
  const counts = async () =>
    (
      await server.sql<Row>(
        "_internal",
        `SELECT database_name, table_name, last_cache_count, distinct_cache_count FROM system.tables
         WHERE last_cache_count + distinct_cache_count > 0 ORDER BY 1, 2`,
      )
    )
      .filter((row) => row["database_name"] !== "long")
      .map((row) =>
        Object.values(row)
          .join(" ")
          .replace(/-\d{8}T\d{6}/, "-deleted"),
      );
  const make = async () => {
    expect((await send("POST", LAST, cpu({ name: "l" }))).status).toBe(201);
    expect((await send("POST", LAST, cpu({ name: "l2" }))).status).toBe(201);
    expect((await send("POST", DISTINCT, cpu({ name: "d", columns: ["host"] }))).status).toBe(201);
    expect((await send("POST", LAST, { db: "other", table: "cpu", name: "l" })).status).toBe(201);
  };
  const drop = async () => {
    for (const name of await lastCaches()) await done("DELETE", `${LAST}?db=db&table=cpu&name=${name["name"]}`);
    for (const name of await distinctCaches()) await done("DELETE", `${DISTINCT}?db=db&table=cpu&name=${name["name"]}`);
  };

  test("system tables count the caches of each table", async () => {
    await make();
    expect(await counts()).toEqual(["db cpu 2 1", "other cpu 1 0"]);
    expect(await all("_internal")).toEqual([[], []]);
  });

  test("a deleted table's are out of sight, and back when it is restored", async () => {
    await done("DELETE", "/api/v3/configure/table?db=db&table=cpu");
    expect(await names()).toEqual([]);
    expect(await counts()).toEqual(["db cpu-deleted 2 1", "other cpu 1 0"]);
    for (const path of [LAST, DISTINCT]) expect((await remove(path, "cpu", "l")).status).toBe(404);
    expect((await send("POST", LAST, cpu({ name: "new" }))).status).toBe(404);
    await server.kill();
    await server.restart();
    await done("POST", "/api/v3/configure/table/restore", { db: "db", table: "cpu" });
    expect(await names()).toEqual(["l", "l2", "d"]);
  });

  test("a new table of the name has none of them", async () => {
    await done("DELETE", "/api/v3/configure/table?db=other&table=cpu");
    await store(server, "other", "cpu,host=b f=2 2");
    expect(await names("other")).toEqual([]);
    expect((await send("POST", LAST, { db: "other", table: "cpu", name: "l" })).status).toBe(201);
    await done("POST", "/api/v3/configure/table/restore", { db: "other", table: "cpu", new_name: "former" });
    expect((await lastCaches("other")).map(({ table, name }) => `${table} ${name}`).sort()).toEqual(["cpu l", "former l"]);
  });

  test("a deleted database's are out of sight, and back when it is restored", async () => {
    await done("DELETE", "/api/v3/configure/database?db=db");
    expect((await send("POST", LAST, cpu({}))).status).toBe(404);
    await done("POST", "/api/v3/configure/database/restore", { db: "db", new_name: "again" });
    expect(await names("again")).toEqual(["l", "l2", "d"]);
    await done("DELETE", "/api/v3/configure/database?db=again");
    await done("POST", "/api/v3/configure/database/restore", { db: "again", new_name: "db" });
  });

  test("data_only leaves them; with remove_tables they go, and the tables stay", async () => {
    await done("DELETE", "/api/v3/configure/table?db=db&table=cpu&data_only=true");
    await done("DELETE", "/api/v3/configure/database?db=db&data_only=true");
    expect(await names()).toEqual(["l", "l2", "d"]);
    await done("DELETE", "/api/v3/configure/database?db=db&data_only=true&remove_tables=true");
    expect(await names()).toEqual([]);
    await server.kill();
    await server.restart();
    expect(await names()).toEqual([]);
  });

  test("a dropped table's are gone for good", async () => {
    await make().catch(() => {}); // that of `other` is there
    await done("DELETE", "/api/v3/configure/table?db=db&table=cpu&hard_delete_at=now");
    while ((await counts()).some((row) => row.startsWith("db "))) await Bun.sleep(5);
    await server.restart();
    expect((await send("POST", "/api/v3/configure/table/restore", { db: "db", table: "cpu" })).status).toBe(404);
    await store(server, "db", 'cpu,host=a,zone=x f=1,i=2i,u=3u,s="t",b=true 1');
    expect(await names()).toEqual([]);
    await drop();
  });
});

test("in every format, with their lists", async () => {
  expect((await send("POST", LAST, cpu({ name: "l", value_columns: ["f"] }))).status).toBe(201);
  expect((await send("POST", DISTINCT, cpu({ name: "d", columns: ["zone", "host"] }))).status).toBe(201);
  const ask = async (table: string, format: string) => {
    const query = new URLSearchParams({ db: "db", q: `SELECT * FROM system.${table}`, format });
    return (await fetch(`${server.url}/api/v3/query_sql?${query}`)).text();
  };
  expect(await ask("distinct_caches", "jsonl")).toBe(
    '{"table":"cpu","name":"d","column_ids":[1,0],"column_names":["zone","host"],"max_cardinality":100000,"max_age_seconds":86400}\n',
  );
  expect(await ask("distinct_caches", "csv")).toContain("csv cannot hold column 'column_ids'");
  expect(await ask("last_caches", "pretty")).toMatch(/cpu +\| l +\| \[0, 1\] +\| \[host, zone\] +\| \[2\] +\| \[f\]/);
  expect((await ask("last_caches", "parquet")).slice(0, 4)).toBe("PAR1");
  const types = await server.sql<Row>(
    "db",
    "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'distinct_caches'",
  );
  expect(Object.fromEntries(types.map((row) => [row["column_name"], row["data_type"]]))).toMatchObject({
    ...{ table: "Utf8View", column_ids: "List(UInt16)", column_names: "List(Utf8View)", max_cardinality: "UInt64" },
  });
  expect(await server.sql("db", `SELECT "table", unnest(column_names) AS c FROM system.distinct_caches ORDER BY c`)).toEqual([
    { table: "cpu", c: "host" },
    { table: "cpu", c: "zone" },
  ]);
  await done("DELETE", `${LAST}?db=db&table=cpu&name=l`);
  await done("DELETE", `${DISTINCT}?db=db&table=cpu&name=d`);
});

test(`a table has ${LIMITS.cachesPerTableMax} caches at most`, async () => {
  const indices = Array.from({ length: LIMITS.cachesPerTableMax }, (_, i) => i);
  const made = await Promise.all(
    indices.map((i) => send("POST", i % 2 === 0 ? LAST : DISTINCT, cpu({ name: `n${i}`, columns: ["host"] }))),
  );
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
  const { status, text } = await send("POST", LAST, cpu({ name: "more" }));
  expect([status, JSON.parse(text).error]).toEqual([422, "Adding a new cache would exceed limit of 100 caches per table"]);
  expect((await send("POST", LAST, { db: "db", table: "plain" })).status).toBe(201);
  await done("DELETE", `${LAST}?db=db&table=cpu&name=n0`);
  expect((await send("POST", LAST, cpu({ name: "more" }))).status).toBe(201);
});

test("the base edition has them too, without a choice of servers", async () => {
  await server.restart(["--edition", "core"]);
  const { status, text } = await send("POST", LAST, { db: "other", table: "cpu", name: "core", node_spec: "nodes:elsewhere" });
  expect([status, text.includes('"node_spec":"all"')]).toEqual([201, true]);
});
