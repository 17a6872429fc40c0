// `tsdb v2 …` in this process: the command line as it is typed, what it prints, and its exit code.

import { expect } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "../../../src/cli/client/command.ts";
import { runClient } from "../../../src/cli/client/run.ts";
import { parseCommandLine } from "../../../src/cli/command-line.ts";
import { TsdbError } from "../../../src/model/errors.ts";
import { TestServer } from "./server.ts";

/** What a command left. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs `tsdb ARGS` with this environment and standard input; a command line that is invalid ends with 2, as the program does. */
export async function runCli(args: readonly string[], environment: Readonly<Record<string, string>>, input = ""): Promise<Ran> {
  const ran = { out: "", error: "" };
  const decoder = new TextDecoder();
  const terminal: Terminal = {
    out: (text) => {
      ran.out += typeof text === "string" ? text : decoder.decode(text);
      return undefined;
    },
    error: (text) => {
      ran.error += text;
    },
    control: () => {},
    input: () => new Blob([input]).stream(),
    ...{ isInputTerminal: false, isOutputTerminal: false, columns: 80, rows: 24, environment },
  };
  try {
    const command = parseCommandLine(args, environment);
    if (command.name === "print") return { code: 0, out: command.text, error: "" };
    if (command.name !== "client") throw new Error(`${args.join(" ")} is no client command`);
    return { code: await runClient(command.command, command.args, terminal, command.configured), ...ran };
  } catch (error) {
    if (!(error instanceof TsdbError)) throw error;
    return { code: error.kind === "config" || error.kind === "io" ? 2 : 1, out: ran.out, error: `${ran.error}tsdb: ${error.message}\n` };
  }
}

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** A real server that `tsdb v2 setup` has set up, and the folder of the user who did. Owned: call `dispose`. */
export class SetUpCli {
  readonly folder = mkdtempSync(join(tmpdir(), "tsdb-v2-cli-"));
  readonly configs = join(this.folder, ".influxdbv2/configs");
  readonly environment: Readonly<Record<string, string>> = { HOME: this.folder };
  /** What setup printed. */
  madeBySetup = "";

  private constructor(private readonly server: TestServer) {}

  static async start(): Promise<SetUpCli> {
    const cli = new SetUpCli(await TestServer.start({ withBuckets: true }));
    const { code, out, error } = await cli.run(`setup --host ${cli.url} -u admin -p password12 -o home -b first -r 30d -f`);
    expect([code, error]).toEqual([0, ""]);
    cli.madeBySetup = out;
    return cli;
  }

  get url(): string {
    return this.server.bucketsUrl;
  }

  /** `bucket create -n 'a b'`: quotes hold words together. */
  run(args: string, { env = {}, input = "" }: Given = {}): Promise<Ran> {
    return runCli(["v2", ...wordsOf(args)], { ...this.environment, ...env }, input);
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look at what they expect, and fail where it is not
  async json(args: string, given: Given = {}): Promise<any> {
    const { code, out, error } = await this.run(`${args} --json`, given);
    expect([code, error]).toEqual([0, ""]);
    return JSON.parse(out);
  }

  /** Cells of a table, its first line among them. */
  async table(args: string): Promise<string[][]> {
    const { code, out, error } = await this.run(args);
    expect([code, error]).toEqual([0, ""]);
    const lines = out.replace(/\n$/, "").split("\n");
    return lines.map((line) => line.split(/\t+/));
  }

  async dispose(): Promise<void> {
    await this.server.dispose();
    rmSync(this.folder, { recursive: true });
  }
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
}
