// Imports that are refused, and files that are hostile: nothing is imported, and the server says what is wrong.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { LIMITS } from "../../src/model/limits.ts";
import { prng } from "../support/prng.ts";
import { IMPORTS, importFile, importForm, importJobs, sendImport } from "../support/servers/imports.ts";
import { TestServer } from "../support/servers/server.ts";
import { type ParquetBytes, parquetFile, parquetFiles } from "../support/storage/parquet-files.ts";
import { store } from "./client.ts";

const FLAGS = ["--use-pacha-tree"];
/** Changed bytes and cuts of one file. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 4) * 5;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: FLAGS });
  await store(server, "d", 'm,h=a v=1,n=1i,s="x",b=true,u=1u 1');
});
afterAll(() => server.dispose());

const columnsOf = (database = "d") =>
  server.sql(database, "SELECT column_name FROM information_schema.columns WHERE table_name = 'm' ORDER BY 1");
const reasonIn = (text: string) => (JSON.parse(text) as { error: string }).error;
const files = () => readdirSync(join(server.dataDir, "node0", "imports"));
/** A job says how it ended before its file goes: after a crash between the two, the next start knows of both. */
async function filesGone(): Promise<void> {
  while (files().length > 0) await Bun.sleep(5);
}

describe("forms", () => {
  test("that lack something, or have it twice", async () => {
    const file = await parquetFile("SELECT 1::BIGINT AS time, 1.0::DOUBLE AS v");
    const part = (name: string, value: string, more = "") =>
      `--x\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
    const form = { "content-type": "multipart/form-data; boundary=x" };
    const [database, table] = [part("database", "d"), part("table", "m")];
    const upload = part("file_bytes", "PAR1", '; filename="f"');
    const refused: readonly (readonly [body: string, headers: Record<string, string>, message: RegExp])[] = [
      ["", {}, /content-type "multipart\/form-data" with a boundary, got/],
      ["{}", { "content-type": "application/json" }, /got "application\/json"/],
      ["", { "content-type": "multipart/form-data" }, /with a boundary/],
      ["", form, /cannot be read|no field/],
      ["--x--\r\n", form, /no field "database"/],
      [`${upload}--x--\r\n`, form, /no field "database"/],
      [`${database}${upload}--x--\r\n`, form, /no field "table"/],
      [`${database}${table}--x--\r\n`, form, /no file "file_bytes"/],
      [`${database}${database}${table}${upload}--x--\r\n`, form, /"database" is there twice/],
      [`${database}${table}${upload}${upload}--x--\r\n`, form, /"file_bytes" is there twice/],
      [`${database}${table}${upload}`, form, /cannot be read/],
      [`${database}${table}${part("file_bytes", "")}--x--\r\n`, form, /this is no Parquet file/],
      [`${database}${table}${upload}--x--\r\n`, form, /does not end with PAR1|no Parquet file/],
      [`${Array.from({ length: 30 }, (_, i) => part(`f${i}`, "x")).join("")}--x--\r\n`, form, /more than 20 fields/],
      [`${part("column_metadata", "x".repeat(5 << 20))}--x--\r\n`, form, /more than 4194304 bytes/],
    ];
    for (const [body, headers, message] of refused) {
      const { status, text } = await sendImport(server, body, headers);
      expect([body.slice(0, 200), status, reasonIn(text)]).toEqual([body.slice(0, 200), 400, expect.stringMatching(message)]);
    }
    const metadata: readonly (readonly [text: string, message: RegExp])[] = [
      ["{", /column_metadata/],
      ["[]", /want {"column_mapping/],
      ['{"column_mapping":[]}', /want {"column_mapping/],
      ['{"column_mapping":{"v":"float"}}', /"v" is "float", want one of i64, u64/],
      ['{"column_mapping":{"w":"f64"}}', /no column "w"/],
      ['{"column_mapping":{"v":"time"}}', /column "v" is of type float64, and cannot become/],
      ['{"column_mapping":{"time":"time","v":"time"}}', /only one column can be the time/],
      ['{"schema":{"v":"tag"}}', /column "v" is .*float.* in the table, and would be .*tag/],
      ['{"column_metadata":{"__proto__":"tag"}}', /no column "__proto__"/],
    ];
    for (const [text, message] of metadata) {
      const body = importForm("d", "m", file);
      body.set("column_metadata", text);
      const answer = await sendImport(server, body);
      expect([text, answer.status, reasonIn(answer.text)]).toEqual([text, 400, expect.stringMatching(message)]);
    }
    for (const [database, table] of [
      ["absent", "m"],
      ["d", "absent"],
      ["_internal", "m"],
      ["../d", "m"],
    ] as const) {
      expect((await sendImport(server, importForm(database, table, file))).status).toBe(404);
    }
    expect([await importJobs(server), files()]).toEqual([[], []]);
    // without the engine and in the base edition there is no import
    await using other = await TestServer.start();
    expect((await sendImport(other, importForm("d", "m", file))).status).toBe(503);
    expect((await fetch(`${other.url}${IMPORTS}`)).status).toBe(503);
    await other.restart([...FLAGS, "--edition", "core"]);
    expect((await sendImport(other, importForm("d", "m", file))).status).toBe(404);
  }, 30_000);
});

describe("files", () => {
  test("whose columns the table cannot have are refused, and leave no column", async () => {
    const before = await columnsOf();
    const refused: readonly (readonly [statement: string, message: RegExp])[] = [
      ["SELECT 1.0::DOUBLE AS v", /no column "time"/],
      ["SELECT 1::BIGINT AS time", /no column that would be a field/],
      ["SELECT 1::BIGINT AS time, 'a' AS h", /no column that would be a field/],
      ["SELECT 'x' AS time, 1.0::DOUBLE AS v", /column "time" is of type text, and cannot become/],
      ["SELECT 1::BIGINT AS time, [1.0] AS v", /column "v" is of type list/],
      ["SELECT 1::BIGINT AS time, {'a': 1} AS z", /column "z" is of type struct/],
      ["SELECT 1::BIGINT AS time, 1.5::DECIMAL(9, 2) AS z", /column "z" is of type decimal/],
      ["SELECT 1::BIGINT AS time, 'x'::BLOB AS z", /column "z" is of type binary/],
      ["SELECT 1::BIGINT AS time, uuid() AS z", /column "z" is of type/],
      ["SELECT 1::BIGINT AS time, 'x' AS v", /column "v" is of type text, and cannot become/],
      ["SELECT 1::BIGINT AS time, 1.5::DOUBLE AS n", /column "n" is of type float64, and cannot become/],
      ["SELECT 1::BIGINT AS time, true AS v", /column "v" is of type boolean/],
      ["SELECT 1::BIGINT AS time, 1.0::DOUBLE AS h", /column "h" is of type float64/],
      [`SELECT 1::BIGINT AS time, 1.0::DOUBLE AS "a${"\n"}b"`, /control characters/],
      ["SELECT 1::BIGINT AS time, 1.0::DOUBLE AS v WHERE false", /it has no rows/],
    ];
    const made = await parquetFiles(refused.map(([statement]) => statement));
    for (const [i, [statement, message]] of refused.entries()) {
      const { status, text } = await sendImport(server, importForm("d", "m", made[i]!));
      expect([statement, status, reasonIn(text)]).toEqual([statement, 400, expect.stringMatching(message)]);
    }
    expect([await columnsOf(), files(), await importJobs(server)]).toEqual([before, [], []]);
  });

  test("with values that do not fit end with row group, column and row, and leave nothing", async () => {
    const before = [await columnsOf(), await server.sql("d", "SELECT count(*) AS n FROM m")];
    const some = (value: string, name: string) =>
      `SELECT (i + 1)::BIGINT AS time, CASE WHEN i = 4097 THEN ${value} END AS ${name}, i::BIGINT AS new FROM range(5000) t(i)`;
    const ends: readonly (readonly [statement: string, message: RegExp, columns?: Record<string, string>])[] = [
      [some("-1", "u"), /row group 2, column "u": row 1: -1 is negative/],
      [some("18446744073709551615::UBIGINT", "n"), /row group 2, column "n": row 1: 18446744073709551615 is beyond a signed integer/],
      ["SELECT NULL::BIGINT AS time, 1.0::DOUBLE AS v", /row group 0, column "time": row 0: a row has no time/],
      ["SELECT -9223372036854775807::BIGINT AS time, 1.0::DOUBLE AS v", /row group 0, column "time": .*beyond 64 bits of nanoseconds/],
      ["SELECT TIMESTAMP_S '9999-01-01 00:00:00' AS time, 1.0::DOUBLE AS v", /row group 0, column "time": .*beyond 64 bits/],
      [some(`repeat('x', ${LIMITS.stringFieldBytesMax + 1})`, "s"), /row group 2, column "s": row 1: a text has \d+ bytes; at most/],
      [some("'a' || chr(10)", "h"), /row group 2, column "h": row 1: a tag has a line break/],
    ];
    const made = await parquetFiles(
      ends.map(([statement]) => statement),
      "row_group_size 2048",
    );
    for (const [i, [statement, message]] of ends.entries()) {
      const job = await importFile(server, "d", "m", made[i]!);
      expect([statement, job.status, job.last_message]).toEqual([statement, "terminal_failed", expect.stringMatching(message)]);
    }
    expect([await columnsOf(), await server.sql("d", "SELECT count(*) AS n FROM m")]).toEqual(before);
    await filesGone();
  }, 60_000);

  test("that are cut or changed anywhere end in an error or as rows, and the server goes on", async () => {
    const statement = "SELECT (i + 10)::BIGINT AS time, 'h' || i % 5 AS h, i * 0.1 AS v, 'text ' || i AS s FROM range(3000) t(i)";
    const options = ["compression zstd, row_group_size 2048", "compression uncompressed", "compression snappy, parquet_version v2"];
    const made: ParquetBytes[] = [];
    for (const option of options) made.push(await parquetFile(statement.replace("i * 0.1", "(i * 0.1)::DOUBLE"), option));
    const random = prng(Number(process.env["SEED"] ?? 1));
    for (let round = 0; round < ROUNDS; round++) {
      const whole = made[round % made.length]!;
      const at = random(whole.length);
      let file: ParquetBytes;
      if (round % 4 === 0) file = whole.slice(0, at);
      else {
        file = whole.slice();
        // the footer is where lengths and counts are
        const place = round % 4 === 1 ? whole.length - 1 - random(Math.min(900, whole.length)) : at;
        file[place]! ^= 1 + random(255);
      }
      const { status, text } = await sendImport(server, importForm("d", "m", file));
      expect([round, status, text.slice(0, 300)]).toEqual([round, status === 200 ? 200 : 400, expect.any(String)]);
    }
    for (;;) {
      const jobs = await importJobs(server);
      if (jobs.every(({ status }) => ["imported", "terminal_failed", "compacted"].includes(status))) break;
      await Bun.sleep(20);
    }
    await filesGone();
    await store(server, "clean", "m v=0 1");
    expect((await importFile(server, "clean", "m", made[0]!)).status).toBe("imported");
    expect(await server.sql("clean", "SELECT count(*) AS n FROM m WHERE s LIKE 'text %'")).toEqual([{ n: 3000 }]);
    expect(server.output).not.toMatch(/BUG|panic/);
  }, 300_000);
});
