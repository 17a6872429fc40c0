// An import whose columns are larger than the memory that may read them. A minute, so that it runs in `npm run test:full`.
import { expect, test } from "bun:test";
import { store } from "../e2e/client.ts";
import { importFile } from "../support/servers/imports.ts";
import { TestServer } from "../support/servers/server.ts";
import { parquetFile } from "../support/storage/parquet-files.ts";

const MIB = 1 << 20;

test("a row group of texts that are a gigabyte", async () => {
  await using server = await TestServer.start({ flags: ["--use-pacha-tree"] });
  await store(server, "d", "texts v=1 0");
  // a text of 60,000 bytes in each of 20,000 rows, which a dictionary has once: 1.2 GB of some kilobytes
  const texts = await parquetFile(
    "SELECT i::BIGINT AS time, repeat('x', 60000) AS s FROM range(1, 20001) t(i)",
    "compression zstd, row_group_size 10000000",
  );
  expect(texts.length).toBeLessThan(MIB);
  // the memory of the library does not hold 16,384 of them: it is read in smaller pieces
  expect((await importFile(server, "d", "texts", texts)).status).toMatch(/imported|compacted/);
  const found = await server.sql("d", "SELECT count(s) AS n, sum(length(s)) AS bytes, min(s) = max(s) AS same FROM texts");
  expect(found).toEqual([{ n: 20_000, bytes: 1_200_000_000, same: true }]);
  expect(server.output).not.toMatch(/BUG|panic/);
});
