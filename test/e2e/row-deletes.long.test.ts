// Requests to delete rows on a real server: what every way of asking sees of them, in every state of the rows, over a kill, and by the
// command line.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROW_STATES, type RowStep } from "../support/rows/row-states.ts";
import { inEachState } from "../support/rows/served-rows.ts";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import { TestServer } from "../support/servers/server.ts";
import { query, store } from "./client.ts";
import { CommandRunner } from "./command-runner.ts";

const PATH = "/api/v3/row_delete_requests";

async function ask(server: TestServer, method: string, path = "", body?: object | string) {
  const response = await fetch(`${server.url}${PATH}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: typeof body === "string" ? body : JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await response.text();
  return { status: response.status, text, body: /^[[{]/.test(text) ? JSON.parse(text) : null };
}

/** Two rooms on two floors, and a row without a room. */
const LINES = [
  'temp,room=kitchen,floor=1 v=1,s="a" 1000000000',
  "temp,room=kitchen,floor=2 v=2 2000000000",
  "temp,room=bath v=3,n=3i 3000000000",
  "temp,room=bath v=4 90000000000000",
  "temp v=5 5000000000",
];
const STEPS: readonly RowStep[] = [
  { database: "d", lines: LINES.join("\n") },
  { database: "d", lines: "other,room=kitchen v=9 1" },
];

const SQL = "SELECT v FROM temp ORDER BY v";
/** Values of `v` by SQL, by the v1 language, and counted by an aggregate that the scan makes. */
async function seen(server: TestServer): Promise<number[]> {
  const rows = (await server.sql<{ v: number }>("d", SQL)).map(({ v }) => v);
  const url = `${server.url}/query?${new URLSearchParams({ db: "d", q: "SELECT v FROM temp" })}`;
  const answer = (await (await fetch(url)).json()) as { results: { series?: { values: [string, number][] }[] }[] };
  const ofV1 = (answer.results[0]!.series?.[0]?.values ?? []).map(([, v]) => v).sort((a, b) => a - b);
  const [{ n = 0, s = null } = {}] = await server.sql<{ n: number; s: number | null }>("d", "SELECT count(v) AS n, sum(v) AS s FROM temp");
  expect(ofV1).toEqual(rows);
  expect([n, s ?? 0]).toEqual([rows.length, rows.reduce((sum, v) => sum + v, 0)]);
  return rows;
}

test("rows are gone at once and come back, in every state of rows", async () => {
  const answers = await inEachState(ROW_STATES, STEPS, async (server) => {
    const created = await ask(server, "POST", "", { db: "d", table: "temp", all_time: true, predicate: "room = 'kitchen'" });
    expect([created.status, created.body]).toEqual([
      200,
      {
        ...{ sequence: 1, db_id: expect.any(Number), table_id: expect.any(Number), db_name: "d", table_name: "temp" },
        ...{ db_name_stale: false, table_name_stale: false, delete_predicate: "room = 'kitchen'" },
        ...{ created_at: expect.any(Number), disposition: "pending" },
      },
    ]);
    const first = await seen(server);
    // by more than lists of values, and a bound of time in the predicate
    await ask(server, "POST", "", { db: "d", table: "temp", predicate: "room NOT LIKE 'k%' AND time < '1970-01-01T00:01:00Z'" });
    const second = await seen(server);
    await dataOf(server).compact();
    await server.kill();
    await server.restart();
    const third = await seen(server);
    expect((await ask(server, "POST", "/1/abort", { reason: "a mistake" })).body).toMatchObject({
      ...{ sequence: 1, disposition: "aborted", abort_reason: "a mistake", aborted_at: expect.any(Number) },
    });
    const fourth = await seen(server);
    await ask(server, "POST", "/2/abort", { reason: "" });
    const fifth = await seen(server);
    return [first, second, third, fourth, fifth, await server.sql("d", "SELECT v FROM other")];
  });
  const want = [[3, 4, 5], [4, 5], [4, 5], [1, 2, 4, 5], [1, 2, 3, 4, 5], [{ v: 9 }]];
  expect([...answers]).toEqual(ROW_STATES.map((state) => [state, want]));
}, 120_000);

describe("a server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.dispose());

  test("caches follow a deletion and its end", async () => {
    await store(server, "c", "t,h=a v=1 1\nt,h=b v=2 1");
    const headers = { "content-type": "application/json" };
    const cache = { db: "c", table: "t", name: "l", ttl: 2_000_000_000, key_columns: ["h"] };
    const made = await fetch(`${server.url}/api/v3/configure/last_cache`, { method: "POST", headers, body: JSON.stringify(cache) });
    expect(made.status).toBe(201);
    const cached = () => server.sql("c", "SELECT h, v FROM last_cache('t', 'l') ORDER BY h");
    const both = await cached();
    expect(both).toEqual([
      { h: "a", v: 1 },
      { h: "b", v: 2 },
    ]);
    const { body } = await ask(server, "POST", "", { db: "c", table: "t", predicate: "h = 'a'" });
    expect(await cached()).toEqual([{ h: "b", v: 2 }]);
    await ask(server, "POST", `/${body.sequence}/abort`, { reason: "" });
    expect(await cached()).toEqual(both);
  });

  test("requests are listed, filtered, and a table of the schema system", async () => {
    await store(server, "l", "t,h=a v=1 1\nu,h=a v=1 1");
    const times = { min_time: 1717000000000000001n, max_time: "2024-06-01T00:00:00.000000001Z" };
    const exact = `{"db":"l","table":"t","min_time":${times.min_time},"max_time":"${times.max_time}"}`;
    const { status, text, body } = await ask(server, "POST", "", exact);
    expect(status).toBe(200);
    // numbers of 64 bits, exactly
    expect(text).toContain('"min_time":1717000000000000001,"max_time":1717200000000000001,');
    expect(body.disposition).toBe("completed");
    const held = (await ask(server, "POST", "", { db: "l", table: "u", predicate: "h = 'a'" })).body;
    const list = async (search: string) =>
      ((await ask(server, "GET", search)).body as { sequence: number }[]).map(({ sequence }) => sequence);
    expect(await list("?db=l")).toEqual([body.sequence, held.sequence]);
    expect(await list("?db=l&table=u")).toEqual([held.sequence]);
    expect(await list("?db=l&disposition=completed")).toEqual([body.sequence]);
    expect(await list("?db=l&disposition=aborted")).toEqual([]);
    expect(await list(`?min_sequence=${held.sequence}`)).toEqual([held.sequence]);
    expect(await list(`?db=l&max_sequence=${body.sequence}`)).toEqual([body.sequence]);
    const [{ progress }] = (await ask(server, "GET", "?db=l&table=u&include_progress=true")).body;
    expect(progress).toEqual({
      sequence_id: held.sequence,
      in_range: {
        l1: { total: 0, processed: 0 },
        l2: { total: 0, processed: 0 },
        l3: { total: 0, processed: 0 },
        l4: { total: 0, processed: 0 },
      },
      out_of_range: { total: 0, processed: 0 },
    });
    expect((await ask(server, "GET", `/${held.sequence}`)).body).toEqual({ ...held, progress });
    expect(
      await server.sql(
        "l",
        "SELECT sequence, table_name, delete_predicate, min_time, disposition, abort_reason FROM system.row_deletes ORDER BY sequence",
      ),
    ).toEqual([
      {
        sequence: body.sequence,
        table_name: "t",
        delete_predicate: "",
        min_time: "2024-05-29T16:26:40.000000001",
        disposition: "completed",
      },
      { sequence: held.sequence, table_name: "u", delete_predicate: "h = 'a'", disposition: "pending" },
    ]);
    // other databases' are not shown, but for _internal
    expect(await server.sql("c", "SELECT count(*) AS n FROM system.row_deletes WHERE database_name = 'l'")).toEqual([{ n: 0 }]);
    expect(await server.sql("_internal", "SELECT count(*) AS n FROM system.row_deletes WHERE database_name = 'l'")).toEqual([{ n: 2 }]);
  });

  const REFUSED: [body: object, status: number, why: string][] = [
    [{ db: "r", table: "t" }, 400, "this would delete every row of the table"],
    [{ db: "r", table: "t", predicate: "  " }, 400, "this would delete every row of the table"],
    [{ db: "r", table: "t", all_time: true, min_time: 1 }, 400, "exclude each other"],
    [{ db: "r", table: "t", min_time: "soon" }, 400, 'min_time: "soon" is no time'],
    [{ db: "r", table: "t", max_time: "9223372036854775808" }, 400, "beyond 64 bits"],
    // what the log could not be read with at the next start
    [{ db: "r", table: "t", max_time: 1e30, predicate: "room = 'kitchen'" }, 400, "max_time: 1e+30 is beyond 64 bits"],
    [{ db: "r", table: "t", min_time: -1e30 }, 400, "min_time: -1e+30 is beyond 64 bits"],
    [{ db: "r", table: "t", max_time: 1.5 }, 400, "`max_time`"],
    [{ db: "r", table: "t", predicate: "v = '1'" }, 400, '"v" is a field of t'],
    [{ db: "r", table: "t", predicate: "h = 1" }, 400, "numbers are values of fields"],
    [{ db: "r", table: "none", all_time: true }, 404, "table not found: r.none"],
    [{ db: "none", table: "t", all_time: true }, 404, "database not found: none"],
    [
      { db: "r", table: "t", predicate: `h IN (${Array.from({ length: 10_001 }, (_, i) => `'${i}'`).join()})` },
      400,
      "longer than 65536 characters",
    ],
  ];
  test.each(REFUSED.map(([body, ...rest]) => [JSON.stringify(body).slice(0, 80), ...rest, body] as const))(
    "%s is refused: %d %s",
    async (_, status, why, body) => {
      await store(server, "r", "t,h=a v=1 1");
      const refused = await ask(server, "POST", "", body);
      expect([refused.status, refused.body.error]).toEqual([status, expect.stringContaining(why)]);
      expect((await ask(server, "GET", "?db=r")).body).toEqual([]);
      expect((await query(server, "r", "SELECT v FROM t")).text).toContain("1");
    },
  );

  test("the base edition has none of it", async () => {
    await using core = await TestServer.start({ flags: ["--edition", "core"] });
    for (const [method, path] of [
      ["POST", ""],
      ["GET", ""],
      ["GET", "/1"],
      ["POST", "/1/abort"],
    ] as const) {
      expect(await ask(core, method, path, method === "POST" ? {} : undefined)).toMatchObject({ status: 404, text: "Not found" });
    }
  });
});

test("an old request is applied to files, and cannot be aborted any more", async () => {
  const flags = ["--row-delete-min-age", "0s", "--compaction-check-interval", "100ms", "--compaction-cleanup-wait", "0s"];
  await using server = await startDataServer(flags);
  await store(server, "d", LINES.join("\n"));
  await dataOf(server).flush();
  await ask(server, "POST", "", { db: "d", table: "temp", predicate: "room = 'kitchen'" });
  await dataOf(server).compact();
  for (;;) {
    const { disposition, progress, completed_at } = (await ask(server, "GET", "/1")).body;
    if (disposition === "completed") {
      // of which level they are depends on merges meanwhile
      const levels = Object.values(progress.in_range as Record<string, { total: number; processed: number }>);
      const sum = (of: "total" | "processed") => levels.reduce((total, level) => total + level[of], 0);
      expect([sum("total"), sum("processed"), completed_at]).toEqual([2, 2, expect.any(Number)]);
      break;
    }
    await Bun.sleep(5);
  }
  const { status, body } = await ask(server, "POST", "/1/abort", { reason: "" });
  expect([status, body.error]).toEqual([400, "row delete request 1 cannot be aborted: it is completed"]);
  const files = await server.sql<{ row_count: number }>("d", "SELECT row_count FROM system.parquet_files");
  expect(files.reduce((sum, { row_count }) => sum + row_count, 0)).toBe(3);
  expect(await seen(server)).toEqual([3, 4, 5]);
});

test("by the command line, with a token for one database", async () => {
  const runner = await CommandRunner.start();
  await using _runner = { [Symbol.asyncDispose]: () => runner.dispose() };
  await runner.run(["create", "database", "home"]);
  await runner.run(["write", "temp,room=kitchen v=1 1\ntemp,room=bath v=2 1"]);
  const made = JSON.parse(
    (await runner.run(["create", "token", "--permission", "db:home:read,delete", "--name", "t", "--format", "json"])).out,
  );
  const options = { environment: { TSDB_AUTH_TOKEN: made.token as string } };
  const run = (...args: string[]) => runner.run(args, options);
  expect(await run("delete", "rows", "-t", "temp", "--predicate", "room = 'kitchen'", "-y")).toMatchObject({
    code: 2,
    error: expect.stringContaining("which times?"),
  });
  expect(await run("delete", "rows", "-t", "temp", "--all-time", "-p", "room = 'kitchen'", "--yes")).toMatchObject({
    code: 0,
    out: 'Rows of "home"."temp" deleted successfully, as request 1\n',
  });
  expect(await run("delete", "rows", "-t", "temp", "--min-time", "2100-01-01", "-y")).toMatchObject({
    code: 0,
    out: 'No row of "home"."temp" fits\n',
  });
  expect(await run("delete", "rows", "-t", "temp", "--all-time")).toMatchObject({
    code: 1,
    out: "",
    error: expect.stringContaining("Nothing was deleted"),
  });
  expect((await run("query", "SELECT room FROM temp", "--format", "csv")).out).toBe("room\nbath\n");
  const { out } = await run("show", "row_deletes", "--format", "json");
  expect(JSON.parse(out)).toEqual([
    expect.objectContaining({ sequence: 1, database: "home", table: "temp", predicate: "room = 'kitchen'", disposition: "pending" }),
    expect.objectContaining({ sequence: 2, disposition: "completed" }),
  ]);
  expect((await run("show", "row-deletes", "--disposition", "pending")).out).toContain("room = 'kitchen'");
  expect(await run("cancel", "row-delete", "1", "--reason", "oops")).toMatchObject({
    code: 0,
    out: "Row delete request 1 cancelled successfully\n",
  });
  expect((await run("query", "SELECT count(*) AS n FROM temp", "--format", "csv")).out).toBe("n\n2\n");
  expect(await runner.run(["cancel", "row_delete", "7"])).toMatchObject({
    code: 1,
    error: expect.stringContaining("row delete request not found: 7"),
  });
  // another database's requests are neither shown nor changed
  await runner.run(["write", "-d", "work", "t v=1 1"]);
  await runner.run(["delete", "rows", "-d", "work", "-t", "t", "--all-time", "-y"]);
  expect(JSON.parse((await run("show", "row_deletes", "--format", "json")).out)).toHaveLength(2);
  const unseen = await run("cancel", "row_delete", "3");
  expect(unseen).toMatchObject({ code: 1, error: expect.stringContaining("403") });
  // nor does anything tell which numbers there are
  expect(await run("cancel", "row_delete", "7")).toEqual(unseen);
  const shown = async (sequence: number) => {
    const headers = { authorization: `Bearer ${made.token}` };
    const answer = await fetch(`${runner.server.url}${PATH}/${sequence}`, { headers });
    return [answer.status, await answer.text()];
  };
  expect((await shown(3))[0]).toBe(403);
  expect(await shown(7)).toEqual(await shown(3));
});
