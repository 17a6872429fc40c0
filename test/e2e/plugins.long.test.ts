// The routes of plugins on a real server: files, dry runs, and what is refused. Packages: plugin-packages.long.test.ts.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginPython } from "../support/plugins/plugins.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "tsdb-plugin-dir-"));
const outside = mkdtempSync(join(tmpdir(), "tsdb-outside-"));
let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ flags: ["--plugin-dir", folder, "--plugin-time-limit", "2s", "--package-manager", "disabled"] });
  await fetch(`${server.url}/api/v3/write_lp?db=d&precision=ns`, {
    method: "POST",
    body: "cpu,host=a v=1.5,ok=t 1736899200000000001\ncpu v=2 2",
  });
});
afterAll(async () => {
  await server.dispose();
  for (const path of [folder, outside]) rmSync(path, { recursive: true });
});

async function send(method: string, path: string, body: unknown, url = server.url): Promise<{ status: number; text: string }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

const create = (name: string, content: string) => send("POST", "/api/v3/plugins/files", { plugin_name: name, content });
const OK = { status: 200, text: "" };

describe("files", () => {
  test("are created, in folders too, and replaced", async () => {
    expect(await create("a.py", "x = 1\n")).toEqual(OK);
    expect(await create("deep/er/b.py", "x = 2\n")).toEqual(OK);
    expect(await create("noending", "x = 3\n")).toEqual(OK);
    expect(readFileSync(join(folder, "a.py"), "utf8")).toBe("x = 1\n");
    expect(readFileSync(join(folder, "deep/er/b.py"), "utf8")).toBe("x = 2\n");
    expect(existsSync(join(folder, "noending.py"))).toBe(true);
    expect(await create("a.py", "x = 1\n")).toEqual(OK);
    const { ino } = statSync(join(folder, "a.py"));
    expect(await create("a.py", "x = 1\n")).toEqual(OK);
    expect(statSync(join(folder, "a.py")).ino).toBe(ino);
    expect(await create("a.py", "x = 4\n")).toEqual(OK);
    expect(readFileSync(join(folder, "a.py"), "utf8")).toBe("x = 4\n");
    mkdirSync(join(folder, "folder.py"));
    expect(await create("folder.py", "x = 5\n")).toEqual({ status: 500, text: "Plugin error: folder.py is a folder" });
    // of none of them a part is left
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
  });

  const ESCAPES = [
    "../x.py",
    "a/../../x.py",
    "/tmp/x.py",
    "",
    ".",
    "..",
    ".hidden.py",
    "a/.git/x.py",
    "a//b.py",
    "a\\..\\b.py",
    "a\0.py",
    "c:x.py",
    "a\n.py",
  ];
  test.each([...ESCAPES, "x".repeat(300), "a/".repeat(600)])("%j leads nowhere", async (name) => {
    const { status, text } = await create(name, "x");
    expect([status, text.startsWith("not a path below the plugin directory")]).toEqual([400, true]);
  });

  test("not through links that lead out, also dangling ones", async () => {
    symlinkSync(outside, join(folder, "link"));
    symlinkSync(join(outside, "made.py"), join(folder, "dangling.py"));
    for (const name of ["link/x.py", "dangling.py"]) expect((await create(name, "x")).status).toBe(400);
    expect(existsSync(join(outside, "x.py"))).toBe(false);
    expect(existsSync(join(outside, "made.py"))).toBe(false);
  });

  test.each([[{}], [{ plugin_name: 5, content: "" }], [{ plugin_name: "x.py" }], [{ plugin_name: "x.py", content: null }], [[]]])(
    "%j is no body",
    async (body) => {
      expect((await send("POST", "/api/v3/plugins/files", body)).status).toBe(400);
    },
  );
});

test("packages are not installed when that is disabled", async () => {
  const disabled = { status: 403, text: "Package installation has been disabled. Contact your administrator for more information." };
  expect(await send("POST", "/api/v3/configure/plugin_environment/install_packages", { packages: ["x"] })).toEqual(disabled);
  expect(await send("POST", "/api/v3/configure/plugin_environment/install_requirements", { requirements_location: "x" })).toEqual(disabled);
});

test("a server without --plugin-dir says so", async () => {
  const other = await TestServer.start();
  const off = "Plugin error: Node not configured with plugin directory";
  try {
    const answers = await Promise.all([
      send("POST", "/api/v3/plugins/files", { plugin_name: "x.py", content: "" }, other.url),
      send("POST", "/api/v3/configure/plugin_environment/install_packages", { packages: ["x"] }, other.url),
      send("POST", "/api/v3/plugin_test/wal", { filename: "x.py", database: "d", input_lp: "m v=1" }, other.url),
    ]);
    expect(answers.map(({ status, text }) => `${status} ${text}`)).toEqual([500, 500, 404].map((status) => `${status} ${off}`));
  } finally {
    await other.dispose();
  }
});

if (pluginPython() !== null) {
  const WRITES = `
def process_writes(tsdb_local, table_batches, args=None):
    for batch in table_batches:
        tsdb_local.info(batch["table_name"], batch["rows"], args)
    tsdb_local.warn(tsdb_local.query("SELECT time, host, v, ok FROM cpu WHERE v > $least ORDER BY v", {"least": 1}))
    tsdb_local.write(LineBuilder("out").tag("t", "x").int64_field("n", 1).time_ns(5))
    tsdb_local.write_to_db("other", LineBuilder("out").float64_field("f", 2))
    if args and "fail" in args: raise ValueError("asked to")
`;
  const wal = (body: object) => send("POST", "/api/v3/plugin_test/wal", { filename: "w.py", database: "d", ...body });

  describe("dry runs", () => {
    beforeAll(() => {
      mkdirSync(join(folder, "bad"), { recursive: true });
      writeFileSync(join(folder, "w.py"), WRITES);
      writeFileSync(join(folder, "loop.py"), "def process_writes(l, b, a=None):\n  while True: pass\n");
      writeFileSync(
        join(folder, "s.py"),
        "def process_scheduled_call(local, when, args=None):\n  n = local.cache.get('n', 0) + 1\n  local.cache.put('n', n)\n  local.info(n, type(when).__name__)\n",
      );
    });

    test("of writes: rows, a query of the database, what would be written", async () => {
      const { status, text } = await wal({
        input_lp: 'm,a=x,b=y f=1.5,i=2i,s="t",u=3u,t=true 7\nm,a=z f=2 8',
        input_arguments: { k: "v" },
      });
      expect(status).toBe(200);
      expect(JSON.parse(text)).toEqual({
        log_lines: [
          "INFO: m [{'a': 'x', 'b': 'y', 'f': 1.5, 'i': 2, 's': 't', 'u': 3, 't': True, 'time': 7}, {'a': 'z', 'b': None, 'f': 2.0, 'i': None, 's': None, 'u': None, 't': None, 'time': 8}] {'k': 'v'}",
          "WARN: [{'time': 1736899200000000001, 'host': 'a', 'v': 1.5, 'ok': True}, {'time': 2, 'host': None, 'v': 2.0, 'ok': None}]",
        ],
        database_writes: { d: ["out,t=x n=1i 5"], other: ["out f=2.0"] },
        errors: [],
      });
      const tables = await send("POST", "/api/v3/query_sql", { db: "d", q: "SHOW TABLES", format: "json" });
      expect(tables.text).not.toContain('"out"');
    });

    test("that raise: log lines and the error, no writes", async () => {
      const { log_lines, database_writes, errors } = JSON.parse((await wal({ input_lp: "m f=1", input_arguments: { fail: "" } })).text);
      expect([log_lines.length, database_writes]).toEqual([2, {}]);
      expect(errors).toEqual([expect.stringMatching(/^Traceback[\s\S]*w\.py[\s\S]*ValueError: asked to$/)]);
    });

    test("that never end", async () => {
      const { status, text } = await wal({ filename: "loop.py", input_lp: "m f=1" });
      expect(status).toBe(200);
      expect(JSON.parse(text).errors[0]).toContain("KeyboardInterrupt");
    });

    test("of schedules: caches by name", async () => {
      const run = async (body: object) =>
        JSON.parse((await send("POST", "/api/v3/plugin_test/schedule", { filename: "s.py", database: "d", ...body })).text);
      expect(await run({ cache_name: "one", schedule: "0 0 0 1 1 *" })).toEqual({
        trigger_time: `${new Date().getUTCFullYear() + 1}-01-01T00:00:00Z`,
        ...{ log_lines: ["INFO: 1 datetime"], database_writes: {}, errors: [] },
      });
      expect((await run({ cache_name: "one" })).log_lines).toEqual(["INFO: 2 datetime"]);
      expect((await run({})).log_lines).toEqual(["INFO: 1 datetime"]);
    });

    const REFUSED: [body: object, status: number, text: string][] = [
      [{ input_lp: "" }, 400, "input_lp has no lines"],
      [{ input_lp: "m f=1\nm f" }, 400, "input_lp: line 2: "],
      [{ input_lp: "m f=1", database: "none" }, 404, "the requested resource was not found: none"],
      [{ input_lp: "m f=1", filename: "none.py" }, 404, "Plugin error: the plugin none.py is not in the plugin directory"],
      [{ input_lp: "m f=1", filename: "../w.py" }, 400, "not a path below the plugin directory"],
      [{ input_lp: "m f=1", filename: "bad" }, 400, "Plugin error: the folder bad has no __init__.py"],
      [{ input_lp: "m f=1", filename: "s.py" }, 400, "Plugin error: s.py cannot be used: it defines no function process_writes"],
      [{ input_lp: "m f=1", filename: "gh:examples/none.txt" }, 400, "Plugin error: gh:examples/none.txt does not end with .py"],
      [{ input_lp: "m f=1", input_arguments: { a: 1 } }, 400, "serde json error: "],
    ];
    test.each(REFUSED)("%j: %p", async (body, status, text) => {
      const answer = await wal(body);
      expect([answer.status, answer.text.slice(0, text.length)]).toEqual([status, text]);
    });
  });

  test("the command line runs them, and says what a server refuses", async () => {
    const tsdb = async (...args: string[]) => {
      const child = Bun.spawn([...PROGRAM, ...args, "--host", server.url], {
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      return { exit: await child.exited, out, error };
    };
    const wal = await tsdb("test", "wal_plugin", "w.py", "-d", "d", "--lp", "m f=1 1", "--input-arguments", "a=1,b=x y");
    expect([wal.exit, wal.error]).toEqual([0, ""]);
    expect(JSON.parse(wal.out)).toMatchObject({
      log_lines: ["INFO: m [{'f': 1.0, 'time': 1}] {'a': '1', 'b': 'x y'}", expect.any(String)],
    });
    const schedule = await tsdb("test", "schedule_plugin", "s.py", "-d", "d", "--schedule", "every:1h", "--cache-name", "cli");
    expect(JSON.parse(schedule.out)).toMatchObject({ trigger_time: expect.stringMatching(/:00:00Z$/), log_lines: ["INFO: 1 datetime"] });
    const install = await tsdb("install", "package", "one", "two>=1");
    expect([install.exit, install.error.trim()]).toEqual([
      1,
      "Install command failed: server responded with error [403 Forbidden]: Package installation has been disabled. Contact your administrator for more information.",
    ]);
    for (const wrong of [
      ["test", "wal_plugin", "w.py", "-d", "d"],
      ["install", "package"],
      ["install", "package", "a", "-r", "b"],
    ]) {
      expect((await tsdb(...wrong)).exit).toBe(2);
    }
  });
}
