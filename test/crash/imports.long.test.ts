// Imports where space or memory ends: nothing half is there, nothing else suffers, and what can go on goes on by itself.
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { store } from "../e2e/client.ts";
import { endOf, type ImportJob, importFile, importForm, importJobs, sendImport } from "../support/servers/imports.ts";
import { TestServer } from "../support/servers/server.ts";
import { parquetFile } from "../support/storage/parquet-files.ts";
import { SmallDisk } from "../support/storage/small-disk.ts";

setDefaultTimeout(180_000);

const FLAGS = ["--use-pacha-tree"];
const MIB = 1 << 20;
const totals = (server: TestServer) => server.sql("d", "SELECT count(*) AS n, count(s) AS texts FROM m");
const columns = (server: TestServer) => {
  return server.sql("d", "SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'm' ORDER BY 1");
};

test("on a full disk an upload is refused, a job waits, and goes on when there is space", async () => {
  using disk = SmallDisk.mount(64 * MIB);
  if (disk === null) return; // no right to mount
  // texts that do not compress, 6.4 MB
  const file = await parquetFile(
    "SELECT i::BIGINT AS time, md5(i::VARCHAR) || md5('x' || i) AS s, i::BIGINT AS added FROM range(100000) t(i)",
    "compression uncompressed, row_group_size 10000",
  );
  expect(file.length).toBeGreaterThan(6 * MIB);
  const dataDir = join(disk.path, "data");
  await using server = await TestServer.start({ dataDir, flags: [...FLAGS, "--disk-reserve", "1MiB"] });
  await store(server, "d", 'm v=1,s="first" 0');
  const before = await columns(server);
  const ballast = join(disk.path, "ballast");
  const leave = (bytes: number) => {
    rmSync(ballast, { force: true });
    writeFileSync(ballast, Buffer.alloc(disk.freeBytes() - bytes));
  };
  const uploads = () => (existsSync(join(dataDir, "node0/imports")) ? readdirSync(join(dataDir, "node0/imports")) : []);

  leave(4 * MIB);
  const refused = await sendImport(server, importForm("d", "m", file));
  expect([refused.status, refused.text]).toEqual([503, expect.stringMatching(/space|full/)]);
  expect([uploads(), await importJobs(server)]).toEqual([[], []]);

  leave(file.length + 3 * MIB);
  const { status, text } = await sendImport(server, importForm("d", "m", file));
  expect([status, text]).toEqual([200, expect.any(String)]);
  const { upload_uuid: id } = JSON.parse(text) as ImportJob;
  let job: ImportJob | undefined;
  while (job?.status !== "failed") {
    [job] = await importJobs(server);
    expect(["queued", "dispatched", "failed"]).toContain(job!.status);
    await Bun.sleep(5);
  }
  expect(job.last_message).toMatch(/space|full/);
  expect([await totals(server), await columns(server), uploads().length]).toEqual([[{ n: 1, texts: 1 }], before, 1]);
  // others write and read meanwhile
  await store(server, "other", "m v=1 0");
  expect(await server.sql("other", "SELECT v FROM m")).toEqual([{ v: 1 }]);

  rmSync(ballast);
  expect((await endOf(server, id)).status).toMatch(/imported|compacted/);
  expect([await totals(server), uploads()]).toEqual([[{ n: 100_000, texts: 100_000 }], []]);
  await server.restart();
  expect(await totals(server)).toEqual([{ n: 100_000, texts: 100_000 }]);
});

test("a row group of millions of rows, and texts that become wide in the middle of a file", async () => {
  await using server = await TestServer.start({ flags: FLAGS });
  await store(server, "d", 'm v=1,s="first" 0');
  const rows = 2_500_000;
  const many = await parquetFile(
    `SELECT i::BIGINT AS time, 'h' || i % 3 AS h, i % 7 AS n FROM range(1, ${rows + 1}) t(i)`,
    "row_group_size 10000000",
  );
  expect((await importFile(server, "d", "m", many)).status).toMatch(/imported|compacted/);
  const sums = "SELECT count(*) AS n, sum(n) AS total, count(DISTINCT h) AS hosts FROM m";
  const total = Array.from({ length: 7 }, (_, i) => i * (Math.floor(rows / 7) + (i >= 1 && i <= rows % 7 ? 1 : 0))).reduce((a, b) => a + b);
  expect(await server.sql("d", sums)).toEqual([{ n: rows + 1, total, hosts: 3 }]);

  // wide from the middle of the file on: what was read before is neither read again nor left out
  await store(server, "d", "mixed v=1 0");
  const wide = "CASE WHEN i > 45000 THEN repeat(chr(97 + (i % 3)::INTEGER), 60000) ELSE 'narrow' END";
  const mixed = await parquetFile(
    `SELECT i::BIGINT AS time, i AS n, 'h' || i % 7 AS h, ${wide} AS s FROM range(1, 70001) t(i)`,
    "compression zstd, row_group_size 20480",
  );
  expect((await importFile(server, "d", "mixed", mixed)).status).toMatch(/imported|compacted/);
  const checks = "count(*) AS rows, count(DISTINCT time) AS times, sum(n) AS total, sum(length(s)) AS bytes, count(DISTINCT s) AS texts";
  const [counted] = await server.sql("d", `SELECT ${checks}, count(DISTINCT h) AS hosts FROM mixed WHERE n > 0`);
  const bytes = 25_000 * 60_000 + 45_000 * "narrow".length;
  expect(counted).toEqual({ rows: 70_000, times: 70_000, total: (70_000 * 70_001) / 2, bytes, texts: 4, hosts: 7 });
  const some = "SELECT n, substring(s, 1, 1) AS first FROM mixed WHERE n IN (45001, 57345, 70000) ORDER BY n";
  expect(await server.sql("d", some)).toEqual([
    { n: 45_001, first: "b" },
    { n: 57_345, first: "a" },
    { n: 70_000, first: "b" },
  ]);
  expect(await server.sql("d", sums)).toEqual([{ n: rows + 1, total, hosts: 3 }]);
  expect(server.output).not.toMatch(/BUG|panic/);
});
