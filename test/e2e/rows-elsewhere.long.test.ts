// Deletions, imports and backups of the same rows: each keeps what the others have done.
import { expect, test } from "bun:test";
import { dataOf, startDataServer } from "../support/data-server.ts";
import { importFile } from "../support/imports.ts";
import { parquetFile } from "../support/parquet-files.ts";
import type { TestServer } from "../support/server.ts";
import { store } from "./client.ts";

async function asked<T>(server: TestServer, method: string, path: string, body?: object): Promise<T> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${server.url}/api/v3/${path}`, { method, ...sent });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as T;
}

async function completed(server: TestServer, path: string): Promise<void> {
  for (;;) {
    const { status } = await asked<{ status: string }>(server, "GET", path);
    if (status !== "in_progress") return expect(status).toBe("completed");
    await Bun.sleep(5);
  }
}

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
  await asked(server, "POST", "enterprise/backup", { type: "full", name: "b" });
  await completed(server, "enterprise/backup/b");
  await asked(server, "POST", `row_delete_requests/${sequence}/abort`, { reason: "a mistake" });
  expect(await values()).toEqual([1, 2, 4, 5]);
  const { restore_id: id } = await asked<{ restore_id: string }>(server, "POST", "enterprise/restore", { backup_name: "b" });
  await completed(server, `enterprise/restore/${id}`);
  expect(await values()).toEqual([2, 4, 5]);
  await importFile(server, "d", "m", await parquetFile("SELECT 4::BIGINT AS time, 'b' AS h, 6.0::DOUBLE AS v"));
  expect(await values()).toEqual([2, 5, 6]);
  await dataOf(server).compact();
  await server.kill();
  await server.restart();
  expect(await values()).toEqual([2, 5, 6]);
}, 60_000);
