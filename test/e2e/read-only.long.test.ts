// --read-only: rows of files and of the log are served from a folder in which nothing changes, also from a disk that takes nothing; without
// the flag such a disk is one line and exit code 2.
import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { plainEnvironment, TestServer } from "../support/servers/server.ts";
import { SmallDisk } from "../support/storage/small-disk.ts";

const STATEMENT = "SELECT host, v FROM t ORDER BY time";
const ROWS = [1, 2, 3, 4].map((v) => ({ host: "a", v }));

/** A folder with rows in a file and in the log, whose last group is torn, as a killed server leaves it. */
async function dataFolder(): Promise<{ server: TestServer; dataDir: string }> {
  const server = await TestServer.start();
  const write = async (lines: string) => {
    const response = await fetch(`${server.url}/api/v3/write_lp?db=d`, { method: "POST", body: lines });
    expect([response.status, await response.text()]).toEqual([204, ""]);
  };
  await write("t,host=a v=1 1\nt,host=a v=2 2");
  await server.restart();
  await write("t,host=a v=3 3");
  await write("t,host=a v=4 4");
  await server.kill("SIGKILL");
  return { server, dataDir: server.dataDir };
}

/** Every file with its bytes and times; but for the empty journal that a killed server's lock has left, which any other lock removes. */
function contentOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith("-journal"))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${statSync(path).mtimeMs} ${Bun.hash(readFileSync(path))}`;
    })
    .sort();
}

const reader = (dataDir: string) => TestServer.start({ dataDir, flags: ["--read-only"] });

/** What a server prints that does not start, and its exit code. */
async function refusal(dataDir: string, ...flags: string[]): Promise<{ code: number; lines: string[] }> {
  const command = [...PROGRAM, "serve", "--data-dir", dataDir, "--without-auth", "--http-bind", "127.0.0.1:0"];
  const child = Bun.spawn([...command, "--flight-bind", "none", "--v2-http-bind", "off", ...flags], {
    stdout: "pipe",
    stderr: "pipe",
    env: plainEnvironment(),
  });
  const [code, out, err] = await Promise.all([child.exited, new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code, lines: `${out}${err}`.trim().split("\n") };
}

test("reads are served, everything else is 403, and no file changes", async () => {
  const { server, dataDir } = await dataFolder();
  try {
    const before = contentOf(dataDir);
    {
      await using first = await reader(dataDir);
      await using second = await reader(dataDir); // readers do not exclude each other
      for (const each of [first, second]) expect(await each.sql("d", STATEMENT)).toEqual(ROWS);
      expect(await first.sql("d", "SELECT count(*) AS n FROM t WHERE host = 'a'")).toEqual([{ n: 4 }]);
      const CHANGES: [method: string, target: string, body?: unknown][] = [
        ["POST", "/api/v3/write_lp?db=d"],
        ["POST", "/api/v3/write_lp?db=other"],
        ["POST", "/write?db=d"],
        ["POST", "/api/v2/write?bucket=d"],
        ["POST", "/api/v3/configure/database", { db: "new" }],
        ["DELETE", "/api/v3/configure/database?db=d"],
        ["POST", "/api/v3/configure/table", { db: "d", table: "new", tags: ["x"], fields: [] }],
        ["DELETE", "/api/v3/configure/table?db=d&table=t"],
        ["POST", "/api/v3/configure/last_cache", { db: "d", table: "t" }],
        ["POST", `/query?db=d&q=${encodeURIComponent("DELETE FROM t")}`],
        ["POST", `/query?q=${encodeURIComponent("CREATE DATABASE new")}`],
      ];
      for (const [method, target, body] of CHANGES) {
        const isWrite = target.includes("write");
        const response = await fetch(first.url + target, {
          method,
          body: isWrite ? "t,host=a v=5 5" : body === undefined ? null : JSON.stringify(body),
          headers: isWrite || body === undefined ? {} : { "content-type": "application/json" },
        });
        const text = await response.text();
        expect(text, target).toContain("--read-only");
        // the v1 language answers 200 with an error in the result
        expect(target.startsWith("/query") ? [200, 403] : [403], `${target}: ${text}`).toContain(response.status);
      }
      expect((await fetch(`${first.url}/health`)).status).toBe(200);
      expect(await first.sql("d", STATEMENT)).toEqual(ROWS);
      expect(first.output).toContain("writes nothing into the data folder");
      const writer = await refusal(dataDir);
      expect([writer.code, writer.lines.at(-1)]).toEqual([2, `tsdb: data folder ${dataDir} is in use by another server`]);
      expect(await first.stop()).toBe(0);
      await second.kill("SIGKILL");
    }
    expect(contentOf(dataDir)).toEqual(before);
    await server.restart();
    expect(await server.sql("d", STATEMENT)).toEqual(ROWS);
    const late = await refusal(dataDir, "--read-only");
    expect([late.code, late.lines.at(-1)]).toEqual([2, `tsdb: data folder ${dataDir} is in use by another server`]);
  } finally {
    await server.dispose();
  }
}, 120_000);

test("a folder that is not there, or has no data, is one line", async () => {
  const missing = await refusal("/nowhere/data", "--read-only");
  expect(missing).toEqual({ code: 2, lines: ["tsdb: --read-only: there is no data folder /nowhere/data"] });
  const empty = await refusal(import.meta.dir, "--read-only");
  expect([empty.code, empty.lines.at(-1)]).toEqual([2, "tsdb: --read-only: there is no data under node0/catalog in the data folder"]);
}, 60_000);

test("--read-only serves from a disk mounted read-only", async () => {
  using disk = SmallDisk.mount(16 << 20);
  if (disk === null) {
    console.log("read-only.long.test.ts: no tmpfs can be mounted here, so none can be made read-only");
    return;
  }
  const { server, dataDir: source } = await dataFolder();
  const dataDir = join(disk.path, "data");
  cpSync(source, dataDir, { recursive: true, preserveTimestamps: true });
  await server.dispose();
  expect(disk.setReadOnly(true)).toBe(true);
  const refused = await refusal(dataDir);
  expect(refused.code).toBe(2);
  expect(refused.lines).toEqual([expect.stringMatching(/^tsdb: --data-dir: nothing can be written into .*EROFS.*--read-only/)]);
  {
    await using read = await reader(dataDir);
    expect(await read.sql("d", STATEMENT)).toEqual(ROWS);
    const sorted = await read.sql("d", "SELECT a.v FROM t a, t b, t c ORDER BY a.v, b.v, c.v");
    expect(sorted.length).toBe(64);
    expect(await read.stop()).toBe(0);
  }
  expect(disk.setReadOnly(false)).toBe(true);
  rmSync(dataDir, { recursive: true });
}, 120_000);
