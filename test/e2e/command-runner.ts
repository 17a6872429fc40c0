// The client commands as processes, in a folder of their own, with a server that asks for tokens.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROGRAM } from "../support/servers/program.ts";
import { TestServer } from "../support/servers/server.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

export interface RunOptions {
  readonly input?: string;
  /** Beside the server's address, the admin token and database `home`. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs commands of the client against one server. */
export class CommandRunner {
  token = "";
  /** Where commands run, and their home. */
  readonly folder = mkdtempSync(join(tmpdir(), "tsdb-cli-"));

  private constructor(readonly server: TestServer) {}

  static async start(): Promise<CommandRunner> {
    const runner = new CommandRunner(await TestServer.start({ withAuth: true, flags: ["--use-pacha-tree"] }));
    const { out } = await runner.run(["create", "token", "--admin", "--format", "json"]);
    runner.token = (JSON.parse(out) as { token: string }).token;
    return runner;
  }

  async run(args: readonly string[], { input = "", environment = {} }: RunOptions = {}): Promise<Ran> {
    const child = Bun.spawn([...PROGRAM, ...args], {
      cwd: this.folder,
      env: {
        PATH: process.env["PATH"]!,
        HOME: this.folder,
        TSDB_HOST_URL: this.server.url,
        TSDB_AUTH_TOKEN: this.token,
        TSDB_DATABASE_NAME: "home",
        ...environment,
      },
      stdin: new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, error, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
    return { code, out, error };
  }

  async dispose(): Promise<void> {
    await this.server.dispose();
    rmSync(this.folder, { recursive: true });
  }
}
