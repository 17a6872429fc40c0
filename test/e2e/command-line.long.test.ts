// The client commands as a user types them, against a real server with tokens: what they print, where, and their exit codes. Mistakes:
// command-mistakes.long.test.ts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { TestServer } from "../support/servers/server.ts";
import { CommandRunner, type RunOptions } from "./command-runner.ts";

setDefaultTimeout(60_000);

let runner: CommandRunner;
let folder: string;
beforeAll(async () => {
  runner = await CommandRunner.start();
  folder = runner.folder;
});
afterAll(() => runner.dispose());

const run = (args: readonly string[], options?: RunOptions) => runner.run(args, options);

test("from nothing to rows: a database, lines, a question, the end", async () => {
  expect(await run(["create", "database", "home", "--retention-period", "100y"])).toEqual({
    code: 0,
    out: 'Database "home" created successfully\n',
    error: "",
  });
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const lines = Array.from({ length: 20_000 }, (_, i) => `temp,room=r${i % 10} v=${i}i,note="line\nbreak" ${nowNs + BigInt(i)}`).join("\n");
  writeFileSync(join(folder, "lines.lp"), lines);
  const written = await run(["write", "-f", "lines.lp", "--max-request-size", "64KiB", "--max-concurrent-requests", "3", "-p", "ns"]);
  expect([written.code, written.out]).toEqual([0, "success\n"]);
  expect(written.error).toContain("40,000 lines");
  writeFileSync(join(folder, "more.lp.gz"), gzipSync(`temp,room=z v=1i ${nowNs}\n`));
  expect((await run(["write", "-f", "more.lp.gz", "-q"])).code).toBe(0);
  expect((await run(["w", "temp,room=y v=2i", "-q"])).code).toBe(0);
  const none = await run(["write"], { input: "" });
  expect([none.code, none.out, none.error]).toEqual([1, "", expect.stringContaining("Write command failed: incoming write was empty\n")]);
  expect((await run(["write", "-q"], { input: "temp,room=x v=3i\n" })).out).toBe("success\n");
  const counted = await run(["query", "--format", "csv", "SELECT count(*) AS n, count(DISTINCT room) AS rooms, sum(v) AS s FROM temp"]);
  expect(counted).toEqual({ code: 0, out: `n,rooms,s\n20003,13,${(19_999 * 20_000) / 2 + 6}\n`, error: "" });
  expect((await run(["q"], { input: "SELECT v FROM temp WHERE room = 'y'" })).out).toContain("| 2 |");
  expect((await run(["show", "tables", "--format", "csv"])).out).toBe("table_name\ntemp\n");
  expect((await run(["show", "databases", "--format", "csv"])).out).toBe("iox::database\n_internal\nhome\n");
  expect((await run(["show", "retention", "--format", "csv", "-d", "home"])).out).toBe("database_name,retention_period\nhome,36525d\n");
  expect((await run(["update", "database", "home", "--retention-period", "none"])).out).toBe('Database "home" updated successfully\n');
  expect((await run(["show", "retention", "--format", "csv", "-d", "home"])).out).toBe("database_name,retention_period\nhome,infinite\n");
});

test("values of placeholders, in both languages, and a newline at the end of every answer", async () => {
  expect((await run(["write", "-q", "given,name=a v=9007199254740993i,x=1.5 1", "given,name=7 v=2i,x=2 2"])).code).toBe(2);
  expect((await run(["write", "-q"], { input: "given,name=a v=9007199254740993i,x=1.5 1\ngiven,name=7 v=2i,x=2 2\n" })).code).toBe(0);
  const ask = async (q: string, ...params: string[]) =>
    (await run(["query", "--format", "json", q, ...params.flatMap((param) => ["--param", param])])).out;
  expect(await ask("SELECT v FROM given WHERE v = $v", "v=9007199254740993")).toBe('[{"v":9007199254740993}]\n');
  expect(await ask("SELECT v FROM given WHERE name = $name AND x > $x", 'name="7"', "x=1.75")).toBe('[{"v":2}]\n');
  const v1 = await run(["query", "-l", "influxql", "--format", "csv", 'SELECT v FROM given WHERE "name" = $name', "--param", "name=a"]);
  expect(v1.out).toEndWith(",9007199254740993\n");
});

test("an answer goes to a file, whole", async () => {
  const { code, out } = await run(["query", "--format", "parquet", "-o", "t.parquet", "SELECT * FROM temp"]);
  expect([code, out]).toEqual([0, ""]);
  expect(readFileSync(join(folder, "t.parquet")).subarray(0, 4).toString()).toBe("PAR1");
});

test("bad lines are named by their number in the file, good ones are stored, and the exit code says so", async () => {
  const lines = Array.from({ length: 3000 }, (_, i) => (i === 1776 ? "bad line" : `few v=${i}i ${i + 1}`)).join("\n");
  const { code, error } = await run(["write", "-p", "ns", "--max-request-size", "4KiB", "-"], { input: lines });
  expect(code).toBe(1);
  expect(error).toMatch(/line 1777: .*bad line/);
  expect(error).toContain("Write command failed: at least 1 lines were rejected");
  expect((await run(["query", "--format", "csv", "SELECT count(*) AS n FROM few"])).out).toBe("n\n2999\n");
});

test("tables are made, deleted after a question, and restored", async () => {
  const made = await run(["create", "table", "rooms", "--tags", "room,floor", "--fields", "area:float64,name:utf8"]);
  expect(made.out).toBe('Table "home"."rooms" created successfully\n');
  const no = await run(["delete", "table", "rooms"], { input: "no\n" });
  expect(no).toEqual({
    code: 1,
    out: "",
    error: `Are you sure you want to delete "home"."rooms"? Enter 'yes' or 'y' to confirm\nNothing was deleted.\n`,
  });
  expect((await run(["delete", "table", "rooms"], { input: "yes\n" })).out).toBe('Table "home"."rooms" deleted successfully\n');
  expect((await run(["query", "SELECT * FROM rooms"])).code).toBe(1);
  expect((await run(["restore", "table", "rooms"])).out).toBe('Table "home"."rooms" restored successfully\n');
  expect((await run(["query", "--format", "json", "SELECT * FROM rooms"])).out).toBe("[]\n");
  expect((await run(["create", "database", "gone"])).code).toBe(0);
  expect((await run(["delete", "database", "gone", "-y", "--hard-delete", "now"])).out).toBe('Database "gone" deleted successfully\n');
});

test("file indexes are made, listed and deleted after a question", async () => {
  expect((await run(["create", "table", "log", "--tags", "host", "--fields", "request:utf8"])).code).toBe(0);
  const made = await run(["create", "file_index", "--table", "log", "--columns", "host, request"]);
  expect(made).toEqual({ code: 0, out: 'File index of "home"."log" created successfully\n', error: "" });
  expect((await run(["create", "file_index", "-d", "home", "--columns", "host"])).out).toBe('File index of "home" created successfully\n');
  const shown = await run([
    "query",
    "--format",
    "csv",
    "SELECT database_name, table_name, index_columns FROM system.file_index ORDER BY 2",
  ]);
  expect(shown.out).toBe('database_name,table_name,index_columns\nhome,log,"host, request"\nhome,,host\n');
  expect((await run(["show", "file_index", "--format", "csv"])).out).toContain('home,log,"host, request"');
  const no = await run(["delete", "file_index", "-t", "log"], { input: "no\n" });
  expect([no.code, no.error]).toEqual([1, expect.stringContaining('delete the file index of "home"."log"?')]);
  expect((await run(["delete", "file_index", "-t", "log", "-y"])).out).toBe('File index of "home"."log" deleted successfully\n');
  expect(await run(["delete", "file_index", "-t", "log", "-y"])).toEqual({
    code: 1,
    out: "",
    error: "Delete command failed: server responded with error [404 Not Found]: table 'home.log' has no file index\n",
  });
  expect((await run(["create", "file_index", "--columns", "nope"])).error).toContain("no table of database 'home' has a column 'nope'");
  expect((await run(["delete", "file_index"], { input: "y\n" })).code).toBe(0);
});

test("backups are made, listed, restored and deleted after a question", async () => {
  const lines = (v: number) => run(["write", "-q", "-d", "kept"], { input: `m v=${v}i 1\n` });
  const value = async () => (await run(["query", "-d", "kept", "--format", "csv", "SELECT v FROM m"])).out;
  await run(["create", "database", "kept"]);
  await lines(1);
  const made = await run(["create", "backup", "monday"]);
  expect(made).toEqual({ code: 0, out: expect.stringMatching(/^Backup "monday" completed: \d+ files?, [\d.]+ MB\n$/), error: "" });
  const again = await run(["create", "backup", "--name", "monday"]);
  expect([again.code, again.error]).toEqual([1, expect.stringContaining("Create command failed: server responded with error [409")]);
  const next = await run(["create", "backup", "--type", "incremental", "--parent", "monday", "tuesday", "--no-wait"]);
  expect(next).toEqual({ code: 0, out: 'Backup "tuesday" has begun\n', error: "" });
  await lines(2);
  const restored = await run(["restore", "backup", "monday"]);
  expect([restored.code, restored.out]).toEqual([0, expect.stringMatching(/^Restore [0-9a-f-]{36} completed: /)]);
  expect(await value()).toBe("v\n1\n");
  const status = JSON.parse((await run(["status", "backup", "tuesday", "--format", "json"])).out) as object;
  expect(status).toEqual([expect.objectContaining({ name: "tuesday", type: "incremental", parent: "monday", status: "completed" })]);
  expect((await run(["show", "backups"])).out).toMatch(
    /^name +type +parent +status .*\ntuesday +incremental +monday +completed .*\nmonday +full +completed /,
  );
  const [{ restore: id }] = JSON.parse((await run(["show", "restore", "--format", "json"])).out) as [{ restore: string }];
  expect((await run(["status", "restore", id])).out).toContain(`${id}  monday  completed`);
  for (const [args, why] of [
    [["cancel", "backup", "monday"], "Cancel command failed: server responded with error [404"],
    [["cancel", "restore", id], "Cancel command failed: server responded with error [404"],
    [["restore", "backup", "nobody"], "Restore command failed: server responded with error [404"],
    [["create", "restore", "a/b"], "Restore command failed: server responded with error [400"],
  ] as const) {
    const failed = await run(args);
    expect([args, failed.code, failed.error]).toEqual([args, 1, expect.stringContaining(why)]);
  }
  expect(await run(["delete", "backup", "monday"], { input: "no\n" })).toMatchObject({ code: 1, out: "" });
  expect((await run(["delete", "backup", "monday", "--yes"])).out).toBe('Backup "monday" deleted successfully\n');
  expect((await run(["show", "backup"])).out).toBe("none\n");
  await run(["delete", "database", "kept", "--yes"]);
});

test("caches are made, listed and deleted", async () => {
  expect((await run(["create", "table", "air", "--tags", "site,mast", "--fields", "speed:float64,note:utf8"])).code).toBe(0);
  const last = await run(["create", "last_cache", "-t", "air", "--count", "5", "--ttl", "1h 30m", "newest"]);
  expect([last.code, last.error]).toEqual([0, ""]);
  expect(last.out).toMatch(
    /^new cache created: \{"catalog_batch":\{.*"CreateLastCache":\{.*"name":"newest".*"count":5,"ttl":5400\}.*\}\n$/,
  );
  const distinct = ["create", "distinct_cache", "--table", "air", "--columns", "mast, site", "--max-age", "30d", "--max-cardinality", "9"];
  expect((await run(distinct)).out).toContain('"cache_name":"air_mast_site_distinct_cache"');
  const again = { code: 0, out: "a cache already exists for the provided parameters\n", error: "" };
  expect(await run(distinct)).toEqual(again);
  expect(await run(["create", "last_cache", "newest", "-t", "air", "--count=5", "--ttl=90m"])).toEqual(again);
  const other = await run(["create", "last_cache", "newest", "-t", "air"]);
  expect([other.code, other.out]).toEqual([1, ""]);
  expect(other.error).toContain("Create command failed: server responded with error [400 Bad Request]: a last cache 'newest' of home.air");
  const some = [
    "create",
    "last_cache",
    "some",
    "-t",
    "air",
    "--key-columns",
    "note",
    "--value-columns",
    "speed",
    "--node-spec",
    "nodes:node0",
  ];
  expect((await run(some)).code).toBe(0);
  expect((await run(["create", "last_cache", "one", "-t", "air", "--key-columns", ""])).code).toBe(0);
  const list = `SELECT concat("table", '.', name, ' ', array_to_string(key_column_names, '+'), ' ', count, ' ', ttl) AS c
    FROM system.last_caches UNION ALL SELECT concat(name, ' ', array_to_string(column_names, '+'), ' ', max_cardinality, ' ', max_age_seconds)
    FROM system.distinct_caches ORDER BY c`;
  expect((await run(["query", "--format", "csv", list])).out.split("\n")).toEqual([
    "c",
    "air.newest site+mast 5 5400",
    "air.one  1 14400",
    "air.some note 1 14400",
    "air_mast_site_distinct_cache mast+site 9 2592000",
    "",
  ]);
  for (const name of ["newest", "one", "some"]) {
    expect((await run(["delete", "last_cache", name, "-t", "air"])).out).toBe("last cache deleted successfully\n");
  }
  const deletion = ["delete", "distinct_cache", "-t", "air", "air_mast_site_distinct_cache"];
  expect(await run(deletion)).toEqual({ code: 0, out: "distinct cache deleted successfully\n", error: "" });
  expect(await run(deletion)).toEqual({
    code: 1,
    out: "",
    error:
      "Delete command failed: server responded with error [404 Not Found]: " +
      "distinct cache not found: 'air_mast_site_distinct_cache' of home.air\n",
  });
});

test("tokens: for one database, from a file made offline, deleted", async () => {
  const made = await run(["create", "token", "--permission", "db:home:read;system:ping:read", "--name", "r", "--expiry", "1d"]);
  const reader = /^Token: (apiv3_\S+)$/m.exec(made.out)![1]!;
  expect(made.out).toContain(`HTTP Requests Header: Authorization: Bearer ${reader}`);
  expect((await run(["query", "SELECT 1", "--token", reader])).code).toBe(0);
  const refused = await run(["write", "a v=1", "--token", reader]);
  expect([refused.code, refused.error]).toEqual([
    1,
    "Write command failed: server responded with error [403 Forbidden]: unauthorized to perform requested action with the token\n",
  ]);
  expect((await run(["show", "tokens", "--format", "csv"])).out).toContain("db:home:read system:ping:read");
  expect((await run(["delete", "token", "--token-name", "r", "-y"])).out).toBe('Token "r" deleted successfully\n');
  const path = join(folder, "admin.json");
  expect((await run(["create", "token", "--admin", "--offline", "--output-file", path])).out).toContain(`Token saved to: ${path}`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const offline = (JSON.parse(readFileSync(path, "utf8")) as { token: string }).token;
  await using other = await TestServer.start({ withAuth: true, flags: ["--admin-token-file", path] });
  expect((await run(["show", "databases"], { environment: { TSDB_HOST_URL: other.url, TSDB_AUTH_TOKEN: offline } })).code).toBe(0);
});

test("the shell answers what comes, keeps on after errors, and completes nothing that is not there", async () => {
  const { code, out, error } = await run(["sql"], {
    input:
      "SELECT v\nFROM temp\nWHERE room = 'y';\nSELEKT 1;\n\\c _internal\n\\f csv\nSELECT count(*) AS n FROM system.databases WHERE database_name = 'home'; \\q\n",
  });
  // for the missing statement
  expect(code).toBe(1);
  expect(out).toContain("| 2 |");
  expect(out).toContain("n\n1\n");
  expect(error).toContain("server responded with error [400 Bad Request]");
});

test.each([
  ["no input", "", 0, ""],
  ["statements that succeed, and comments behind them", "SELECT 1 AS a; -- one\n/* two\n*/ SELECT 2 AS a;\n-- the end", 0, ""],
  ["a failing statement between others", "SELECT 1 AS a; SELECT nothing; SELECT 2 AS a;", 1, "400 Bad Request"],
  ["one without a semicolon that fails", "SELECT nothing", 1, "400 Bad Request"],
  ["a quote that does not end", "SELECT 'a;\n", 1, "the last statement does not end"],
  ["a comment that does not end, and a statement in front of it", "SELECT 1 AS a /* x;\n", 1, "the last statement does not end"],
  ["a command that there is not", "\\nothing\nSELECT 1 AS a;", 1, "unknown command \\nothing"],
  ["a format that there is not", "\\f xml\n", 1, "\\f is one of"],
  ["what comes behind \\q", "SELECT 1 AS a;\n\\q\nSELECT nothing;", 0, ""],
])("the shell's exit code: %s", async (_, input, code, message) => {
  const ran = await run(["sql"], { input: `\\t\n${input}` });
  expect([ran.code, ran.error]).toEqual([code, message === "" ? "" : expect.stringContaining(message)]);
});

test("tables of schema system: their names, one with chosen columns in a chosen order, the beginning of all", async () => {
  const lines = (await run(["show", "system", "--database", "home", "table-list", "--format", "csv"])).out.trimEnd().split("\n");
  expect(lines[0]).toBe("table_name,column_names");
  expect(lines).toContain("influxdb_schema,measurement key data_type");
  const listed = JSON.parse((await run(["show", "system", "table-list", "--format", "json"])).out) as { table_name: string }[];
  expect(listed.map(({ table_name }) => table_name)).toEqual(lines.slice(1).map((line) => line.split(",")[0]!));
  expect(listed[0]).toHaveProperty("column_names");
  expect((await run(["write", "-q", "sys,a=1,b=2 c=1,d=2i,e=3u,f=t 1"])).code).toBe(0);
  const schema = ["show", "system", "table", "influxdb_schema", "--format", "csv", "-s", "measurement,key"];
  const some = await run([...schema, "--order-by", "measurement desc,key desc", "--limit", "3"]);
  expect(some).toEqual({ code: 0, out: "measurement,key\ntemp,v\ntemp,time\ntemp,room\n", error: "" });
  const all = (await run([...schema, "-s", "data_type", "-o", "measurement", "-o", "key", "-l", "0"])).out.trimEnd().split("\n");
  expect(all[0]).toBe("measurement,key,data_type");
  expect(all.slice(1)).toEqual(all.slice(1).sort());
  expect(all.length).toBeGreaterThan(11);
  // ten rows unless more are asked for; statements the newest first
  const queries = JSON.parse((await run(["show", "system", "table", "system.queries", "--format", "json"])).out) as {
    issue_time: string;
  }[];
  expect(queries).toHaveLength(10);
  expect(queries.map((query) => query.issue_time)).toEqual(
    queries
      .map((query) => query.issue_time)
      .sort()
      .reverse(),
  );
  // lists are text in CSV
  expect((await run(["write", "-q", "last,a=1,b=2 c=1 1"])).code).toBe(0);
  expect((await run(["create", "last_cache", "-t", "last", "--key-columns", "a,b"])).code).toBe(0);
  const caches = ["show", "system", "table", "last_caches", "--format", "csv"];
  expect((await run([...caches, "-s", "key_column_names,table"])).out).toBe("key_column_names,table\na b,last\n");
  expect((await run(caches)).out).toMatch(/^table,name,key_column_ids,key_column_names,[a-z_,]+\nlast,\w+,\d+ \d+,a b,/);
  expect((await run(["show", "system", "summary", "--format", "csv"])).out).toContain("last_caches summary:\ntable,name,");
  const { out } = await run(["show", "system", "summary", "-l", "1"]);
  for (const { table_name } of listed) expect(out).toContain(`${table_name} summary:\n+--`);
  const whole = JSON.parse((await run(["show", "system", "summary", "-l", "2", "--format", "json"])).out) as Record<string, unknown[]>;
  expect(Object.keys(whole)).toEqual(listed.map(({ table_name }) => table_name));
  expect(whole["influxdb_schema"]).toHaveLength(2);
  const perLine = (await run(["show", "system", "summary", "--format", "jsonl"])).out.trimEnd().split("\n");
  expect(perLine.map((line) => (JSON.parse(line) as { table: string }).table)).toEqual(Object.keys(whole));
});

test("servers of the cluster are listed, marked as stopped, and removed", async () => {
  const state = async () => (JSON.parse((await run(["show", "nodes", "--format", "json"])).out) as { node_id: string; state: string }[])[0];
  expect(await state()).toMatchObject({ node_id: "node0", state: "running" });
  expect((await run(["stop", "node", "--node-id", "node0"])).out).toBe('Node "node0" marked as stopped successfully\n');
  expect(await state()).toMatchObject({ node_id: "node0", state: "stopped" });
  expect((await run(["remove", "node", "node0"])).out).toBe('Node "node0" removed successfully\n');
  expect(await state()).toBeUndefined();
});

test("options that name several things may be given several times", async () => {
  const made = await run(["create", "token", "--permission", "db:home:read", "--permission", "system:ping:read", "--name", "twice"]);
  expect(made.code).toBe(0);
  expect((await run(["show", "tokens", "--format", "csv"])).out).toContain("db:home:read system:ping:read");
  const table = await run(["create", "table", "several", "--tags", "a", "--tags", "b", "--fields", "x:int64", "--fields", "y:utf8"]);
  expect(table.code).toBe(0);
  const columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'several' ORDER BY column_name";
  expect((await run(["query", "--format", "csv", columns])).out).toBe("column_name\na\nb\ntime\nx\ny\n");
});

/** A server that ends the connection behind `text`. */
function breaking(text: string) {
  return Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        socket.write(text);
        socket.flush();
        socket.end();
      },
    },
  });
}

test("an answer that breaks off is a failure, and no half of it is left in a file", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ntransfer-encoding: chunked\r\n\r\n";
  using half = breaking(`${head}5\r\na\n1\n2\r\n`);
  using nothing = breaking("");
  const at = (port: number) => ({ environment: { TSDB_HOST_URL: `http://127.0.0.1:${port}` } });
  const broke = /^Query command failed: the answer broke off after [05] bytes: .*; the answer is incomplete\n$/;
  for (const format of ["csv", "pretty"]) {
    const { code, out, error } = await run(["query", "SELECT 1", "--format", format], at(half.port));
    expect([code, "a\n1\n2".startsWith(out), error]).toEqual([1, true, expect.stringMatching(broke)]);
  }
  const path = join(folder, "half.csv");
  const toFile = await run(["query", "SELECT 1", "--format", "csv", "-o", path], at(half.port));
  expect([toFile.code, toFile.error, existsSync(path)]).toEqual([1, expect.stringMatching(broke), false]);
  const tables = await run(["show", "tables"], at(half.port));
  expect([tables.code, tables.out, tables.error]).toEqual([1, "", expect.stringMatching(/^Show command failed: the connection broke: /)]);
  const never = await run(["query", "SELECT 1"], at(nothing.port));
  expect([never.code, never.error]).toEqual([1, expect.stringMatching(/^Query command failed: http:\S+ did not answer: /)]);
  const shell = await run(["sql"], { ...at(half.port), input: "SELECT 1;\n\\f json\n" });
  expect([shell.code, shell.error]).toEqual([1, expect.stringMatching(/^Sql command failed: the connection broke: /)]);
});

test("every command has a help, and options come from a file", async () => {
  expect((await run(["help", "create", "token"])).out).toStartWith("Usage: tsdb create token [options]");
  expect((await run(["write", "--help"])).out).toContain("--max-request-size SIZE");
  expect((await run(["--help"])).out).toContain("restore database");
  writeFileSync(join(folder, "tsdb.toml"), `[client]\nhost = "${runner.server.url}"\ntoken = "${runner.token}"\ndatabase = "home"\n`);
  const environment = { TSDB_HOST_URL: "", TSDB_AUTH_TOKEN: "", TSDB_DATABASE_NAME: "" };
  expect((await run(["query", "--format", "csv", "SELECT v FROM temp WHERE room = 'x'"], { environment })).out).toBe("v\n3\n");
  rmSync(join(folder, "tsdb.toml"));
  expect(existsSync(join(folder, ".local/state/tsdb/history"))).toBe(false);
});
