// Counts of a whole table, whose answers are kept until its rows change, on a real server: after everything that changes rows they are what
// arithmetic says, and what a text that nobody has asked before says, which is never answered by what is kept.
import { expect, test } from "bun:test";
import { dataOf, startDataServer } from "../support/servers/data-server.ts";
import { backUp, restore } from "../support/servers/database-backups.ts";
import { importFile } from "../support/servers/imports.ts";
import type { TestServer } from "../support/servers/server.ts";
import { parquetFile } from "../support/storage/parquet-files.ts";
import { asked, query, store, write } from "./client.ts";

const COUNTS = ["count(*)", "count(DISTINCT host)", "count(1)"] as const;
const FORMATS = ["json", "csv", "pretty", "arrow"] as const;

let number = 0;

/** What each count says, or null where it is refused: kept answers and new ones, which must be the same. */
async function counted(server: TestServer, database = "d"): Promise<(number | null)[]> {
  const found: (number | null)[] = [];
  for (const count of COUNTS) {
    for (const format of FORMATS) {
      const text = `SELECT ${count} AS n FROM cpu`;
      const fresh = await query(server, database, `${text} -- ${number++}`, { format });
      // the first may be a new one, the second is a kept one
      for (let i = 0; i < 2; i++) {
        const { status, text: body, headers } = await query(server, database, text, { format });
        expect([status, headers.get("content-type"), body]).toEqual([fresh.status, fresh.headers.get("content-type"), fresh.text]);
      }
      if (format === "json") found.push(fresh.status === 200 ? (JSON.parse(fresh.text) as [{ n: number }])[0].n : null);
    }
  }
  return found;
}

test("rows that come, come again, leave and come back", async () => {
  await using server = await startDataServer(["--use-pacha-tree", "--compaction-check-interval", "24h"]);
  const data = dataOf(server);
  expect(await counted(server)).toEqual([null, null, null]);
  await store(server, "d", "cpu,host=a v=1 1\ncpu,host=b v=2 2\ncpu,host=a v=3 3");
  expect(await counted(server)).toEqual([3, 2, 3]);
  await store(server, "d", "cpu,host=a v=9 3");
  expect(await counted(server)).toEqual([3, 2, 3]);
  await store(server, "d", "mem,host=z v=1 1\ncpu,host=c,zone=x w=1i 4");
  expect(await counted(server)).toEqual([4, 3, 4]);
  await data.flush();
  expect(await counted(server)).toEqual([4, 3, 4]);
  // half in memory, with a row of the file again
  await store(server, "d", "cpu,host=a v=8 1\ncpu v=1 5");
  expect(await counted(server)).toEqual([5, 3, 5]);
  await data.flush();
  await data.compact();
  expect(await counted(server)).toEqual([5, 3, 5]);
  await data.deleteRows({ database: "d", table: "cpu", tags: [{ tag: "host", values: ["b"] }], range: { minNs: 0n, maxNs: 10n } });
  expect(await counted(server)).toEqual([4, 2, 4]);
  const { sequence } = await asked<{ sequence: number }>(server, "POST", "row_delete_requests", {
    ...{ db: "d", table: "cpu", predicate: "host = 'a'" },
  });
  expect(await counted(server)).toEqual([2, 1, 2]);
  await asked(server, "POST", `row_delete_requests/${sequence}/abort`, { reason: "a mistake" });
  expect(await counted(server)).toEqual([4, 2, 4]);
  await importFile(
    server,
    "d",
    "cpu",
    await parquetFile("SELECT 6::BIGINT AS time, 'i' AS host, 1.0::DOUBLE AS v UNION ALL SELECT 1, 'a', 2.0"),
  );
  expect(await counted(server)).toEqual([5, 3, 5]);
  expect((await backUp(server, "b")).status).toBe("completed");
  await store(server, "d", "cpu,host=later v=1 7");
  expect(await counted(server)).toEqual([6, 4, 6]);
  expect((await restore(server, "b")).status).toBe("completed");
  expect(await counted(server)).toEqual([5, 3, 5]);
  await server.kill();
  await server.restart();
  expect(await counted(server)).toEqual([5, 3, 5]);
}, 60_000);

test("tables that go and come again, and periods after which rows leave", async () => {
  await using server = await startDataServer(["--compaction-check-interval", "24h"]);
  const data = dataOf(server);
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  await store(server, "d", `cpu,host=a v=1 1\ncpu,host=b v=2 ${nowNs}`);
  expect(await counted(server)).toEqual([2, 2, 2]);
  await data.setRetention({ database: "d" }, 3_600_000_000_000n);
  expect(await counted(server)).toEqual([1, 1, 1]);
  await data.setRetention({ database: "d" }, null);
  expect(await counted(server)).toEqual([2, 2, 2]);
  await asked(server, "DELETE", "configure/table?db=d&table=cpu&hard_delete_at=now");
  expect(await counted(server)).toEqual([null, null, null]);
  await store(server, "d", "cpu v=1 1");
  // the table has no such tag any more
  expect(await counted(server)).toEqual([1, null, 1]);
  await store(server, "d", "cpu,host=c v=1 1");
  expect(await counted(server)).toEqual([2, 1, 2]);
  await asked(server, "DELETE", "configure/database?db=d&hard_delete_at=now");
  expect(await counted(server)).toEqual([null, null, null]);
  expect((await write(server, "d", "cpu,host=d v=1 1\ncpu,host=e v=1 1\ncpu,host=f v=1 1", { params: { precision: "ns" } })).status).toBe(
    204,
  );
  expect(await counted(server)).toEqual([3, 3, 3]);
}, 60_000);

test("databases of equal tables, one after the other and in turn", async () => {
  await using server = await startDataServer();
  for (const [i, database] of ["one", "two", "three"].entries()) {
    await store(server, database, Array.from({ length: i + 1 }, (_, row) => `cpu,host=h${row} v=1 ${row}`).join("\n"));
  }
  for (let round = 0; round < 2; round++) {
    for (const [i, database] of ["one", "two", "three"].entries()) expect(await counted(server, database)).toEqual([i + 1, i + 1, i + 1]);
  }
}, 30_000);
