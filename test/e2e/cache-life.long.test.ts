// What a cache shows as time goes by: rows at once, not after their age, again after restarts, kills and restores, not after deletions; and
// that many reads, many caches and much writing hurt nobody.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createCache, deleteCache, untilRows } from "../support/caches/caches.ts";
import { TestServer } from "../support/servers/server.ts";
import { metric, query, scalar, store, untilMetric } from "./client.ts";

setDefaultTimeout(120_000);

/** Of reads that come at once; ten times as many writes of each writer. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 5);

const nowNs = () => BigInt(Date.now()) * 1_000_000n;

async function remove(server: TestServer, params: Record<string, string>): Promise<void> {
  const response = await fetch(`${server.url}/api/v3/configure/table?${new URLSearchParams(params)}`, { method: "DELETE" });
  expect([response.status, await response.text()]).toEqual([200, ""]);
}

async function restore(server: TestServer, body: Record<string, string>): Promise<void> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  expect((await fetch(`${server.url}/api/v3/configure/table/restore`, init)).status).toBe(200);
}

describe.each([
  ["one query worker", "1"],
  ["three", "3"],
])("with %s", (_, workers) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: ["--query-workers", workers] });
  });
  afterAll(() => server.dispose());

  test("a row is seen by every read after its acknowledgement, beside other writers", async () => {
    await store(server, "fresh", "t,h=a,w=0 v=0i 1");
    await createCache(server, "last", "fresh", { table: "t", name: "l", key_columns: ["w"] });
    await createCache(server, "distinct", "fresh", { table: "t", name: "d", columns: ["w", "h"] });
    let isOver = false;
    const writer = async (w: number) => {
      for (let v = 1; v <= 10 * ROUNDS; v++) {
        await store(server, "fresh", `t,h=h${v % 7},w=${w} v=${v}i ${v + 1}`);
        expect(await scalar(server, "fresh", `SELECT v FROM last_cache('t', 'l') WHERE w = '${w}'`)).toBe(v);
        const seen = await scalar(server, "fresh", `SELECT count(*) FROM distinct_cache('t', 'd') WHERE w = '${w}' AND h <> 'a'`);
        expect(seen).toBe(Math.min(v, 7));
      }
    };
    const crowd = async () => {
      for (let v = 0; !isOver; v++)
        await store(server, "fresh", Array.from({ length: 500 }, (_, i) => `t,h=x,w=c${i} v=${v}i ${v}`).join("\n"));
    };
    const crowds = [crowd(), crowd()];
    await Promise.all([writer(0), writer(1), writer(2)]);
    isOver = true;
    await Promise.all(crowds);
    expect(await scalar(server, "fresh", "SELECT count(*) FROM last_cache('t', 'l')")).toBe(503);
  });

  test("hundreds of reads at once, many of them given up, leave the server well", async () => {
    await store(server, "load", Array.from({ length: 2000 }, (_, i) => `t,h=h${i} v=${i}i ${i}`).join("\n"));
    await createCache(server, "last", "load", { table: "t", name: "l" });
    await createCache(server, "distinct", "load", { table: "t", name: "d", columns: ["h"] });
    const read = async (i: number) => {
      const gone = new AbortController();
      const sql = i % 2 === 0 ? "SELECT h, v FROM last_cache('t', 'l')" : `SELECT h FROM distinct_cache('t', 'd') WHERE h > 'h${i}'`;
      const url = `${server.url}/api/v3/query_sql?${new URLSearchParams({ db: "load", q: sql, format: "json" })}`;
      const asked = fetch(url, { signal: gone.signal }).then(async (response) => [response.status, (await response.text()).length]);
      if (i % 5 === 0) setTimeout(() => gone.abort(), i % 50);
      return asked.catch(() => undefined);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => read(i)));
      for (const answer of answers) if (answer !== undefined) expect(answer[0]).toBe(200);
      await store(server, "load", `t,h=h0 v=${round}i ${5000 + round}`);
    }
    await untilMetric(server, "tsdb_queries_running", (count) => count === 0);
    expect(await scalar(server, "load", "SELECT count(*) FROM last_cache('t', 'l')")).toBe(2000);
    expect(await metric(server, "tsdb_cache_feeds_total")).toBeGreaterThan(0);
  });
});

describe("as time goes by", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: ["--last-cache-eviction-interval", "200ms"] });
  });
  afterAll(() => server.dispose());

  test("later writes of a row count field by field, older rows do not", async () => {
    await store(server, "fresh", "m,h=a f=1,g=1 100");
    await createCache(server, "last", "fresh", { table: "m", name: "l", count: 2 });
    const rows = () => server.sql<{ f: number; g: number }>("fresh", "SELECT f, g FROM last_cache('m', 'l')");
    expect(await rows()).toEqual([{ f: 1, g: 1 }]);
    await store(server, "fresh", "m,h=a g=2 100");
    expect(await rows()).toEqual([{ f: 1, g: 2 }]);
    await store(server, "fresh", "m,h=a f=5,g=5 50");
    await store(server, "fresh", "m,h=a f=9,g=9 10");
    expect(await rows()).toEqual([
      { f: 1, g: 2 },
      { f: 5, g: 5 },
    ]);
    await store(server, "fresh", "m,h=a f=7 70\nm,h=a f=8 200");
    expect(await rows()).toEqual([{ f: 8 } as never, { f: 1, g: 2 }]);
  });

  test("rows live for the cache's ttl after their arrival, whatever their times are", async () => {
    await store(server, "age", "t,h=history v=1i 1");
    await createCache(server, "last", "age", { table: "t", name: "short", ttl: 3 });
    await createCache(server, "last", "age", { table: "t", name: "long", ttl: 600 });
    const rows = "SELECT h, v FROM last_cache('t', 'short') ORDER BY h";
    const sentMs = performance.now();
    await store(server, "age", `t,h=old v=2i 2\nt,h=new v=3i ${nowNs()}`);
    const [history, fresh, old] = [
      { h: "history", v: 1 },
      { h: "new", v: 3 },
      { h: "old", v: 2 },
    ];
    const all = [history, fresh, old];
    expect(await server.sql("age", rows)).toEqual(all);
    await untilRows(server, "age", rows, [], [all, [fresh, old], [old], [fresh]]);
    // the answer without them came at the end of their life, not before
    expect(performance.now() - sentMs).toBeGreaterThan(2900);
    expect(await scalar(server, "age", "SELECT count(*) FROM last_cache('t', 'long')")).toBe(3);
    expect(await scalar(server, "age", "SELECT count(*) FROM t")).toBe(3);
    await store(server, "age", "t,h=old v=4i 3");
    expect(await server.sql("age", rows)).toEqual([{ h: "old", v: 4 }]);
    // what is not shown takes no memory for long
    await untilMetric(server, 'tsdb_cache_rows\\{kind="last"\\}', (count) => count <= 2 + 3 + 1);
  });

  test("a combination lives for max_age after it was last seen, and only the newest ones when there are too many", async () => {
    await store(server, "age", "d,a=x,b=1 v=1 1");
    await createCache(server, "distinct", "age", { table: "d", name: "aged", columns: ["a"], max_age: 3 });
    await createCache(server, "distinct", "age", { table: "d", name: "few", columns: ["b"], max_cardinality: 2 });
    const aged = "SELECT a FROM distinct_cache('d', 'aged')";
    const startMs = performance.now();
    let renewals = 0;
    for (; performance.now() - startMs < 4500; renewals++) {
      await store(server, "age", `d,a=kept,b=1 v=${renewals} 1`);
      const found = (await server.sql<{ a: string }>("age", aged)).map(({ a }) => a);
      expect(found).toContain("kept");
      await Bun.sleep(20);
    }
    expect(renewals).toBeGreaterThan(2);
    expect(await server.sql("age", aged)).toEqual([{ a: "kept" }]);
    await untilRows(server, "age", aged, [], [[{ a: "kept" }]]);
    const few = "SELECT b FROM distinct_cache('d', 'few')";
    expect(await server.sql("age", few)).toEqual([{ b: "1" }]);
    // each is seen before the next one comes: which one is older is known to a tenth of a second
    for (const b of ["2", "3"]) {
      await Bun.sleep(250);
      await store(server, "age", `d,a=z,b=${b} v=1 2`);
      await server.sql("age", few);
    }
    expect(await server.sql("age", few)).toEqual([{ b: "2" }, { b: "3" }]);
  });

  test("after a stop or a kill a cache shows what its table has", async () => {
    const at = nowNs();
    await store(server, "life", `t,h=a v=1i ${at}\nt,h=b v=2i ${at + 1n}`);
    await createCache(server, "last", "life", { table: "t", name: "l", key_columns: ["h"] });
    await createCache(server, "distinct", "life", { table: "t", name: "d", columns: ["h"] });
    const rows = () => server.sql<object>("life", "SELECT h, v FROM last_cache('t', 'l')");
    const hosts = () => server.sql<object>("life", "SELECT h FROM distinct_cache('t', 'd')");
    for (const [round, end] of (["stop", "kill", "stop", "kill"] as const).entries()) {
      await store(server, "life", `t,h=a v=${10 + round}i ${at + 10n + BigInt(round)}`);
      await server[end]();
      await server.restart();
      expect(await rows()).toEqual([
        { h: "a", v: 10 + round },
        { h: "b", v: 2 },
      ]);
      expect(await hosts()).toEqual([{ h: "a" }, { h: "b" }]);
    }
    // in the background, with and without readers
    await server.restart();
    await untilMetric(server, 'tsdb_cache_keys\\{kind="distinct"\\}', (count) => count >= 2);
    expect(await hosts()).toEqual([{ h: "a" }, { h: "b" }]);
  });

  test("a field's value that was replaced stays among the distinct ones until the server starts again", async () => {
    const at = nowNs();
    await store(server, "replaced", `t,h=a s="old" ${at}`);
    await createCache(server, "distinct", "replaced", { table: "t", name: "d", columns: ["s"] });
    await createCache(server, "last", "replaced", { table: "t", name: "l", key_columns: ["s"], value_columns: ["time"] });
    const texts = (from: string) => server.sql<object>("replaced", `SELECT s FROM ${from} ORDER BY s`);
    const caches = ["distinct_cache('t', 'd')", "last_cache('t', 'l')"];
    // they are filled after they are made: with what is there by then
    for (const cache of caches) while ((await texts(cache)).length === 0) await Bun.sleep(5);
    await store(server, "replaced", `t,h=a s="new" ${at}`);
    for (const cache of caches) expect(await texts(cache)).toEqual([{ s: "new" }, { s: "old" }]);
    expect(await texts("t")).toEqual([{ s: "new" }]);
    await server.restart();
    for (const cache of ["distinct_cache('t', 'd')", "last_cache('t', 'l')"]) expect(await texts(cache)).toEqual([{ s: "new" }]);
  });

  test("deleted data is gone, a deleted table's caches come back with it, and go with it", async () => {
    await store(server, "del", `t,h=a v=1i ${nowNs()}`);
    await createCache(server, "last", "del", { table: "t", name: "l" });
    await createCache(server, "distinct", "del", { table: "t", name: "d", columns: ["h"] });
    const read = async () => [
      await server.sql<object>("del", "SELECT v FROM last_cache('t', 'l')"),
      await server.sql<object>("del", "SELECT h FROM distinct_cache('t', 'd')"),
    ];
    expect(await read()).toEqual([[{ v: 1 }], [{ h: "a" }]]);
    await remove(server, { db: "del", table: "t", data_only: "true" });
    expect(await read()).toEqual([[], []]);
    await store(server, "del", `t,h=b v=2i ${nowNs()}`);
    expect(await read()).toEqual([[{ v: 2 }], [{ h: "b" }]]);
    await remove(server, { db: "del", table: "t" });
    expect((await query(server, "del", "SELECT * FROM last_cache('t')")).text).toContain("provided table name (t) is invalid");
    await store(server, "del", `t,h=other v=9i ${nowNs()}`);
    expect((await query(server, "del", "SELECT * FROM last_cache('t')")).text).toContain("could not find last value cache");
    await remove(server, { db: "del", table: "t", hard_delete_at: "now" });
    await restore(server, { db: "del", table: "t" });
    expect(await read()).toEqual([[{ v: 2 }], [{ h: "b" }]]);
    await store(server, "del", `t,h=b v=3i ${nowNs()}`);
    expect(await read()).toEqual([[{ v: 3 }], [{ h: "b" }]]);
  });

  test("a hundred caches of one table, and as many tables with one each, are all right at once", async () => {
    const lines = (v: number) => Array.from({ length: 100 }, (_, i) => `t${i},h=a v=${v}i ${v}\nmany,k${i}=x${i} v=${v}i ${v}`).join("\n");
    await store(server, "many", lines(1));
    for (let i = 0; i < 100; i++) {
      await createCache(server, "last", "many", { table: `t${i}`, name: "l" });
      await createCache(server, i % 2 === 0 ? "last" : "distinct", "many", {
        ...{ table: "many", name: `c${i}` },
        ...(i % 2 === 0 ? { key_columns: [`k${i}`] } : { columns: [`k${i}`] }),
      });
    }
    await store(server, "many", lines(2));
    for (let i = 0; i < 100; i += 9) {
      expect(await server.sql<object>("many", `SELECT v FROM last_cache('t${i}')`)).toEqual([{ v: 2 }]);
      const kind = i % 2 === 0 ? "last" : "distinct";
      const [row] = await server.sql("many", `SELECT k${i} AS k FROM ${kind}_cache('many', 'c${i}') WHERE k${i} IS NOT NULL`);
      expect(row).toEqual({ k: `x${i}` });
    }
    for (let i = 0; i < 100; i++) await deleteCache(server, "last", "many", `t${i}`, "l");
    expect((await query(server, "many", "SELECT * FROM last_cache('t7')")).status).toBe(400);
  });
});

describe("flags", () => {
  test("caches that do not fit say so, and nothing else is hurt", async () => {
    await using server = await TestServer.start({ flags: ["--cache-mem-limit", "1MiB"] });
    const lines = Array.from({ length: 50_000 }, (_, i) => `t,h=host-number-${i} s="a text of some length ${i}",v=${i}i ${i + 1}`);
    await store(server, "d", lines.join("\n"));
    await createCache(server, "last", "d", { table: "t", name: "l" });
    const { status, text } = await query(server, "d", "SELECT count(*) FROM last_cache('t', 'l')");
    expect([status, text]).toEqual([422, expect.stringContaining("--cache-mem-limit")]);
    await createCache(server, "last", "d", { table: "t", name: "small", key_columns: [], count: 3 });
    expect(await scalar(server, "d", "SELECT max(v) FROM last_cache('t', 'small')")).toBe(49_999);
    expect(await scalar(server, "d", "SELECT count(*) FROM t")).toBe(50_000);
    await store(server, "d", "t,h=x v=1i 60000");
    expect(await scalar(server, "d", "SELECT v FROM last_cache('t', 'small') ORDER BY time DESC LIMIT 1")).toBe(1);
  });

  test("without history caches begin empty, at the moment of their creation", async () => {
    const flags = ["--last-value-cache-disable-from-history", "--distinct-value-cache-disable-from-history"];
    await using server = await TestServer.start({ flags });
    await store(server, "d", `t,h=a v=1i ${nowNs()}`);
    await createCache(server, "last", "d", { table: "t", name: "l" });
    await createCache(server, "distinct", "d", { table: "t", name: "d", columns: ["h"] });
    // at once: what comes right after the creation is news
    await store(server, "d", `t,h=b v=2i ${nowNs()}`);
    expect(await server.sql<object>("d", "SELECT h, v FROM last_cache('t', 'l')")).toEqual([{ h: "b", v: 2 }]);
    expect(await server.sql<object>("d", "SELECT h FROM distinct_cache('t', 'd')")).toEqual([{ h: "b" }]);
    await server.restart();
    expect(await server.sql<object>("d", "SELECT h, v FROM last_cache('t', 'l')")).toEqual([]);
    await store(server, "d", `t,h=c v=3i ${nowNs()}`);
    expect(await server.sql<object>("d", "SELECT h, v FROM last_cache('t', 'l')")).toEqual([{ h: "c", v: 3 }]);
  });

  test("rows past their retention are in no cache", async () => {
    await using server = await TestServer.start({ flags: ["--edition", "enterprise"] });
    const old = nowNs() - 7_200_000_000_000n;
    await store(server, "d", `t,h=old v=1i ${old}\nt,h=new v=2i ${nowNs()}`);
    await createCache(server, "last", "d", { table: "t", name: "l", key_columns: ["h"] });
    await createCache(server, "last", "d", { table: "t", name: "one", key_columns: [], count: 5 });
    expect(await scalar(server, "d", "SELECT count(*) FROM last_cache('t', 'l')")).toBe(2);
    const path = "/api/v3/enterprise/configure/table/retention_period?db=d&table=t&duration=1h";
    expect((await fetch(server.url + path, { method: "POST" })).status).toBe(204);
    expect(await server.sql<object>("d", "SELECT h FROM last_cache('t', 'l')")).toEqual([{ h: "new" }]);
    expect(await server.sql<object>("d", "SELECT v FROM last_cache('t', 'one')")).toEqual([{ v: 2 }]);
  });
});
