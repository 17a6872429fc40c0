// Finds the Python for plugins: the virtual environment's if it exists, otherwise --python, or python3.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { TsdbError } from "../../model/errors.ts";

/** Minimum version, as documented. */
const VERSION_MIN = [3, 9] as const;
const PROBE = "import sys; print(*sys.version_info[:2], sys.implementation.name, sys.executable)";
const PROBE_MS = 20_000;

export interface InterpreterOptions {
  /** --python; null: python3 of the PATH. */
  readonly python: string | null;
  /** --virtual-env-location, VIRTUAL_ENV, or a folder in the plugin directory. It may not exist. */
  readonly virtualEnv: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface FoundPython {
  /** Path of the executable. */
  readonly path: string;
  readonly version: string;
}

/** Finds and checks the Python interpreter. */
export class Interpreter {
  private found: Promise<FoundPython> | undefined;

  constructor(private readonly options: InterpreterOptions) {}

  get virtualEnv(): string {
    return this.options.virtualEnv;
  }

  /** Python of the virtual environment, which may not exist. */
  get virtualPython(): string {
    return pythonOf(this.options.virtualEnv);
  }

  get hasVirtualEnv(): boolean {
    return existsSync(this.virtualPython);
  }

  /** @throws TsdbError plugin if none is found or it is too old; the message says what to install */
  find(): Promise<FoundPython> {
    if (this.found === undefined) {
      const found = this.hasVirtualEnv ? this.probe(this.virtualPython, false) : this.base();
      found.catch(() => this.forget()); // it may be installed while the server runs
      this.found = found;
    }
    return this.found;
  }

  /** The Python that creates virtual environments. @throws TsdbError plugin */
  base(): Promise<FoundPython> {
    return this.probe(this.options.python ?? "python3", true);
  }

  /** Call it when the virtual environment was created or removed. */
  forget(): void {
    this.found = undefined;
  }

  /** `resolves`: replaces wrapper scripts of version managers, which start slowly, by the executable itself. Not for virtual
   *  environments: Python recognizes them by the path of its executable. */
  private async probe(name: string, resolves: boolean): Promise<FoundPython> {
    const path = Bun.which(name, { PATH: this.options.environment["PATH"] ?? "" });
    if (path === null) throw missing(this.options.python === null ? "there is no python3 on the PATH" : `there is no ${name} (--python)`);
    const child = Bun.spawn([path, "-I", "-c", PROBE], {
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: PROBE_MS, env: { ...this.options.environment } },
    });
    const [text, errorText] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const [, major, minor, kind, executable] = /^(\d+) (\d+) (\S+) (.+)\n$/.exec(text) ?? [];
    if ((await child.exited) !== 0 || major === undefined) {
      throw missing(`${path} cannot be started: ${errorText.trim().split("\n").at(-1)?.slice(0, 200) ?? "no answer"}`);
    }
    const version = `${major}.${minor}`;
    const isOld = Number(major) < VERSION_MIN[0] || (Number(major) === VERSION_MIN[0] && Number(minor) < VERSION_MIN[1]);
    if (isOld || kind !== "cpython") throw missing(`${path} is ${kind} ${version}`);
    return { path: resolves ? executable! : path, version };
  }
}

function pythonOf(virtualEnv: string): string {
  return process.platform === "win32" ? join(virtualEnv, "Scripts", "python.exe") : join(virtualEnv, "bin", "python");
}

function missing(what: string): TsdbError {
  const wanted = `CPython ${VERSION_MIN.join(".")} or later`;
  const advice = "install it (on Debian and Ubuntu: apt install python3 python3-venv), or name one by --python";
  return new TsdbError("plugin", `Plugin error: plugins need ${wanted}, and ${what}; ${advice}`);
}
