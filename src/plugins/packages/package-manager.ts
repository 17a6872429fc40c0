// Installs packages into the virtual environment of plugins, which it makes when it is first needed: by uv if there is one, else by pip.
import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { TsdbError } from "../../model/errors.ts";
import { pathBelow } from "../files/plugin-path.ts";
import type { Interpreter } from "../process/interpreter.ts";
import { checkPackages } from "./package-names.ts";

export const PACKAGE_MANAGERS = ["discover", "pip", "uv", "disabled"] as const;
export type PackageManagerName = (typeof PACKAGE_MANAGERS)[number];

export interface PackageManagerOptions {
  readonly manager: PackageManagerName;
  readonly interpreter: Interpreter;
  /** The plugin directory; relative requirements files are resolved against it. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The environment has changed: running processes must be replaced. */
  readonly onInstalled: () => void;
  readonly onCommand: (command: readonly string[]) => void;
}

const INSTALL_MS = 15 * 60_000;
const OUTPUT_MAX = 16 << 10;
const DISABLED = "Package installation has been disabled. Contact your administrator for more information.";

/** Installs packages; one installation at a time. */
export class PackageManager {
  /** Installations run one at a time, because they change the same folder. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: PackageManagerOptions) {}

  /** @throws TsdbError forbidden if installation is disabled; bad_request for an invalid specifier, or with the output of a failed
   *  installation; plugin without Python */
  async install(packages: readonly string[]): Promise<void> {
    this.requireEnabled();
    // arguments after -- are not parsed as options
    await this.inTurn(["--", ...checkPackages(packages)]);
  }

  /** @throws as `install` */
  async installRequirements(location: string): Promise<void> {
    this.requireEnabled();
    await this.inTurn(["-r", await this.requirementsFile(location)]);
  }

  private requireEnabled(): void {
    if (this.options.manager === "disabled") throw new TsdbError("forbidden", DISABLED, { asText: true });
  }

  private async requirementsFile(location: string): Promise<string> {
    if (/\p{Cc}/u.test(location)) throw new TsdbError("bad_request", "the path of a requirements file has no control characters");
    const path = isAbsolute(location) ? await realpath(location).catch(() => location) : await pathBelow(this.options.folder, location);
    const found = await stat(path).catch(() => null);
    if (found?.isFile() === true) return path;
    throw new TsdbError("bad_request", `there is no requirements file ${JSON.stringify(location.slice(0, 200))}`);
  }

  private inTurn(what: readonly string[]): Promise<void> {
    const turn = this.last.then(() => this.run(what));
    this.last = turn.catch(() => {});
    return turn;
  }

  private async run(what: readonly string[]): Promise<void> {
    const { interpreter, manager, environment, folder } = this.options;
    const uv = manager === "pip" ? null : Bun.which("uv", { PATH: environment["PATH"] ?? "" });
    if (uv === null && manager === "uv") throw new TsdbError("bad_request", "there is no uv on the PATH (--package-manager uv)");
    try {
      if (!interpreter.hasVirtualEnv) await this.makeVirtualEnv(uv);
      const python = interpreter.virtualPython;
      const install = uv === null ? [python, "-m", "pip", "--disable-pip-version-check", "--no-input"] : [uv, "pip"];
      const target = uv === null ? [] : ["--python", python];
      await this.command([...install, "install", ...target, ...what], folder);
    } finally {
      this.options.onInstalled();
    }
  }

  private async makeVirtualEnv(uv: string | null): Promise<void> {
    const { interpreter, folder } = this.options;
    const { path } = await interpreter.base();
    const make = uv === null ? [path, "-I", "-m", "venv"] : [uv, "venv", "--python", path];
    await this.command([...make, interpreter.virtualEnv], folder);
  }

  /** @throws TsdbError bad_request with the end of the output */
  private async command(command: readonly string[], cwd: string): Promise<void> {
    this.options.onCommand(command);
    const child = Bun.spawn([...command], {
      ...{ cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe", timeout: INSTALL_MS, killSignal: "SIGKILL" },
      env: { ...this.options.environment, PYTHONUTF8: "1" },
    });
    const [out, error] = await Promise.all([endOf(child.stdout), endOf(child.stderr)]);
    const exitCode = await child.exited;
    if (exitCode === 0) return;
    const how = child.signalCode === null ? `exit code ${exitCode}` : child.signalCode;
    throw new TsdbError("bad_request", `cannot install packages: ${command[0]} ended with ${how}:\n${out}${error}`.trimEnd());
  }
}

/** The last OUTPUT_MAX bytes of a stream, as text. */
async function endOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let kept = Buffer.alloc(0);
  for await (const chunk of stream) kept = Buffer.concat([kept, chunk]).subarray(-OUTPUT_MAX);
  return kept.toString("utf8");
}
