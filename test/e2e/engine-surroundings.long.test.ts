// What surrounds the processing engine, on real servers with real Python: which Python, tokens, nodes, deleted databases, limits of
// asynchronous triggers, the command line, and plugins that misbehave while others run.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginPython } from "../support/plugins/plugins.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const PLUGINS: Readonly<Record<string, string>> = {
  "where.py": `
import sys
def process_request(local, query, headers, body, args=None):
    return {"prefix": sys.prefix, "executable": sys.executable, "headers": headers}
`,
  "own.py": `
def process_request(local, query, headers, body, args=None):
    local.write_sync(LineBuilder("made").int64_field("v", 1).time_ns(1), False)
    return local.query("SELECT v FROM made") + local.query("SELECT v FROM other", database="second")
`,
  "slow.py": `
import os, time
def process_request(local, query, headers, body, args=None):
    began = time.time()
    with open("begun " + args["together"], "a") as file: file.write("x")
    while os.path.getsize("begun " + args["together"]) < int(args["together"]): time.sleep(0.005)
    time.sleep(0.05)
    return [began, time.time()]
`,
  "count.py": `
def process_writes(local, batches, args=None):
    for batch in batches:
        if batch["table_name"] == "m":
            local.write(LineBuilder("counted").int64_field("rows", len(batch["rows"])))
`,
  "bad.py": `
import os, time
def process_writes(local, batches, args=None):
    how = args["how"]
    if how == "loop":
        while True: pass
    if how == "memory":
        kept = []
        while True: kept.append(bytearray(16 << 20))
    if how == "exit": os._exit(3)
    if how == "garbage":
        for fd in range(3, 64):
            try: os.write(fd, b"garbage")
            except OSError: pass
        time.sleep(60)
    if how == "raise": raise ValueError("no such thing")
`,
};

import { PROGRAM } from "../support/servers/program.ts";

if (pluginPython() !== null) {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-surroundings-"));
  const plugins = join(folder, "plugins");
  let server: TestServer;
  beforeAll(async () => {
    mkdirSync(plugins);
    for (const [name, text] of Object.entries(PLUGINS)) writeFileSync(join(plugins, name), text);
    server = await start("--plugin-time-limit", "3s", "--plugin-mem-limit", "100mb", "--async-trigger-concurrency-limit", "2");
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true });
  });

  const start = (...flags: string[]) => TestServer.start({ flags: ["--plugin-dir", plugins, ...flags] });

  interface Over {
    readonly at?: TestServer;
    readonly token?: string;
    readonly [field: string]: unknown;
  }

  async function create(db: string, name: string, spec: string, plugin: string, { at = server, token = "", ...over }: Over = {}) {
    const body = { db, trigger_name: name, trigger_specification: spec, plugin_filename: plugin, disabled: false };
    const response = await fetch(`${at.url}/api/v3/configure/processing_engine_trigger`, {
      ...{ method: "POST", headers: { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) } },
      body: JSON.stringify({ ...body, trigger_settings: { run_async: false, error_behavior: "log" }, ...over }),
    });
    return { status: response.status, text: await response.text() };
  }

  const OK = { status: 200, text: "" };

  async function write(db: string, lines: string, at = server): Promise<void> {
    expect((await fetch(`${at.url}/api/v3/write_lp?db=${db}`, { method: "POST", body: lines })).status).toBe(204);
  }

  async function until<T>(ask: () => Promise<T>, isWanted: (found: T) => boolean): Promise<T> {
    for (const endMs = performance.now() + 30_000; ; await Bun.sleep(10)) {
      const found = await ask();
      if (isWanted(found)) return found;
      if (performance.now() > endMs) throw new Error(`it stayed ${JSON.stringify(found)}`);
    }
  }

  const triggersOf = async (db: string) =>
    (
      await server.sql<{ trigger_name: string }>(db, "SELECT trigger_name FROM system.processing_engine_triggers ORDER BY trigger_name")
    ).map((row) => row.trigger_name);
  const counted = async () => (await server.sql<{ n: number }>("d", "SELECT count(*) AS n FROM counted").catch(() => []))[0]?.n ?? 0;

  describe("Python", () => {
    const where = async (at: TestServer) => {
      await write("d", "m v=1i 1", at);
      expect(await create("d", "where", "request:where", "where.py", { at })).toEqual(OK);
      return (await (await fetch(`${at.url}/api/v3/engine/where`)).json()) as { prefix: string; executable: string };
    };

    test("none: the server serves, and creating a trigger says what to install", async () => {
      const empty = join(folder, "empty");
      mkdirSync(empty);
      await using at = await TestServer.start({ flags: ["--plugin-dir", plugins], env: { PATH: empty } });
      await write("d", "m v=1i 1", at);
      expect(await at.sql("d", "SELECT v FROM m")).toEqual([{ v: 1 }]);
      expect(await create("d", "t", "all_tables", "count.py", { at })).toEqual({
        ...{ status: 500, text: expect.stringMatching(/there is no python3 on the PATH; install it \(on Debian/) },
      });
    });

    test("the one of --python", async () => {
      const own = join(folder, "own-python");
      writeFileSync(own, `#!/bin/sh\nexec ${pluginPython()} "$@"\n`);
      chmodSync(own, 0o755);
      await using at = await TestServer.start({ flags: ["--plugin-dir", plugins, "--python", own], env: { PATH: "/bin:/usr/bin" } });
      expect((await where(at)).executable).not.toBe("");
      await using none = await TestServer.start({ flags: ["--plugin-dir", plugins, "--python", join(folder, "none")] });
      await write("d", "m v=1i 1", none);
      expect((await create("d", "t", "all_tables", "count.py", { at: none })).text).toContain("(--python)");
    });

    test("that of VIRTUAL_ENV, and that of --virtual-env-location before it", async () => {
      const [first, second] = ["first", "second"].map((name) => join(folder, name)) as [string, string];
      for (const path of [first, second]) expect(Bun.spawnSync([pluginPython()!, "-m", "venv", "--without-pip", path]).exitCode).toBe(0);
      const env = { ...(process.env as Record<string, string>), VIRTUAL_ENV: first };
      await using one = await TestServer.start({ flags: ["--plugin-dir", plugins], env });
      expect((await where(one)).prefix).toBe(first);
      await using other = await TestServer.start({ flags: ["--plugin-dir", plugins, "--virtual-env-location", second], env });
      expect((await where(other)).prefix).toBe(second);
    });
  });

  test("with tokens: plugins query and write without one, requests need one, and no plugin sees it", async () => {
    await using at = await TestServer.start({ withAuth: true, flags: ["--plugin-dir", plugins] });
    const made = (await (await fetch(`${at.url}/api/v3/configure/token/admin`, { method: "POST" })).json()) as { token: string };
    const { token } = made;
    const authorization = `Bearer ${token}`;
    for (const [db, line] of [
      ["d", "m v=1i 1"],
      ["second", "other v=2i 1"],
    ] as const) {
      const answer = await fetch(`${at.url}/api/v3/write_lp?db=${db}`, { method: "POST", body: line, headers: { authorization } });
      expect(answer.status).toBe(204);
    }
    expect((await create("d", "own", "request:own", "own.py", { at })).status).toBe(401);
    expect(await create("d", "own", "request:own", "own.py", { at, token })).toEqual(OK);
    expect(await create("d", "where", "request:where", "where.py", { at, token })).toEqual(OK);
    expect((await fetch(`${at.url}/api/v3/engine/own`)).status).toBe(401);
    const answer = await fetch(`${at.url}/api/v3/engine/own`, { headers: { authorization } });
    expect([answer.status, await answer.json()]).toEqual([200, [{ v: 1 }, { v: 2 }]]);
    const seen = await (await fetch(`${at.url}/api/v3/engine/where`, { headers: { authorization, "x-own": "1" } })).text();
    expect(seen).toContain("x-own");
    expect(seen).not.toContain(token);
    expect(seen).not.toContain("authorization");
  });

  test("node_spec: a trigger of this server runs, one of an unknown server is refused", async () => {
    await using at = await start("--node-id", "here", "--edition", "enterprise");
    await write("d", "m v=1i 1", at);
    expect(await create("d", "mine", "request:mine", "where.py", { at, node_spec: "nodes:here" })).toEqual(OK);
    expect((await fetch(`${at.url}/api/v3/engine/mine`)).status).toBe(200);
    expect(await create("d", "other", "request:other", "where.py", { at, node_spec: "nodes:there" })).toEqual({
      ...{ status: 404, text: expect.stringContaining("node not found: there") },
    });
  });

  test("triggers stay with data_only=true, go with their database, and come back with it", async () => {
    await write("gone", "m v=1i 1");
    expect(await create("gone", "where", "request:gone", "where.py")).toEqual(OK);
    const remove = (query: string) => fetch(`${server.url}/api/v3/configure/database?db=gone${query}`, { method: "DELETE" });
    const asked = async () => (await fetch(`${server.url}/api/v3/engine/gone`)).status;
    expect((await remove("&data_only=true")).status).toBe(200);
    expect([await triggersOf("gone"), await asked()]).toEqual([["where"], 200]);
    expect((await remove("")).status).toBe(200);
    expect(await asked()).toBe(404);
    const body = JSON.stringify({ db: "gone" });
    const headers = { "content-type": "application/json" };
    expect((await fetch(`${server.url}/api/v3/configure/database/restore`, { method: "POST", headers, body })).status).toBe(200);
    expect([await triggersOf("gone"), await asked()]).toEqual([["where"], 200]);
  });

  test("asynchronous runs overlap up to --async-trigger-concurrency-limit", async () => {
    await write("d", "m v=1i 1");
    const most = async (path: string) => {
      const times = await Promise.all(
        Array.from({ length: 6 }, async () => (await fetch(`${server.url}/api/v3/engine/${path}`)).json() as Promise<[number, number]>),
      );
      return Math.max(...times.map(([began]) => times.filter(([from, to]) => from <= began && began < to).length));
    };
    // a run waits until as many as `together` have begun
    expect(await create("d", "one", "request:one", "slow.py", { trigger_arguments: { together: "1" } })).toEqual(OK);
    const both = { trigger_settings: { run_async: true, error_behavior: "log" }, trigger_arguments: { together: "2" } };
    expect(await create("d", "both", "request:both", "slow.py", both)).toEqual(OK);
    expect([await most("one"), await most("both")]).toEqual([1, 2]);
  });

  const BAD: [how: string, log: RegExp][] = [
    ["loop", /the run took longer than 3 s \(--plugin-time-limit\)/],
    ["memory", /MemoryError|more than 95 MiB \(--plugin-mem-limit\)/],
    ["exit", /the plugin's process ended with exit code 3 during a run/],
    ["garbage", /bytes that are no frame/],
    ["raise", /ValueError: no such thing/],
  ];
  test.each(BAD)("a plugin with %s: the log says what happened, and another trigger of the table is called", async (how, log) => {
    await write("d", "m v=1i 1");
    await create("d", "count", "table:m", "count.py");
    expect(await create("d", how, "table:m", "bad.py", { trigger_arguments: { how } })).toEqual(OK);
    const before = await counted();
    await write("d", "m v=2i 2");
    await until(counted, (now) => now > before);
    const lines = () =>
      server.sql<{ log_text: string }>(
        "d",
        `SELECT log_text FROM system.processing_engine_logs WHERE trigger_name = '${how}' AND log_level = 'ERROR'`,
      );
    const [{ log_text } = { log_text: "" }] = await until(lines, (found) => found.length > 0);
    expect(log_text).toMatch(log);
    expect(server.output).toMatch(log);
    const query = `db=d&trigger_name=${how}&force=true`;
    expect((await fetch(`${server.url}/api/v3/configure/processing_engine_trigger?${query}`, { method: "DELETE" })).status).toBe(200);
  });

  test("system.plugin_files has the files of triggers' plugins", async () => {
    await write("d", "m v=1i 1");
    mkdirSync(join(plugins, "sub/pack/deep"), { recursive: true });
    for (const path of ["sub/one.py", "sub/pack/__init__.py"]) writeFileSync(join(plugins, path), PLUGINS["where.py"]!);
    writeFileSync(join(plugins, "sub/pack/deep/more.py"), "");
    // a path of several parts, a folder with a slash at its end
    expect(await create("d", "files", "request:files", "sub/one.py")).toEqual(OK);
    expect(await create("d", "folder", "request:folder", "sub/pack/")).toEqual(OK);
    const rows = await server.sql(
      "_internal",
      "SELECT plugin_name, file_name, file_path, size_bytes FROM system.plugin_files WHERE plugin_name IN ('files', 'folder') ORDER BY 1, 2",
    );
    const bytes = PLUGINS["where.py"]!.length;
    expect(rows).toEqual([
      { plugin_name: "files", file_name: "sub/one.py", file_path: join(plugins, "sub/one.py"), size_bytes: bytes },
      { plugin_name: "folder", file_name: "__init__.py", file_path: join(plugins, "sub/pack/__init__.py"), size_bytes: bytes },
      { plugin_name: "folder", file_name: "deep/more.py", file_path: join(plugins, "sub/pack/deep/more.py"), size_bytes: 0 },
    ]);
    expect((await fetch(`${server.url}/api/v3/engine/folder`)).status).toBe(200);
  });

  test("the command line makes, disables, enables, lists and deletes triggers", async () => {
    await write("cli", "m v=1i 1");
    const tsdb = async (...args: string[]) => {
      const child = Bun.spawn([...PROGRAM, ...args, "--host", server.url], { stdout: "pipe", stderr: "pipe" });
      const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
      return `${await child.exited} ${out}${error}`;
    };
    const at = ["--database", "cli"];
    const isDisabled = async () =>
      (await server.sql<{ disabled: boolean }>("cli", "SELECT disabled FROM system.processing_engine_triggers"))[0]?.disabled;
    const options = ["--trigger-spec", "cron:0 0 6 * * 1-5", "--path", "../plugins/none.py", "--disabled"];
    expect(await tsdb("create", "trigger", "t", ...at, ...options)).toMatch(/^1 .*not a path below the plugin directory/);
    expect(await tsdb("create", "trigger", "t", ...at, "--trigger-spec", "every:2y", "--path", "count.py")).toMatch(/^2 /);
    const made = [
      "--trigger-spec",
      "all_tables",
      "--path",
      "count.py",
      "--error-behavior",
      "Retry",
      "--trigger-arguments",
      "a=1,b=two",
      "--disabled",
    ];
    expect(await tsdb("create", "trigger", "t", ...at, ...made)).toBe("0 Trigger t created successfully\n");
    expect(await isDisabled()).toBe(true);
    expect(
      await server.sql("cli", "SELECT argument_key, argument_value FROM system.processing_engine_trigger_arguments ORDER BY 1"),
    ).toEqual([
      { argument_key: "a", argument_value: "1" },
      { argument_key: "b", argument_value: "two" },
    ]);
    expect(await tsdb("enable", "trigger", "t", ...at)).toBe("0 Trigger t enabled successfully\n");
    expect(await isDisabled()).toBe(false);
    expect(await tsdb("show", "plugins")).toMatch(/count\.py/);
    expect(await tsdb("disable", "trigger", "t", ...at)).toBe("0 Trigger t disabled successfully\n");
    expect(await isDisabled()).toBe(true);
    expect(await tsdb("delete", "trigger", "t", ...at)).toBe("0 Trigger t deleted successfully\n");
    expect(await triggersOf("cli")).toEqual([]);
    expect(await tsdb("delete", "trigger", "t", ...at)).toMatch(/^1 .*404 Not Found/);
  });
}
