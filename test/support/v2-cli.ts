// `tsdb v2 …` in this process: the command line as it is typed, what it prints, and its exit code.

import type { Terminal } from "../../src/cli/client/command.ts";
import { runClient } from "../../src/cli/client/run.ts";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { TsdbError } from "../../src/model/errors.ts";

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
