// Mistakes in client commands: each a process that ends with the exit code and the message that say so.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { CommandRunner, type RunOptions } from "./command-runner.ts";

setDefaultTimeout(60_000);

let runner: CommandRunner;
beforeAll(async () => {
  runner = await CommandRunner.start();
  expect((await run(["create", "database", "home"])).code).toBe(0);
});
afterAll(() => runner.dispose());

const run = (args: readonly string[], options?: RunOptions) => runner.run(args, options);

test.each<[args: string[], error: RegExp]>([
  [["create", "last_cache"], /--table is needed: -t NAME/],
  [["create", "distinct_cache", "-t", "air"], /--columns is needed/],
  [["create", "last_cache", "-t", "air", "--count", "many"], /--count must be a whole number, got "many"/],
  [["create", "last_cache", "-t", "air", "--ttl", "soon"], /--ttl: invalid duration 'soon'/],
  [["create", "last_cache", "-t", "air", "--ttl", "1500ms"], /--ttl: must be whole seconds, got "1500ms"/],
  [["delete", "last_cache", "-t", "air"], /NAME is missing/],
])("%j is refused before a server is asked", async (args, error) => {
  const ran = await run(args, { environment: { TSDB_HOST_URL: "http://127.0.0.1:1" } });
  expect([ran.code, ran.out]).toEqual([2, ""]);
  expect(ran.error).toMatch(error);
});

const MISTAKES: [args: string[], code: number, error: string | RegExp, environment?: Record<string, string>][] = [
  [["query"], 1, /^Query command failed: server responded with error \[400/],
  [["query", "SELECT nothing"], 1, /^Query command failed: server responded with error \[400 Bad Request\]: /],
  [["query", "-d", "nowhere", "SELECT 1"], 1, /\[404 Not Found\]: query error: database not found: nowhere/],
  [["query", "SELECT 1", "--format", "xml"], 2, /--format must be pretty, json/],
  [["query", "SELECT 1", "-l", "sparql"], 2, /--language must be sql, influxql or flux/],
  [["query", "SELECT 1", "--hots", "x"], 2, /unknown option --hots; did you mean --host\?/],
  [["query", "SELECT 1"], 2, /--database is needed: -d NAME/, { TSDB_DATABASE_NAME: "" }],
  [["query", "SELECT 1"], 1, /no server at http:\/\/127\.0\.0\.1:1: .*--host names another one/, { TSDB_HOST_URL: "http://127.0.0.1:1" }],
  [["query", "SELECT 1"], 2, /--host: "here" is no URL/, { TSDB_HOST_URL: "here" }],
  [["query", "SELECT 1"], 1, /\[401 Unauthorized\].*no token was sent; use --token or TSDB_AUTH_TOKEN/, { TSDB_AUTH_TOKEN: "" }],
  [["query", "SELECT 1"], 1, /\[401 Unauthorized\].*the token that was sent is not valid/, { TSDB_AUTH_TOKEN: "x" }],
  [["write", "-f", "/nowhere/x"], 2, /--file: .*\/nowhere\/x/],
  [["write", "a v=1", "--max-request-size", "tiny"], 2, /--max-request-size: cannot read "tiny"/],
  [["write", "a v=1", "--max-concurrent-requests", "0"], 2, /must be a whole number from 1 to 256/],
  [["write", "nonsense"], 1, /line 1: .*nonsense/],
  [
    ["create", "database", "home"],
    1,
    /^Create command failed: server responded with error \[409 Conflict\]: attempted to create a resource/,
  ],
  [["create", "database", "a b"], 1, /\[400 Bad Request\]: invalid character in database or rp name/],
  [["create", "database"], 2, /NAME is missing/],
  [["create", "table", "t", "--fields", "a"], 2, /--fields: "a" has no type/],
  [["create", "token"], 2, /either --admin or --permission is needed/],
  [["create", "token", "--permission", "db:x"], 2, /--permission: cannot read "db:x" as a permission; write db:NAMES:ACTIONS or system/],
  [
    ["create", "token", "--permission", "db:x:raed", "--name", "n"],
    2,
    /unknown action "raed".*; write db:NAMES:ACTIONS or system:NAMES:read/,
  ],
  [["create", "token", "--permission", "db:x:read;", "--name", "n"], 2, /cannot read "" as a permission/],
  [["create", "token", "--permission", "*:*:*", "--name", "n"], 2, /is everything; use --admin/],
  [["create", "token", "--permission", "db:x:read"], 2, /--name is needed/],
  [["show", "system"], 2, /WHAT is missing/],
  [["show", "system", "tabel"], 2, /WHAT must be table-list or table or summary, got "tabel"; did you mean table\?/],
  [["show", "system", "table"], 2, /which table\? tsdb show system table NAME/],
  [["show", "system", "summary", "queries"], 2, /unexpected argument "queries"/],
  [["show", "system", "summary", "-o", "a"], 2, /--order-by is for one table/],
  [["show", "system", "summary", "--format", "parquet"], 2, /a summary has several/],
  [["show", "system", "table", "queries", "-l", "few"], 2, /--limit must be a whole number, 0 for all rows, got "few"/],
  [["show", "system", "table", "nothing"], 1, /^Show command failed: server responded with error \[400 Bad Request\]: .*nothing/],
  [["show", "system", "table", "queries", "-s", "nothing"], 1, /\[400 Bad Request\]: .*nothing/],
  [["stop", "node", "nobody"], 1, /^Stop command failed: server responded with error \[404 Not Found\]/],
  [["stop", "node"], 2, /--node-id is needed/],
  [["delete", "token", "nobody", "-y"], 1, /\[404 Not Found\]: token not found: nobody/],
  [["delete"], 2, /delete what\? database, table, last_cache, distinct_cache, file_index, backup, restore, rows, trigger, token, user/],
  [["completions", "csh"], 2, /unknown shell "csh"/],
];

test.each(MISTAKES)("%j ends with exit code %p", async (args, code, error, environment = {}) => {
  const ran = await run(args, { environment });
  expect([ran.code, ran.error]).toEqual([code, typeof error === "string" ? error : expect.stringMatching(error)]);
});
