// Deletions and retention as clients of a real server see them, through SQL: with and without an aggregate that storage makes, from the
// buffer, from files and from both.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { ALL_TIME } from "../../src/model/query/scan.ts";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import type { TestServer } from "../support/servers/server.ts";
import { scalar, store } from "./client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startDataServer(["--compaction-check-interval", "100ms", "--compaction-cleanup-wait", "0s"]);
});
afterAll(() => server.dispose());

const HOUR_NS = 3_600_000_000_000n;

/** Ten hosts, a row a second for 100 seconds each; `v` is the row's number within its host. */
const body = (table: string): string =>
  Array.from({ length: 1000 }, (_, i) => `${table},host=h${i % 10} v=${Math.floor(i / 10)}i ${Math.floor(i / 10) * 1_000_000_000}`).join(
    "\n",
  );

/** What is right once the first minute of h3 is deleted; NULL is left out of JSON. */
const QUESTIONS = (table: string): [statement: string, expected: Record<string, unknown>[]][] => [
  [`SELECT count(*) AS n FROM ${table}`, [{ n: 940 }]],
  [`SELECT count(v) AS n, sum(v) AS s FROM ${table} WHERE host = 'h3'`, [{ n: 40, s: (60 + 99) * 20 }]],
  [`SELECT count(*) AS n FROM ${table} WHERE host = 'h4'`, [{ n: 100 }]],
  [`SELECT max(v) AS m FROM ${table} WHERE host = 'h3' AND v < 60`, [{}]],
  [`SELECT min(v) AS m FROM ${table} WHERE host = 'h3'`, [{ m: 60 }]],
  [
    `SELECT host, count(*) AS n FROM ${table} WHERE host IN ('h2', 'h3') GROUP BY host ORDER BY host`,
    [
      { host: "h2", n: 100 },
      { host: "h3", n: 40 },
    ],
  ],
  [`SELECT v FROM ${table} WHERE host = 'h3' ORDER BY time LIMIT 1`, [{ v: 60 }]],
];

describe("rows that are deleted", () => {
  test("are gone from every kind of question, in the buffer, over a restart and a kill, and from files", async () => {
    await store(server, "db", body("cpu"));
    const range = { minNs: ALL_TIME.minNs, maxNs: 59_000_000_000n };
    await dataOf(server).deleteRows({ database: "db", table: "cpu", range, tags: [{ tag: "host", values: ["h3"] }] });
    const check = async (where: string) => {
      for (const [statement, expected] of QUESTIONS("cpu"))
        expect(await server.sql("db", statement), `${where}: ${statement}`).toEqual(expected);
    };
    await check("buffer");
    await server.kill();
    await server.restart();
    await check("replayed");
    await server.restart();
    await check("file");
    // written again: there, and beside what stays in files
    await store(server, "db", "cpu,host=h3 w=1i 5000000000\ncpu,host=h3 v=7i 99000000000");
    expect(await server.sql("db", "SELECT v, w FROM cpu WHERE host = 'h3' AND time < '1970-01-01T00:01:00Z'")).toEqual([{ w: 1 }]);
    expect(await scalar(server, "db", "SELECT v FROM cpu WHERE host = 'h3' AND time = '1970-01-01T00:01:39Z'")).toBe(7);
    await server.restart();
    expect(await server.sql("db", "SELECT v, w FROM cpu WHERE host = 'h3' AND time < '1970-01-01T00:01:00Z'")).toEqual([{ w: 1 }]);
    expect(await scalar(server, "db", "SELECT count(*) FROM cpu")).toBe(941);
  });

  test("as a whole leave table and columns", async () => {
    await store(server, "whole", `${body("a")}\n${body("b")}`);
    await dataOf(server).deleteData({ database: "whole", table: "a" });
    expect(await scalar(server, "whole", "SELECT count(*) FROM a")).toBe(0);
    expect(await scalar(server, "whole", "SELECT count(*) FROM b")).toBe(1000);
    expect(await server.sql("whole", "SELECT * FROM a")).toEqual([]);
    await dataOf(server).deleteData({ database: "whole" });
    expect(await scalar(server, "whole", "SELECT count(*) FROM b")).toBe(0);
    await server.restart();
    expect(await scalar(server, "whole", "SELECT count(*) FROM b")).toBe(0);
    const columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'b' ORDER BY 1";
    expect(await server.sql("whole", columns)).toEqual(["host", "time", "v"].map((column_name) => ({ column_name })));
    await store(server, "whole", "b,host=x v=1i 1");
    expect(await scalar(server, "whole", "SELECT count(*) FROM b")).toBe(1);
  });

  test("by name of nothing that exists are refused", async () => {
    const all = { range: ALL_TIME, tags: [] };
    await expect(dataOf(server).deleteRows({ database: "none", table: "t", ...all })).rejects.toThrow("unknown_database");
    await expect(dataOf(server).deleteRows({ database: "db", table: "none", ...all })).rejects.toThrow("unknown_table");
    await expect(dataOf(server).deleteData({ database: "db", table: "none" })).rejects.toThrow("unknown_table");
  });
});

test("rows past their retention are gone at once, and after a restart", async () => {
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  await store(server, "kept", [0n, 1n, 3n, 5n].map((hours) => `t,h=a v=${hours}i ${nowNs - hours * HOUR_NS}`).join("\n"));
  const shown = async () => (await server.sql<{ v: number }>("kept", "SELECT v FROM t ORDER BY v")).map(({ v }) => v);
  expect(await shown()).toEqual([0, 1, 3, 5]);
  await dataOf(server).setRetention({ database: "kept" }, 4n * HOUR_NS);
  expect(await shown()).toEqual([0, 1, 3]);
  expect(await scalar(server, "kept", "SELECT sum(v) FROM t")).toBe(4);
  await dataOf(server).setRetention({ database: "kept", table: "t" }, 2n * HOUR_NS);
  expect(await shown()).toEqual([0, 1]);
  await server.restart();
  expect(await shown()).toEqual([0, 1]);
  // accepted, and past its retention already
  await store(server, "kept", `t,h=a v=9i ${nowNs - 3n * HOUR_NS}`);
  expect(await shown()).toEqual([0, 1]);
});

test("files go when none of their rows is left: deleted or past their retention", async () => {
  const files = () => readdirSync(server.dataDir, { recursive: true }).filter((file) => String(file).endsWith(".pt"));
  await store(server, "gone", body("t"));
  await server.restart();
  expect(files().length).toBeGreaterThan(0);
  for (const database of ["db", "whole", "kept"]) await dataOf(server).deleteData({ database });
  await dataOf(server).setRetention({ database: "gone" }, HOUR_NS);
  while (files().length > 0) await Bun.sleep(5);
  expect(await scalar(server, "gone", "SELECT count(*) FROM t")).toBe(0);
  await store(server, "gone", `t,host=h0 v=1i ${BigInt(Date.now()) * 1_000_000n}`);
  expect(await scalar(server, "gone", "SELECT count(*) FROM t")).toBe(1);
}, 30_000);
