// Which files a plugin is: finding it, loading it, and loading it anew after a change.
import { afterAll, describe, expect, test } from "bun:test";
import { rmSync, symlinkSync, utimesSync } from "node:fs";
import { PluginBench, type PluginRun, pluginPython } from "../../test/support/plugins/plugins.ts";
import { PluginFiles } from "./files/plugin-files.ts";
import type { PluginRepository } from "./files/plugin-repository.ts";
import type { PluginPayload } from "./plugin-call.ts";
import { SourceCheck } from "./process/source-check.ts";

const REQUEST: PluginPayload = { kind: "request", query: {}, headers: {}, body: new Uint8Array() };
const requested = (body: string) => `def process_request(local, query, headers, body, args=None):\n${body.replace(/^/gm, "    ")}\n`;
const decode = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

if (pluginPython() !== null) {
  const bench = new PluginBench();
  afterAll(() => bench.close());
  let plugins = 0;
  /** Runs a plugin for schedules. */
  const run = (source: string): Promise<PluginRun> =>
    bench.run(bench.plugin(`plugin_${plugins++}.py`, source), { kind: "schedule", timeMs: 0 });

  describe("loading", () => {
    const answer = async (plugin: string) => decode((await bench.run(plugin, REQUEST)).outcome.response?.body);

    test("a changed file is reloaded, also within the same second; the cache remains", async () => {
      const source = (word: string) => requested(`n = local.cache.get('n', 0) + 1\nlocal.cache.put('n', n)\nreturn f'${word} {n}'`);
      const plugin = bench.plugin("changing.py", source("one"));
      utimesSync(plugin, 1000, 1000);
      expect(await answer(plugin)).toBe("one 1");
      bench.plugin("changing.py", source("two"));
      utimesSync(plugin, 1000, 1000.5);
      expect(await answer(plugin)).toBe("two 2");
    });

    test("a folder, its modules by relative and absolute import, and a change of one", async () => {
      bench.plugin("pack/__init__.py", `from .one import word\nfrom pack.sub.two import other\n${requested("return word + other")}`);
      bench.plugin("pack/one.py", "word = 'a'\n");
      bench.plugin("pack/sub/__init__.py", "");
      bench.plugin("pack/sub/two.py", "other = 'b'\n");
      const folder = `${bench.folder}/pack`;
      expect(await answer(folder)).toBe("ab");
      bench.plugin("pack/sub/two.py", "other = 'changed'\n");
      expect(await answer(folder)).toBe("achanged");
    });

    test("a module that a run imports is loaded anew after a change, also after a change while it was loaded", async () => {
      bench.plugin("lazy/late.py", "word = 'one'\n");
      const folder = bench.plugin("lazy/__init__.py", requested("from .late import word\nreturn word")).replace("/__init__.py", "");
      expect(await answer(folder)).toBe("one");
      bench.plugin("lazy/late.py", "word = 'changed'\n");
      expect(await answer(folder)).toBe("changed");
      bench.plugin("slow/fast.py", "word = 'one'\n");
      const change = `from .fast import word\nopen(__file__.replace("__init__", "fast"), "w").write("word = 'written meanwhile'")\n`;
      bench.plugin("slow/__init__.py", `${change}${requested("return word")}`);
      expect(await answer(`${bench.folder}/slow`)).toBe("one");
      expect(await answer(`${bench.folder}/slow`)).toBe("written meanwhile");
    });

    test("a folder that is not there when its process begins: the run can be made later, and succeeds once it is", async () => {
      const folder = `${bench.folder}/replaced`;
      const caller = { kind: "trigger", database: "db", trigger: "replaced", runAsync: false } as const;
      const { outcome } = await bench.run(folder, REQUEST, { caller });
      expect(outcome.failure).toMatchObject({ kind: "no-python", message: `there is no ${folder}` });
      bench.plugin("replaced/__init__.py", requested("return 'there'"));
      const again = await bench.run(folder, REQUEST, { caller });
      expect(decode(again.outcome.response?.body)).toBe("there");
    });

    test("a module beside the plugin; the name of a library stays the library's", async () => {
      bench.plugin("helper.py", "word = 'help'\n");
      expect(await answer(bench.plugin("json.py", `import json, helper\n${requested("return json.dumps([helper.word])")}`))).toBe(
        '["help"]',
      );
    });

    test("a plugin that cannot be loaded reports the line, and runs once it is corrected", async () => {
      const plugin = bench.plugin("broken.py", "def process_request(:\n");
      const broken = (await bench.run(plugin, REQUEST)).outcome.failure!;
      expect(broken).toMatchObject({ kind: "exception", message: "SyntaxError: invalid syntax" });
      expect(broken.traceback).toContain("broken.py");
      bench.plugin("broken.py", requested("return 'ok'"));
      expect(await answer(plugin)).toBe("ok");
    });

    test("a traceback begins with the plugin's own frames", async () => {
      const { outcome } = await run("def inner():\n  raise KeyError('k')\ndef process_scheduled_call(l, w, a=None):\n  inner()\n");
      expect(outcome.failure!.message).toBe("KeyError: 'k'");
      expect(outcome.failure!.traceback).not.toContain("<tsdb");
      expect(outcome.failure!.traceback).toContain("in inner");
      const missing = (await run("import nosuchmodule\n")).outcome.failure!;
      expect(missing.message).toBe("ModuleNotFoundError: No module named 'nosuchmodule'");
      expect(missing.traceback).toMatch(/^Traceback \(most recent call last\):\n {2}File "\S+\.py", line 1, in <module>\n/);
    });

    test("without the entry point", async () => {
      expect((await run("x = 1\n")).outcome.failure!.message).toEndWith("defines no function process_scheduled_call");
    });
  });

  describe("locate", () => {
    const REFUSED: [name: string, source: string | null, message: string][] = [
      ["gone.py", null, "Plugin error: the plugin gone.py is not in the plugin directory"],
      ["other.txt", "x", "Plugin error: the plugin other.txt is no file that ends with .py"],
      ["wrong.py", "def process_writes(a, b): pass", "Plugin error: wrong.py cannot be used: it defines no function process_request"],
      ["syntax.py", "def f(:", "Plugin error: syntax.py cannot be used: line 1: invalid syntax"],
      ["bytes.py", "x = '\0'", "Plugin error: bytes.py cannot be used:"],
    ];
    test.each(REFUSED)("%s", async (name, source, message) => {
      if (source !== null) bench.plugin(name, source);
      const error = await bench.runtime.locate(name, "request").catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ kind: "plugin" });
      expect((error as Error).message).toStartWith(message);
    });

    test("an absolute path below the plugin directory, also through a link to it; none outside", async () => {
      const path = bench.plugin("fine/absolute.py", requested("pass"));
      const link = `${bench.folder}.link`;
      symlinkSync(bench.folder, link);
      const linked = new PluginFiles(link, { repository: {} as PluginRepository, check: new SourceCheck(bench.interpreter) });
      try {
        for (const name of ["fine/absolute.py", path, `${link}/fine/absolute.py`]) {
          expect(await linked.locate(name, "request")).toBe(path);
          expect(linked.pathOf(name)).toBe(path);
        }
        expect(bench.runtime.pathOf(path)).toBe(path);
        for (const name of [
          "/etc/passwd",
          bench.folder,
          `${bench.folder}/../x.py`,
          `${bench.folder}/.venv/x.py`,
          `${bench.folder}x/y.py`,
        ]) {
          expect(await linked.locate(name, "request").catch((thrown: unknown) => thrown)).toMatchObject({ kind: "bad_request" });
        }
      } finally {
        rmSync(link);
      }
    });

    test("what is found, without running any of it", async () => {
      const path = bench.plugin("fine/one.py", `import os\nos._exit(3)\n${requested("pass")}`);
      expect(await bench.runtime.locate("fine/one.py", "request")).toEndWith("/fine/one.py");
      expect(bench.runtime.pathOf("fine/one.py")).toEndWith(path.slice(bench.folder.length));
      bench.plugin("imported.py", "from helper import process_request\n");
      expect(await bench.runtime.locate("imported.py", "request")).toEndWith("imported.py");
    });
  });
}
