// Imports of a real server: what files become, and what is refused. Over rows in every state: import-states.long.test.ts.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { endOf, type ImportJob, importFile, importForm, sendImport } from "../support/servers/imports.ts";
import { TestServer } from "../support/servers/server.ts";
import { type ParquetBytes, parquetFile, parquetFiles } from "../support/storage/parquet-files.ts";
import { store } from "./client.ts";

const FLAGS = ["--use-pacha-tree"];

/** What port 8181 gives for a statement as a file. */
async function fileOf(server: TestServer, database: string, statement: string): Promise<ParquetBytes> {
  const response = await fetch(`${server.url}/api/v3/query_sql?${new URLSearchParams({ db: database, q: statement, format: "parquet" })}`);
  if (response.status !== 200) throw new Error(await response.text());
  return response.bytes();
}

describe("a server", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ flags: FLAGS });
  });
  afterAll(() => server.dispose());

  test("exported days and answers come back as they were, with their types", async () => {
    await store(
      server,
      "from",
      `m,t1=a,t2=é\\ b f=-0,i=-9223372036854775808i,u=18446744073709551615u,b=true,s="q\\"\nn" -9223372036854775806\n` +
        `m,t1=a f=1e308,i=1i,b=false,s="" 1\nm,t2=x u=0u 9223372036854775806\nm f=1 2`,
    );
    await store(server, "to", "m x=1 0");
    const all = "SELECT time, t1, t2, f, i, u, b, s FROM m WHERE x IS NULL ORDER BY time, t1, t2";
    const job = await importFile(server, "to", "m", await fileOf(server, "from", "SELECT * FROM m"));
    expect([job.status, job.iox_parquet, job.row_count]).toEqual(["imported", true, 4]);
    expect(await server.sql("to", all)).toEqual(await server.sql("from", all.replace("WHERE x IS NULL", "")));
    const columns =
      "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'm' AND column_name <> 'x' ORDER BY 1";
    expect(await server.sql("to", columns)).toEqual(await server.sql("from", columns));
    // tags stay tags
    expect(await server.sql("to", "SELECT DISTINCT t1 FROM m ORDER BY t1")).toEqual([{ t1: "a" }, {}]);
    const { filename, size_bytes, started_at, completed_at, created_at } = job;
    expect([filename, size_bytes > 0, created_at <= started_at!, started_at! <= completed_at!]).toEqual(["rows.parquet", true, true, true]);
  });

  test("a file of more columns than writes may make, and none beyond 4,095", async () => {
    const fileOfFields = (count: number) =>
      parquetFile(`SELECT 1::BIGINT AS time, ${Array.from({ length: count }, (_, i) => `${i}::DOUBLE AS f${i}`).join(", ")}`);
    await store(server, "wide", "m f0=1 0");
    const job = await importFile(server, "wide", "m", await fileOfFields(4095));
    expect([job.status, job.row_count]).toEqual(["imported", 1]);
    expect(await server.sql<object>("wide", "SELECT f1, f4094 FROM m ORDER BY time")).toEqual([{}, { f1: 1, f4094: 4094 }]);
    const refused = await sendImport(server, importForm("wide", "m", await fileOfFields(4096)));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("limit of 4095 columns")]);
  });

  test("files of others: types, compressions, many row groups", async () => {
    const statement =
      "SELECT make_timestamp_ns(i * 1000000007) AS time, CASE WHEN i % 3 = 0 THEN NULL ELSE 'h' || i % 7 END AS host, " +
      "i::TINYINT AS i8, i::USMALLINT AS u16, (i * 0.5)::FLOAT AS f32, i % 2 = 0 AS ok, 'text ' || i AS s, i::UBIGINT AS u64 " +
      "FROM range(120) t(i)";
    const options = [
      "compression snappy",
      "compression zstd, row_group_size 16",
      "compression gzip",
      "compression uncompressed",
      "parquet_version v2",
    ];
    for (const [k, option] of options.entries()) {
      await store(server, `types${k}`, "m x=1 0");
      const job = await importFile(server, `types${k}`, "m", await parquetFile(statement, option), {
        columns: { host: "tag", u16: "u64" },
      });
      expect([option, job.status, job.row_count, job.iox_parquet]).toEqual([option, "imported", 120, false]);
      const [totals] = await server.sql(
        `types${k}`,
        "SELECT count(*) AS n, count(host) AS hosts, sum(i8) AS i, sum(u16) AS u, sum(f32) AS f, count(s) AS s, max(time) AS last FROM m WHERE s IS NOT NULL",
      );
      // of 0 to 119: 80 are no multiples of three
      expect(totals).toEqual({ n: 120, hosts: 80, i: 7140, u: 7140, f: 3570, s: 120, last: "1970-01-01T00:01:59.000000833" });
      expect(await server.sql(`types${k}`, "SELECT s, ok FROM m WHERE u64 = 77")).toEqual([{ s: "text 77", ok: false }]);
    }
  });

  test("times in other units, and by another name", async () => {
    await store(server, "units", "m x=1 0");
    const at = (cast: string, day: number) => `SELECT ${cast} AS at, ${day} AS day`;
    const files = await parquetFiles([
      at("TIMESTAMP_S '2024-01-02 03:04:05'", 1),
      at("TIMESTAMP_MS '2024-01-02 03:04:05.006'", 2),
      at("TIMESTAMP '2024-01-02 03:04:05.006007'", 3),
      at("TIMESTAMPTZ '2024-01-02 03:04:05.006007+00'", 4),
      at("DATE '2024-01-02'", 5),
      at("1704164645006007008::BIGINT", 6),
    ]);
    for (const file of files) expect((await importFile(server, "units", "m", file, { columns: { at: "time" } })).status).toBe("imported");
    expect(await server.sql("units", "SELECT day, time FROM m WHERE day IS NOT NULL ORDER BY day")).toEqual([
      { day: 1, time: "2024-01-02T03:04:05" },
      { day: 2, time: "2024-01-02T03:04:05.006" },
      // the two share their time: the later one has it
      { day: 4, time: "2024-01-02T03:04:05.006007" },
      { day: 5, time: "2024-01-02T00:00:00" },
      { day: 6, time: "2024-01-02T03:04:05.006007008" },
    ]);
  });

  test("caches have imported rows, whatever they have seen", async () => {
    await store(server, "cached", "m,h=a v=1 10\nm,h=b v=2 10");
    const body = JSON.stringify({ db: "cached", table: "m", name: "c", key_columns: ["h"], value_columns: ["v"] });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${server.url}/api/v3/configure/last_cache`, { method: "POST", body, headers })).status).toBe(201);
    const cached = () => server.sql("cached", "SELECT h, v FROM last_cache('m', 'c') ORDER BY h");
    expect(await cached()).toEqual([
      { h: "a", v: 1 },
      { h: "b", v: 2 },
    ]);
    const file = await parquetFile(
      "SELECT 20::BIGINT AS time, 'a' AS h, 5.0::DOUBLE AS v UNION ALL SELECT 5, 'b', 6.0 UNION ALL SELECT 1, 'c', 7.0",
    );
    expect((await importFile(server, "cached", "m", file)).status).toBe("imported");
    expect(await cached()).toEqual([
      { h: "a", v: 5 },
      { h: "b", v: 2 },
      { h: "c", v: 7 },
    ]);
  });

  test("a name is a name, wherever it points", async () => {
    await store(server, "names", "m v=1 0");
    const file = await parquetFile("SELECT 1::BIGINT AS time, 2.0::DOUBLE AS v");
    const names = ["../../../../tmp/x.parquet", "/etc/passwd", "..\\..\\x", "a\0b", "x".repeat(10_000), "é\u202e.parquet", ""];
    for (const fileName of names) {
      const { status, text } = await sendImport(server, importForm("names", "m", file, { fileName }));
      expect([status, [200, 400].includes(status)]).toEqual([status, true]);
      if (status !== 200) continue;
      const job = await endOf(server, (JSON.parse(text) as ImportJob).upload_uuid);
      // its file may have been compacted with those before it meanwhile
      expect(["imported", "compacted"]).toContain(job.status);
      expect([job.filename.includes("/"), job.filename.length <= 255]).toEqual([false, true]);
    }
    expect(readdirSync(join(server.dataDir, "node0", "imports"))).toEqual([]);
  });
});
