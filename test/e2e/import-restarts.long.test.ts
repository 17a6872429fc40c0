// Imports and the end of the process, at any point: what was taken is imported once, as a whole, and earlier rows stay in their order.
import { expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prng } from "../support/prng.ts";
import { endOf, type ImportJob, importForm, importJobs, sendImport } from "../support/servers/imports.ts";
import { TestServer } from "../support/servers/server.ts";
import { parquetFile } from "../support/storage/parquet-files.ts";
import { store } from "./client.ts";

const FLAGS = ["--use-pacha-tree"];
const ROUNDS = Math.max(3, Math.ceil(Number(process.env["ROUNDS"] ?? 8) / 2));
const ROWS = 50_000;

test("a server that is killed goes on with imports where it was", async () => {
  const file = await parquetFile(
    `SELECT i::BIGINT AS time, 'h' || i % 10 AS h, 1.0::DOUBLE AS v FROM range(${ROWS}) t(i)`,
    "row_group_size 4096",
  );
  const random = prng(Number(process.env["SEED"] ?? 1));
  await using server = await TestServer.start({ flags: FLAGS });
  for (let round = 0; round < ROUNDS; round++) {
    const database = `d${round}`;
    await store(server, database, "m,h=h0 v=-1,w=1 0\nm,h=h0 v=-1 90000000");
    const { status, text } = await sendImport(server, importForm(database, "m", file));
    expect(status).toBe(200);
    const { upload_uuid: id } = JSON.parse(text) as ImportJob;
    await Bun.sleep(random(400));
    await server.kill();
    // once more, while it goes on
    await server.restartAndKill(300 + random(400));
    await server.restart();
    expect((await endOf(server, id)).status).toMatch(/imported|compacted/);
    await store(server, database, "m,h=h1 v=5 1");
    const totals = "SELECT count(*) AS n, sum(v) AS v, sum(w) AS w FROM m";
    const want = [{ n: ROWS + 1, v: ROWS + 3, w: 1 }];
    expect([round, await server.sql(database, totals)]).toEqual([round, want]);
    await server.restart();
    expect([round, await server.sql(database, totals)]).toEqual([round, want]);
  }
  expect(readdirSync(join(server.dataDir, "node0", "imports"))).toEqual([]);
}, 120_000);

test("a stop ends no import; files without a job go at the next start", async () => {
  const file = await parquetFile("SELECT 1::BIGINT AS time, 2.0::DOUBLE AS v");
  await using server = await TestServer.start({ flags: FLAGS });
  await store(server, "d", "m v=1 0");
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    ids.push((JSON.parse((await sendImport(server, importForm("d", "m", file))).text) as ImportJob).upload_uuid);
  }
  expect(await server.stop()).toBe(0);
  const folder = join(server.dataDir, "node0", "imports");
  writeFileSync(join(folder, `${crypto.randomUUID()}.parquet`), "of an upload that broke off");
  await server.restart();
  for (const id of ids) expect((await endOf(server, id)).status).toMatch(/imported|compacted/);
  expect((await importJobs(server)).map(({ upload_uuid: id }) => id)).toEqual(ids.toReversed());
  expect(readdirSync(folder)).toEqual([]);
  expect(await server.sql("d", "SELECT v FROM m ORDER BY time")).toEqual([{ v: 1 }, { v: 2 }]);
  await server.restart([...FLAGS, "--read-only"]);
  expect((await importJobs(server)).length).toBe(4);
  expect((await sendImport(server, importForm("d", "m", file))).status).toBe(403);
}, 60_000);
