// Plugins come to a server: by the command line from files and folders, and by `gh:` from a server of the test.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginPython } from "../support/plugins/plugins.ts";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

/** Answers requests with a text. */
const answers = (text: string) => `def process_request(local, query, headers, body, args=None):\n    return "${text}"\n`;

if (pluginPython() !== null) {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-upload-"));
  const plugins = join(folder, "plugins");
  const remote: Record<string, string | Response> = {};
  let isDown = false;
  const asked: string[] = [];
  const repository = Bun.serve({
    ...{ hostname: "127.0.0.1", port: 0 },
    fetch: ({ url }) => {
      const { pathname } = new URL(url);
      asked.push(pathname);
      const found = remote[pathname];
      if (isDown) return new Response("down", { status: 503 });
      if (found instanceof Response) return found.clone();
      return found === undefined ? new Response("none", { status: 404 }) : new Response(found);
    },
  });
  let server: TestServer;

  beforeAll(async () => {
    mkdirSync(plugins);
    server = await TestServer.start({ flags: ["--plugin-dir", plugins, "--plugin-repo", `${repository.url}main/`] });
    await fetch(`${server.url}/api/v3/write_lp?db=d`, { method: "POST", body: "m v=1" });
  });
  afterAll(async () => {
    await server.dispose();
    await repository.stop(true);
    rmSync(folder, { recursive: true });
  });

  /** Files of this machine, below the folder of the test. */
  function place(files: Readonly<Record<string, string>>): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
  }

  async function tsdb(...args: string[]): Promise<{ exit: number; text: string }> {
    const child = Bun.spawn([...PROGRAM, ...args, "--host", server.url, "--database", "d"], {
      ...{ cwd: folder, stdout: "pipe", stderr: "pipe" },
    });
    const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { exit: await child.exited, text: out + error };
  }

  const create = (name: string, path: string, ...more: string[]) =>
    tsdb("create", "trigger", name, "--trigger-spec", `request:${name}`, "--path", path, ...more);
  const ask = async (path: string) => (await fetch(`${server.url}/api/v3/engine/${path}`)).text();

  describe("--upload", () => {
    test("of a file, by a path of several parts", async () => {
      place({ "here/there/one.py": answers("one") });
      expect(await create("one", "here/there/one.py", "--upload")).toEqual({ exit: 0, text: "Trigger one created successfully\n" });
      expect(await ask("one")).toBe("one");
      expect(readFileSync(join(plugins, "one.py"), "utf8")).toBe(answers("one"));
    });

    test("of a folder with modules and folders of its own, without what Python and others left there", async () => {
      place({
        "many/__init__.py": "from .words import say\nfrom .deep.more import end\ndef process_request(local, *rest): return say() + end\n",
        "many/words.py": "def say(): return 'hello'\n",
        "many/deep/__init__.py": "",
        "many/deep/more.py": "end = '!'\n",
        "many/__pycache__/words.cpython-311.pyc": "no text",
        "many/.git/config": "secret",
        "many/.env": "secret",
      });
      expect((await create("many", "many/", "--upload")).exit).toBe(0);
      expect(await ask("many")).toBe("hello!");
      const sent = readdirSync(join(plugins, "many"), { recursive: true }).map(String);
      expect(sent.filter((path) => !path.includes("__pycache__")).sort()).toEqual([
        ...["__init__.py", "deep", "deep/__init__.py", "deep/more.py", "words.py"],
      ]);
    });

    test("of the folder that one is in", async () => {
      place({ "within/__init__.py": answers("within") });
      const child = Bun.spawn(
        [
          ...PROGRAM,
          "create",
          "trigger",
          "within",
          "-d",
          "d",
          "--trigger-spec",
          "request:within",
          "--path",
          ".",
          "--upload",
          "--host",
          server.url,
        ],
        { cwd: join(folder, "within"), stdout: "pipe", stderr: "pipe" },
      );
      expect(await child.exited).toBe(0);
      expect(await ask("within")).toBe("within");
    });

    test("again: other content replaces what is there, for triggers that run too", async () => {
      expect((await create("again", "many", "--upload")).exit).toBe(0);
      place({ "many/words.py": "def say(): return 'other'\n" });
      expect((await create("third", "many", "--upload")).exit).toBe(0);
      expect([await ask("third"), await ask("many")]).toEqual(["other!", "other!"]);
    });

    test("of what is no plugin is refused before anything is sent", async () => {
      place({ "empty/readme.txt": "nothing" });
      expect(await create("empty", "empty", "--upload")).toMatchObject({ exit: 2, text: expect.stringContaining("has no __init__.py") });
      expect(existsSync(join(plugins, "empty"))).toBe(false);
      expect(await create("none", "none.py", "--upload")).toMatchObject({ exit: 2, text: expect.stringContaining("cannot read none.py") });
    });
  });

  describe("update trigger", () => {
    test("replaces a file, and the trigger runs the new one", async () => {
      place({ "new.py": answers("new one") });
      expect(await tsdb("update", "trigger", "--trigger-name", "one", "--path", "new.py")).toEqual({
        ...{ exit: 0, text: "Trigger one updated successfully\n" },
      });
      expect(await ask("one")).toBe("new one");
    });

    test("replaces a folder as a whole: files that are not in the new one are gone", async () => {
      place({ "next/__init__.py": "from .only import x\ndef process_request(local, *rest): return x\n", "next/only.py": "x = 'next'\n" });
      expect((await tsdb("update", "trigger", "--trigger-name", "many", "--path", "next")).exit).toBe(0);
      expect(await ask("many")).toBe("next");
      const left = readdirSync(join(plugins, "many"), { recursive: true }).map(String);
      expect(left.filter((path) => !path.includes("__pycache__")).sort()).toEqual(["__init__.py", "only.py"]);
      // a second trigger of the folder too
      expect(await ask("again")).toBe("next");
    });

    test("a file in place of a folder, a folder in place of a file, no such trigger", async () => {
      const update = (name: string, path: string) => tsdb("update", "trigger", "--trigger-name", name, "--path", path);
      expect(await update("many", "new.py")).toMatchObject({ exit: 1, text: expect.stringContaining("many is a folder") });
      expect(await update("one", "next")).toMatchObject({ exit: 1, text: expect.stringContaining("one.py is a file") });
      expect(await update("nobody", "new.py")).toMatchObject({ exit: 1, text: expect.stringContaining("plugin not found: nobody") });
      expect(await update("many", "empty")).toMatchObject({ exit: 2, text: expect.stringContaining("has no __init__.py") });
      expect([await ask("one"), await ask("many")]).toEqual(["new one", "next"]);
    });
  });

  describe("gh:", () => {
    test("is downloaded when the trigger is made, and kept for when the repository is down", async () => {
      remote["/main/some/way/far.py"] = answers("far");
      expect((await create("far", "gh:some/way/far.py")).exit).toBe(0);
      expect(await ask("far")).toBe("far");
      expect(asked).toContain("/main/some/way/far.py");
      isDown = true;
      expect((await create("far2", "gh:some/way/far.py")).exit).toBe(0);
      isDown = false;
      expect(await ask("far2")).toBe("far");
      await server.untilOutput(/a plugin is used as it was downloaded before.*503/);
      // and after a restart
      await server.stop();
      await server.restart();
      expect(await ask("far")).toBe("far");
    });

    test("a new version comes with the next trigger, and those that run take it", async () => {
      remote["/main/some/way/far.py"] = answers("farther");
      expect((await create("far3", "gh:some/way/far.py")).exit).toBe(0);
      expect([await ask("far3"), await ask("far")]).toEqual(["farther", "farther"]);
    });

    test("characters of a path are encoded, redirects followed", async () => {
      remote["/main/a%20b%3F/x.py"] = answers("encoded");
      remote["/main/moved.py"] = Response.redirect(`${repository.url}main/a%20b%3F/x.py`);
      expect((await create("encoded", "gh:a b?/x.py")).exit).toBe(0);
      expect((await create("moved", "gh:moved.py")).exit).toBe(0);
      expect([await ask("encoded"), await ask("moved")]).toEqual(["encoded", "encoded"]);
    });

    const BAD: [path: string, text: string][] = [
      ["gh:none.py", "the answer is 404"],
      ["gh:../secret.py", "not a path below the plugin directory"],
      ["gh:/secret.py", "not a path below the plugin directory"],
      ["gh:", "not a path below the plugin directory"],
      ["gh:folder", "does not end with .py"],
      ["gh:large.py", "the file has more than 4194304 bytes"],
      ["gh:html.py", "cannot be used: line 1"],
      ["gh:loop.py", "redirect"],
    ];
    test.each(BAD)("%s: %s", async (path, text) => {
      remote["/main/large.py"] = "x".repeat(5 << 20);
      remote["/main/html.py"] = "<html>";
      remote["/main/loop.py"] = Response.redirect(`${repository.url}main/loop.py`);
      const { exit, text: found } = await create("bad", path);
      expect([exit, found]).toEqual([1, expect.stringContaining(text)]);
      expect(asked.every((one) => one.startsWith("/main/"))).toBe(true);
    });

    test("is not replaced by an upload", async () => {
      const { exit, text } = await tsdb("update", "trigger", "--trigger-name", "far", "--path", "new.py");
      expect([exit, text]).toEqual([1, expect.stringContaining("comes from a repository")]);
    });
  });
}
