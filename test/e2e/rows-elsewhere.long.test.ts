// Deletions, imports and backups of the same rows: each keeps what the others have done.
import { expect, test } from "bun:test";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import { backUp, restore } from "../support/servers/database-backups.ts";
import { importFile } from "../support/servers/imports.ts";
import { parquetFile } from "../support/storage/parquet-files.ts";
import { asked, store } from "./client.ts";

test("imported rows are deleted, merged, backed up and restored as others; a deletion that was pending is final in what is restored", async () => {
  await using server = await startDataServer(["--use-pacha-tree", "--compaction-check-interval", "24h"]);
  const values = async () => (await server.sql<{ v: number }>("d", "SELECT v FROM m ORDER BY v")).map(({ v }) => v);
  await store(server, "d", "m,h=a v=1 1\nm,h=b v=2 2");
  const file = await parquetFile("SELECT 3::BIGINT AS time, 'a' AS h, 3.0::DOUBLE AS v UNION ALL SELECT 4, 'b', 4.0");
  await importFile(server, "d", "m", file);
  const { sequence } = await asked<{ sequence: number }>(server, "POST", "row_delete_requests", {
    db: "d",
    table: "m",
    predicate: "h = 'a'",
  });
  expect(await values()).toEqual([2, 4]);
  // later than the deletion
  await importFile(server, "d", "m", await parquetFile("SELECT 3::BIGINT AS time, 'a' AS h, 5.0::DOUBLE AS v"));
  expect(await values()).toEqual([2, 4, 5]);
  await dataOf(server).compact();
  expect((await backUp(server, "b")).status).toBe("completed");
  await asked(server, "POST", `row_delete_requests/${sequence}/abort`, { reason: "a mistake" });
  expect(await values()).toEqual([1, 2, 4, 5]);
  expect((await restore(server, "b")).status).toBe("completed");
  expect(await values()).toEqual([2, 4, 5]);
  await importFile(server, "d", "m", await parquetFile("SELECT 4::BIGINT AS time, 'b' AS h, 6.0::DOUBLE AS v"));
  expect(await values()).toEqual([2, 5, 6]);
  await dataOf(server).compact();
  await server.kill();
  await server.restart();
  expect(await values()).toEqual([2, 5, 6]);
}, 60_000);

test("NaN and infinities are no values: rows that have one are there without it, and other values count", async () => {
  await using server = await startDataServer(["--use-pacha-tree", "--compaction-check-interval", "24h"]);
  const data = dataOf(server);
  await store(server, "nan", "m,h=a v=1 1000000000");
  // of the values 0 to 99 each third is no finite number, another third is absent, and columns have nothing else
  const statement =
    "SELECT i::BIGINT AS time, 'a' AS h, CASE WHEN i % 3 = 0 THEN ['nan', 'inf', '-inf'][i % 9 // 3 + 1]::DOUBLE " +
    "WHEN i % 3 = 1 THEN NULL ELSE i::DOUBLE END AS v, 'nan'::FLOAT AS w, CASE WHEN i = 64 THEN '-inf'::FLOAT ELSE 0.5::FLOAT END AS x, " +
    "i AS n FROM range(100) t(i)";
  const job = await importFile(server, "nan", "m", await parquetFile(statement), { columns: { h: "tag" } });
  expect([job.status, job.row_count]).toEqual(["imported", 100]);
  const totals = "SELECT count(n) AS n, count(v) AS v, min(v) AS low, max(v) AS high, sum(v) AS sum, count(x) AS x FROM m";
  // 2, 5 … 98, and what was there
  const wanted = [{ n: 100, v: 34, low: 1, high: 98, sum: 33 * 50 + 1, x: 99 }];
  const columns = "SELECT column_name AS c FROM information_schema.columns WHERE table_name = 'm' ORDER BY 1";
  const restart = async () => {
    await server.kill();
    await server.restart();
  };
  for (const change of [async () => {}, () => data.flush(), () => data.compact(), restart]) {
    await change();
    expect(await server.sql("nan", totals)).toEqual(wanted);
    const answer = await fetch(`${server.url}/query?db=nan&q=${encodeURIComponent("SELECT max(v), percentile(v, 100) FROM m")}`);
    expect(await answer.json()).toMatchObject({ results: [{ series: [{ values: [["1970-01-01T00:00:00Z", 98, 98]] }] }] });
  }
  expect((await server.sql<{ c: string }>("nan", columns)).map(({ c }) => c)).toEqual(["h", "n", "time", "v", "w", "x"]);
}, 60_000);
