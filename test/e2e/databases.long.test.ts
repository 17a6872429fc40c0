// Databases and tables of a real server that is stopped or killed in the middle of their lives: between deletion, restoration and drop, and
// what of it is there after the next start. The transitions themselves are states.long.test.ts's.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { query, store, write } from "./client.ts";
import { deletedNames, deletedTables, names, remove, restore, send, sum } from "./database-requests.ts";

setDefaultTimeout(60_000);

describe("databases", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: ["--compaction-cleanup-wait", "0s"] });
  });
  afterAll(() => server.dispose());

  test("a table that is deleted is gone for queries and writes under its old name make another one, at once", async () => {
    await store(server, "tables", "t,host=a v=1i,w=1i 1\nt,host=b v=2i 2\nother,host=a v=5i 1");
    expect((await remove(server, { db: "tables", table: "t" })).status).toBe(200);
    expect((await query(server, "tables", "SELECT * FROM t", { format: "json" })).status).toBe(400);
    // another type and fewer columns: it is another table
    await store(server, "tables", 't,host=a v="text" 9\nother,host=a v=6i 2');
    expect((await query(server, "tables", "SELECT * FROM t", { format: "json" })).text).toBe(
      '[{"host":"a","time":"1970-01-01T00:00:00.000000009","v":"text"}]',
    );
    const [renamed, ...more] = await deletedTables(server, "tables");
    expect(more).toEqual([]);
    expect(renamed).toMatch(/^t-\d{8}T\d{6}$/);
    // deleted: neither queries nor writes reach it
    expect((await query(server, "tables", `SELECT * FROM "${renamed}"`, { format: "json" })).status).toBe(400);
    const refused = await write(server, "tables", `${renamed},host=a v=3i 3\nother,host=a v=7i 3`);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain(`cannot write to soft-deleted table '${renamed}' - it is marked for deletion`);
    // its old name is taken now
    expect(await restore(server, { db: "tables", table: renamed! })).toEqual({
      status: 409,
      text: "attempted to create a resource that already exists",
    });
    expect((await restore(server, { db: "tables", table: "t", new_name: "back" })).status).toBe(200);
    expect(await sum(server, "tables", "back")).toBe('[{"n":2,"s":3}]');
    // it takes rows again, of its own columns
    await store(server, "tables", "back,host=a v=10i 5");
    expect(await sum(server, "tables", "back")).toBe('[{"n":3,"s":13}]');
    expect(await sum(server, "tables", "other")).toBe('[{"n":3,"s":18}]');
    for (const how of ["kill", "stop"] as const) {
      await server[how]();
      await server.restart();
      expect(await sum(server, "tables", "back")).toBe('[{"n":3,"s":13}]');
      expect((await query(server, "tables", "SELECT v FROM t", { format: "json" })).text).toBe('[{"v":"text"}]');
    }
  });

  test("a database that is deleted takes its tables along and brings them back", async () => {
    await store(server, "whole", "t,host=a v=1i 1");
    await server.restart();
    await store(server, "whole", "t,host=b v=2i 2\nu v=3i 3");
    expect((await remove(server, { db: "whole" })).status).toBe(200);
    expect(await names(server)).not.toContain("whole");
    expect((await query(server, "whole", "SELECT * FROM t", { format: "json" })).status).toBe(404);
    const [renamed] = await deletedNames(server, "whole");
    const refused = await write(server, renamed!.replace("whole", "whole"), "t v=1i 1");
    expect([refused.status, refused.text]).toEqual([
      400,
      JSON.stringify({ error: `cannot write to soft-deleted database '${renamed}' - it is marked for deletion` }),
    ]);
    await store(server, "whole", "t,host=z v=100i 1");
    expect(await sum(server, "whole")).toBe('[{"n":1,"s":100}]');
    await server.kill();
    await server.restart();
    expect(await sum(server, "whole")).toBe('[{"n":1,"s":100}]');
    expect((await restore(server, { db: "whole" })).status).toBe(409);
    expect((await restore(server, { db: renamed!, new_name: "again" })).status).toBe(200);
    expect(await sum(server, "again")).toBe('[{"n":2,"s":3}]');
    await store(server, "again", "t,host=a v=7i 9");
    expect(await sum(server, "again")).toBe('[{"n":3,"s":10}]');
    expect(await sum(server, "whole")).toBe('[{"n":1,"s":100}]');
    await server.restart();
    expect(await sum(server, "again")).toBe('[{"n":3,"s":10}]');
    expect(await sum(server, "again", "u")).toBe('[{"n":1,"s":3}]');
  });

  test("with hard_delete_at=now it is dropped: rows in files and in memory, and what waits in the log", async () => {
    await store(server, "dropped", "t,host=a v=1i 1\nu v=1i 1");
    await server.restart(); // to a file
    await store(server, "dropped", "t,host=b v=2i 2");
    const files = async (database: string) => (await server.sql(database, "SELECT count(*) AS n FROM system.parquet_files"))[0];
    expect(await files("dropped")).toEqual({ n: 2 });
    expect((await remove(server, { db: "dropped", table: "t", hard_delete_at: "now" })).status).toBe(200);
    expect(await deletedTables(server, "dropped")).toEqual([]);
    await store(server, "dropped", "t,host=c v=4i 4");
    expect(await sum(server, "dropped")).toBe('[{"n":1,"s":4}]');
    await server.kill();
    await server.restart();
    expect(await sum(server, "dropped")).toBe('[{"n":1,"s":4}]');
    expect((await remove(server, { db: "dropped", hard_delete_at: "now" })).status).toBe(200);
    expect(await deletedNames(server, "dropped")).toEqual([]);
    await server.restart();
    expect((await query(server, "dropped", "SELECT 1", { format: "json" })).status).toBe(404);
    expect(await deletedNames(server, "dropped")).toEqual([]);
  });
});

describe("a node", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.dispose());

  test("a server that is marked as stopped says so until it starts again, and goes on serving", async () => {
    const stop = (node_id: string) => send(server, "POST", "/api/v3/enterprise/configure/node/stop", { node_id });
    const state = async () => (await server.sql("_internal", "SELECT node_id, state FROM system.nodes"))[0];
    expect(await stop("elsewhere")).toEqual({ status: 404, text: "node not found: elsewhere" });
    expect([(await stop("node0")).status, (await stop("node0")).status]).toEqual([200, 200]);
    expect(await state()).toEqual({ node_id: "node0", state: "stopped" });
    expect((await send(server, "GET", "/ready")).status).toBe(200);
    // removed: not listed, rows stay
    const remove = (node_id: string) => send(server, "POST", "/api/v3/enterprise/configure/node/remove", { node_id });
    expect(await remove("elsewhere")).toEqual({ status: 404, text: "node not found: elsewhere" });
    expect([(await remove("node0")).status, (await remove("node0")).status]).toEqual([200, 404]);
    expect(await state()).toBeUndefined();
    await server.kill();
    await server.restart();
    expect(await state()).toEqual({ node_id: "node0", state: "running" });
    await server.restart();
    expect(await state()).toEqual({ node_id: "node0", state: "running" });
    const running = await remove("node0");
    expect([running.status, running.text]).toEqual([409, "node node0 is running: stop it, and mark it as stopped, first"]);
  });

  test("the number of statements at a time is set, forced and reset", async () => {
    const path = "/api/v3/configure/query_concurrency_limit";
    const limit = async () => JSON.parse((await send(server, "GET", path)).text);
    const set = async (body: object, query = "") => (await send(server, "PUT", path + query, body)).status;
    expect(await limit()).toEqual({ max_concurrent_queries: 1000 });
    expect([await set({ max_concurrent_queries: 16 }), await limit()]).toEqual([204, { max_concurrent_queries: 16 }]);
    expect([await set({ max_concurrent_queries: 1 }), await set({ max_concurrent_queries: 1 }, "?force=true")]).toEqual([400, 204]);
    // all have their turn, one after the other
    const rows = await Promise.all([1, 2, 3, 4].map((n) => server.sql("_internal", `SELECT ${n} AS n`)));
    expect(rows).toEqual([1, 2, 3, 4].map((n) => [{ n }]));
    expect([await set({ max_concurrent_queries: 100_000 }), await limit()]).toEqual([204, {}]);
    expect([await set({ max_concurrent_queries: null }), await limit()]).toEqual([204, { max_concurrent_queries: 1000 }]);
    await set({ max_concurrent_queries: 20 });
    expect((await send(server, "DELETE", path)).status).toBe(204);
    expect(await limit()).toEqual({ max_concurrent_queries: 1000 });
  });
});
