// Packages for plugins on a real server: installed from a wheel that is built here and served from loopback, into a virtual environment
// that the server makes, and imported by a plugin. What would be an option of the package manager is refused.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Server } from "bun";
import { pluginPython } from "../support/plugins/plugins.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(180_000);

const WHEEL = "seedpkg-1.2-py3-none-any.whl";
/** A wheel is a zip archive with a module and what is said of it. */
const MAKE_WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("seedpkg.py", "word = 'from the wheel'\\n")
    wheel.writestr("seedpkg-1.2.dist-info/METADATA", "Metadata-Version: 2.1\\nName: seedpkg\\nVersion: 1.2\\n")
    wheel.writestr("seedpkg-1.2.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("seedpkg-1.2.dist-info/RECORD", "")
`;

const python = pluginPython();
if (python !== null) {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-packages-"));
  const plugins = join(folder, "plugins");
  let index: Server<undefined>;
  let asked: string[] = [];
  let server: TestServer;

  beforeAll(async () => {
    expect(Bun.spawnSync([python, "-c", MAKE_WHEEL, join(folder, WHEEL)]).exitCode).toBe(0);
    index = Bun.serve({
      ...{ hostname: "127.0.0.1", port: 0 },
      fetch: ({ url }) => {
        const { pathname } = new URL(url);
        asked.push(pathname);
        if (pathname === "/simple/seedpkg/")
          return new Response(`<a href="/${WHEEL}">${WHEEL}</a>`, { headers: { "content-type": "text/html" } });
        return pathname === `/${WHEEL}` ? new Response(Bun.file(join(folder, WHEEL))) : new Response("none", { status: 404 });
      },
    });
    Bun.spawnSync(["mkdir", plugins]);
    writeFileSync(
      join(plugins, "uses.py"),
      "import seedpkg\ndef process_scheduled_call(local, when, args=None): local.info(seedpkg.word)\n",
    );
    writeFileSync(join(plugins, "wanted.txt"), "seedpkg>=1\n");
    server = await start("pip");
    await fetch(`${server.url}/api/v3/write_lp?db=d`, { method: "POST", body: "m v=1" });
  });
  afterAll(async () => {
    await server.dispose();
    await index.stop(true);
    rmSync(folder, { recursive: true });
  });

  function start(manager: string): Promise<TestServer> {
    const env = { ...(process.env as Record<string, string>), PIP_INDEX_URL: `${index.url}simple`, PIP_CACHE_DIR: join(folder, "cache") };
    return TestServer.start({ env, flags: ["--plugin-dir", plugins, "--package-manager", manager] });
  }

  async function send(path: string, body: unknown, url = server.url): Promise<{ status: number; text: string }> {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  }

  const install = (...packages: string[]) => send("/api/v3/configure/plugin_environment/install_packages", { packages });
  const requirements = (location: string) =>
    send("/api/v3/configure/plugin_environment/install_requirements", { requirements_location: location });
  const use = async () => JSON.parse((await send("/api/v3/plugin_test/schedule", { filename: "uses.py", database: "d" })).text);

  const OPTIONS = [
    "--index-url=http://127.0.0.1:1/",
    "-r/etc/passwd",
    "-e.",
    "--help",
    "seedpkg --index-url http://127.0.0.1:1/",
    "seedpkg\n--upgrade",
    " --upgrade",
    "./seedpkg",
    "/etc/passwd",
    "../plugins",
    "file:///etc/passwd",
    "git+file:///etc",
    "seedpkg @ file:///etc/passwd",
    "seedpkg; --pre",
    "",
    "seedpkg==1.2 --no-deps",
    "$(touch made)",
    "`id`",
    "seedpkg==1.2;rm",
    "x".repeat(600),
  ];
  test.each(OPTIONS)("%j is no package", async (name) => {
    const { status, text } = await install(name);
    expect([status, text.startsWith("not a package: ")]).toEqual([400, true]);
    expect(existsSync(join(plugins, ".venv"))).toBe(false);
  });

  test("none, too many and no list are refused", async () => {
    expect((await install()).status).toBe(400);
    expect((await install(...Array.from({ length: 101 }, (_, i) => `p${i}`))).status).toBe(400);
    expect((await send("/api/v3/configure/plugin_environment/install_packages", { packages: "seedpkg" })).status).toBe(400);
  });

  test.each(["../x.txt", "none.txt", "/nonexistent/x", "-r", "a\nb", "", "."])("%j is no requirements file", async (location) => {
    expect((await requirements(location)).status).toBe(400);
  });

  test("a package is installed into the environment of plugins, and found by the next run", async () => {
    expect((await use()).errors[0]).toContain("ModuleNotFoundError: No module named 'seedpkg'");
    expect(await install("seedpkg==1.2")).toEqual({ status: 200, text: "" });
    expect(asked).toContain(`/${WHEEL}`);
    expect(existsSync(join(plugins, ".venv/bin/python"))).toBe(true);
    expect((await use()).log_lines).toEqual(["INFO: from the wheel"]);
  });

  test("a requirements file, relative and absolute", async () => {
    expect(await requirements("wanted.txt")).toEqual({ status: 200, text: "" });
    expect(await requirements(join(plugins, "wanted.txt"))).toEqual({ status: 200, text: "" });
  });

  test("what fails is answered with the output of the package manager", async () => {
    asked = [];
    const { status, text } = await install("nosuchpackage");
    expect(status).toBe(400);
    expect(text).toContain("No matching distribution found for nosuchpackage");
    expect(asked).toEqual(["/simple/nosuchpackage/"]);
  });

  /** The real one if there is one; else a script with the same arguments that has pip do the work. */
  const STAND_IN = `#!/bin/sh
case "$1 $2" in
  "venv --python") [ $# = 4 ] && exec "$3" -m venv "$4" ;;
  "pip install") [ "$3" = --python ] && py="$4" && shift 4 && exec "$py" -m pip --no-input install "$@" ;;
esac
echo "unexpected arguments: $*" >&2
exit 2
`;

  test.each(["uv", "discover"])("uv makes the environment and installs (--package-manager %s)", async (manager) => {
    const own = join(folder, `with-${manager}`);
    const bin = join(own, "bin");
    Bun.spawnSync(["mkdir", "-p", bin, join(own, "plugins")]);
    const real = Bun.which("uv");
    if (real === null) {
      writeFileSync(join(bin, "uv"), STAND_IN);
      chmodSync(join(bin, "uv"), 0o755);
    }
    copyFileSync(join(plugins, "uses.py"), join(own, "plugins/uses.py"));
    writeFileSync(join(own, "plugins/wanted.txt"), "seedpkg>=1\n");
    const address = `${index.url}simple`;
    await using other = await TestServer.start({
      env: {
        ...(process.env as Record<string, string>),
        ...{ PATH: `${bin}:${process.env["PATH"]}`, UV_DEFAULT_INDEX: address, PIP_INDEX_URL: address },
        ...{ UV_CACHE_DIR: join(own, "cache"), PIP_CACHE_DIR: join(own, "cache") },
      },
      flags: ["--plugin-dir", join(own, "plugins"), "--package-manager", manager],
    });
    await fetch(`${other.url}/api/v3/write_lp?db=d`, { method: "POST", body: "m v=1" });
    const environment = "/api/v3/configure/plugin_environment";
    expect(await send(`${environment}/install_packages`, { packages: ["seedpkg==1.2"] }, other.url)).toEqual({ status: 200, text: "" });
    expect(await send(`${environment}/install_requirements`, { requirements_location: "wanted.txt" }, other.url)).toEqual({
      status: 200,
      text: "",
    });
    const used = await send("/api/v3/plugin_test/schedule", { filename: "uses.py", database: "d" }, other.url);
    expect(JSON.parse(used.text).log_lines).toEqual(["INFO: from the wheel"]);
    const failed = await send(`${environment}/install_packages`, { packages: ["nosuchpackage"] }, other.url);
    expect([failed.status, failed.text]).toEqual([400, expect.stringContaining("nosuchpackage")]);
    await other.untilOutput(new RegExp(`"${real ?? join(bin, "uv")} pip install --python `));
  });

  test("uv is asked for and not there", async () => {
    if (Bun.which("uv") !== null) return;
    const other = await start("uv");
    const path = "/api/v3/configure/plugin_environment/install_packages";
    const answer = await send(path, { packages: ["seedpkg"] }, other.url);
    await other.dispose();
    expect(answer).toEqual({ status: 400, text: "there is no uv on the PATH (--package-manager uv)" });
  });
}
