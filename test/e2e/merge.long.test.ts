// Rows that meet over many connections, tables and series, and are the same after starts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { query, scalar, store } from "./client.ts";

setDefaultTimeout(60_000);

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.dispose());

test("the order of the log decides between connections, and stays after a restart", async () => {
  await Promise.all(Array.from({ length: 50 }, (_, i) => store(server, "race", `t,h=a v=${i},w${i % 5}=${i} 1`)));
  const before = (await query(server, "race", "SELECT * FROM t")).text;
  expect(await scalar(server, "race", "SELECT count(*) FROM t")).toBe(1);
  await server.kill();
  await server.restart();
  expect((await query(server, "race", "SELECT * FROM t")).text).toBe(before);
  await server.restart();
  expect((await query(server, "race", "SELECT * FROM t")).text).toBe(before);
});

test("2,000 tables in one body, each queried, and all there after a restart", async () => {
  await store(server, "tables", Array.from({ length: 2000 }, (_, i) => `table${i},h=a v=${i} ${i}`).join("\n"));
  const check = async () => {
    expect(await scalar(server, "tables", "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'iox'")).toBe(2000);
    for (const i of [0, 1, 999, 1998, 1999]) expect(await server.sql("tables", `SELECT h, v FROM table${i}`)).toEqual([{ h: "a", v: i }]);
  };
  await check();
  await server.restart();
  await check();
});

test("100,000 series in one body", async () => {
  await store(server, "series", Array.from({ length: 100_000 }, (_, i) => `t,host=host${i} v=${i} 1`).join("\n"));
  expect(await server.sql("series", "SELECT count(*) AS n, count(DISTINCT host) AS hosts, sum(v) AS s FROM t")).toEqual([
    { n: 100_000, hosts: 100_000, s: 4_999_950_000 },
  ]);
  expect(await server.sql("series", "SELECT v FROM t WHERE host = 'host77777'")).toEqual([{ v: 77_777 }]);
});
