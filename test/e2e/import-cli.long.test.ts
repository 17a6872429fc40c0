// tsdb import and tsdb write of CSV, with a real server that asks for tokens.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetFiles } from "../support/storage/parquet-files.ts";
import { CommandRunner } from "./command-runner.ts";

let cli: CommandRunner;
beforeAll(async () => {
  cli = await CommandRunner.start();
  await cli.run(["write", "-p", "ns", "temp,room=a v=1 1000"]);
  const [one, other, nested] = await parquetFiles([
    "SELECT 2000::BIGINT AS time, 'b' AS room, 2.5::DOUBLE AS v UNION ALL SELECT 3000, 'c', 3.5",
    "SELECT 4000::BIGINT AS at, 'd' AS room, 4 AS v",
    "SELECT 5000::BIGINT AS time, [1, 2] AS v",
  ]);
  writeFileSync(join(cli.folder, "one.parquet"), one!);
  writeFileSync(join(cli.folder, "other.parquet"), other!);
  writeFileSync(join(cli.folder, "nested.parquet"), nested!);
}, 30_000);
afterAll(() => cli.dispose());

const AT = ["-d", "home", "-t", "temp"];
const rows = async (statement: string) =>
  JSON.parse((await cli.run(["query", "-d", "home", "--format", "json", statement])).out) as unknown;

describe("tsdb import", () => {
  test("uploads files, one after another, and lists them", async () => {
    const both = await cli.run(["import", "upload", ...AT, "one.parquet", "one.parquet"]);
    expect([both.code, both.out, both.error]).toEqual([0, "2 rows of one.parquet imported\n2 rows of one.parquet imported\n", ""]);
    const other = await cli.run(["import", "upload", ...AT, "--columns", "room=tag,v=f64,at=time", "other.parquet"]);
    expect([other.code, other.out]).toEqual([0, "1 row of other.parquet imported\n"]);
    expect(await rows("SELECT room, v FROM temp ORDER BY time")).toEqual([
      { room: "a", v: 1 },
      { room: "b", v: 2.5 },
      { room: "c", v: 3.5 },
      { room: "d", v: 4 },
    ]);
    const listed = JSON.parse((await cli.run(["import", "list", "--format", "json"])).out) as Record<string, unknown>[];
    expect(listed.map(({ file, status, rows: count }) => [file, status, count])).toEqual([
      ["other.parquet", "imported", 1],
      ["one.parquet", "imported", 2],
      ["one.parquet", "imported", 2],
    ]);
    const later = await cli.run(["import", "upload", ...AT, "--no-wait", "one.parquet"]);
    expect(later.out).toMatch(/^one\.parquet waits to be imported, as [0-9a-f-]{36}\n$/);
  });

  test("what is refused", async () => {
    const refused: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
      [["-d", "home", "one.parquet"], 2, /--table is needed/],
      [[...AT, "absent.parquet"], 2, /cannot read absent\.parquet: .*ENOENT/],
      [[...AT, "one.parquet", "."], 2, /cannot read \.: it is no file/],
      [[...AT, "--columns", "room", "one.parquet"], 2, /--columns: "room" is not NAME=TYPE/],
      [[...AT, "--columns", "room=text", "one.parquet"], 2, /--columns: "room=text" is not NAME=TYPE/],
      [[...AT, "--column-metadata", "{", "one.parquet"], 1, /400 Bad Request.*column_metadata/],
      [[...AT, "nested.parquet"], 1, /^Import command failed: .*column "v" is of type list/],
      [["-d", "home", "-t", "absent", "one.parquet"], 1, /404 Not Found.*table not found: absent/],
      [[...AT, "--token", "apiv3_x", "one.parquet"], 1, /401 Unauthorized/],
    ];
    for (const [args, code, message] of refused) {
      const found = await cli.run(["import", "upload", ...args]);
      expect([args, found.code, found.error]).toEqual([args, code, expect.stringMatching(message)]);
    }
  });
});

describe("tsdb write of CSV", () => {
  test("with types of the table, of the options, and of the values", async () => {
    const csv =
      '\ufefftime,room,v,n,ok,note\r\n2024-01-02T03:04:05.000000006Z,"a, b",1.5,7,true,"two\nlines, ""quoted"""\r\n\n2024-01-03,x y,-2e3,,F,\\\r\n';
    writeFileSync(join(cli.folder, "rows.csv.gz"), gzipSync(csv));
    const ran = await cli.run(["write", "-d", "home", "-f", "rows.csv.gz", "-t", "temp", "--columns", "n=i64"]);
    expect([ran.code, ran.out]).toEqual([0, "success\n"]);
    expect(await rows("SELECT time, room, v, n, ok, note FROM temp WHERE note IS NOT NULL ORDER BY time")).toEqual([
      { time: "2024-01-02T03:04:05.000000006", room: "a, b", v: 1.5, n: 7, ok: true, note: 'two\nlines, "quoted"' },
      { time: "2024-01-03T00:00:00", room: "x y", v: -2000, ok: false, note: "\\" },
    ]);
  });

  test("from standard input, with a time by another name, in seconds", async () => {
    const csv = "at,k e=y,v\n1700000000,t,1\n1700000001,,2\n";
    const args = ["write", "-d", "home", "--format", "csv", "-t", "a table", "-p", "s", "--columns", "at=time,k e=y=tag", "-"];
    expect((await cli.run(args, { input: csv })).out).toBe("success\n");
    expect(await rows('SELECT * FROM "a table" ORDER BY time')).toEqual([
      { "k e=y": "t", time: "2023-11-14T22:13:20", v: 1 },
      { time: "2023-11-14T22:13:21", v: 2 },
    ]);
  });

  test("what is refused names the line", async () => {
    const refused: readonly (readonly [csv: string, message: RegExp])[] = [
      ["", /the file is empty/],
      ["time,v,v\n", /two columns "v"/],
      ["time,v\n1,2\n1\n", /line 3: it has 1 cells, and the first line 2/],
      ['time,v\n1,"2\n', /line 2 is no CSV: a quoted cell has no end/],
      ['time,v\n1,2"3\n', /line 2 is no CSV: a quote within a cell/],
      ['time,v\n1,"2"3\n', /line 2 is no CSV: expected a comma or the end/],
      ["time,n\n1,1.5\n", /line 2: column "n": "1\.5" is no i64/],
      ["time,n\nyesterday,1\n", /line 2: column "time": "yesterday" is no time/],
      ["time,room,n\n1,a\\,1\n", /line 2: column "room": a tag cannot/],
      ["time,m\n1,1\n", /--columns: the file has no column "n"/],
    ];
    for (const [csv, message] of refused) {
      const columns = csv.includes(",n\n") || csv.includes(",m\n") ? ["--columns", "n=i64"] : [];
      const found = await cli.run(["write", "-d", "home", "--format", "csv", "-t", "temp", ...columns, "-"], { input: csv });
      expect([csv, found.code === 0, found.error]).toEqual([csv, false, expect.stringMatching(message)]);
    }
    const conflict = "time,v\n\n1,x\n";
    const found = await cli.run(["write", "-d", "home", "--format", "csv", "-t", "temp", "--columns", "v=string", "-"], {
      input: conflict,
    });
    expect([found.code, found.error]).toEqual([1, expect.stringMatching(/line 3: invalid column type for column 'v'/)]);
  });
});
