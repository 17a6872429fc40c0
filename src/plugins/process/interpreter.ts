// Which Python runs plugins: that of the virtual environment if there is one, else the one that --python names, or python3.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { TsdbError } from "../../model/errors.ts";

/** The oldest that the host's code, and the documentation, know. */
const VERSION_MIN = [3, 9] as const;
const PROBE = "import sys; print(*sys.version_info[:2], sys.implementation.name, sys.executable)";
const PROBE_MS = 20_000;

export interface InterpreterOptions {
  /** --python; null: python3 of the PATH. */
  readonly python: string | null;
  /** --virtual-env-location, VIRTUAL_ENV, or below the plugins' folder. It need not exist. */
  readonly virtualEnv: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface FoundPython {
  /** What the operating system starts. */
  readonly path: string;
  readonly version: string;
}

export class Interpreter {
  private found: Promise<FoundPython> | undefined;

  constructor(private readonly options: InterpreterOptions) {}

  get virtualEnv(): string {
    return this.options.virtualEnv;
  }

  /** Of the virtual environment, whether it exists or not. */
  get virtualPython(): string {
    return pythonOf(this.options.virtualEnv);
  }

  get hasVirtualEnv(): boolean {
    return existsSync(this.virtualPython);
  }

  /** @throws TsdbError plugin: there is none, or it is too old; says what to install */
  find(): Promise<FoundPython> {
    if (this.found === undefined) {
      const found = this.hasVirtualEnv ? this.probe(this.virtualPython, false) : this.base();
      found.catch(() => this.forget()); // it may be installed while the server runs
      this.found = found;
    }
    return this.found;
  }

  /** The one that virtual environments are made with. @throws TsdbError plugin */
  base(): Promise<FoundPython> {
    return this.probe(this.options.python ?? "python3", true);
  }

  /** The virtual environment was made or removed. */
  forget(): void {
    this.found = undefined;
  }

  /** `resolves`: the executable itself takes the place of what stands for it, as the scripts of version managers, which take longer to
   *  start. Not for virtual environments: Python knows them by the path that it is started by. */
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
